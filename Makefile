# Everything runs in .venv, which is created at first use; `make PYTHON=python3.12 test` selects another
# Python (at least 3.10). Packages are reinstalled only after a change of pyproject.toml.

PYTHON ?= python3
DEPENDENCIES ?= newest
VENV := .venv
BIN := $(VENV)/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check
# one thread for each process in BLAS: more of them than cores slow each other down
PYTEST := OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses auto --maxprocesses 8 --dist loadgroup
CHECKED := src tests paper benchmarks reliability docs examples
# a folder with the paper's graphs beside the project, if there is one; REINFORCE2VEC_DATA overrides it
GRAPHS := $(wildcard ../shared/data)

.DEFAULT_GOAL := help
.PHONY: help demo test test-all test-fast fuzz platform audit lint format docs page paper bench clean

help:  ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | while IFS="$$(printf '\t')" read -r name text; \
		do printf 'make %-9s %s\n' "$$name" "$$text"; done

demo: $(VENV)/installed-demo  ## from a graph to vectors, a plot and an interactive page, in a minute or two
	@REINFORCE2VEC_DATA="$${REINFORCE2VEC_DATA:-$(GRAPHS)}" $(BIN)/reinforce2vec demo

test: $(VENV)/installed-test  ## run the tests, in parallel on all cores
	$(PYTEST) -m 'not long' $(ARGS)

test-all: $(VENV)/installed-test  ## also containers, the built site, long statistics: before a release
	HYPOTHESIS_PROFILE=thorough $(PYTEST) $(ARGS)

test-fast: $(VENV)/installed-test  ## run the quick tests only, in less than two minutes
	$(PYTEST) -m 'not slow and not long and not gpu and not browser and not study' $(ARGS)

fuzz: $(VENV)/installed-test  ## read damaged and hostile files for two minutes; make fuzz MINUTES=60
	PYTHONHASHSEED=0 $(BIN)/python reliability/fuzz.py $(if $(INPUTS),--inputs $(INPUTS),--minutes $(or $(MINUTES),2)) $(ARGS)

platform:  ## run the quick tests in an environment of its own: PYTHON=python3.12 DEPENDENCIES=oldest
	$(PYTHON) reliability/platforms.py --dependencies $(DEPENDENCIES) $(ARGS)

audit: $(VENV)/installed-audit  ## look for known vulnerabilities of the installed packages (needs a network)
	$(BIN)/python -m pip freeze --exclude-editable > $(VENV)/installed.txt
	$(BIN)/pip-audit --strict --no-deps --disable-pip --requirement $(VENV)/installed.txt

lint: $(VENV)/installed-lint  ## check style and types
	$(BIN)/ruff check $(CHECKED)
	$(BIN)/ruff format --check $(CHECKED)
	$(BIN)/mypy

format: $(VENV)/installed-lint  ## format the code and fix lint errors
	$(BIN)/ruff check --fix $(CHECKED)
	$(BIN)/ruff format $(CHECKED)

docs: $(VENV)/installed-docs  ## build the documentation; a warning is an error
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict
	@echo "open site/index.html"

page:  ## rebuild the explorer's page after a change under web/ (needs npm)
	cd web && npm ci && npm run build

paper: $(VENV)/installed-test  ## compute the tables and figures of the paper: make paper TABLES="table-4 figure-3"
	REINFORCE2VEC_DATA="$${REINFORCE2VEC_DATA:-$(GRAPHS)}" $(BIN)/python paper $(TABLES) $(ARGS)

bench: $(VENV)/installed-bench  ## run the benchmarks of speed, memory and quality
	$(BIN)/python benchmarks/walks.py
	$(BIN)/python benchmarks/reading.py
	$(BIN)/python benchmarks/training.py
	$(BIN)/python benchmarks/first_run.py
	$(BIN)/python benchmarks/quality.py
	$(BIN)/python benchmarks/neighbors.py
	$(BIN)/python benchmarks/recommendation.py
	$(BIN)/python benchmarks/explorer.py

clean:  ## remove everything that these targets created
	rm -rf $(VENV) .platforms demo-output site web/node_modules .mypy_cache .ruff_cache .pytest_cache .hypothesis dist build
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/installed-%: pyproject.toml | $(BIN)/python
	$(INSTALL) -e '.[$*]'
	@touch $@

# Everything runs in .venv, which is made at first use; `make PYTHON=python3.12 test` picks another
# Python (at least 3.10). Packages are installed again only after pyproject.toml has changed.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check
CHECKED := src tests benchmarks

.DEFAULT_GOAL := help
.PHONY: help demo test lint format bench clean

help:  ## list what can be made
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' Makefile | while IFS="$$(printf '\t')" read -r name text; \
		do printf 'make %-8s %s\n' "$$name" "$$text"; done

demo: $(VENV)/installed-demo  ## see walks and vectors of a small graph, in about a minute
	@$(BIN)/reinforce2vec demo

test: $(VENV)/installed-test  ## run all tests
	$(BIN)/python -m pytest $(ARGS)

lint: $(VENV)/installed-lint  ## check style and types
	$(BIN)/ruff check $(CHECKED)
	$(BIN)/ruff format --check $(CHECKED)
	$(BIN)/mypy

format: $(VENV)/installed-lint  ## bring the code into shape
	$(BIN)/ruff check --fix $(CHECKED)
	$(BIN)/ruff format $(CHECKED)

bench: $(VENV)/installed-bench  ## measure speed and memory
	$(BIN)/python benchmarks/walks.py
	$(BIN)/python benchmarks/reading.py
	$(BIN)/python benchmarks/training.py
	$(BIN)/python benchmarks/quality.py

clean:  ## remove all that was made here
	rm -rf $(VENV) demo-output .mypy_cache .ruff_cache .pytest_cache .hypothesis dist build
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/installed-demo: pyproject.toml | $(BIN)/python
	$(INSTALL) -e .
	@touch $@

$(VENV)/installed-%: pyproject.toml | $(BIN)/python
	$(INSTALL) -e '.[$*]'
	@touch $@

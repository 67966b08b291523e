"""What the project says about itself is true."""

from __future__ import annotations

import importlib
import inspect
import re
from pathlib import Path

import pytest

import reinforce2vec
from helpers import pages
from helpers.command_line import run_python
from helpers.paths import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
OPTIONAL = (
    *("gensim", "igraph", "matplotlib", "networkx", "optuna", "pandas", "polars", "pooch"),
    *("pyarrow", "requests", "sklearn", "torch", "torch_geometric", "usearch"),
)


# -- the README --------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_code_of_the_readme_runs_and_prints_what_it_shows(labelled):
    pages.run_page(ROOT / "README.md", labelled)
    languages = [block.language for block in pages.blocks_of(ROOT / "README.md")]
    assert {"python", "sh"} <= set(languages)


@pytest.mark.parametrize("table", ["quality", "race", "speed"])
def test_the_tables_of_the_readme_are_the_measured_ones(monkeypatch, table):
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    assert getattr(importlib.import_module("readme"), table)() in README


@pytest.mark.parametrize("target", re.findall(r"\]\(([^)]+)\)", README))
def test_the_links_of_the_readme_lead_somewhere(target):
    assert (ROOT / target).exists()


@pytest.mark.parametrize("target", sorted(set(re.findall(r"make (\w+) ", README))))
def test_the_targets_of_the_readme_are_in_the_makefile(target):
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.MULTILINE)


# -- versions ----------------------------------------------------------------------------------


def test_one_version_everywhere():
    version = reinforce2vec.__version__
    newest = re.search(r"^## .*?(\d+\.\d+\.\d+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert newest is not None
    assert newest.group(1) == version
    cited = re.search(r"^version: *\"?([\d.]+)", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    assert cited is None or cited.group(1) == version


# -- imports -----------------------------------------------------------------------------------


def test_importing_the_package_compiles_nothing():
    run_python(
        "import sys, reinforce2vec\n"
        "assert not {'numba', 'numpy', 'scipy', 'typer'} & set(sys.modules)"
    )


@pytest.mark.slow
def test_everything_imports_without_the_optional_packages():
    run_python(
        f"import sys; sys.modules.update(dict.fromkeys({OPTIONAL!r}))\n"
        "import reinforce2vec as r2v, reinforce2vec.cli.main, reinforce2vec.cli.demo\n"
        "for name in r2v.__all__: getattr(r2v, name)\n"
        "r2v.sample_walks(r2v.Graph.from_any([('a', 'b')]), length=3, per_node=1)"
    )


WITHOUT = """
import sys
from importlib.abc import MetaPathFinder

class Refusing(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {NOT_THERE}:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Refusing())
for name in {NOT_THERE}:
    try:
        __import__(name)
    except ModuleNotFoundError:
        continue
    raise AssertionError(name)

from reinforce2vec import Graph, Reinforce2Vec, sample_walks
graph = Graph.from_edges([("a", "b"), ("b", "c"), ("c", "a"), ("c", "d")])
assert sample_walks(graph, length=5, per_node=2).shape == (8, 5)
learner = Reinforce2Vec(dimensions=3, walks_per_node=2, walk_length=5, smooth=True)
assert learner.fit(graph).embedding_["a"].shape == (3,)
assert learner.backend_ == "cpu"
"""


@pytest.mark.slow
def test_the_core_works_without_what_only_the_rest_needs():
    """Commands, data sets, cards, tables and plots bring their own packages."""
    absent = (
        *("typer", "rich", "click", "pooch", "requests", "cupy", "cupyx", "sklearn", "pandas"),
        *("matplotlib", "pyarrow"),
    )
    run_python(WITHOUT.replace("{NOT_THERE}", repr(absent)))


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="has no attribute 'fly'"):
        _ = reinforce2vec.fly


@pytest.mark.parametrize("name", [name for name in reinforce2vec.__all__ if name[0] != "_"])
def test_every_public_name_is_there_and_documented(name):
    public = getattr(reinforce2vec, name)
    assert public.__name__.removeprefix("reinforce2vec.") == name
    assert inspect.getdoc(public)
    assert name in dir(reinforce2vec)


def test_the_package_is_marked_as_typed():
    assert (Path(reinforce2vec.__file__).parent / "py.typed").exists()

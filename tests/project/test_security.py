"""What SECURITY.md promises of the source: nothing is unpickled, evaluated or given to a shell."""

from __future__ import annotations

import ast
import re

from helpers.paths import ROOT
from reinforce2vec.datasets import loading
from reinforce2vec.datasets.registry import REGISTRY
from reinforce2vec.explorer import server

SOURCES = sorted((ROOT / "src").rglob("*.py"))
TREES = {path.relative_to(ROOT).as_posix(): ast.parse(path.read_bytes()) for path in SOURCES}
UNPICKLING = {
    "pickle",
    "cPickle",
    "dill",
    "cloudpickle",
    "joblib",
    "shelve",
    "marshal",
    "jsonpickle",
}
RUNNING = {"eval", "exec", "compile"}
# numba's own cache; and git, asked for the commit of this package with words of ours
PROCESSES: set[str] = set()


def calls(tree):
    """Yield each call, with the dotted name of what is called."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield node, ast.unparse(node.func)


def imported(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module


def test_nothing_is_unpickled():
    for path, tree in TREES.items():
        modules = {name.partition(".")[0] for name in imported(tree)}
        assert not modules & UNPICKLING, path
        for node, name in calls(tree):
            given = {word.arg: ast.unparse(word.value) for word in node.keywords}
            if name in ("np.load", "numpy.load") or name.endswith("format.read_array"):
                assert given.get("allow_pickle") == "False", (path, node.lineno)
            assert given.get("allow_pickle", "False") == "False", (path, node.lineno)
            assert not name.endswith(("read_pickle", "torch.load")), (path, node.lineno)


def test_no_text_is_run():
    for path, tree in TREES.items():
        for node, name in calls(tree):
            assert name not in RUNNING, (path, node.lineno)
            assert not re.match(r"os\.(system|popen|exec|spawn|posix_spawn)", name), (path, name)
            assert "shell" not in {word.arg for word in node.keywords}, (path, node.lineno)
        assert "subprocess" not in imported(tree) or path in PROCESSES, path


def test_temporary_names_cannot_be_foreseen():
    for path, tree in TREES.items():
        for node, name in calls(tree):
            assert not name.endswith(("mktemp", "tmpnam", "tempnam")), (path, node.lineno)


def test_what_the_page_on_security_names_is_there():
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    named = re.findall(r"`((?:tests|docs)/[\w./]+)`", text)
    assert named
    for path in named:
        assert (ROOT / path).exists(), path


def test_the_figures_on_the_page_are_those_of_the_code():
    text = " ".join((ROOT / "SECURITY.md").read_text(encoding="utf-8").split())
    most = max(source.most for entry in REGISTRY.values() for source in entry.sources)
    for figure in (
        f"a secret of {8 * server._SECRET_BYTES} random bits",
        f"arrive within {server._SECONDS:g} seconds",
        f"at most {server._MOST_CONNECTIONS} connections",
        f"At most {most >> 20} MiB are accepted, in at most {loading._LONGEST / 60:g} minutes",
    ):
        assert figure in text

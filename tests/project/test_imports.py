"""Imports go one way: a sub-package imports those before it, and no module imports in a circle."""

from __future__ import annotations

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import reinforce2vec

PACKAGE = Path(reinforce2vec.__file__).parent

# A sub-package may import those before it. docs/architecture.md says what each is for.
ORDER = (
    "_util",
    "files",
    "graph",
    "walks",
    "skipgram",
    "embedding",
    "models",
    "evaluation",
    "datasets",
    "plotting",
    "explorer",
    "tuning",
    "cli",
)
# Folders and modules with the same functions: they share what is beside them, and nothing else.
SIBLINGS = ("cpu", "cuda", "ray", "plain", "_line_fast", "_line_plain")
TOP = {"__init__", "__main__"}


def module_name(path: Path) -> str:
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts) or "__init__"


MODULES = {module_name(path): path for path in PACKAGE.rglob("*.py")}


def is_for_types_only(node: ast.If) -> bool:
    return isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def imports_in(tree: ast.AST, only_types: bool = False):
    """Import statements, also those inside functions, and whether only type checkers see them."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield node, only_types
        else:
            types = only_types or (isinstance(node, ast.If) and is_for_types_only(node))
            yield from imports_in(node, types)


def imported_modules(name: str, types: bool) -> set[str]:
    """Modules of this package that a module imports, at its beginning or later."""
    path = MODULES[name]
    folder = path.relative_to(PACKAGE).parts[:-1]
    found = set()
    for node, only_types in imports_in(ast.parse(path.read_text(encoding="utf-8"))):
        if only_types and not types:
            continue
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.partition(".")[0] == "reinforce2vec":
                    found.add(alias.name.partition(".")[2] or "__init__")
            continue
        if node.level:
            base = [*folder[: len(folder) - node.level + 1]]
        elif (node.module or "").partition(".")[0] == "reinforce2vec":
            base = []
        else:
            continue
        stem = node.module or ""
        base += [] if node.level == 0 else stem.split(".") if stem else []
        base = stem.split(".")[1:] if node.level == 0 else base
        for alias in node.names:
            inner = ".".join([*base, alias.name])
            found.add(inner if inner in MODULES else ".".join(base) or "__init__")
    return found - {name}


def package_of(name: str) -> str:
    return name.partition(".")[0]


def siblings_in(name: str) -> set[str]:
    """The implementation that a module is (skipgram.plain) or belongs to (walks.plain.open)."""
    return set(name.split(".")[1:]) & set(SIBLINGS)


@pytest.mark.parametrize("name", sorted(set(MODULES) - TOP))
def test_a_module_imports_only_what_comes_before_it(name):
    allowed = ORDER[: ORDER.index(package_of(name)) + 1]
    own = siblings_in(name)
    for other in sorted(imported_modules(name, types=True)):
        if other == "__init__":  # the package itself: its version
            continue
        assert package_of(other) in allowed, f"{name} imports {other}"
        theirs = siblings_in(other)
        same_package = package_of(other) == package_of(name)
        assert not (own and theirs and same_package and own != theirs), f"{name} imports {other}"


@pytest.mark.parametrize("name", sorted(set(MODULES) - TOP))
def test_a_private_module_is_imported_by_its_own_sub_package_alone(name):
    for other in imported_modules(name, types=True):
        private = any(part.startswith("_") for part in other.split(".")[1:])
        assert not private or package_of(other) == package_of(name), f"{name} imports {other}"


def test_no_import_goes_in_a_circle():
    graph = {name: imported_modules(name, types=False) for name in set(MODULES) - TOP}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_every_sub_package_has_its_place_and_says_what_it_is_for():
    packages = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert packages == set(ORDER)
    for place, name in enumerate(ORDER):
        text = ast.get_docstring(ast.parse((PACKAGE / name / "__init__.py").read_text("utf-8")))
        *others, last = [f"`{other}`" for other in ORDER[:place]] or ["no other sub-package"]
        allowed = " and ".join([", ".join(others), last] if others else [last])
        assert f"It may import {allowed}." in " ".join((text or "").split()), name


def test_the_top_of_the_package_is_nearly_empty():
    assert len(list(PACKAGE.glob("*.py"))) <= 5

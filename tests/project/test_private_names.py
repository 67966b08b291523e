"""Private looks private: a public name of a module is used outside of it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import reinforce2vec
from helpers.paths import ROOT

PACKAGE = Path(reinforce2vec.__file__).parent
# used by no other module, but what users or backends are handed, so they have no underscore
DOCUMENTED = {
    "FirstOrderSettings",
    "SecondOrderSettings",
    "OpenSettings",
    "CappedSettings",
    "ReinforcedSettings",
    "KernelSettings",
    "Adjacency",
    "EdgeTables",
    "LinkPredictionResult",
    "NodeClassificationResult",
}


def words(path):
    return set(re.findall(r"[A-Za-z_]\w*", path.read_text(encoding="utf-8")))


def names_of(path):
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                yield from (name.id for name in ast.walk(target) if isinstance(name, ast.Name))


def test_a_name_without_an_underscore_is_used_by_another_module():
    used = {path: words(path) for path in PACKAGE.rglob("*.py")}
    outside = set()
    for folder in ("tests", "benchmarks", "docs"):
        outside |= set().union(*(words(path) for path in (ROOT / folder).rglob("*.py")))
    assert len(used) > 100
    alone = [
        f"{path.relative_to(PACKAGE)}: {name}"
        for path in used
        for name in names_of(path)
        if not name.startswith("_")
        and name not in DOCUMENTED | outside
        and not any(name in found for other, found in used.items() if other != path)
    ]
    assert not alone

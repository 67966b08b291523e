"""Prepare what mkdocstrings shows: docstrings as Markdown, types that say something, order."""

from __future__ import annotations

import ast
import re
from itertools import pairwise
from typing import Any

import griffe

ROLE = re.compile(r":(?:class|data|func|meth|mod):`([\w.]+)`")
# Classes in words as the type of a parameter: the reader of docstrings takes them for a tuple.
NAMES = re.compile(r"(?<= : )[A-Z]\w+(?:, [A-Z]\w+)* or [A-Z]\w+(?=,|$)", re.MULTILINE)
RULE = re.compile(r"^ *=+(?: +=+)+ *$", re.MULTILINE)
# Methods of base classes, in the order of use; the others follow them.
INHERITED = ("fit", "fit_transform", "transform", "transform_nodes", "save", "load")
# Types of parameters that have none in the docstring.
UNDESCRIBED = {
    "changes": "any object",
    "graph": "Graph",
    "input_features": "None",
    "nodes": "iterable of node ids",
    "options": "any object",
    "test_vectors": "array or Embedding",
    "train_vectors": "array or Embedding",
    "weights": "sequence, optional",
    "y": "None",
}
# Words of a docstring, and the type that they stand for.
TYPES = {
    r"arrays?": "NDArray",
    r"sequences?|lists?": "Sequence",
    r"iterables?": "Iterable",
    r"node id": "Hashable",
    r"dict": "dict",
    r"table": "DataFrame",
    r"path": "PathLike",
    r"callable": "Callable",
    r"object": "object",
    r"Embedding|Estimator|Evaluation|Graph|Reinforce2Vec|StoredWalks": "",  # the word itself
}
# Names in annotations that a reader cannot look up.
ALIASES = {
    "NDArray[Any]": "NDArray",
    "Ids": "NDArray",
    "Vectors": "NDArray[float32]",
    "_Callback": "Callable",
}


class AsMarkdown(griffe.Extension):  # type: ignore[misc]
    """Convert roles to links, and simple tables to Markdown tables."""

    def __init__(self, public: str = "reinforce2vec") -> None:
        import reinforce2vec

        self.package, self.names = public, set(reinforce2vec.__all__)

    def on_class_members(self, *, cls: Any, **_: Any) -> None:
        """Put the methods of a class before those it inherits."""
        own = list(cls.members)
        cls.exports = [*own, *(name for name in INHERITED if name not in own)]

    def on_instance(self, *, obj: Any, **_: Any) -> None:
        """Rewrite the docstring and the types of a loaded object."""
        if obj.is_function:
            name_types(obj)
        if obj.is_attribute:
            obj.annotation = spelled(obj.annotation, "", obj)
        if obj.docstring is None:
            return
        holder = obj if obj.is_class else obj.parent
        text = ROLE.sub(lambda role: self.link(role[1], holder), obj.docstring.value)
        text = NAMES.sub(lambda found: re.sub(r", | or ", " | ", found[0]), text)
        obj.docstring.value = with_tables(text)

    def link(self, target: str, holder: Any) -> str:
        """Return a link if the target is in the reference, else code."""
        target = target.removeprefix(f"{self.package}.")
        first, *rest = target.split(".")
        if first in self.names:
            return f"[`{target}`][{self.package}.{target}]"
        if (
            not rest
            and holder is not None
            and holder.name in self.names
            and first in holder.members
        ):
            return f"[`{target}`][{self.package}.{holder.name}.{first}]"
        return f"`{target}`"


def name_types(function: Any) -> None:
    """Replace `Any` in a signature by the type that the docstring names, and spell out aliases."""
    text = function.docstring.value if function.docstring else ""
    for parameter in function.parameters:
        described = re.search(rf"^ *{parameter.name} : (.*)", text, re.MULTILINE)
        words = described[1] if described else UNDESCRIBED.get(parameter.name, "")
        parameter.annotation = spelled(parameter.annotation, words, function)
    described = re.search(r"^ *Returns\n *-+\n *(.*)", text, re.MULTILINE)
    function.returns = spelled(function.returns, described[1] if described else "", function)


def spelled(annotation: Any, words: str, function: Any) -> Any:
    """Return an annotation without `Any` and private names; None if nothing is left to say."""
    before = after = str(annotation)
    if before == "Any":
        named = re.match(r"(?:matplotlib )?([A-Z]\w+)(?=,|$| or )", words)
        types = [named[1]] if named else []
        for word in re.findall(r"[A-Z]\w+|node id(?!s)|\w+", ROLE.sub("", words)):
            types += [kind or word for known, kind in TYPES.items() if re.fullmatch(known, word)]
        types += ["None"] * words.endswith("optional")
        after = " | ".join(dict.fromkeys(types)) if types != ["None"] else "None"
    for alias, meaning in ALIASES.items():
        after = re.sub(rf"(?<![\w.]){re.escape(alias)}(?![\w\[])", meaning, after)
    if after == before:
        return annotation
    if not after:
        return None
    return griffe.safe_get_annotation(ast.parse(after, mode="eval").body, function.parent)


def with_tables(text: str) -> str:
    """Return a text with the tables between rules of ==== as Markdown tables."""
    lines = text.split("\n")
    rules = [number for number, line in enumerate(lines) if RULE.match(line)]
    if len(rules) < 2:
        return text
    first, last = rules[0], rules[-1]
    starts = [found.start() for found in re.finditer("=+", lines[first])]
    bounds = [*pairwise(starts), (starts[-1], None)]
    rows: list[list[str]] = []
    for line in (line for line in lines[first:last] if not RULE.match(line)):
        cells = [line[begin:end].strip() for begin, end in bounds]
        if cells[0] or not rows:
            rows.append(cells)
        else:  # a continued cell
            rows[-1] = [f"{old} {new}".strip() for old, new in zip(rows[-1], cells, strict=True)]
    head = rows.pop(0) if len(rules) == 3 else [""] * len(bounds)
    table = [f"| {' | '.join(row)} |" for row in (head, ["---"] * len(bounds), *rows)]
    return "\n".join([*lines[:first], *table, *lines[last + 1 :]])

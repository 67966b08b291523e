"""Convert docstrings, written in reStructuredText, to Markdown for mkdocstrings."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import griffe

ROLE = re.compile(r":(?:class|data|func|meth|mod):`([\w.]+)`")
RULE = re.compile(r"^ *=+(?: +=+)+ *$", re.MULTILINE)


class AsMarkdown(griffe.Extension):  # type: ignore[misc]
    """Convert roles to links, and simple tables to Markdown tables."""

    def __init__(self, public: str = "reinforce2vec") -> None:
        import reinforce2vec

        self.package, self.names = public, set(reinforce2vec.__all__)

    def on_instance(self, *, obj: Any, **_: Any) -> None:
        """Rewrite the docstring of a loaded object."""
        if obj.docstring is None:
            return
        holder = obj if obj.is_class else obj.parent
        text = ROLE.sub(lambda role: self.link(role[1], holder), obj.docstring.value)
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

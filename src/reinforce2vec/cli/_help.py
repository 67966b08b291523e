"""How the help of commands is laid out: groups, lines that end between words, a few colours."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Sequence
from typing import Any

import typer

from .._util.terminal import columns, styled, wrapped
from ._options import GROUPS

WIDTH, _NAMES = 100, 26  # columns of the help, and of the names of options in it
_LEAST = 34  # columns beside the names; where there are fewer, the text is below them
_STEP = "  "
# Newer versions of typer bring their own copy of click: this is HelpFormatter in any of them.
_HelpFormatter: Any = typer.Context.formatter_class


class _Formatter(_HelpFormatter):  # type: ignore[misc]
    """Writes the help so that it fits the terminal, however narrow, without dividing words."""

    def __init__(self, width: int | None = None, max_width: int | None = None, **more: Any) -> None:
        fitting = min(columns(), max_width or WIDTH)
        super().__init__(width=fitting if width is None else width, max_width=max_width, **more)

    def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
        """Write how the command is called."""
        title = prefix or "Usage: "
        plain = re.sub(r"\{(\S+?)\}", r"\1", args)  # typer puts what is required in braces
        lines = wrapped(f"{title}{prog} {plain}", self.width, 2 * _STEP)
        lines[0] = _heading(title.rstrip()) + lines[0][len(title.rstrip()) :]
        self.write("\n".join(lines) + "\n")

    def write_heading(self, heading: str) -> None:
        """Write the name of a group."""
        self.write(f"{_heading(heading + ':')}\n")

    def write_text(self, text: str) -> None:
        """Write paragraphs."""
        indent = " " * self.current_indent
        paragraphs = [" ".join(part.split()) for part in text.split("\n\n")]
        for number, part in enumerate(paragraphs):
            lines = wrapped(indent + part, self.width, indent)
            self.write("\n" * bool(number) + "\n".join(lines) + "\n")

    def write_dl(
        self, rows: Sequence[tuple[str, str]], col_max: int = _NAMES, col_spacing: int = 2
    ) -> None:
        """Write names and what they mean: side by side, or below each other if it is narrow."""
        indent = " " * self.current_indent
        names = min(max((len(name) for name, _ in rows), default=0), col_max)
        beside = len(indent) + names + col_spacing
        if self.width - beside < _LEAST:
            beside = len(indent) + 2 * len(_STEP)
        margin = " " * beside
        for name, text in rows:
            first = wrapped(indent + name, self.width, indent + 3 * _STEP)
            lines = wrapped(margin + " ".join(text.split()), self.width, margin) if text else []
            if lines and len(first) == 1 and len(first[0]) <= beside - col_spacing:
                lines[0] = first[0].ljust(beside) + lines[0][beside:]
            else:
                lines = [*first, *lines]
            self.write(_with_names(lines, name) + "\n")

    def write_examples(self, epilog: str) -> None:
        """Write commands to copy; one that is too long continues on the next line."""
        title, *lines = [line for line in epilog.split("\n") if line]
        self.write(f"\n{_heading(title)}\n")
        for line in lines:
            parts = wrapped(line, self.width - len(" \\"), 4 * _STEP)
            self.write(" \\\n".join(parts) + "\n")


class Context(typer.Context):
    """What a command runs in; its help is laid out by us."""

    formatter_class = _Formatter


def _heading(text: str) -> str:
    return styled(text, "bold", sys.stdout)


def _with_names(lines: list[str], name: str) -> str:
    """Return lines with the name of an option, which they begin with, in a colour."""
    text = "\n".join(lines)
    start = len(text) - len(text.lstrip())
    end = start + len(name)
    if text[start:end] != name:  # it takes several lines
        return text
    return text[:start] + styled(name, "cyan", sys.stdout) + text[end:]


def grouped(params: Iterable[Any]) -> dict[str, list[Any]]:
    """Return parameters by the headings of the help: arguments, then groups in their order."""
    found: dict[str, list[Any]] = {name: [] for name in ("Arguments", *GROUPS)}
    others: list[Any] = []
    for param in params:
        group = getattr(param, "rich_help_panel", None)
        if param.param_type_name == "argument":
            group = "Arguments"
        (others if group is None else found[group]).append(param)
    found["Other options" if any(found.values()) else "Options"] = others
    return {name: members for name, members in found.items() if members}


def write_options(command: Any, ctx: Any, formatter: Any) -> None:
    """Write arguments, and options in their groups; those of no group come last."""
    records = {param: param.get_help_record(ctx) for param in command.get_params(ctx)}
    shown = [param for param, record in records.items() if record is not None]
    for name, params in grouped(shown).items():
        with formatter.section(name):
            formatter.write_dl([records[param] for param in params])


def examples(*lines: str) -> str:
    """Return the end of a command's help: commands to type. It is Markdown as well."""
    return "\n".join(["Examples:", "", *(f"    reinforce2vec {line}" for line in lines)])

"""What commands print."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any, TextIO

import typer

from .. import __version__
from .._util.errors import InputError
from .._util.progress import ProgressLine, waiting
from .._util.terminal import columns, printable, styled, wrapped

_Message = str | Callable[[], str]
"""A text, or a function that makes it: what is not printed is not computed."""

_STYLES = {"error": "red", "interrupted": "yellow", "warning": "yellow", "note": "cyan"}


def print_last(message: str) -> None:
    """Print why a command ends, in place of its progress line."""
    ProgressLine().clear()
    report(message, quiet=False)


def report(message: _Message, quiet: bool) -> None:
    """Print a line on stderr; with --quiet, do not even make it."""
    if not quiet:
        text = message if isinstance(message, str) else message()
        with suppress(OSError):
            typer.echo(for_people(text, sys.stderr), err=True, color=True)


def for_people(text: str, stream: TextIO | None, indent: str = "  ") -> str:
    """Return a message as a terminal shows it: its lines end between words.

    Control characters are spelled out. The word before the colon of an error or a warning has a
    colour.
    """
    text = printable(text)
    if stream is not None and stream.isatty():
        width = columns()
        lines = [part for line in text.split("\n") for part in wrapped(line, width, indent)]
        text = "\n".join(lines)
    kind, colon, rest = text.partition(":")
    return f"{styled(kind + colon, _STYLES.get(kind, 'plain'), stream)}{rest}"


def status(message: str, quiet: bool) -> AbstractContextManager[None]:
    """Show a line on the terminal, if there is one, and for how long the block runs."""
    return waiting(message, not quiet)


def print_json(context: typer.Context, **facts: Any) -> None:
    """Print a result for machines: one JSON object on stdout.

    It begins with `command` and `version`, whatever the command, and lists in `files` what was
    written; sizes are in bytes, times in seconds, and what is unknown is null.
    """
    command = context.command_path.partition(" ")[2]
    found = {"command": command, "version": __version__} | facts
    typer.echo(json.dumps(found, indent=2, allow_nan=False, default=str))


def check_different(read: list[Path], written: list[Path]) -> None:
    """Refuse to write over a file that the command reads, or writes as well.

    "-" is no file, but standard input and standard output.
    """
    taken = [Path(os.path.realpath(path)) for path in read if str(path) != "-"]
    for path in written:
        if str(path) == "-":
            continue
        target = Path(os.path.realpath(path))  # also of links that lead in a circle
        if target in taken or any(_are_same(old, target) for old in taken):
            raise InputError(
                f"{path}: the command reads this file, or writes to it twice: choose another name"
            )
        taken.append(target)


def _are_same(one: Path, other: Path) -> bool:
    """Return whether two names are those of one file."""
    return os.path.exists(one) and os.path.exists(other) and os.path.samefile(one, other)


def check_stdout(output: Path | None, as_json: bool) -> None:
    """Refuse to write a result and JSON to standard output."""
    if str(output) == "-" and as_json:
        raise InputError("-o - and --json both write to stdout: choose one of them")


def check_results_folder(path: Path) -> None:
    """Refuse a folder that cannot be made, or written to."""
    existing = next(folder for folder in (path, *path.absolute().parents) if folder.exists())
    if not existing.is_dir():
        raise InputError(f"{path}: {existing.name} is a file, expected a folder")
    if not os.access(existing, os.W_OK | os.X_OK):
        raise InputError(f"{path}: no permission to write to the folder {existing}")

"""What every command repeats: it checks, claims its outputs, reads, reports, works and writes."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import typer

from .. import __version__
from .._util.errors import InputError
from .._util.progress import waiting
from ._messages import print_line

FAILURE, USAGE, INTERRUPTED = 1, 2, 130  # exit codes; docs/commands/index.md says what they mean
NOTHING_LEFT = "no unfinished file is left"
_NO_THREAD = "can't start new thread"  # Python's message: no memory, or a limit of threads
_SAVE_MEMORY = (
    "use fewer dimensions, fewer threads or a smaller graph, or allow the process more memory"
)

# What read_graph calls these options, where arguments of commands have the same name.
READING_NAMES = {
    "source_column": "source",
    "target_column": "target",
    "weight_column": "weight",
    "edge_columns": "columns",
    "nodes_file": "nodes",
}
_Message = str | Callable[[], str]
"""A text, or a function that makes it: what is not printed is not computed."""


class Run:
    """One run of a command: what was typed, and what it reads, writes and prints.

    A command checks its options, names its files (:meth:`writes`), calls :meth:`begin`, and works.
    An InputError before `begin` is a misuse, and one after it a failure.

    Attributes
    ----------
    given : namespace
        The values of arguments and options.
    quiet : bool
        Whether only results and errors are printed.
    code : int
        The exit code of an InputError.
    checkpoint : path, optional
        A file that keeps the training if the command is interrupted.
    """

    def __init__(self, context: typer.Context) -> None:
        self.context = context
        self.given = SimpleNamespace(**context.params)
        self.quiet: bool = context.params.get("quiet", False)
        self.code = USAGE
        self.checkpoint: Path | None = None

    # -- checks ----------------------------------------------------------------------------------

    def was_given(self, name: str) -> bool:
        """Return whether an option is on the command line."""
        source = self.context.get_parameter_source(name)
        return source is not None and source.name == "COMMANDLINE"

    def refuse(self, names: Iterable[str], purpose: str, instead: object) -> None:
        """Refuse options that were given and would have no effect."""
        for name in names:
            if self.was_given(name):
                flag = flag_of(name)
                raise InputError(f"--{flag} is for {purpose} and has no effect with {instead}")

    def writes(self, *outputs: Path, reads: Iterable[Path | None] = (), claim: bool = True) -> None:
        """Refuse to write over a file that is read or written twice, or that another run writes.

        "-" is no file, but standard input and standard output.
        """
        if getattr(self.given, "as_json", False) and "-" in map(str, outputs):
            raise InputError("-o - and --json both write to stdout: choose one of them")
        files = [*reads, getattr(self.given, "nodes_file", None)]
        taken = [path for path in files if path is not None and str(path) != "-"]
        for path in outputs:
            if str(path) == "-":
                continue
            if any(_are_same(path, other) for other in taken):
                raise InputError(
                    f"{path}: the command reads this file, or writes to it twice: choose another "
                    "name"
                )
            taken.append(path)
        if claim:
            self.claim(*outputs)

    def claim(self, *paths: Path) -> None:
        """Keep other runs from writing to files until the command ends."""
        from ..files.writing import claimed

        self.context.with_resource(claimed(*paths))

    def begin(self, checkpoint: Path | None = None) -> None:
        """End the checks: what fails from now on is no misuse of the command."""
        self.code, self.checkpoint = FAILURE, checkpoint

    # -- messages --------------------------------------------------------------------------------

    def report(self, message: _Message) -> None:
        """Print a line on stderr; with --quiet, do not even make it."""
        if not self.quiet:
            print_line(message if isinstance(message, str) else message())

    def status(self, message: str) -> AbstractContextManager[None]:
        """Show a line on the terminal, if there is one, and for how long the block runs."""
        return waiting(message, not self.quiet)

    def print_json(self, **facts: Any) -> None:
        """Print a result for machines: one JSON object on stdout.

        It begins with `command` and `version`, whatever the command, and lists in `files` what was
        written; sizes are in bytes, times in seconds, and what is unknown is null.
        """
        command = self.context.command_path.partition(" ")[2]
        result = {"command": command, "version": __version__} | facts
        typer.echo(json.dumps(result, indent=2, allow_nan=False, default=str))

    def ending(self, error: BaseException) -> tuple[str, int]:
        """Return the last line of a command that an error ends, and the exit code.

        An error that is none of the user's or the machine's is raised again.
        """
        if isinstance(error, InputError):
            return f"error: {error}", self.code
        if isinstance(error, KeyboardInterrupt):
            kept = str(error) or NOTHING_LEFT
            if self.checkpoint is not None and self.checkpoint.exists():
                kept = f"progress is saved in {self.checkpoint}: repeat the command with --resume"
            return f"interrupted: {kept}", INTERRUPTED
        if isinstance(error, OSError) and not isinstance(error, BrokenPipeError):
            where = "" if error.filename is None else f"{error.filename}: "
            return f"error: {where}{error.strerror or error}", FAILURE
        if isinstance(error, MemoryError):
            size = re.match(r"Unable to allocate (\S+ \S+) for an array", str(error))
            attempt = f" while {size[1]} were allocated" if size else ""
            return f"error: memory ran out{attempt}; {_SAVE_MEMORY}", FAILURE
        if isinstance(error, RuntimeError) and _NO_THREAD in str(error):
            return f"error: the system refuses to start a thread; {_SAVE_MEMORY}", FAILURE
        raise error


def flag_of(name: str) -> str:
    """Return what to type for an option, without dashes before it."""
    return "walk" if name == "kind" else READING_NAMES.get(name, name).replace("_", "-")


def _are_same(path: Path, other: Path) -> bool:
    """Return whether two names are those of one file, which may be missing."""
    if os.path.realpath(path) == os.path.realpath(other):  # also of links that lead in a circle
        return True
    return os.path.exists(path) and os.path.exists(other) and os.path.samefile(path, other)

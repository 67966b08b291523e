"""What commands say, and with which exit code they end."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import typer

from ..errors import InputError

FAILURE, USAGE, INTERRUPTED = 1, 2, 130  # exit codes


@contextmanager
def sentences(code: int, checkpoint: Path | None = None) -> Iterator[None]:
    """End with a sentence and an exit code, not with a traceback, when something is amiss."""
    try:
        yield
    except InputError as error:
        end(f"error: {error}", code)
    except BrokenPipeError:
        raise  # whoever read the output went away: typer ends without a word
    except OSError as error:
        where = "" if error.filename is None else f"{error.filename}: "
        end(f"error: {where}{error.strerror or error}", FAILURE)
    except MemoryError:
        end("error: there is not enough memory for this", FAILURE)
    except KeyboardInterrupt:
        left = "no unfinished file is left"
        if checkpoint is not None and checkpoint.exists():
            left = f"{checkpoint} keeps what was done, and --resume goes on from there"
        end(f"interrupted: {left}", INTERRUPTED)


def end(message: str, code: int) -> None:
    """Say a last sentence on stderr and exit."""
    if sys.stderr.isatty():
        message = f"\r\033[K{message}"  # over the line of the progress
    typer.echo(message, err=True)
    raise typer.Exit(code)


def say(message: str, quiet: bool) -> None:
    """Tell the user something on stderr, unless told to be quiet."""
    if not quiet:
        typer.echo(message, err=True)


@contextmanager
def status(message: str, quiet: bool) -> Iterator[None]:
    """Keep a line on the terminal, if there is one, while something is under way."""
    if quiet or not sys.stderr.isatty():
        yield
        return
    typer.echo(f"{message} ...", nl=False, err=True)
    yield
    typer.echo("\r\033[K", nl=False, err=True)


def check_different(read: list[Path], written: list[Path]) -> None:
    """Nothing that is read, or has been written, is written over."""
    taken = [path.resolve() for path in read]
    for path in written:
        same = path.resolve() in taken
        if same or any(path.exists() and old.exists() and old.samefile(path) for old in taken):
            raise InputError(f"{path}: another file of this command has this name: choose one")
        taken.append(path.resolve())

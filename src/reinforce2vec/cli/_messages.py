"""What commands say, and with which exit code they end."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NoReturn

import typer

from .. import __version__
from .._util.errors import InputError

FAILURE, USAGE, INTERRUPTED = 1, 2, 130  # exit codes
NO_CACHE = "no locator available"  # how numba says that no folder takes what it compiles


class Ending(typer.Exit):
    """The end of a command, with the last sentence it says."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(code)
        self.message = message


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
    except RuntimeError as error:
        if NO_CACHE not in str(error):
            raise
        end(
            "error: there is no folder to keep compiled code in: name one that you may write to "
            "with the environment variable NUMBA_CACHE_DIR",
            FAILURE,
        )
    except KeyboardInterrupt:
        left = "no unfinished file is left"
        if checkpoint is not None and checkpoint.exists():
            left = f"{checkpoint} keeps what was done: the same command with --resume goes on"
        end(f"interrupted: {left}", INTERRUPTED)


def end(message: str, code: int) -> NoReturn:
    """Say a last sentence on stderr and exit."""
    raise Ending(message, code)


def say_last(message: str) -> None:
    """Say why a command ends, over the line of its progress."""
    say(f"\r\033[K{message}" if on_terminal() else message, quiet=False)


def say(message: str, quiet: bool) -> None:
    """Tell the user something on stderr, unless told to be quiet or nobody can hear it."""
    if not quiet:
        with suppress(OSError):
            typer.echo(message, err=True)


@contextmanager
def status(message: str, quiet: bool) -> Iterator[None]:
    """Keep a line on the terminal, if there is one, while something is under way."""
    if quiet or not on_terminal():
        yield
        return
    typer.echo(f"{message} ...", nl=False, err=True)
    yield
    typer.echo("\r\033[K", nl=False, err=True)


def on_terminal() -> bool:
    """Whether somebody watches stderr, which may be closed."""
    return sys.stderr is not None and sys.stderr.isatty()


def print_json(context: typer.Context, **facts: Any) -> None:
    """Print a result for machines: one JSON object on stdout.

    Of every command it begins with `command` and `version`, and names in `files` what was written;
    sizes are in bytes, times in seconds, and what is unknown is null.
    """
    command = context.command_path.partition(" ")[2]
    found = {"command": command, "version": __version__} | facts
    typer.echo(json.dumps(found, indent=2, allow_nan=False, default=str))


def check_different(read: list[Path], written: list[Path]) -> None:
    """Nothing that is read, or has been written, is written over."""
    taken = [path.resolve() for path in read]
    for path in written:
        same = path.resolve() in taken
        if same or any(path.exists() and old.exists() and old.samefile(path) for old in taken):
            raise InputError(f"{path}: another file of this command has this name: choose one")
        taken.append(path.resolve())


def check_folder_for_results(path: Path) -> None:
    """Refuse a folder that cannot be made, or written to."""
    existing = next(folder for folder in (path, *path.absolute().parents) if folder.exists())
    if not existing.is_dir():
        raise InputError(f"{path}: {existing.name} is a file, expected a folder")
    if not os.access(existing, os.W_OK | os.X_OK):
        raise InputError(f"{path}: no permission to write to the folder {existing}")

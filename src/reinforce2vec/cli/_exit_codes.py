"""The exit codes of commands, and how errors become them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

import typer

from .._util.errors import InputError

FAILURE, USAGE, INTERRUPTED = 1, 2, 130  # exit codes; docs/commands.md says what they mean
_NO_CACHE = "no locator available"  # in numba's message, if no folder takes compiled code


class CommandEnd(typer.Exit):
    """The end of a command: the exit code, and the last line that it prints."""

    def __init__(self, message: str, code: int, error: InputError | None = None) -> None:
        super().__init__(code)
        self.message, self.error = message, error


@contextmanager
def exit_code(code: int, checkpoint: Path | None = None) -> Iterator[None]:
    """End the command with one sentence and an exit code where the block raises an error.

    Parameters
    ----------
    code : int
        For an InputError. Failures of the machine are always FAILURE.
    checkpoint : path, optional
        A file that keeps the training if the command is interrupted.
    """
    try:
        yield
    except InputError as error:
        raise CommandEnd(f"error: {error}", code, error) from None
    except BrokenPipeError:
        raise  # whoever read the output went away: typer ends without a message
    except OSError as error:
        where = "" if error.filename is None else f"{error.filename}: "
        end_command(f"error: {where}{error.strerror or error}", FAILURE)
    except MemoryError:
        end_command("error: there is not enough memory for this", FAILURE)
    except RuntimeError as error:
        if _NO_CACHE not in str(error):
            raise
        end_command(
            "error: there is no folder to keep compiled code in: name one that you may write to "
            "with the environment variable NUMBA_CACHE_DIR",
            FAILURE,
        )
    except KeyboardInterrupt:
        left = "no unfinished file is left"
        if checkpoint is not None and checkpoint.exists():
            left = f"progress is saved in {checkpoint}: repeat the command with --resume"
        end_command(f"interrupted: {left}", INTERRUPTED)


def end_command(message: str, code: int) -> NoReturn:
    """Print a last line on stderr and exit."""
    raise CommandEnd(message, code)

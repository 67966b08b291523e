"""The exit codes of commands, and how errors become them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

import typer

from .._util.errors import InputError

FAILURE, USAGE, INTERRUPTED = 1, 2, 130  # exit codes; docs/commands.md says what they mean
NOTHING_LEFT = "interrupted: no unfinished file is left"
_NO_THREAD = "can't start new thread"  # Python's message: no memory, or a limit of threads
_SAVE_MEMORY = (
    "use fewer dimensions, fewer threads or a smaller graph, or allow the process more memory"
)


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
    except MemoryError as error:
        end_command(f"error: memory ran out{_attempted(error)}; {_SAVE_MEMORY}", FAILURE)
    except RuntimeError as error:
        if _NO_THREAD not in str(error):
            raise
        end_command(f"error: the system refuses to start a thread; {_SAVE_MEMORY}", FAILURE)
    except KeyboardInterrupt:
        message = NOTHING_LEFT
        if checkpoint is not None and checkpoint.exists():
            message = (
                f"interrupted: progress is saved in {checkpoint}: repeat the command with --resume"
            )
        end_command(message, INTERRUPTED)


def _attempted(error: MemoryError) -> str:
    """Return how much numpy tried to allocate; other libraries do not say."""
    found = re.match(r"Unable to allocate (\S+ \S+) for an array", str(error))
    return f" while {found[1]} were allocated" if found else ""


def end_command(message: str, code: int) -> NoReturn:
    """Print a last line on stderr and exit."""
    raise CommandEnd(message, code)

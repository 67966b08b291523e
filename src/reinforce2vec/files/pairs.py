"""Two files that belong together, and are replaced together.

Beside the second one, NAME, there is, for a while, `.NAME.<16 hex digits>.old`, and beside the
first one `.NAME.pair`, which is locked while both are renamed.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, BinaryIO, TypeVar

from .._util.errors import InputError
from .locks import locked
from .opening import opened
from .targets import beside, found_beside, is_protected, is_special
from .writing import Part, begin, remove_abandoned, target_named, whole

_ATTEMPTS = 50  # to open two files that belong together
_PAUSE = 0.01  # seconds between them

_Result = TypeVar("_Result")


@contextmanager
def both_whole(first: Path, second: Path) -> Iterator[tuple[IO[bytes], IO[bytes]]]:
    """Open two files for writing that take their names together, when both are complete.

    The old second file is put aside first, then the new first one and at last the new second one
    take their names. Killed at any moment, this leaves two files that belong together, or no second
    one, which :func:`second_of` finds then and the next writer puts in its place.
    """
    if is_special(first) or is_special(second):
        with whole(first) as one, whole(second) as other:
            yield one, other
        return
    with target_named(first, second):
        with locked(beside(first, "pair"), wait=True):
            _finish_pair(first, second)
            remove_abandoned(second)
            remove_abandoned(first, second)
        with begin(first, second) as parts:
            yield parts[0].stream, parts[1].stream
            for part in parts:
                part.complete()
            with locked(beside(first, "pair"), wait=True):
                _replace_both(parts[0], parts[1])


def _replace_both(first: Part, second: Part) -> None:
    _finish_pair(first.path, second.path)  # of a process that was killed here
    first.kept = second.kept = True  # they tell how far it came
    try:
        with suppress(FileNotFoundError):
            os.replace(second.path, second.name.with_suffix(".old"))
            _sync_folder(second.path.parent)
        os.replace(first.name, first.path)
        _sync_folder(first.path.parent)
        os.replace(second.name, second.path)
    finally:
        _finish_pair(first.path, second.path)
        first.kept = second.kept = False


def read_pair(
    first: Path, second: Path, read: Callable[[BinaryIO, BinaryIO], _Result], missing: str
) -> _Result:
    """Return what a function makes of two open files that belong together.

    While a writer replaces both, the second has no name for a moment, and then both are opened
    again, as they are if the function raises _Replaced. If there is no second one, `missing` is the
    message of the InputError.
    """
    target = Path(os.path.realpath(first))
    for attempt in range(_ATTEMPTS):
        time.sleep(_PAUSE if attempt else 0)
        with opened(first, compressed=False) as one, ExitStack() as stack:
            found = second_of(target, second)
            try:
                other = stack.enter_context(opened(found, compressed=False))
            except InputError as error:  # it has no name now, or cannot be read
                problem = str(error) if found.exists() else missing
                continue
            with suppress(_Replaced):
                _check_unchanged(one, first)
                return read(one, other)
            problem = f"{first}: it is replaced, with {second}, again and again: read it later"
    raise InputError(problem)


class _Replaced(Exception):
    """A file has been replaced since it was opened."""


def _check_unchanged(stream: IO[bytes], path: Path) -> None:
    """Raise _Replaced if a file has been replaced since it was opened."""
    if not os.path.samestat(os.fstat(stream.fileno()), os.stat(path)):
        raise _Replaced


def second_of(first: Path, second: Path) -> Path:
    """Return where the second of two files that belong together is, links followed.

    It has its name, or the process that replaced both was killed at this very moment.
    """
    if not second.exists():
        for token in found_beside(second, "part"):
            if not beside(first, f"{token}.part").exists():  # for that has its name already
                return beside(second, f"{token}.part")
        for token in found_beside(second, "old"):
            if beside(first, f"{token}.part").exists():
                return beside(second, f"{token}.old")
    return second


def _finish_pair(first: Path, second: Path) -> None:
    """Give the second of two files its name, if a process was killed before it had it."""
    found = second_of(first, second)
    if found != second and not is_protected(found):
        with suppress(FileNotFoundError):  # of a writer that gives up, and has removed it
            os.replace(found, second)
    for token in found_beside(second, "old"):
        old = beside(second, f"{token}.old")
        if not is_protected(old):
            old.unlink(missing_ok=True)


def _sync_folder(folder: Path) -> None:
    """Let no power failure undo an earlier step after a later one."""
    with suppress(OSError):  # Windows; file systems without it
        file = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(file)
        finally:
            os.close(file)

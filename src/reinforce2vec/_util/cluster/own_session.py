"""A Ray of our own: started on this machine for some work, and ended after it."""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..errors import InputError, first_line
from ..machine import available_cpus
from ..progress import counted
from ..temporary import temporary_folder

_LOCAL = "127.0.0.1"
_LONGEST = 42  # characters of a path in which Ray can have its sockets
_PREFIX = "r2v."  # of names of folders


def start(ray: Any, workers: int | None, folder: str) -> None:
    """Start Ray on this machine with its files in a folder, and connect to it."""
    try:
        ray.init(
            address="local",
            num_cpus=max(workers or 1, available_cpus()),
            include_dashboard=False,
            log_to_driver=False,
            logging_level="error",
            _temp_dir=folder,
        )
    except Exception as error:  # Ray documents no class for it
        raise InputError(f"Ray does not start on this machine: {first_line(error)}") from None


def warn_of_few_cpus(workers: int | None) -> None:
    """Warn if there will be more workers than CPUs."""
    cpus = available_cpus()
    if workers is not None and workers > cpus:
        warnings.warn(
            f"{workers} workers share {counted(cpus, 'CPU')} of this machine, and are slower than "
            "one worker for each CPU",
            RuntimeWarning,
            stacklevel=2,
        )


def warn_of_listening(ray: Any) -> None:
    """Warn if Ray can be reached from other machines."""
    listening = {node["NodeManagerAddress"] for node in ray.nodes()}
    if listening != {_LOCAL}:
        warnings.warn(
            f"this version of Ray listens on {', '.join(sorted(listening))}, not on {_LOCAL}: "
            "whoever reaches its ports can run programs as this user, unless a token protects them",
            RuntimeWarning,
            stacklevel=2,
        )


@contextmanager
def session_folder() -> Iterator[str]:
    """Make a folder for the files of one Ray, and remove it after the block.

    Ray lets all users write to its folder, so it is inside one that is closed to others. The path
    is short, since the path of a socket must be. Folders of programs that were killed are removed.
    """
    place = os.environ.get("RAY_TMPDIR") or tempfile.gettempdir()
    if len(f"{place}/{_PREFIX}12345678/s") > _LONGEST:
        place = "/tmp"  # noqa: S108  a private folder is made in it, by mkdtemp
    with temporary_folder(place, _PREFIX) as folder:
        yield os.path.join(folder, "s")

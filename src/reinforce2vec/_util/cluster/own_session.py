"""A Ray of our own: started on this machine for some work, and ended after it."""

from __future__ import annotations

import os
import shutil
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..errors import InputError, first_line
from ..machine import available_cpus

_LOCAL = "127.0.0.1"
_LONGEST = 40  # characters of a path in which Ray can have its sockets


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

    Its path is short, since the path of a socket must be.
    """
    place = os.environ.get("RAY_TMPDIR") or tempfile.gettempdir()
    folder = tempfile.mkdtemp(prefix="r2v-", dir=place if len(place) < _LONGEST - 12 else "/tmp")
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)

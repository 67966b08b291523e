"""Files of arrays and a description of them: .npz archives with JSON, in which nothing is pickled.

Checkpoints and model files are such files.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .writing import whole

_ABOUT = "about"


def write_arrays(path: Path, about: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write arrays and what JSON can hold, whole or not at all; numpy.load reads them, too."""
    text = json.dumps(about, allow_nan=False).encode()
    named: dict[str, Any] = {_ABOUT: np.frombuffer(text, np.uint8), **arrays}
    with whole(path) as stream:
        np.savez(stream, **named)


def read_about(archive: zipfile.ZipFile) -> Any:
    """Read the description in a file of arrays."""
    return json.loads(read_array(archive, _ABOUT).tobytes())


def read_array(archive: zipfile.ZipFile, name: str) -> Any:
    """Read an array from a file of arrays."""
    with archive.open(f"{name}.npy") as stream:
        return np.lib.format.read_array(stream, allow_pickle=False)

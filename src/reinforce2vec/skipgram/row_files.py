"""Rows of the matrices in files of their own, one for each block: parts of a checkpoint.

The workers of a cluster write them, each its own rows, to a folder that all of them share. The
checkpoint itself names the files, with digests, and is written last; then older ones are removed.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import numpy as np

from .._util.arrays import Vectors, digest
from .._util.errors import InputError
from ..files.array_files import ArrayHeader, read_header, read_into
from ..files.writing import whole

_SUFFIX = ".rows"
_OURS = re.compile(r"(\d+|probe)-[0-9a-f]{8}")  # names of folders of rows


class StoredRows(NamedTuple):
    """Files with the rows of a checkpoint, and their digests."""

    folder: Path
    digests: Mapping[str, str]

    def read(self, matrix: str, block: int, rows: Vectors) -> None:
        """Read the rows of a block; InputError if the file is missing or damaged."""
        path = self.folder / _file_name(matrix, block)
        try:
            with path.open("rb") as stream:
                header = read_header(stream, os.fstat(stream.fileno()).st_size, in_memory=False)
                if header != ArrayHeader(rows.shape, False, rows.dtype):
                    raise ValueError(header)
                read_into(stream, rows)
        except (OSError, ValueError) as error:
            reason = "is missing" if isinstance(error, FileNotFoundError) else "is damaged"
            raise InputError(f"{path}: this part of the checkpoint {reason}") from None
        if digest(rows) != self.digests.get(path.name):
            raise InputError(f"{path}: this part of the checkpoint is damaged")


def write_rows(folder: Path, matrix: str, block: int, rows: Vectors) -> dict[str, str]:
    """Write the rows of a block; return the name of the file and the digest of the rows."""
    path = folder / _file_name(matrix, block)
    with whole(path) as stream:
        header = np.lib.format.header_data_from_array_1_0(rows := np.ascontiguousarray(rows))
        np.lib.format.write_array_header_1_0(stream, header)
        stream.write(rows.data)  # numpy would write past the stream, and its errors name no file
    return {path.name: digest(rows)}


def folder_of_rows(path: Path, name: str) -> Path:
    """Return the folder for the rows of a checkpoint, by its name in the checkpoint."""
    return path.with_name(path.name + _SUFFIX) / Path(name).name


def remove_rows(path: Path, but: str | None = None) -> None:
    """Remove all rows of a checkpoint, except those in the folder of one name.

    What else is in their folder stays, and so does all that a link in its place leads to.
    """
    folder = path.with_name(path.name + _SUFFIX)
    if folder.is_symlink() or not folder.is_dir():
        return
    for one in folder.iterdir():
        if one.name != but and _OURS.fullmatch(one.name):
            shutil.rmtree(one, ignore_errors=True)
    if but is None:
        with suppress(OSError):  # there is something else in it
            folder.rmdir()


def _file_name(matrix: str, block: int) -> str:
    return f"{matrix}-{block}.npy"

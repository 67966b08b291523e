"""Files of arrays and a description of them: .npz archives with JSON, in which nothing is pickled.

Checkpoints and model files are such files. Reading trusts no size that a file declares: an array
is as long as its bytes say, fits in memory, and has the checksum of the archive.
"""

from __future__ import annotations

import json
import math
import re
import struct
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._util.errors import short_repr
from .._util.machine import check_memory
from .writing import whole

_ABOUT = "about"
INFLATION = 1032
"""The highest ratio of compression of deflate, which gzip and zip use."""
_BLOCK = 1 << 20  # bytes that are read at a time
_COMPRESSIONS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_LENGTHS = 26  # where the header of a member has the lengths of its name and of what follows
_WRITTEN_TO_A_PIPE = 0x08  # a flag: its sizes are behind it
_SIZES_BEHIND = (12, 16, 20, 24)  # bytes: a checksum and two sizes, perhaps with a signature
_LONGEST_HEADER = 10_000  # bytes
_VERSIONS = {(1, 0): 2, (2, 0): 4}  # of .npy files: bytes of the length of their header
_HEADER = re.compile(
    rb"\{'descr': *'([<>|=][biufSU]\d{1,9})', *'fortran_order': *(True|False), *"
    rb"'shape': *\((?![\d, ]*\b0\d)([\d, ]*)\),? *\}\s*"
)


def write_arrays(path: Path, about: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write arrays and what JSON can hold, whole or not at all; numpy.load reads them, too."""
    text = json.dumps(about, allow_nan=False).encode()
    named: dict[str, Any] = {_ABOUT: np.frombuffer(text, np.uint8), **arrays}
    with whole(path) as stream:
        np.savez(stream, **named)


def open_archive(stream: IO[bytes]) -> zipfile.ZipFile:
    """Open an .npz archive; ValueError or BadZipFile if it is none, or its directory is damaged.

    The directory at the end has no checksum. Its names are compared with those at the arrays, which
    must lie side by side: otherwise damage would hide an array that a file need not have.
    """
    archive = zipfile.ZipFile(stream)
    names = archive.namelist()
    if len({*names}) < len(names):
        raise ValueError("two of its arrays have the same name")
    for member in archive.infolist():
        if member.compress_type not in _COMPRESSIONS:  # others may take any memory
            raise ValueError(f"{member.filename} is compressed in a way that numpy does not use")
        if member.file_size > INFLATION * (member.compress_size + 1):
            raise ValueError(f"{member.filename} announces more bytes than it can hold")
        archive.open(member).close()
    _check_gaps(stream, archive)
    return archive


def _check_gaps(stream: IO[bytes], archive: zipfile.ZipFile) -> None:
    """Raise ValueError if there are bytes between the members that the directory does not name."""
    members = sorted(archive.infolist(), key=lambda member: member.header_offset)
    begins = [*(member.header_offset for member in members), archive.start_dir]
    if begins[0]:
        raise ValueError("its first bytes are in none of its arrays")
    for member, following in zip(members, begins[1:], strict=True):
        gap = following - content_offset(stream, member) - member.compress_size
        behind = _SIZES_BEHIND if member.flag_bits & _WRITTEN_TO_A_PIPE else (0,)
        if gap not in behind:
            raise ValueError(f"bytes behind {member.filename} are in none of its arrays")


def content_offset(stream: IO[bytes], member: zipfile.ZipInfo) -> int:
    """Return where in an archive the content of a member begins."""
    stream.seek(member.header_offset + _LENGTHS)
    name, more = struct.unpack("<HH", stream.read(4))
    return member.header_offset + _LENGTHS + 4 + int(name) + int(more)


def array_names(archive: zipfile.ZipFile) -> set[str]:
    """Return the names of the arrays in an archive."""
    return {name.removesuffix(".npy") for name in archive.namelist()}


def read_about(archive: zipfile.ZipFile) -> dict[str, Any]:
    """Read the description in a file of arrays; ValueError if it is no JSON object."""
    return decode_info(read_array(archive, _ABOUT).tobytes())


def encode_info(info: Mapping[str, Any]) -> bytes:
    """Return facts as a line of JSON: arrays as lists, what JSON does not know as `repr`."""

    def plain(value: Any) -> Any:
        if isinstance(value, (np.generic, np.ndarray)):
            return value.tolist()
        return dict(value) if isinstance(value, Mapping) else repr(value)

    return json.dumps(dict(info), default=plain).encode()


def decode_info(text: bytes) -> dict[str, Any]:
    """Return facts from a line of JSON; ValueError if it is none."""
    try:
        info = json.loads(text)
    except RecursionError:
        raise ValueError("its description is nested too deeply") from None
    if not isinstance(info, dict):
        raise ValueError("its description is no JSON object")
    return info


def read_array(archive: zipfile.ZipFile, name: str) -> Any:
    """Read an array from an archive that :func:`open_archive` opened; its checksum is compared."""
    member = archive.getinfo(f"{name}.npy")
    with archive.open(member) as stream:
        header = read_header(stream, member.file_size)
        flat = np.empty(math.prod(header.shape), header.dtype)
        read_into(stream, flat)
        return flat.reshape(header.shape, order="F" if header.fortran_order else "C")


class ArrayHeader(NamedTuple):
    """What the beginning of a .npy file says."""

    shape: tuple[int, ...]
    fortran_order: bool
    dtype: np.dtype[Any]


def read_header(stream: IO[bytes], size: int, in_memory: bool = True) -> ArrayHeader:
    """Read the beginning of a .npy file of `size` bytes.

    ValueError unless exactly the announced array of numbers or texts follows. InputError if it is
    to be in memory, and does not fit.
    """
    header = _parse_header(stream)
    announced = math.prod(header.shape) * header.dtype.itemsize
    if header.dtype.itemsize == 0 or announced != size - stream.tell():
        raise ValueError(f"its bytes are not those of an array of shape {header.shape}")
    if in_memory:
        check_memory(announced, f"an array of shape {header.shape} in it")
    return header


def _parse_header(stream: IO[bytes]) -> ArrayHeader:
    """Read what is before an array; ValueError if it is not what numpy writes.

    Numpy would evaluate it as Python, and warn of odd text in it.
    """
    version = np.lib.format.read_magic(stream)
    if version not in _VERSIONS:
        raise ValueError(f"unknown version {version} of a .npy file")
    length = int.from_bytes(stream.read(_VERSIONS[version]), "little")
    facts = _HEADER.fullmatch(stream.read(length)) if length <= _LONGEST_HEADER else None
    if facts is None:
        raise ValueError("expected an array of numbers or texts as numpy writes it")
    try:
        dtype = np.dtype(facts[1].decode())
    except TypeError:
        raise ValueError(f"there are no numbers of type {short_repr(facts[1])}") from None
    shape = tuple(int(size) for size in re.findall(rb"\d+", facts[3]))
    return ArrayHeader(shape, facts[2] == b"True", dtype)


def read_into(stream: IO[bytes], array: NDArray[Any]) -> None:
    """Fill an array, of one piece, with the bytes that follow; ValueError if there are too few."""
    assert array.flags.forc  # else `room` would be a copy
    room: Any = array.reshape(-1, order="A").view(np.uint8).data
    while room:
        # a stream of an archive allocates as much again
        count = stream.readinto(room[:_BLOCK])  # type: ignore[attr-defined]
        if not count:
            raise ValueError("an array ends too early")
        room = room[count:]

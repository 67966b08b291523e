"""Walks in a folder of shards with a manifest, which is written last: a set is whole or not there.

A shard holds a range of walks, as a .npy file. Its name ends in a part of the digest of its bytes,
so that a new set never writes over the files of an older one. The manifest lists the shards; how
walks are divided depends on their length and number alone.
"""

from __future__ import annotations

import json
import os
import re
import secrets
from collections.abc import Generator
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, dataclass
from functools import partial
from io import BytesIO
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._util.arrays import digest
from .._util.errors import InputError
from ._lines import map_in_order
from ._walk_text import encode_ids, read_ids, write_lines
from .array_files import ArrayHeader, read_header
from .edges import kind_of_ids
from .opening import expecting, naming, opened
from .stored_walks import StoredNodes, StoredWalks, check_rows
from .targets import unwritable
from .writing import check_target, claimed, remove_abandoned, whole

Walks = NDArray[np.int32]

_MANIFEST = "manifest.json"
_SHARD_NODES = 1 << 22  # of the walks of a shard: 16 MB
_FORMAT, _VERSION = "reinforce2vec walks", 1
_SUFFIXES = (".txt", ".txt.gz", ".npz")
_PROBE = ".probe-"
_FILE = r"(walks-\d{6,18}-[0-9a-f]{16}\.(npy|parquet)|ids-[0-9a-f]{16}\.txt|manifest\.json)"
_OURS = re.compile(rf"{_FILE}|\.{_FILE}\..*\.part|{re.escape(_PROBE)}[0-9a-f]+")
_LOCK = f".{_MANIFEST}.lock"  # of a run that writes to the folder


@dataclass(frozen=True)
class _Member:
    """A file of a set: `count` walks from number `first` on, or the ids of `count` nodes."""

    file: str
    first: int
    count: int
    bytes: int
    digest: str


@dataclass(frozen=True)
class _Manifest:
    """What a folder of walks holds, as manifest.json says."""

    kind: str  # of the shards: "npy"
    walks: int
    length: int
    ids: _Member
    shards: tuple[_Member, ...]

    @property
    def members(self) -> tuple[_Member, ...]:
        """All files."""
        return *self.shards, self.ids

    def check_files(self, folder: Path) -> None:
        """Raise InputError if a file is missing, or has another size."""
        for member in self.members:
            path = folder / member.file
            if not path.is_file() or path.stat().st_size != member.bytes:
                raise InputError(
                    f"{path}: this file is missing, or does not have the {member.bytes:,} bytes "
                    "that were written: write the walks again"
                )

    def is_sound(self) -> bool:
        """Return whether the shards follow each other, and files have names of this folder."""
        numbers = [(member.first, member.count, member.bytes) for member in self.members]
        ends = [0, *accumulate(shard.count for shard in self.shards)]
        return (
            all(type(number) is int and 0 <= number < 2**62 for row in numbers for number in row)
            and type(self.length) is int
            and [shard.first for shard in self.shards] == ends[:-1]
            and ends[-1] == self.walks
            and 1 <= self.length < 2**31
            and self.walks * self.length < 2**62
            and all(_OURS.fullmatch(member.file) for member in self.members)
        )


def _digest(content: Any) -> str:
    return digest(np.frombuffer(content, np.uint8))


def is_shard_folder(path: str | os.PathLike[str]) -> bool:
    """Return whether a path stands for a folder of shards.

    It ends in a slash, or is a folder; a folder that is named like a file is most often a mistake.
    """
    text = os.fspath(path)
    return text.endswith(("/", os.sep)) or (
        os.path.isdir(text) and not text.lower().endswith(_SUFFIXES)
    )


# -- writing -----------------------------------------------------------------------------------


def check_shard_folder(path: str | os.PathLike[str]) -> Path:
    """Return the folder to write shards to, links followed; InputError if that cannot work.

    It need not exist, but the folder around it must. It may hold nothing but an older set.
    """
    folder = Path(os.path.realpath(path))
    if not folder.is_dir():
        if folder.exists():
            raise InputError(f"{path}: this is a file, expected a folder for shards of walks")
        remove_abandoned(folder)  # of a run that was killed while it tried to write here
        return check_target(folder)
    for name in sorted(os.listdir(folder)):
        if name != _LOCK and not _OURS.fullmatch(name):
            raise InputError(
                f"{path}: this folder holds other files than walks, such as {name}: choose an "
                "empty folder, or the name of a new one"
            )
    check_target(folder / _MANIFEST)
    return folder


def write_shards(path: str | os.PathLike[str], sampler: Any, at_once: int = _SHARD_NODES) -> int:
    """Write the walks of a WalkSampler as shards of about `at_once` nodes; return their steps."""
    folder = check_shard_folder(path)
    size = max(1, at_once // sampler.length)
    with _all_or_nothing(folder) as complete:
        graph, lines = sampler.graph, BytesIO()
        nodes = np.arange(graph.n_nodes, dtype=np.int32)[:, None]
        write_lines(lines, [nodes], encode_ids(graph.ids, folder))
        ids = _write_member(folder, "ids", ".txt", lines.getbuffer(), 0, graph.n_nodes)
        write, check = partial(_write_shard, folder, size), partial(_problem, *_leave_probe(folder))
        with closing(sampler.map_ranges(write, size, before=check)) as ranges:
            written = list(ranges)
        shards = tuple(shard for shard, _ in written)
        manifest = _Manifest("npy", sampler.n_walks, sampler.length, ids, shards)
        manifest.check_files(folder)
        text = json.dumps({"format": _FORMAT, "version": _VERSION, **asdict(manifest)}, indent=1)
        with whole(folder / _MANIFEST) as stream:
            stream.write(f"{text}\n".encode())
        complete.update({_MANIFEST, *(member.file for member in manifest.members)})
    return sum(steps for _, steps in written)


@contextmanager
def _all_or_nothing(folder: Path) -> Generator[set[str], None, None]:
    """Make a folder; yield a set to put the names of a complete set into, others are removed.

    If it stays empty, because of an error, the folder is left as it was. Nobody else may write to
    it in the meantime.
    """
    existed = folder.is_dir()
    folder.mkdir(exist_ok=True)
    complete: set[str] = set()
    try:
        with claimed(folder / _MANIFEST):
            older = set(os.listdir(folder))
            try:
                yield complete
            finally:
                for name in set(os.listdir(folder)) - (complete or older):
                    if _OURS.fullmatch(name):
                        with suppress(OSError):  # the disk has become read-only
                            (folder / name).unlink()
    finally:
        if not existed and not complete:
            with suppress(OSError):  # somebody has put a file there
                folder.rmdir()


def _write_shard(folder: Path, size: int, first: int, walks: Walks) -> tuple[_Member, int]:
    """Write a range of walks to a file, in whichever process has made them; return its steps."""
    content = BytesIO()
    np.save(content, np.ascontiguousarray(walks, "<i4"))
    stem = f"walks-{first // size:06}"
    shard = _write_member(folder, stem, ".npy", content.getbuffer(), first, len(walks))
    return shard, int(np.count_nonzero(walks >= 0)) - len(walks)


def _write_member(
    folder: Path, stem: str, suffix: str, content: Any, first: int, count: int
) -> _Member:
    """Write a file atomically, and return its entry for the manifest."""
    checksum = _digest(content)
    name = f"{stem}-{checksum[:16]}{suffix}"
    with whole(folder / name, alone=True, like=folder / _MANIFEST) as stream:
        stream.write(content)
    return _Member(name, first, count, len(content), checksum)


def _leave_probe(folder: Path) -> tuple[Path, str]:
    """Leave a file in the folder, which other machines should see there."""
    name = _PROBE + secrets.token_hex(8)
    try:
        (folder / name).touch()
    except OSError as error:
        raise unwritable(folder, folder / name, error) from None
    return folder, name


def _problem(folder: Path, probe: str) -> str | None:
    """Return that this machine does not see the folder in which a probe was left, or None."""
    if (folder / probe).exists():
        return None
    return (
        f"{folder}: all machines that make walks write to this folder, and one does not see the "
        "files of the others: use a folder of a file system that they share, or write one file, as "
        ".npz"
    )


# -- reading -----------------------------------------------------------------------------------


def _read_manifest(folder: Path) -> _Manifest:
    """Return the manifest of a folder of shards.

    InputError if it is missing or invalid, or a file is missing or has another size.
    """
    file = folder / _MANIFEST
    if not file.is_file():
        raise InputError(
            f"{folder}: there is no {_MANIFEST} in such a folder: it holds no walks, or was not "
            "written to the end"
        )
    with opened(file, False) as stream:
        content = stream.read()
    manifest = None
    with suppress(ValueError, KeyError, TypeError, RecursionError):
        facts = json.loads(content)
        if (facts["format"], facts["version"], facts["kind"]) == (_FORMAT, _VERSION, "npy"):
            shards = tuple(_Member(**shard) for shard in facts["shards"])
            ids = _Member(**facts["ids"])
            manifest = _Manifest("npy", facts["walks"], facts["length"], ids, shards)
    if manifest is None or not manifest.is_sound():
        raise InputError(
            f"{file}: this is not the manifest of walks with shards in npy, version {_VERSION}, or "
            "it is damaged: write the walks again"
        )
    manifest.check_files(folder)
    return manifest


def read_shards(folder: Path) -> StoredWalks:
    """Read a folder of shards: they stay on disk, after all of them were checked."""
    manifest = _read_manifest(folder)
    ids_path = folder / manifest.ids.file
    ids = read_ids(BytesIO(_checked_content(folder, manifest.ids)), ids_path)

    def offset(shard: _Member) -> int:
        return shard.bytes - 4 * shard.count * manifest.length

    def check(shard: _Member) -> None:
        name, shape = str(folder / shard.file), (shard.count, manifest.length)
        stream = BytesIO(_checked_content(folder, shard))
        with expecting(f"a .npy file of {shape} row numbers (int32)", name):
            header = read_header(stream, shard.bytes, in_memory=False)
            if header != ArrayHeader(shape, False, np.dtype("<i4")):
                raise ValueError(f"it is of {header.shape} {header.dtype}")
        with naming(name):
            walks = np.frombuffer(stream.getbuffer(), "<i4", offset=offset(shard))
            check_rows(walks.reshape(shape), len(ids), shard.first)

    nodes = StoredNodes(  # before they are checked, to notice a change after it
        [
            (folder / shard.file, offset(shard), shard.count * manifest.length)
            for shard in manifest.shards
        ]
    )
    for _ in map_in_order(check, manifest.shards):
        pass
    with naming(str(folder)):
        return StoredWalks.of_length(manifest.length, nodes, ids, (kind_of_ids(ids),))


def _checked_content(folder: Path, member: _Member) -> bytes:
    """Return the contents of a file; InputError if they are not what was written."""
    with opened(folder / member.file, False) as stream:
        content = stream.read()
    if _digest(content) != member.digest:
        raise InputError(
            f"{folder / member.file}: this file is damaged, its digest is not that of {_MANIFEST}: "
            "write the walks again"
        )
    return content

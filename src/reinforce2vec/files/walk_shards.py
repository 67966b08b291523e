"""Walks in a folder of shards with a manifest, which is written last: a set is whole or not there.

A shard holds a range of walks, as a .npy or .parquet file. Its name ends in a part of the digest
of its bytes, so that a new set never writes over the files of an older one. The manifest lists the
shards; how walks are divided depends on their length and number alone.
"""

from __future__ import annotations

import json
import os
import re
import secrets
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, dataclass
from io import BytesIO
from itertools import accumulate
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .._util.arrays import digest
from .._util.errors import InputError, excerpt
from .._util.hyperparameters import SHARD_FORMATS
from ._walk_encoding import ParquetEncoder, Walks, encode_ids, id_lines, write_matrix
from .array_files import ArrayHeader, read_header
from .locks import claimed
from .opening import opened
from .targets import unwritable
from .writing import check_target, remove_abandoned, whole

_MANIFEST = "manifest.json"

_SHARD_NODES = 1 << 22  # of the walks of a shard: 16 MB as .npy
_FORMAT, _VERSION = "reinforce2vec walks", 1
_FILE_SUFFIXES = (".txt", ".txt.gz", ".npy", ".parquet")
_PROBE = ".probe-"
_FILE = r"(walks-\d{6,18}-[0-9a-f]{16}\.(npy|parquet)|ids-[0-9a-f]{16}\.txt|manifest\.json)"
_OURS = re.compile(rf"{_FILE}|\.{_FILE}\..*\.part|{re.escape(_PROBE)}[0-9a-f]+")
_LOCK = f".{_MANIFEST}.lock"  # of a run that writes to the folder


@dataclass(frozen=True)
class Member:
    """A file of a set: `count` walks from number `first` on, or the ids of `count` nodes."""

    file: str
    first: int
    count: int
    bytes: int
    digest: str


@dataclass(frozen=True)
class Manifest:
    """What a folder of walks holds. `ids` is None if the shards hold the ids themselves."""

    folder: Path
    kind: str  # one of SHARD_FORMATS
    walks: int
    length: int
    ids: Member | None
    shards: tuple[Member, ...]

    def read(self, member: Member) -> bytes:
        """Return the contents of a file; InputError if they are not what was written."""
        path = self.folder / member.file
        with opened(path, False) as stream:
            content = stream.read()
        if _digest(content) != member.digest:
            raise InputError(
                f"{path}: this file is damaged, its digest is not that of {_MANIFEST}: write the "
                "walks again"
            )
        return content


def _digest(content: bytes) -> str:
    return digest(np.frombuffer(content, np.uint8))


def is_shard_folder(path: str | os.PathLike[str]) -> bool:
    """Return whether a path stands for a folder of shards.

    It ends in a slash, or is a folder; a folder that is named like a file is most often a mistake.
    """
    text = os.fspath(path)
    if text.endswith(("/", os.sep)):
        return True
    return os.path.isdir(text) and not text.lower().endswith(_FILE_SUFFIXES)


# -- writing -----------------------------------------------------------------------------------


class ShardSource(Protocol):
    """The part of a WalkSampler that is needed here."""

    graph: Any
    length: int

    @property
    def n_walks(self) -> int:
        """Number of walks."""

    def map_ranges(
        self,
        work: Callable[[int, Walks], Any],
        size: int,
        before: Callable[[], str | None] | None = None,
    ) -> Generator[Any, None, None]:
        """Yield what `work` returns for ranges of walks, in their order."""


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


def write_shards(path: str | os.PathLike[str], sampler: ShardSource, kind: str) -> int:
    """Write the walks of a sampler as shards, and return the number of steps."""
    folder = check_shard_folder(path)
    size = max(1, _SHARD_NODES // sampler.length)
    with _all_or_nothing(folder) as keep:
        ids, parquet = None, None
        if kind == "parquet":
            parquet = ParquetEncoder(sampler.graph.ids, folder)
        else:
            lines = id_lines(encode_ids(sampler.graph.ids, folder)).tobytes()
            ids = _write_member(folder, "ids", ".txt", lines, 0, sampler.graph.n_nodes)
        write = _ShardWriter(folder, size, parquet)
        with closing(sampler.map_ranges(write, size, before=_Probe.left_in(folder))) as ranges:
            written = list(ranges)
        shards = tuple(shard for shard, _ in written)
        made = Manifest(folder, kind, sampler.n_walks, sampler.length, ids, shards)
        _check_files(made)
        with whole(folder / _MANIFEST) as stream:
            stream.write(_encode_manifest(made))
        keep.update({_MANIFEST, *(member.file for member in _members(made))})
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


@dataclass(frozen=True)
class _ShardWriter:
    """Writes a range of walks to a file, in whichever process has made them."""

    folder: Path
    size: int
    parquet: ParquetEncoder | None

    def __call__(self, first: int, walks: Walks) -> tuple[Member, int]:
        content = BytesIO()
        if self.parquet is None:
            write_matrix(content, (len(walks), walks.shape[1]), [walks])
        else:
            self.parquet.write(content, [walks])
        stem = f"walks-{first // self.size:06}"
        suffix = ".npy" if self.parquet is None else ".parquet"
        data = content.getbuffer()
        shard = _write_member(self.folder, stem, suffix, data, first, len(walks))
        return shard, int(np.count_nonzero(walks >= 0)) - len(walks)


def _write_member(
    folder: Path, stem: str, suffix: str, content: Any, first: int, count: int
) -> Member:
    """Write a file atomically, and return its entry for the manifest."""
    found = _digest(content)
    name = f"{stem}-{found[:16]}{suffix}"
    with whole(folder / name, alone=True, like=folder / _MANIFEST) as stream:
        stream.write(content)
    return Member(name, first, count, len(content), found)


@dataclass(frozen=True)
class _Probe:
    """Tries whether a machine reads and writes the same folder as the one that has made this."""

    folder: Path
    name: str

    @classmethod
    def left_in(cls, folder: Path) -> _Probe:
        """Leave a file in the folder, which other machines should find there."""
        name = _PROBE + secrets.token_hex(8)
        try:
            (folder / name).touch()
        except OSError as error:
            raise unwritable(folder, folder / name, error) from None
        return cls(folder, name)

    def __call__(self) -> str | None:
        """Return None, or what is wrong."""
        if not (self.folder / self.name).exists():
            return (
                f"{self.folder}: all machines that make walks write to this folder, and one does "
                "not see the files of the others: use a folder of a file system that they share, "
                "or write one file, as .npy or .parquet"
            )
        mine = self.folder / (_PROBE + secrets.token_hex(8))
        try:
            mine.write_bytes(b"?")
            mine.unlink()
        except OSError as error:
            return f"{self.folder}: cannot be written to: {error.strerror or error}"
        return None


# -- the manifest ------------------------------------------------------------------------------


def _encode_manifest(manifest: Manifest) -> bytes:
    found = {"format": _FORMAT, "version": _VERSION, **asdict(manifest)}
    del found["folder"]
    return (json.dumps(found, indent=1) + "\n").encode()


def read_manifest(path: str | os.PathLike[str]) -> Manifest:
    """Return the manifest of a folder of shards.

    InputError if it is missing or invalid, or a file is missing or has another size.
    """
    folder = Path(path)
    if not folder.is_dir():
        raise InputError(f"{path}: there is no such folder")
    file = folder / _MANIFEST
    if not file.is_file():
        raise InputError(
            f"{path}: there is no {_MANIFEST} in this folder: it holds no walks, or was not "
            "written to the end"
        )
    with opened(file, False) as stream:
        content = stream.read()
    try:
        found = json.loads(content)
        if found["format"] != _FORMAT:
            raise ValueError
        if found["version"] != _VERSION:
            raise InputError(
                f"{file}: these walks have version {excerpt(str(found['version']))} of the "
                f"format, and this version of reinforce2vec reads version {_VERSION}: use a newer "
                "one"
            )
        shards = tuple(Member(**shard) for shard in found["shards"])
        ids = None if found["ids"] is None else Member(**found["ids"])
        kind, walks, length = (found[name] for name in ("kind", "walks", "length"))
        manifest = Manifest(folder, kind, walks, length, ids, shards)
        sound = _is_sound(manifest)
    except InputError:
        raise
    except (ValueError, KeyError, TypeError, RecursionError):
        sound = False
    if not sound:
        raise InputError(f"{file}: this is not the manifest of walks, or it is damaged")
    _check_files(manifest)
    return manifest


def _is_sound(manifest: Manifest) -> bool:
    """Return whether the shards follow each other, and files have names of this folder."""
    numbers = [(member.first, member.count, member.bytes) for member in _members(manifest)]
    ends = [0, *accumulate(shard.count for shard in manifest.shards)]
    return (
        all(type(number) is int and 0 <= number < 2**62 for row in numbers for number in row)
        and type(manifest.length) is int
        and [shard.first for shard in manifest.shards] == ends[:-1]
        and ends[-1] == manifest.walks
        and 1 <= manifest.length < 2**31
        and manifest.walks * manifest.length < 2**62
        and manifest.kind in SHARD_FORMATS
        and (manifest.ids is None) == (manifest.kind == "parquet")
        and all(_OURS.fullmatch(member.file) for member in _members(manifest))
    )


def _members(manifest: Manifest) -> Iterable[Member]:
    return manifest.shards if manifest.ids is None else (*manifest.shards, manifest.ids)


def _check_files(manifest: Manifest) -> None:
    """Raise InputError if a file of a set is missing, or has another size."""
    for member in _members(manifest):
        path = manifest.folder / member.file
        try:
            size = path.stat().st_size
        except OSError:
            raise InputError(
                f"{path}: this file is missing, though {_MANIFEST} names it: write the walks again"
            ) from None
        if size != member.bytes:
            raise InputError(
                f"{path}: this file has {size:,} bytes, and {member.bytes:,} were written: write "
                "the walks again"
            )


# -- reading -----------------------------------------------------------------------------------


class StoredNodes:
    """The nodes of all walks in .npy files, read from the files a slice at a time.

    Slices are int32 arrays; `numpy.asarray` reads everything. The files are not mapped: a mapped
    file that becomes shorter ends the process, and one that is written to changes what was
    checked. InputError if a file has changed.

    Parameters
    ----------
    files : list of (path, int, int)
        Each file, where in it the nodes begin, and their number.
    """

    dtype = np.dtype(np.int32)

    def __init__(self, files: Sequence[tuple[Path, int, int]]) -> None:
        self._paths = [path.absolute() for path, _, _ in files]
        self._headers = [header for _, header, _ in files]
        counts = [count for _, _, count in files]
        self._begins = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
        self._stamps = [_stamp(os.stat(path)) for path in self._paths]

    @classmethod
    def of_shards(cls, manifest: Manifest) -> StoredNodes:
        """Return the nodes of a folder of shards."""
        counts = [(shard, shard.count * manifest.length) for shard in manifest.shards]
        return cls(
            [(manifest.folder / one.file, one.bytes - 4 * count, count) for one, count in counts]
        )

    def __len__(self) -> int:
        return int(self._begins[-1])

    @property
    def shape(self) -> tuple[int]:
        """Number of nodes, as arrays have it."""
        return (len(self),)

    def __getitem__(self, places: slice) -> NDArray[np.int32]:
        if not isinstance(places, slice):
            raise TypeError("nodes of stored walks are read by slices; numpy.asarray reads all")
        begin, end, step = places.indices(len(self))
        if step != 1:
            raise IndexError("the nodes of stored walks are read in their order: use step 1")
        nodes = np.empty(max(0, end - begin), np.int32)
        shard = int(np.searchsorted(self._begins, begin, side="right")) - 1
        filled = 0
        while filled < len(nodes):
            at = begin + filled - int(self._begins[shard])
            count = min(len(nodes) - filled, int(self._begins[shard + 1]) - begin - filled)
            nodes[filled : filled + count] = self._read(shard, at, count)
            shard, filled = shard + 1, filled + count
        return nodes

    def _read(self, shard: int, at: int, count: int) -> NDArray[np.int32]:
        path, offset = self._paths[shard], self._headers[shard] + 4 * at
        with opened(path, False) as stream:
            nodes: NDArray[np.int32] = np.fromfile(stream, "<i4", count, offset=offset)
            now = _stamp(os.fstat(stream.fileno()))
        if len(nodes) < count or now != self._stamps[shard]:
            raise InputError(
                f"{path}: this file has changed since it was opened: leave walks as they are until "
                "the training on them has ended"
            )
        return nodes

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return self[:].astype(dtype or self.dtype, copy=False)


def _stamp(found: os.stat_result) -> tuple[int, ...]:
    """Return what changes when a file is written to or replaced."""
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def read_matrix(manifest: Manifest, shard: Member) -> Walks:
    """Return the walks of a .npy shard; InputError if it is damaged."""
    content = manifest.read(shard)
    stream, shape = BytesIO(content), (shard.count, manifest.length)
    try:
        header = read_header(stream, len(content), in_memory=False)
    except ValueError:
        header = None
    if header != ArrayHeader(shape, False, np.dtype("<i4")):
        path = manifest.folder / shard.file
        raise InputError(f"{path}: expected a .npy file of {shape} row numbers (int32)")
    return np.frombuffer(content, "<i4", offset=stream.tell()).reshape(shape)

"""Reads and writes vectors and the ids of their nodes, in the format that a file's suffix names.

A new format is a function that writes, one that reads, and an entry in the table at the end.
"""

from __future__ import annotations

import codecs
import os
import re
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from .._util.arrays import BLOCK_BYTES, row_blocks
from .._util.errors import InputError, excerpt
from .._util.ids import Ids, as_ids
from ._decimals import parse_rows, write_rows
from ._fields import SPACE, TAB
from ._lines import read_lines
from ._parquet import import_arrow
from .array_files import (
    INFLATION,
    array_names,
    decode_info,
    encode_info,
    open_archive,
    read_array,
)
from .id_texts import (
    EncodedIds,
    arrow_ids,
    encode_texts,
    ids_as_arrays,
    ids_from_arrays,
    parse_ids,
)
from .opening import expecting, opened
from .targets import (
    check_size,
    check_space,
    is_stdout,
    known_suffix,
    resolve_target,
    standard_output,
)
from .vector_tables import (
    StoredVectors,
    csv_ids,
    kept_texts,
    read_csv,
    read_parquet,
    write_csv,
    write_parquet,
)
from .writing import check_target, whole

_NPZ_FORMAT = 1
_LONGEST_COUNTS = 100  # bytes of the first line of word2vec formats
_WRITTEN = "vectors are written to"


# -- all formats -------------------------------------------------------------------------------


def save_vectors(path: str | os.PathLike[str], stored: StoredVectors) -> None:
    """Write ids and vectors to a file; see :meth:`reinforce2vec.Embedding.save`.

    The file is written atomically: after an error or an interrupt, an older file of this name is
    unchanged. "-" is the text of a .csv file on standard output.
    """
    if is_stdout(path):
        with standard_output() as stream:
            write_csv(stream, csv_ids(stored.ids, Path(path)), stored.vectors)
        return
    form = _FORMATS[known_suffix(Path(path), _FORMATS, _WRITTEN)]
    target = resolve_target(path)
    check_space(target, form.size(*stored.vectors.shape))
    form.write(target, stored)


def load_vectors(path: str | os.PathLike[str]) -> StoredVectors:
    """Read ids and vectors from a file; see :meth:`reinforce2vec.Embedding.load`.

    Whatever keeps the file from being read is an InputError that names the file, and in text the
    line. Nothing is unpickled.
    """
    path = Path(path)
    readers = {suffix: form.read for suffix, form in _FORMATS.items() if form.read is not None}
    suffix = known_suffix(path, readers, "vectors are read from")
    try:
        with opened(path, suffix.endswith(".gz")) as stream:
            if not stream.read(1):
                raise InputError(f"{path}: expected vectors, but the file is empty")
            stream.seek(0)
            return readers[suffix](stream, path)
    except MemoryError:
        raise InputError(f"{path}: there is not enough memory for its vectors") from None


def check_vectors_path(path: str | os.PathLike[str]) -> Path:
    """Return where vectors will be written, links followed; InputError if that cannot work.

    The suffix must be known and the folder writable, which is tried out. "-" always works.
    """
    path = Path(path)
    if is_stdout(path):
        return path
    suffix = known_suffix(path, _FORMATS, _WRITTEN)
    if suffix == ".parquet":
        import_arrow("writing a .parquet file")
    target = check_target(path)
    if suffix == ".tsv":
        resolve_target(metadata_path(target))
    return target


def check_vectors_fit(path: str | os.PathLike[str], ids: Ids, dimensions: int) -> None:
    """Raise InputError if node ids do not fit the format, or the vectors not on the disk."""
    if is_stdout(path):
        csv_ids(ids, Path(path))
        return
    form = _FORMATS[known_suffix(Path(path), _FORMATS, _WRITTEN)]
    if ids.dtype == object:  # integers fit every format
        form.names(ids, Path(path))
    size = form.size(len(ids), dimensions)
    check_space(resolve_target(path), size)
    check_size(Path(path), size)


# -- .npz --------------------------------------------------------------------------------------


def _write_npz(path: Path, stored: StoredVectors) -> None:
    """Write arrays as numpy.load reads them; their time stamps are constant: one seed, one file."""
    ids = ids_as_arrays(stored.ids, path)
    arrays: dict[str, Any] = {"format": _NPZ_FORMAT, "vectors": stored.vectors, **ids}
    if stored.scales is not None and len(stored.scales) > 1:
        arrays["scales"] = np.array(stored.scales, np.int64)
    if stored.info:
        arrays["info"] = np.frombuffer(encode_info(stored.info), np.uint8)  # JSON, no pickle
    with whole(path) as stream:
        np.savez(stream, **arrays)


def _read_npz(stream: BinaryIO, path: Path) -> StoredVectors:
    """Read what :func:`_write_npz` wrote."""
    with expecting("an embedding that this version of reinforce2vec reads", str(path)):
        archive = open_archive(stream)
        names = array_names(archive)
        if not {"format", "vectors", "ids"} <= names:
            raise ValueError("it does not have the arrays format, vectors and ids")
        version = read_array(archive, "format")
        if version.shape != () or version != _NPZ_FORMAT:
            raise ValueError(f"it is of format {version}, expected {_NPZ_FORMAT}")
        vectors, ids = (read_array(archive, name) for name in ("vectors", "ids"))
        if vectors.dtype != np.float32 or vectors.ndim != 2:
            raise ValueError("its vectors are not a matrix of float32")
        if "begins" in names:
            ids = ids_from_arrays(ids, read_array(archive, "begins"))
        if ids.shape != vectors.shape[:1] or ids.dtype not in (np.int64, object):
            raise ValueError("its ids are not one for each vector")
        scales = read_array(archive, "scales") if "scales" in names else None
        if scales is not None and (scales.dtype != np.int64 or scales.ndim != 1):
            raise ValueError("its scales are not integers")
        info = decode_info(read_array(archive, "info").tobytes()) if "info" in names else {}
    return StoredVectors(ids, vectors, None if scales is None else scales.tolist(), info)


# -- word2vec ----------------------------------------------------------------------------------


def _word2vec_ids(ids: Ids, path: Path) -> EncodedIds:
    """Return ids in UTF-8; InputError if one is empty or holds whitespace, which ends an id."""
    return EncodedIds.of(encode_texts(kept_texts(ids, path, r"\s|^$"), path))


def _read_counts(stream: BinaryIO, path: Path, inflation: int = 1) -> tuple[int, int]:
    """Read the numbers of vectors and dimensions; InputError if the file is too small for them."""
    line = stream.readline(_LONGEST_COUNTS).removeprefix(codecs.BOM_UTF8)
    counts = re.fullmatch(rb"(\d+)[ \t]+([1-9]\d*)[ \t\r]*(?:\n|\Z)", line)
    if counts is None or len(line) == _LONGEST_COUNTS:
        raise InputError(
            f"{path}, line 1: expected the number of vectors and their dimensions, found "
            f'"{excerpt(line.strip())}"'
        )
    n_nodes, dimensions = map(int, counts.groups())
    if n_nodes * dimensions > path.stat().st_size * inflation or dimensions >= 2**31:
        raise InputError(
            f"{path}, line 1: it announces {n_nodes:,} vectors of {dimensions:,} numbers, more "
            "than a file of this size can hold; is it complete?"
        )
    return n_nodes, dimensions


def _write_text(path: Path, stored: StoredVectors, packed: bool = False) -> None:
    """Write an id and its numbers per line, separated by spaces."""
    words = _word2vec_ids(stored.ids, path)
    with whole(path, packed) as stream:
        stream.write(b"%d %d\n" % stored.vectors.shape)
        write_rows(stream, words, stored.vectors, SPACE)


def _read_text(stream: BinaryIO, path: Path) -> StoredVectors:
    """Read what word2vec, fastText, gensim or :func:`_write_text` wrote."""
    inflation = INFLATION if path.suffix.lower() == ".gz" else 1
    n_nodes, dimensions = _read_counts(stream, path, inflation)
    vectors = np.empty((n_nodes, dimensions), np.float32)
    words: list[bytes] = []
    while lines := read_lines(stream, str(path), BLOCK_BYTES):
        done = len(words)
        rows = [line.partition(b" ") for line in lines[: n_nodes - done]]
        words += [word for word, _, _ in rows]
        if rows:
            texts = [text for _, _, text in rows]
            vectors[done : len(words)] = parse_rows(
                texts, dimensions, path, range(done + 2, len(words) + 2)
            )
        if b"" in words[done:]:
            line = words.index(b"", done) + 2
            raise InputError(f"{path}, line {line}: expected a node id, but it begins with a space")
        if any(map(bytes.strip, lines[len(rows) :])):
            raise _wrong_count(path, n_nodes, "has more")
    if len(words) < n_nodes:
        raise _wrong_count(path, n_nodes, f"has {len(words):,}; is it complete?")
    return StoredVectors(_decode_ids(words), vectors)


def _wrong_count(path: Path, n_nodes: int, content: str) -> InputError:
    """Return the error for a file that does not hold the vectors that it announces."""
    return InputError(f"{path}: line 1 announces {n_nodes:,} vectors, but the file {content}")


def _decode_ids(words: list[bytes]) -> Ids:
    """Return node ids by the rule for edge lists: integers if all of them are, else strings."""
    texts = [word.decode(errors="surrogateescape") for word in words]
    try:
        return parse_ids(texts)
    except ValueError:  # thousands of digits, or bytes that are not UTF-8: no integers
        return as_ids(texts)


def _write_binary(path: Path, stored: StoredVectors) -> None:
    """Write an id, a space, the vector as it is in memory and a line break for each node."""
    words, vectors = _word2vec_ids(stored.ids, path), stored.vectors
    raw = words.letters.tobytes()
    with whole(path) as stream:
        stream.write(b"%d %d\n" % vectors.shape)
        for rows in row_blocks(vectors):
            numbers = np.ascontiguousarray(vectors[rows], "<f4")
            places = pairwise(words.begins[rows.start : rows.start + len(numbers) + 1].tolist())
            for (begin, end), vector in zip(places, numbers, strict=True):
                stream.write(b"%b %b\n" % (raw[begin:end], vector.tobytes()))


def _read_binary(stream: Any, path: Path) -> StoredVectors:
    """Read what word2vec, gensim or :func:`_write_binary` wrote; line breaks may be missing.

    The file is not mapped into memory: if it were cut off meanwhile, that would end the process.
    """
    n_nodes, dimensions = _read_counts(stream, path)
    vectors = np.empty((n_nodes, dimensions), "<f4")
    room: Any = vectors.reshape(-1).view(np.uint8).data
    size = 4 * dimensions
    words: list[bytes] = []
    for begin in range(0, n_nodes * size, size):
        word = _read_word(stream)
        if not word.endswith(b" ") or stream.readinto(room[begin : begin + size]) < size:
            raise _wrong_count(path, n_nodes, f"ends within vector {len(words) + 1:,}")
        words.append(word[:-1].lstrip(b"\n"))
    while block := stream.read(BLOCK_BYTES):
        if block.strip():
            raise _wrong_count(path, n_nodes, "has more")
    return StoredVectors(_decode_ids(words), vectors.astype(np.float32, copy=False))


def _read_word(stream: Any) -> bytes:
    """Read up to the next space, or to the end of the file."""
    parts: list[bytes] = []
    while ahead := stream.peek():
        parts.append(stream.read(ahead.find(b" ") + 1 or len(ahead)))
        if parts[-1].endswith(b" "):
            break
    return b"".join(parts)


# -- TensorBoard -------------------------------------------------------------------------------


def metadata_path(path: Path) -> Path:
    """Return the path of the ids next to a .tsv file of vectors, links followed."""
    return Path(os.path.realpath(path)).with_suffix(".metadata.tsv")


def _metadata_lines(ids: Ids, path: Path) -> list[bytes]:
    """Return ids in UTF-8; InputError if one would not be a line with one column."""
    return encode_texts(kept_texts(ids, path, r"[\t\n\r\0]|^\s*$"), path)


def _write_tsv(path: Path, stored: StoredVectors) -> None:
    """Write one vector per line, separated by tabs, after the ids next to it, one per line."""
    lines = [label + b"\n" for label in _metadata_lines(stored.ids, path)]
    with whole(resolve_target(metadata_path(path))) as metadata:
        metadata.writelines(lines)
    with whole(path) as stream:
        write_rows(stream, EncodedIds.of([b""] * len(lines)), stored.vectors, TAB)


# -- CSV ---------------------------------------------------------------------------------------


def _write_csv(path: Path, stored: StoredVectors, packed: bool = False) -> None:
    """Write a line of names, then an id and its numbers per line, separated by commas."""
    words = csv_ids(stored.ids, path)
    with whole(path, packed) as stream:
        write_csv(stream, words, stored.vectors)


# -- which format for which suffix -------------------------------------------------------------


class _Format(NamedTuple):
    """How vectors are written and read."""

    write: Callable[[Path, StoredVectors], None]
    read: Callable[[BinaryIO, Path], StoredVectors] | None  # None: for other programs
    names: Callable[[Ids, Path], object]  # converts ids; InputError if one does not fit
    bytes_per_number: int

    def size(self, n_nodes: int, dimensions: int) -> int:
        """Return about how many bytes a file will have."""
        return n_nodes * (dimensions * self.bytes_per_number + 8)


_TEXT = _Format(_write_text, _read_text, _word2vec_ids, 13)
_FORMATS: dict[str, _Format] = {
    ".npz": _Format(_write_npz, _read_npz, ids_as_arrays, 4),
    ".txt": _TEXT,
    ".vec": _TEXT,
    ".txt.gz": _Format(partial(_write_text, packed=True), _read_text, _word2vec_ids, 5),
    ".csv": _Format(_write_csv, read_csv, csv_ids, 13),
    ".csv.gz": _Format(partial(_write_csv, packed=True), read_csv, csv_ids, 5),
    ".bin": _Format(_write_binary, _read_binary, _word2vec_ids, 4),
    ".tsv": _Format(_write_tsv, None, _metadata_lines, 13),
    ".parquet": _Format(write_parquet, read_parquet, arrow_ids, 4),
}

"""Reads walks from files, or takes them from memory, to train on: `read_walks`, `walks_from`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from .._util.errors import InputError, excerpt, python_setting, short_repr
from .._util.ids import Ids, number_objects
from .._util.progress import counted
from ._fields import BLANK, DELIMITER, LINE_END, NEWLINE, ORDINARY, RETURN, TAB, find_tokens
from ._lines import CHUNK_BYTES, TextChunk, map_in_order, read_chunks
from ._parquet import import_arrow, open_parquet
from ._tokens import TokenIds, Tokens, token_hashes
from .array_files import read_header, read_npy
from .edges import check_id_type, ids_of_type, kind_of_ids
from .opening import errors_of, expecting, naming, opened
from .pairs import check_unchanged, read_pair
from .targets import known_suffix
from .walk_shards import Manifest, Member, StoredNodes, is_shard_folder, read_manifest, read_matrix
from .walk_writers import walk_ids_path

_CHECKED_NODES = 1 << 20  # nodes of a matrix to check at a time
_BATCH_WALKS = 1 << 12  # walks of a Parquet file to convert at a time
_MOST_NODES = 2**31 - 1


@dataclass(frozen=True, eq=False, repr=False)
class StoredWalks:
    """Walks of any lengths, one after another, and the ids of their nodes.

    Walk k is `nodes[begins[k]:begins[k + 1]]`, up to the first -1 if there is one: a matrix is kept
    with its padding. No walk is empty. The arrays are read-only.

    Attributes
    ----------
    nodes : int32 array
        The nodes of all walks, as row numbers into `ids`. If walks were read from .npy files,
        slices of `nodes` are arrays, which are read from the files.
    begins : int64 array (n_walks + 1)
        Where in `nodes` each walk begins, and where the last one ends.
    ids : int64 or object array
        The node ids.
    notes : tuple of str
        What was decided while they were read.
    """

    nodes: NDArray[np.int32] | StoredNodes
    begins: NDArray[np.int64]
    ids: Ids
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for array in (self.nodes, self.begins, self.ids):
            if isinstance(array, np.ndarray):
                array.flags.writeable = False

    def __repr__(self) -> str:
        n_walks = counted(len(self.begins) - 1, "walk")
        return f"StoredWalks({n_walks}, {counted(len(self.ids), 'node')})"


def read_walks(
    path: str | os.PathLike[str], *, delimiter: str | None = None, id_type: str | None = None
) -> StoredWalks:
    """Read walks from a file, in the format that the file's suffix names.

    ============  ==============================================================================
    .txt .txt.gz  one walk per line, its node ids separated by tabs, or by spaces in a file without
                  tabs. Nodes are numbered in the order in which the file names them.
    .npy          a matrix of row numbers, -1 after a walk's end; next to it, NAME.ids.txt holds
                  the node ids, one per line, in row order
    .parquet      a column "walk" of lists of node ids; needs pyarrow
    folder/       many .npy or .parquet files, as manifest.json lists them
    ============  ==============================================================================

    These are the formats of :func:`reinforce2vec.write_walks`. Ids in text are integers if all of
    them are, else strings. Memory: 4 bytes per node of a walk, 8 per walk, the ids, and a few
    chunks of the file; matrices of int32, alone or in a folder, stay on disk and are read as they
    are needed. They must not change in the meantime: that is an InputError.

    They are read once at the beginning, to check that they are complete and name only nodes that
    have an id, and that files of a folder have the digests of the manifest.

    Parameters
    ----------
    path : path
        The file or the folder to read.
    delimiter : {"\\t", " "}, optional
        What separates the ids in text: single tabs, or runs of spaces. By default tabs if there is
        one in the file.
    id_type : {"int", "str"}, optional
        What ids become. "int" refuses ids that are no integers; "str" keeps numbers as text.

    Returns
    -------
    StoredWalks

    Raises
    ------
    InputError
        If the file cannot be read; the message names the file, and the line or the walk.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from reinforce2vec import read_walks
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "walks.txt")
    ...     _ = file.write_text("ann\\tbob\\tann\\ncid\\n")
    ...     walks = read_walks(file)
    >>> walks.nodes.tolist(), walks.begins.tolist(), walks.ids.tolist()
    ([0, 1, 0, 2], [0, 3, 4], ['ann', 'bob', 'cid'])
    >>> walks.notes
    ('separated by tabs', 'text ids')
    """
    check_id_type(id_type)
    is_folder, path = is_shard_folder(path), Path(path)
    suffix = ""
    if not is_folder:
        suffix = known_suffix(path, (*_TEXT, *_READERS), "walks are read from")
    if suffix in _TEXT:
        walks = _read_text(path, suffix in _PACKED, delimiter)
    elif delimiter is not None:
        raise InputError(
            f"{path}: {python_setting('delimiter', delimiter)} is for walks in text",
            settings=[("delimiter", delimiter)],
        )
    else:
        walks = _READERS[suffix](path) if suffix else _read_shards(read_manifest(path))
    if id_type is None:
        return walks
    with naming(str(path)):
        ids = ids_of_type(walks.ids, id_type)
    others = (note for note in walks.notes if note != kind_of_ids(walks.ids))
    return replace(walks, ids=ids, notes=tuple(others))


def walks_from(walks: Any, ids: Any = None) -> StoredWalks:
    """Return walks that are given in any supported form.

    Parameters
    ----------
    walks : array (n, length), sequences of node ids, path or StoredWalks
        An array holds row numbers, with -1 after a walk's end. Sequences of ids may differ in
        length. A path is read by :func:`read_walks`.
    ids : sequence of node ids, or Graph, optional
        With an array: the ids of its rows, by default 0, 1, 2, .... With sequences: all ids that
        may occur, by default those that do, in order of appearance.

    Returns
    -------
    StoredWalks

    Raises
    ------
    InputError
        If there are no walks, or a walk cannot be used; the message says which.

    Examples
    --------
    >>> from reinforce2vec.files.walk_readers import walks_from
    >>> walks = walks_from([["ann", "bob", "ann"], ["cid"]])
    >>> walks.nodes.tolist(), walks.begins.tolist(), walks.ids.tolist()
    ([0, 1, 0, 2], [0, 3, 4], ['ann', 'bob', 'cid'])
    """
    if isinstance(walks, (str, os.PathLike, StoredWalks)):
        if ids is not None:
            raise InputError("ids are for walks in an array or in lists: these have their own")
        return walks if isinstance(walks, StoredWalks) else read_walks(walks)
    if hasattr(walks, "__array__"):
        walks = np.asarray(walks)
        if walks.dtype.kind in "biufc":
            return _from_matrix(walks, None if ids is None else _known_ids(ids))
    return _from_lists(walks, None if ids is None else _known_ids(ids))


def _stored_walks(
    nodes: NDArray[np.int32] | StoredNodes,
    begins: NDArray[np.int64],
    ids: Ids,
    notes: tuple[str, ...] = (),
) -> StoredWalks:
    """Return walks; InputError if there are none."""
    if len(begins) < 2:
        raise InputError("there are no walks")
    return StoredWalks(nodes, begins, ids, notes)


# -- walks in memory ---------------------------------------------------------------------------


def _known_ids(ids: Any) -> Ids:
    """Return node ids in row order; InputError if one occurs twice."""
    if hasattr(ids, "ids"):  # a Graph
        known: Ids = ids.ids
        return known
    if isinstance(ids, (str, bytes)) or not isinstance(ids, Iterable):
        raise InputError(f"ids are a list of node ids or a Graph, not {type(ids).__name__}")
    listed = ids.tolist() if hasattr(ids, "tolist") else list(ids)
    rows, distinct = number_objects(listed, [])
    repeated = np.flatnonzero(rows != np.arange(len(rows)))
    if repeated.size:
        raise InputError(f"ids must differ, but {short_repr(listed[repeated[0]])} is there twice")
    return distinct


def _from_matrix(
    matrix: NDArray[Any], ids: Ids | None, there_are: str = "there are"
) -> StoredWalks:
    """Return walks from a matrix of row numbers, not copied if it is int32 and in C order."""
    if matrix.ndim != 2:
        raise InputError(f"an array of walks has the shape (n, length), not {matrix.shape}")
    if matrix.dtype.kind not in "iu":
        raise InputError(f"an array of walks holds row numbers, not {matrix.dtype}: use integers")
    if ids is None:
        n_ids = int(matrix.max(initial=0)) + 1
        if n_ids > _MOST_NODES:
            raise InputError(
                f"row numbers must be below {_MOST_NODES:,}: if these are node ids, pass "
                "walks.tolist(), and they will be numbered"
            )
        ids = np.arange(n_ids, dtype=np.int64)
    _check_rows(matrix, len(ids), f"{there_are} {len(ids):,} ids")
    n_walks, length = matrix.shape
    nodes = np.ascontiguousarray(matrix, np.int32).reshape(-1)
    return _stored_walks(nodes, np.arange(n_walks + 1, dtype=np.int64) * length, ids)


def _check_rows(matrix: NDArray[Any], n_ids: int, there_are_ids: str, number: int = 0) -> None:
    """Raise InputError for rows out of range, empty walks, and nodes after a walk's end.

    The walks are numbered from `number`.
    """
    step = max(1, _CHECKED_NODES // max(1, matrix.shape[1]))
    for first in range(0, len(matrix), step):
        rows = matrix[first : first + step]
        ended = rows < 0
        bad = ended[:, :1].all(1) | (ended[:, :-1] & ~ended[:, 1:]).any(1)
        bad |= ((rows < -1) | (rows >= n_ids)).any(1)
        for walk in np.flatnonzero(bad)[:1].tolist():
            problem = _describe_problem(rows[walk].tolist(), n_ids, there_are_ids)
            raise InputError(f"walk {number + first + walk:,} (counted from 0) {problem}")


def _describe_problem(walk: list[int], n_ids: int, there_are_ids: str) -> str:
    """Return why a row of a matrix is not a walk."""
    for row in walk:
        if row < -1:
            return f"holds {row}: row numbers begin at 0, and -1 marks the end of a walk"
        if row >= n_ids:
            return f"names row {row}, but {there_are_ids}: rows are counted from 0"
    if not walk or walk[0] < 0:
        return "is empty: it needs a node at least"
    return "goes on after a -1, which marks the end of a walk"


def _from_lists(walks: Any, ids: Ids | None) -> StoredWalks:
    """Return walks from sequences of node ids, which are numbered, or looked up in `ids`."""
    if isinstance(walks, bytes) or hasattr(walks, "ids") or not isinstance(walks, Iterable):
        raise InputError(
            "walks are an array of row numbers, lists of node ids or the path of a file, not "
            f"{type(walks).__name__}"
        )
    lists = [walk.tolist() if hasattr(walk, "tolist") else walk for walk in walks]
    for number, walk in enumerate(lists):
        if not isinstance(walk, Sequence) or isinstance(walk, (str, bytes)):
            raise InputError(
                f"walk {number:,} (counted from 0) is of type {type(walk).__name__}: expected a "
                "list of node ids"
            )
    begins = np.zeros(len(lists) + 1, np.int64)
    np.cumsum([len(walk) for walk in lists], out=begins[1:])
    _check_lengths(np.diff(begins))
    known = [] if ids is None else ids.tolist()
    rows, found = number_objects(known, lists)
    nodes = rows[len(known) :]
    if ids is None:
        _check_no_floats(found)
    elif len(found) > len(ids):
        walk = np.searchsorted(begins[1:], np.argmax(nodes >= len(ids)), side="right")
        node = found.item(len(ids))
        raise InputError(
            f"walk {walk:,} (counted from 0) names {short_repr(node)}, which is not among the ids"
        )
    return _stored_walks(nodes, begins, found if ids is None else ids)


def _check_lengths(lengths: NDArray[np.int64], first: int = 0) -> None:
    """Raise InputError for an empty walk; the walks are numbered from `first`."""
    for walk in np.flatnonzero(lengths == 0)[:1].tolist():
        raise InputError(
            f"walk {first + walk:,} (counted from 0) is empty: it needs a node at least"
        )


def _check_no_floats(ids: Ids) -> None:
    """Raise InputError for ids that are floats, which are most often a mistake."""
    for node in ids.tolist() if ids.dtype == object else ():
        if isinstance(node, (float, np.floating)):
            raise InputError(
                f"node ids are integers or strings, but one is the float {short_repr(node)}"
            )


# -- text --------------------------------------------------------------------------------------


class _GrowingArray:
    """An array that grows at its end, in place where the operating system can extend memory."""

    def __init__(self, dtype: Any) -> None:
        """Make an empty array."""
        self._array = np.empty(0, dtype)
        self.size = 0

    def add(self, items: NDArray[Any]) -> None:
        """Append items."""
        begin, self.size = self.size, self.size + items.size
        if self.size > self._array.size:
            self._array.resize(self.size + self.size // 8, refcheck=False)
        self._array[begin : self.size] = items

    def whole(self) -> NDArray[Any]:
        """Return all items; none can be added after this."""
        self._array.resize(self.size, refcheck=False)
        return self._array


class _WalkCollector:
    """Collects walks chunk by chunk."""

    def __init__(self) -> None:
        """Start without walks."""
        self.nodes, self.begins = _GrowingArray(np.int32), _GrowingArray(np.int64)
        self.begins.add(np.zeros(1, np.int64))

    def add(self, nodes: NDArray[np.int32], ends: NDArray[np.int64]) -> None:
        """Append walks; `ends` holds where in `nodes` each of them ends."""
        self.begins.add(ends + self.nodes.size)
        self.nodes.add(nodes)

    def walks(self, ids: Ids, notes: tuple[str, ...] = ()) -> StoredWalks:
        """Return all walks."""
        return _stored_walks(self.nodes.whole(), self.begins.whole(), ids, notes)


class _WalkParser:
    """Parses chunks of walks in text; errors name the file and the line."""

    def __init__(self, name: str, separator: int) -> None:
        """Set the separator: each tab separates two ids, or each run of spaces does."""
        self.ids = TokenIds()
        self._name = name
        self._separator = separator
        self._kinds = np.full(256, ORDINARY, np.uint8)
        self._kinds[[NEWLINE, RETURN]] = LINE_END
        self._kinds[separator] = DELIMITER if separator == TAB else BLANK

    def parse(self, chunk: TextChunk) -> tuple[Tokens, NDArray[np.int64]]:
        """Return the ids of a chunk, and where among them each walk ends."""
        data = np.frombuffer(chunk.text, np.uint8)
        ends = np.empty(chunk.count_lines(), np.int64)
        separators = int(np.count_nonzero(data == self._separator))
        places = np.empty((separators + len(ends), 2), np.int32)
        lines, gap = find_tokens(data, self._kinds, places, ends)
        if gap >= 0:
            raise InputError(
                f"{self._name}, line {chunk.line_at(gap)}: expected node ids separated by single "
                "tabs, but one is empty"
            )
        ends = ends[:lines]
        return self.ids.parse(data, places[: ends[-1] if lines else 0]), ends


def _read_text(path: Path, compressed: bool, delimiter: str | None) -> StoredWalks:
    """Read one walk per line."""
    if delimiter not in (None, *_SEPARATORS):
        raise InputError(
            f"a tab or spaces separate the ids of walks, not delimiter={delimiter!r}",
            parameter="delimiter",
            value=delimiter,
        )
    with opened(path, compressed) as stream:
        chosen = delimiter or _likely_separator(stream)
        lines = _WalkParser(str(path), ord(chosen))
        gathered = _WalkCollector()
        for tokens, ends in map_in_order(lines.parse, read_chunks(stream, str(path), CHUNK_BYTES)):
            gathered.add(lines.ids.number(tokens), ends)
    ids = lines.ids.ids()
    with naming(str(path)):
        if delimiter is None and chosen == " ":
            _refuse_marks(ids)
        told = () if delimiter else (f"separated by {_SEPARATORS[chosen]}",)
        return gathered.walks(ids, (*told, kind_of_ids(ids)))


def _likely_separator(stream: BinaryIO) -> str:
    """Return a tab if there is one in a file, else a space."""
    blocks = iter(partial(stream.read, CHUNK_BYTES), b"")
    found = "\t" if any(b"\t" in block for block in blocks) else " "
    stream.seek(0)
    return found


def _refuse_marks(ids: Ids) -> None:
    """Raise InputError if a lone # or % is a node: walks have no comments."""
    for mark in sorted({"#", "%"}.intersection(ids.tolist() if ids.dtype == object else ())):
        raise InputError(
            f'"{mark}" stands where a node id is expected: leave comments out, or, if it is a '
            'node, delimiter=" " takes it for an id',
            settings=[("delimiter", " ")],
        )


# -- NumPy -------------------------------------------------------------------------------------


def _read_npy(path: Path) -> StoredWalks:
    """Read a matrix, which stays on disk, and the ids next to it."""
    ids_path = walk_ids_path(path)

    def read(stream: BinaryIO, listed: BinaryIO) -> tuple[Any, Ids]:
        with errors_of(path):
            matrix = _open_matrix(path, stream)
        check_unchanged(stream, path)  # its nodes are read later
        return matrix, _read_ids(listed, ids_path)

    matrix, ids = read_pair(
        path,
        ids_path,
        read,
        f"{path}: {ids_path} is missing: it holds the node ids, one a line, in row order, and "
        "write_walks writes it next to the matrix",
    )
    with naming(str(path)):
        if isinstance(matrix, np.ndarray):
            walks = _from_matrix(matrix, ids, f"{ids_path.name} has")
            return replace(walks, notes=(kind_of_ids(ids),))
        nodes, length = matrix
        step = max(1, _CHECKED_NODES // length) * length
        for first in range(0, len(nodes), step):
            rows = nodes[first : first + step].reshape(-1, length)
            _check_rows(rows, len(ids), f"{ids_path.name} has {len(ids):,} ids", first // length)
        begins = np.arange(len(nodes) // length + 1, dtype=np.int64) * length
        return _stored_walks(nodes, begins, ids, (kind_of_ids(ids),))


def _open_matrix(path: Path, stream: BinaryIO) -> NDArray[Any] | tuple[StoredNodes, int]:
    """Return a matrix as nodes that stay in the file, and the length of walks.

    If it is none of int32 with rows one after another, return it in memory.
    """
    with expecting("a valid .npy file of numbers", str(path)):
        size = os.fstat(stream.fileno()).st_size
        header = read_header(stream, size, in_memory=False)
        if header.dtype == np.dtype("<i4") and not header.fortran_order and len(header.shape) == 2:
            n_walks, length = header.shape
            if length:
                return StoredNodes([(path, stream.tell(), n_walks * length)]), length
        stream.seek(0)
        return read_npy(stream, size)


def _read_ids(stream: BinaryIO, path: Path) -> Ids:
    """Read node ids, one per line; InputError if one occurs twice."""
    ids, n = TokenIds(), 0
    for chunk in read_chunks(stream, str(path), CHUNK_BYTES):
        text = chunk.text.replace(b"\r\n", b"\n")
        data = np.frombuffer(text, np.uint8)
        ends = np.flatnonzero(data == NEWLINE).astype(np.int32)
        places = np.column_stack([np.append(np.int32(0), ends[:-1] + np.int32(1)), ends])
        rows = ids.number(ids.parse(data, places))
        empty = places[:, 0] == places[:, 1]
        for line in np.flatnonzero(empty | (rows != np.arange(n, n + len(rows))))[:1].tolist():
            found = "an empty line" if empty[line] else "one that was there before"
            raise InputError(
                f"{path}, line {chunk.line + line}: expected one node id a line, each once, "
                f"found {found}"
            )
        n += len(rows)
    return ids.ids()


# -- Parquet -----------------------------------------------------------------------------------


def _read_parquet(path: Path) -> StoredWalks:
    """Read lists of ids, some walks at a time."""
    ids, gathered = TokenIds(), _WalkCollector()
    with opened(path, False) as stream:
        _collect_parquet(stream, str(path), ids, gathered)
    with naming(str(path)):
        return gathered.walks(ids.ids())


def _collect_parquet(stream: Any, name: str, ids: TokenIds, gathered: _WalkCollector) -> None:
    """Append the walks of a file to others, and number the ids."""
    import_arrow("reading a .parquet file")
    with expecting("a Parquet file", name):
        file = open_parquet(stream, bytes_per_row=4)
    with naming(name):
        kind = _id_type(file.schema_arrow)
    for lengths, nodes in _read_batches(file, kind, name):
        ends = np.cumsum(lengths)
        with naming(name):
            _check_batch(lengths, nodes, ends, gathered.begins.size - 1)
        gathered.add(ids.number(_tokens_of(nodes)), ends)


def _id_type(schema: Any) -> str:
    """Return the type to which ids are converted: "int64" or "string"."""
    from pyarrow import types

    if schema.names.count("walk") != 1:
        raise InputError(
            'expected one column "walk" of lists of node ids, found the columns '
            f"{excerpt(', '.join(schema.names)) or '(none)'}"
        )
    column = schema.field("walk").type
    if types.is_list(column) or types.is_large_list(column) or types.is_fixed_size_list(column):
        ids = column.value_type
        if types.is_dictionary(ids):
            ids = ids.value_type
        if types.is_integer(ids):
            return "int64"
        if types.is_string(ids) or types.is_large_string(ids):
            return "string"
    raise InputError(f'expected a column "walk" of lists of integers or strings, found {column}')


def _read_batches(file: Any, kind: str, name: str) -> Iterator[tuple[NDArray[np.int64], Any]]:
    """Yield, for some walks at a time, how many nodes each has, and the ids of all nodes."""
    from pyarrow import compute

    with expecting("a Parquet file of walks", name):
        for batch in file.iter_batches(_BATCH_WALKS, columns=["walk"]):
            walks = batch.column(0)
            lengths = compute.list_value_length(walks).fill_null(0)
            nodes = walks.flatten().cast(kind)
            nodes.validate(full=True)  # other programs may write strings that are not UTF-8
            yield lengths.to_numpy().astype(np.int64), nodes


def _check_batch(
    lengths: NDArray[np.int64], nodes: Any, ends: NDArray[np.int64], first: int
) -> None:
    """Raise InputError for empty walks and missing ids; walks are numbered from `first`."""
    _check_lengths(lengths, first)
    if nodes.null_count:
        walk = first + np.searchsorted(ends, nodes.is_null().index(True).as_py(), side="right")
        raise InputError(f"walk {walk:,} (counted from 0) holds a null, expected node ids")


def _tokens_of(nodes: Any) -> Tokens:
    """Return an Arrow array of integers or strings as tokens."""
    if str(nodes.type) == "int64":
        values = nodes.to_numpy(zero_copy_only=False, writable=True)
        return Tokens(np.empty(0, np.uint8), np.empty((0, 2), np.int32), values, None)
    _, offsets, letters = nodes.buffers()
    bounds = np.frombuffer(offsets, np.int32)[nodes.offset : nodes.offset + len(nodes) + 1]
    places = np.column_stack([bounds[:-1], bounds[1:]])
    data = np.frombuffer(letters or b"", np.uint8)
    data.flags.writeable = False  # like text from files, so that numba compiles kernels once
    return Tokens(data, places, None, token_hashes(data, places))


# -- shards ------------------------------------------------------------------------------------


def _read_shards(manifest: Manifest) -> StoredWalks:
    """Read a folder of files; what is in .npy files stays there, and is checked."""
    if manifest.kind == "parquet":
        return _read_parquet_shards(manifest)
    assert manifest.ids is not None  # read_manifest has checked it
    _ = manifest.read(manifest.ids)
    ids_path = manifest.folder / manifest.ids.file
    with opened(ids_path, False) as stream:
        ids = _read_ids(stream, ids_path)
    there_are_ids = f"{manifest.ids.file} has {len(ids):,} ids"

    def check(shard: Member) -> None:
        with naming(str(manifest.folder / shard.file)):
            _check_rows(read_matrix(manifest, shard), len(ids), there_are_ids, shard.first)

    nodes = StoredNodes.of_shards(manifest)  # before they are checked, to notice a change after it
    for _ in map_in_order(check, manifest.shards):
        pass
    with naming(str(manifest.folder)):
        begins = np.arange(manifest.walks + 1, dtype=np.int64) * manifest.length
        return _stored_walks(nodes, begins, ids, (kind_of_ids(ids),))


def _read_parquet_shards(manifest: Manifest) -> StoredWalks:
    ids, gathered = TokenIds(), _WalkCollector()
    for shard in manifest.shards:
        name = str(manifest.folder / shard.file)
        _collect_parquet(BytesIO(manifest.read(shard)), name, ids, gathered)
        if gathered.begins.size - 1 != shard.first + shard.count:
            raise InputError(f"{name}: expected {shard.count:,} walks: write the walks again")
    with naming(str(manifest.folder)):
        return gathered.walks(ids.ids())


# -- which reader for which suffix -------------------------------------------------------------

_SEPARATORS = {"\t": "tabs", " ": "spaces"}
_PACKED = (".txt.gz",)
_TEXT = (".txt", *_PACKED)
_READERS: dict[str, Callable[[Path], StoredWalks]] = {
    ".npy": _read_npy,
    ".parquet": _read_parquet,
}

"""The readers, each with valid files that the library writes, and what its results must be."""

from __future__ import annotations

import codecs
import contextlib
import gzip
import io
import json
import re
import shutil
import tempfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from random import Random
from typing import Any
from xml.etree.ElementTree import ParseError

import numpy as np
import scipy.io

import reinforce2vec as r2v
from reinforce2vec.explorer._columns import columns_of
from reinforce2vec.files.array_files import write_arrays
from reinforce2vec.files.node_tables import read_node_table
from reinforce2vec.tuning import results
from reinforce2vec.tuning.results import BaselineRun, FinalRuns, Trial
from reinforce2vec.tuning.space import DEFAULT_SETTING

from . import mutators, references
from .cases import Case
from .oracles import Content, Wrong, graph_content, require, same, vectors_content, walks_content
from .references import Refused

_MOST_COMPARED = 1 << 14  # bytes of a file that is read by the slow reader, too
_WIDEST = 6  # columns, likewise

# -- what all targets are made of --------------------------------------------------------------

Check = Callable[[Case, Content, Any], None]


def _nothing(case: Case, content: Content, result: Any) -> None:
    """Compare with nothing."""


@dataclass(frozen=True)
class Target:
    """A reader.

    Attributes
    ----------
    name : str
    read : function
        Reads a path with options.
    content : function
        Returns what a result holds, to be compared; Wrong if it does not fit together.
    seeds : function
        Writes valid files into an empty folder; returns the one to read, and options, for each.
    check : function
        Compares a result with what a slow reader makes of the file; Wrong if they differ.
    use : function
        Does with a result what users do.
    options : tuple of dicts
        Options to choose from.
    names_file : bool
        Whether errors name the file.
    checksummed : bool
        Whether the format has checksums, so that damage must be noticed.
    packages : tuple
        Packages that must be installed.
    """

    name: str
    read: Callable[..., Any]
    content: Callable[[Any], Content]
    seeds: Callable[[Path], Iterator[tuple[str, dict[str, Any]]]]
    check: Check = _nothing
    use: Callable[[Any], object] = repr
    options: tuple[dict[str, Any], ...] = ({},)
    names_file: bool = True
    checksummed: bool = False
    packages: tuple[str, ...] = ()

    def cases(self) -> list[Case]:
        """Return the valid inputs."""
        found = []
        folder = Path(tempfile.mkdtemp(prefix="fuzz-seeds-"))
        try:
            for main, options in self.seeds(folder):
                files = {
                    str(path.relative_to(folder)): path.read_bytes()
                    for path in sorted(folder.rglob("*"))
                    if path.is_file()
                }
                found.append(Case(self.name, files, main, options))
                shutil.rmtree(folder)
                folder.mkdir()
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        return found


def missing_packages(target: Target) -> list[str]:
    """Return the packages that a target needs and that are not installed."""
    return [name for name in target.packages if find_spec(name) is None]


# -- mutations ---------------------------------------------------------------------------------


def mutated(case: Case, other: Case, target: Target, random: Random) -> tuple[Case, bool]:
    """Return a changed input, and whether it is a damaged file."""
    names = list(case.files)
    main = case.main if case.main in case.files else random.choice(names)
    name = main if random.random() < 0.6 else random.choice(names)
    donor = other.files.get(other.main) or next(iter(other.files.values()))
    change, damage = _mutator(name, random)
    # damage does not take bytes of other files, which may be whole
    files = case.files | {name: change(case.files[name], b"" if damage else donor, random)}
    if len(names) > 1 and random.random() < 0.08:
        damage = False
        one, two = random.sample(names, 2)
        kind = random.randrange(3)
        if kind == 0:
            files[one], files[two] = files[two], files[one]
        elif kind == 1:
            del files[two if one == case.main else one]
        elif two in other.files:
            files[two] = other.files[two]
    options = case.options
    if random.random() < 0.15:
        options = random.choice(target.options)
        damage = False
    return Case(case.target, files, case.main, options), damage


def _mutator(name: str, random: Random) -> tuple[mutators.Mutator, bool]:
    """Return how to change a file of a name, and whether that is damage."""
    if random.random() < 0.2:
        return mutators.damaged, True
    plain = name.removesuffix(".gz")
    suffix = Path(plain).suffix
    chosen = _BY_SUFFIX.get(suffix, mutators.retyped)
    if plain != name:
        return (
            (mutators.damaged, True)
            if random.random() < 0.2
            else (mutators.inside_gzip(chosen), False)
        )
    if chosen in (mutators.odd_zip, mutators.odd_parquet) and random.random() < 0.3:
        return mutators.damaged, True
    return chosen, False


_BY_SUFFIX: dict[str, mutators.Mutator] = {
    ".npz": mutators.odd_zip,
    ".r2v": mutators.odd_zip,
    ".checkpoint": mutators.odd_zip,
    ".npy": mutators.odd_npy,
    ".json": mutators.odd_json,
    ".parquet": mutators.odd_parquet,
    ".mat": mutators.odd_mat,
    ".graphml": mutators.rewritten_xml,
}


# -- graphs in text ----------------------------------------------------------------------------


@cache
def _graphs() -> dict[str, Any]:
    ring = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0), (0, 2), (11, 3)]
    words = [("ann", "bob", 2.0), ("bob", "cid", 0.5), ("cid", "ann", 1e-9), ("dee", "ann", 3e7)]
    odd = [("a,b", 'say "hi"'), ("#tag", "a,b"), ("é", "#tag"), ("two words", "é"), ("7", "#tag")]
    return {
        "ring": r2v.Graph.from_edges(ring, nodes=range(6)),
        "words": r2v.Graph.from_edges(words),
        "odd": r2v.Graph.from_edges(odd),
        "directed": r2v.Graph.from_edges(
            [*words, ("ann", "ann", 4.0)], directed=True, self_loops=True
        ),
    }


_TEXTS = {
    "snap.txt": b"# Nodes: 4 Edges: 4\n# FromNodeId\tToNodeId\n0\t1\n1\t2\n2\t3\n3\t0\n",
    "spaces.edgelist": b"0 1 {'weight': 2.0}\n1 2 {'weight': 3.0}\n",
    "weights.edgelist": b"a b 0.5\nb c 2\nc d 1e3\na d .25\n",
    "header.csv": b"source,target,weight,time\nann,bob,2,1500000000\nbob,cid,0.5,1500000001\n",
    "index.csv": b",source,target\n0,ann,bob\n1,bob,cid\n2,cid,dee\n",
    "semicolon.csv": b"from;to;w\n1;2;3\n2;3;4\n",
    "quotes.csv": b'src,dst\n"a ""b""","c, d"\n"c, d",e\n"two\nlines",e\n',
    "windows.csv": b"\xef\xbb\xbfsource,target\r\n1,2\r\n2,3\r\n\r\n3,1\r\n",
    "bars.txt": b"a|b|1\nb|c|2\n",
    "loops.tsv": b"1\t1\n1\t2\n2\t1\n1\t2\n3\t3\n",
    "users.csv": b"user_id,item_id,rating\n1,7,5\n2,7,3\n1,8,4\n",
}


def _edge_list_seeds(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, graph in _graphs().items():
        for suffix in (".csv", ".tsv", ".txt", ".csv.gz", ".edgelist"):
            try:
                graph.save(folder / f"graph{suffix}")
            except r2v.InputError:  # ids that this format cannot hold
                continue
            yield f"graph{suffix}", {"directed": True} if name == "directed" else {}
    for name, text in _TEXTS.items():
        (folder / name).write_bytes(text)
        yield name, {}
        (folder / f"{name}.gz").write_bytes(gzip.compress(text, mtime=0))
        yield f"{name}.gz", {"weighted": False}


def plain_bytes(case: Case) -> bytes:
    """Return the file to read, unpacked."""
    data = case.files[case.main]
    return gzip.decompress(data) if case.main.endswith(".gz") else data


_EDGE_OPTIONS: tuple[dict[str, Any], ...] = (
    *({}, {}, {"directed": True}, {"weighted": False}, {"weighted": True}, {"self_loops": True}),
    *({"header": True}, {"header": False}, {"comments": ""}, {"comments": "#"}),
    *({"delimiter": one} for one in (",", ";", "\t", " ", "|")),
    *({"delimiter": ",", "header": one, "comments": ""} for one in (True, False)),
    {"source": 1, "target": 2, "weighted": False},
    {"source": 2, "target": 1, "weight": 3},
    {"source": "source", "target": "target", "weight": "weight"},
    {"bipartite": True},
)


_SEPARATORS = {"commas": ",", "semicolons": ";", "tabs": "\t", "bars": "|"}


def _told(graph: Any, options: dict[str, Any]) -> dict[str, Any]:
    """Return the options with which the file was read, by what the graph's notes tell."""
    told = dict(options)
    for note in graph.notes:
        if note.startswith("separated by "):
            told["delimiter"] = _SEPARATORS.get(note.split()[-1], references.WHITESPACE)
        elif note in ("a header", "no header"):
            told["header"] = note == "a header"
    return told


def _check_edge_list(case: Case, content: Content, graph: Any) -> None:
    """There must be a way to read the lines that gives this graph, with no line left out."""
    data = plain_bytes(case)
    options = case.options
    if len(data) > _MOST_COMPARED or options.get("bipartite"):
        return
    loops = bool(options.get("self_loops"))
    matching = None
    for header, rows in references.tables_of(data, _told(graph, options)):
        width = max(map(len, [*rows, header or []]), default=0)
        for columns in references.column_choices(width, content["weighted"]):
            try:
                edges = references.edges_in(rows, columns)
            except Refused:
                continue
            wanted = references.graph_of(edges, content["directed"], loops)
            if same(content, wanted):
                matching = header, columns, edges
                break
        if matching:
            break
    if matching is None:
        raise Wrong(f"no way to read the lines gives these edges: {content!r:.300}")
    header, columns, edges = matching
    names = [name.strip().lower() for name in header or []]
    unused = [
        place for place, name in enumerate(names) if name == "weight" and place not in columns
    ]
    if unused and options.get("weighted") is None and "weight" not in options:
        raise Wrong("the column weight was left out")
    dropped = 0 if loops else sum(a == b for a, b, _ in edges)
    if graph.dropped_self_loops != dropped:
        raise Wrong(f"{dropped} self-loops dropped, but {graph.dropped_self_loops} reported")
    merged = len(edges) - dropped - len(content["edges"])
    if graph.merged_edges != merged:
        raise Wrong(f"{merged} edges merged, but {graph.merged_edges} reported")
    _check_variants(TARGETS["edges"], case, data, content)


def _check_variants(target: Target, case: Case, data: bytes, content: Content) -> None:
    """Line ends of Windows, a byte order mark and compression must change nothing."""
    if zlib.crc32(data) % 8 or data.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")):
        return
    plain = case.main.removesuffix(".gz")
    variants = {plain: codecs.BOM_UTF8 + data, f"{plain}.gz": gzip.compress(data, 1, mtime=0)}
    if b"\r" not in data:
        variants[f"crlf-{plain}"] = data.replace(b"\n", b"\r\n")
    folder = Path(tempfile.mkdtemp(prefix="fuzz-variants-"))
    try:
        for name, changed in variants.items():
            (folder / name).write_bytes(changed)
            try:
                found = target.content(target.read(folder / name, **case.options))
            except r2v.InputError as error:
                raise Wrong(f"refused as {name}: {error!s:.200}") from None
            require(found, content, f"what is read without a change for {name}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _use_graph(graph: Any) -> None:
    _ = repr(graph), graph._repr_html_()
    if graph.n_nodes and graph.n_nodes < 10_000:
        r2v.sample_walks(graph, r2v.FirstOrderWalk(), length=3, per_node=1, workers=1)
        r2v.sample_walks(graph, length=3, per_node=1, workers=1)


# -- graphs in other formats -------------------------------------------------------------------

_MATRICES = {
    "a": b"%%MatrixMarket matrix coordinate real general\n% x\n3 3 3\n1 2 0.5\n2 3 2\n3 1 1\n",
    "b": b"%%MatrixMarket matrix coordinate pattern symmetric\n4 4 4\n2 1\n3 2\n4 3\n4 4\n",
    "c": b"%%MatrixMarket matrix array real general\n2 2\n0\n1\n1\n0\n",
    "d": b"%%MatrixMarket matrix coordinate integer symmetric\n3 3 2\n2 1 5\n3 1 7\n",
    "e": b"%%MatrixMarket matrix array real symmetric\n3 3\n0\n2\n0\n0\n3.5\n1\n",
}


def _mtx_seeds(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    for text in _MATRICES.values():
        (folder / "graph.mtx").write_bytes(text)
        yield "graph.mtx", {}
        (folder / "graph.mtx.gz").write_bytes(gzip.compress(text, mtime=0))
        yield "graph.mtx.gz", {}
    scipy.io.mmwrite(folder / "graph.mtx", _graphs()["words"].to_scipy())
    yield "graph.mtx", {}


def _check_matrix_market(case: Case, content: Content, graph: Any) -> None:
    data = plain_bytes(case)
    if len(data) > _MOST_COMPARED or len(content["ids"]) > 1000:
        return
    try:
        shape, entries, ones = references.matrix_market(data)
    except (Refused, ValueError, IndexError, StopIteration) as error:
        raise Wrong(f"the slow reader refuses it: {error!r:.100}") from None
    directed, loops = bool(case.options.get("directed")), bool(case.options.get("self_loops"))
    weighted = case.options.get("weighted")
    require(
        content,
        references.matrix_graph(shape[0], entries, directed, weighted, loops, ones),
        "the entries of the file",
    )


def _mat_seeds(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    for name in ("ring", "words"):
        matrix = _graphs()[name].to_scipy()
        values = {
            "csc": matrix.tocsc(),
            "dense": matrix.toarray(),
            "int": matrix.toarray().astype("i4"),
        }
        for value in values.values():
            for packed in (False, True):
                path = folder / "graph.mat"
                scipy.io.savemat(path, {"network": value}, do_compression=packed)
                text = b"MATLAB 5.0 MAT-file".ljust(116)  # without the time of writing
                path.write_bytes(text + path.read_bytes()[116:])
                yield path.name, {}
    scipy.io.savemat(
        folder / "graph.mat", {"other": np.eye(2), "network": np.ones((3, 3))}, format="4"
    )
    yield "graph.mat", {}


_GRAPHML_KEYS = b'<key id="w" for="edge" attr.name="weight" attr.type="double"/>'


def _graphml(head: bytes, edges: bytes, keys: bytes = b"") -> bytes:
    return (
        b'<?xml version="1.0" encoding="UTF-8"?>\n'
        b'<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
        + keys
        + b"\n<graph "
        + head
        + b">\n"
        + edges
        + b"</graph>\n</graphml>\n"
    )


_EDGE = b'<edge source="%s" target="%s"><data key="w">%s</data></edge>\n'
_GRAPHMLS = (
    _graphml(
        b'id="G" edgedefault="undirected"',
        b'<node id="a"/>\n<node id="b"/>\n<node id="c"/>\n'
        + _EDGE % (b"a", b"b", b"2")
        + _EDGE % (b"b", b"c", b".5"),
        _GRAPHML_KEYS,
    ),
    _graphml(
        b'edgedefault="directed"',
        b'<node id="1"/><edge source="1" target="2"/><edge source="2" target="3"/>',
    ),
    _graphml(
        b'edgedefault="undirected"',
        b'<edge source="a" target="b"/>' + _EDGE % (b"b", b"c", b"4"),
        b'<key id="w" for="all" attr.name="weight"><default>1.5</default></key>',
    ),
)


def _graphml_seeds(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    for text in _GRAPHMLS:
        (folder / "graph.graphml").write_bytes(text)
        yield "graph.graphml", {}
        (folder / "graph.graphml.gz").write_bytes(gzip.compress(text, mtime=0))
        yield "graph.graphml.gz", {}


def _check_graphml(case: Case, content: Content, graph: Any) -> None:
    data = plain_bytes(case)
    if len(data) > _MOST_COMPARED or case.options.get("bipartite"):
        return
    try:
        nodes, edges, directed = references.graphml_edges(data)
    except (ParseError, ValueError) as error:
        raise Wrong(f"the slow reader refuses it: {error!r:.100}") from None
    directed = case.options.get("directed", directed)
    if case.options.get("weighted") is False:
        edges = [(*edge[:2], None) for edge in edges]
    if any(edge[2] is not None for edge in edges):  # an edge without a weight has the weight 1
        edges = [(*edge[:2], 1.0 if edge[2] is None else edge[2]) for edge in edges]
    ids = dict(zip(nodes, references.parsed_ids(nodes), strict=True))
    named = [(ids[a], ids[b], weight) for a, b, weight in edges]
    loops = bool(case.options.get("self_loops"))
    # nodes may be named by an edge before their own element
    wanted = references.graph_of(named, directed, loops, list(ids.values()))
    require(content, wanted, "the elements of the file")


def _npz_seeds(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    for graph in _graphs().values():
        graph.save(folder / "graph.npz")
        yield "graph.npz", {}
    import scipy.sparse

    for kind in ("csr", "csc", "coo", "bsr", "dia"):
        matrix = _graphs()["words"].to_scipy().asformat(kind)
        scipy.sparse.save_npz(folder / "graph.npz", matrix, compressed=kind != "csr")
        yield "graph.npz", {}


def _parquet_seeds(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    for graph in _graphs().values():
        graph.save(folder / "graph.parquet")
        yield "graph.parquet", {}


def _readable(column: Any) -> list[Any]:
    """Return the values of a column of Arrow; lists, which are no ids, if it has no valid text."""
    try:
        return column.to_pylist()
    except UnicodeDecodeError:  # of columns that the library does not read
        return [[] for _ in column]


def _check_parquet(case: Case, content: Content, graph: Any) -> None:
    from pyarrow import parquet

    if case.options.get("bipartite"):
        return
    try:
        table = parquet.read_table(io.BytesIO(case.files[case.main]))
    except (OSError, ValueError):  # of columns that the library does not read
        return
    columns = [_readable(column) for column in table.columns]
    loops = bool(case.options.get("self_loops"))
    for chosen in references.column_choices(len(columns), content["weighted"]):
        if max(chosen) >= len(columns):
            continue
        ends = [columns[place] for place in chosen[:2]]
        if any(isinstance(value, (list, dict)) for column in ends for value in column):
            continue  # of nested columns, which are no ids
        weights = columns[chosen[2]] if len(chosen) > 2 else [None] * len(ends[0])
        try:
            weights = [None if weight is None else float(weight) for weight in weights]
        except (TypeError, ValueError):
            continue
        edges = list(zip(*ends, weights, strict=True))
        if not edges or same(content, references.graph_of(edges, content["directed"], loops)):
            return
    kinds = {type(value) for column in columns for value in column}
    if kinds <= {int, str, type(None)}:  # others may be converted to ids of another type
        raise Wrong(f"no two columns of the table are these edges: {content!r:.300}")


# -- walks -------------------------------------------------------------------------------------


def _sampler(name: str) -> Any:
    return r2v.WalkSampler(_graphs()[name], r2v.FirstOrderWalk(), length=4, per_node=2, workers=1)


def _text_walk_seeds(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    for suffix in (".txt", ".txt.gz"):
        for name in ("ring", "words"):
            r2v.write_walks(folder / f"walks{suffix}", _sampler(name))
            yield f"walks{suffix}", {}
    (folder / "walks.txt").write_bytes(b"ann bob ann\r\ncid\r\n\r\nbob  ann\r\n")
    yield "walks.txt", {}


def _walk_archive_seeds(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    for name in ("ring", "words", "directed"):
        r2v.write_walks(folder / "walks.npz", _sampler(name))
        yield "walks.npz", {}


def _shard_seeds(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    for name in ("ring", "words"):
        r2v.write_walks(f"{folder}/", _sampler(name))
        yield ".", {}


def _check_text_walks(case: Case, content: Content, walks: Any) -> None:
    data = plain_bytes(case)
    if len(data) > _MOST_COMPARED:
        return
    try:
        wanted = references.walks_in_text(data)
    except (Refused, UnicodeDecodeError) as error:
        raise Wrong(f"the slow reader refuses it: {error!r:.100}") from None
    ids = list(dict.fromkeys(node for walk in wanted for node in walk))
    require(content, {"walks": wanted, "ids": ids}, "the lines of the file")
    _check_variants(TARGETS["walks-text"], case, data, content)


def _check_walk_matrix(case: Case, content: Content, walks: Any) -> None:
    with np.load(io.BytesIO(case.files[case.main]), allow_pickle=False) as arrays:
        matrix = arrays["walks"]
    ids = content["ids"]
    wanted = [[ids[row] for row in walk if row != -1] for walk in matrix.tolist()]
    require(content, {"walks": wanted}, "the rows of the matrix")


# -- vectors -----------------------------------------------------------------------------------


@cache
def _embeddings() -> dict[str, Any]:
    numbers = np.random.default_rng(0).normal(size=(5, 3)).astype(np.float32)
    small = np.array([[1e-30, -0.0, 3.5], [7, 1e20, -2.5e-7]], np.float32)
    return {
        "ring": r2v.Embedding([5, 0, 7, -2, 3], numbers, scales=[1, 2], info={"method": "x"}),
        "words": r2v.Embedding(["ann", "bob", "cid", "é", '"q"'], numbers),
        "odd": r2v.Embedding(["a,b", "#tag"], small),
    }


def _vector_seeds(*suffixes: str) -> Callable[[Path], Iterator[tuple[str, dict[str, Any]]]]:
    def seeds(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
        for embedding in _embeddings().values():
            for suffix in suffixes:
                embedding.save(folder / f"vectors{suffix}")
                yield f"vectors{suffix}", {}

    return seeds


def _csv_vector_seeds(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    yield from _vector_seeds(".csv", ".csv.gz")(folder)
    for text in (
        b",0,1,2\nann,1,2,3\nbob,4,5,6\n",
        b",node,a,b\n0,x,1,2\n1,y,3,4\n",
        b"x,1,2,3,4\ny,5,6,7,8\n",
    ):
        (folder / "vectors.csv").write_bytes(text)
        yield "vectors.csv", {}


def _compare_vectors(read: Callable[[Case], Iterator[tuple[list[Any], Any]]]) -> Check:
    def check(case: Case, content: Content, embedding: Any) -> None:
        if case.size > _MOST_COMPARED:
            return
        try:
            found = list(read(case))
        except (Refused, ValueError, IndexError) as error:
            raise Wrong(f"the slow reader refuses it: {error!r:.100}") from None
        if not any(
            same(content["ids"], ids) and same(content["vectors"], vectors)
            for ids, vectors in found
        ):
            raise Wrong(f"vectors that differ from the file: {content!r:.200} != {found!r:.200}")

    return check


def _word2vec_text(case: Case) -> Iterator[tuple[list[Any], Any]]:
    yield references.word2vec_text(plain_bytes(case))


def _word2vec_binary(case: Case) -> Iterator[tuple[list[Any], Any]]:
    yield references.word2vec_binary(case.files[case.main])


def _csv_vectors(case: Case) -> Iterator[tuple[list[Any], Any]]:
    yield from references.vectors_csv(plain_bytes(case))


def _use_embedding(embedding: Any) -> None:
    _ = repr(embedding), embedding._repr_html_() if hasattr(embedding, "_repr_html_") else None
    if len(embedding.ids) > 1:
        with contextlib.suppress(r2v.InputError):
            embedding.most_similar(embedding.ids.tolist()[0], k=2)


# -- what belongs to nodes: labels, lists, columns ---------------------------------------------


@cache
def _nodes() -> dict[str, Any]:
    return {
        "ints": r2v.Graph.from_edges([(0, 1), (1, 2), (2, 30), (30, -4)]),
        "words": r2v.Graph.from_edges(
            [("ann", "bob"), ("bob", "cid"), ("a,b", "#tag"), ("7", "é")]
        ),
    }


_NODE_OPTIONS = ({"nodes": "ints"}, {"nodes": "words"})
_LABELS = {
    "ints": (
        b"0\tred\n1\tblue\n2\tred\n30\tblue\n-4\tred\n99\tred\n",
        b"id,label\n0,a\n1,b\n1,c\n30,a\n",
        b"node;group;age\n0;x;1\n2;y;2\n",
        b"0 1 2\n1 2\n2 1\n",
    ),
    "words": (
        b'id,name,class\nann,Ann A.,x\nbob,Bob B.,y\n"a,b","A, B","say ""z"""\n',
        b"ann red\nbob blue\ncid red\n",
        b"# a comment\nann|x\n7|y\n",
    ),
}


def _text_seeds(
    name: str, texts: dict[str, tuple[bytes, ...]]
) -> Callable[[Path], Iterator[tuple[str, dict[str, Any]]]]:
    def seeds(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
        for kind, files in texts.items():
            for text in files:
                (folder / name).write_bytes(text)
                yield name, {"nodes": kind}
            (folder / f"{name}.gz").write_bytes(gzip.compress(files[0], mtime=0))
            yield f"{name}.gz", {"nodes": kind}

    return seeds


def _read_labels(path: Path, nodes: str, **options: Any) -> Any:
    return r2v.read_labels(path, _nodes()[nodes], **options)


def _labels_content(labels: Any) -> Content:
    if len(labels.names) != labels.matrix.shape[1]:
        raise Wrong("names that do not fit the classes")
    pairs = [(int(row), labels.names[column]) for row, column in np.argwhere(labels.matrix)]
    # numbers beyond 64 bits are no nodes, as numbers or as text
    return {"pairs": sorted(pairs), "strangers": list(map(str, labels.strangers))}


def _check_labels(case: Case, content: Content, labels: Any) -> None:
    """There must be columns of ids and of classes that give these pairs."""
    data = plain_bytes(case)
    if len(data) > _MOST_COMPARED:
        return
    nodes = _nodes()[case.options["nodes"]]
    for _, rows in references.tables_of(data, {}):
        width = max(map(len, rows), default=0)
        if width > _WIDEST:
            return
        for place in range(width):
            others = [other for other in range(width) if other != place]
            for classes in [*([other] for other in others), others]:
                found = _labelled(rows, place, classes, nodes)
                if found is not None and same(content, found):
                    _check_variants(TARGETS["labels"], case, data, content)
                    return
    raise Wrong(f"no columns of the file are these labels: {content!r:.300}")


def _labelled(rows: list[list[str]], place: int, classes: list[int], nodes: Any) -> Content | None:
    pairs, strangers = set(), {}
    for row in rows:
        if not any(row):  # delimiters alone, as spreadsheets write them
            continue
        if place >= len(row) or not row[place]:
            return None
        node = _as_id(row[place], nodes)
        if node not in nodes:
            strangers[node] = None
            continue
        found = [row[one] for one in classes if one < len(row) and row[one]]
        pairs |= {(nodes.row(node), name) for name in found}
    return {"pairs": sorted(pairs), "strangers": list(map(str, strangers))}


def _as_id(word: str, nodes: Any) -> Any:
    if nodes.ids.dtype == object:
        return word
    found = references.parsed_ids([word])[0]
    # numbers beyond 64 bits are no nodes, as numbers or as text
    if isinstance(found, str) and len(word) < 4000 and re.fullmatch("-?[1-9][0-9]*", word):
        return int(word)
    return found


_NODE_LISTS = {
    "ints": (b"5\n0\n1\n", b"id\n0\n7\n-4\n", b"# list\n30,x\n1,y\n"),
    "words": (b"ann\nzoe\n", b"node\tage\nzoe\t5\nann\t6\n", b'"a,b"\n"q ""r"""\n'),
}


def _read_with_nodes(path: Path, nodes: str) -> Any:
    edges = path.parent / ".edges.csv"
    edges.write_text(
        "source,target\n" + {"ints": "0,1\n1,2\n", "words": "ann,bob\nbob,cid\n"}[nodes]
    )
    return r2v.read_graph(edges, nodes=path)


def _check_node_list(case: Case, content: Content, graph: Any) -> None:
    data = plain_bytes(case)
    if len(data) > _MOST_COMPARED:
        return
    kind = case.options["nodes"]
    ends = {"ints": ["0", "1", "2"], "words": ["ann", "bob", "cid"]}[kind]
    # blanks separate no ids, so whitespace is not tried
    ways = [*references.tables_of(data, {"delimiter": "\t"})]
    for delimiter in ",;|":
        ways += references.tables_of(data, {"delimiter": delimiter})
    for _, rows in ways:
        words = [row[0] for row in rows]
        listed = references.parsed_ids([*words, *ends]) if kind == "ints" else [*words, *ends]
        if same(content["ids"], list(dict.fromkeys(listed))):
            return
    raise Wrong(f"the lines of the file are not these nodes: {content['ids']!r:.300}")


_COLUMNS = {
    "ints": (
        b"id,age,team,joined\n0,41,x,2020-01-02\n1,42.5,y,2021-05-06T07:08:09Z\n30,,x,\n",
        b"0\tred\t1e3\n1\tblue\t5\n2\tred\t\n",
    ),
    "words": (b'name,score\nann,1\nbob,0.5\n"a,b",7\nzoe,8\n', b"id;note\nann;x y\n7;=1+1\n"),
}


def _column_seeds(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    yield from _text_seeds("columns.csv", _COLUMNS)(folder)
    if find_spec("pyarrow"):
        import pyarrow
        from pyarrow import parquet

        table = pyarrow.table({"id": [0, 1, 30], "age": [1.5, None, 3.0], "team": ["x", "y", None]})
        parquet.write_table(table, folder / "columns.parquet")
        yield "columns.parquet", {"nodes": "ints"}


def _read_columns(path: Path, nodes: str) -> Any:
    return read_node_table(path, _nodes()[nodes])


def _columns_content(table: Any) -> Content:
    if len(table.names) != len(table.columns) or len(set(table.names)) < len(table.names):
        raise Wrong("names that do not fit the columns")
    return {"columns": [[repr(value) for value in column] for column in table.columns]}


def _check_columns(case: Case, content: Content, table: Any) -> None:
    data = plain_bytes(case)
    if len(data) > _MOST_COMPARED or case.main.endswith(".parquet"):
        return
    nodes = _nodes()[case.options["nodes"]]
    for header, rows in references.tables_of(data, {}):
        width = max(map(len, [*rows, header or []]), default=0)
        if width > _WIDEST:
            return
        for place in range(width):
            found: dict[int, list[str]] = {}
            for row in rows:
                node = _as_id(row[place], nodes) if place < len(row) and row[place] else None
                if node in nodes:
                    found.setdefault(nodes.row(node), row)
            names = [one for one in range(len(header) if header else width) if one != place]
            columns = [
                [
                    repr((found.get(row) or [])[one : one + 1][0] or None)
                    if one < len(found.get(row) or [])
                    else "None"
                    for row in range(len(nodes.ids))
                ]
                for one in names
            ]
            if columns == content["columns"] or (
                not header and columns[: len(content["columns"])] == content["columns"]
            ):
                return
    raise Wrong(f"the fields of the file are not these columns: {content!r:.300}")


# -- checkpoints, models, tuning ---------------------------------------------------------------

_TRAINED = {"dimensions": 4, "walks_per_node": 4, "walk_length": 6, "smooth": False}


def _model(window: Any = 2) -> Any:
    window = tuple(window) if isinstance(window, list) else window
    return r2v.Reinforce2Vec(**_TRAINED, window=window, workers=1)


def _checkpoint_seeds(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    path = folder / "training.checkpoint"
    for options in ({}, {"window": [1, 3]}):
        _model(**options).fit(
            _graphs()["ring"], checkpoint=path, checkpoint_every=0, progress=False
        )
        with np.load(path) as stored:
            arrays = dict(stored)
        about = json.loads(arrays.pop("about").tobytes())
        write_arrays(path, about | {"seconds": 1.5}, arrays)  # the same at every start
        yield path.name, options


def _resume(path: Path, window: Any = 2) -> Any:
    model = _model(window)
    model.fit(_graphs()["ring"], checkpoint=path, resume=True, progress=False)
    return model.embedding_


def _model_seeds(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    for name in ("ring", "directed"):
        _model().fit(_graphs()[name], progress=False).save(folder / "model.r2v")
        yield "model.r2v", {}
    r2v.ProNE(dimensions=2).fit(_graphs()["ring"]).save(folder / "model.r2v")
    yield "model.r2v", {"estimator": "ProNE"}


def _read_model(path: Path, estimator: str = "Reinforce2Vec") -> Any:
    return getattr(r2v, estimator).load(path)


def _model_content(model: Any) -> Content:
    content = vectors_content(model.embedding_)
    return content | {"parameters": repr(sorted(model.get_params(deep=False).items(), key=str))}


def _use_model(model: Any) -> None:
    _ = repr(model)
    if hasattr(model, "partial_fit"):
        with contextlib.suppress(r2v.InputError):
            model.partial_fit(_graphs()["ring"], progress=False)


def _tuning_seeds(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    facts = {"task": "link-prediction", "metric": "auc", "unseen": "test edges", "nodes": 34}
    facts |= {"edges": 78, "directed": False, "fingerprint": "x", "dimensions": 8, "seed": 0}
    facts |= {"fraction": 0.1, "held_out_edges": 7, "budget": 60.0, "trials_asked": 3}
    scores = {"hadamard": {"auc": 80.0, "ap": 79.0}}
    trials = [
        Trial(0, dict(DEFAULT_SETTING), "default", 80.0, "hadamard", scores, 1.0, 1.0),
        Trial(1, DEFAULT_SETTING | {"window": "1,3"}, "near", 82.5, "hadamard", scores, 1.0, 2.0),
        Trial(2, dict(DEFAULT_SETTING), error="failed"),
    ]
    finals = [
        FinalRuns(number, [1, 2], [80.0, 81.0], [79.0, 80.5], [scores] * 2) for number in (0, 1)
    ]
    baselines = [BaselineRun("prone", 70.0, 71.0, "hadamard", scores, 0.1)]
    results.Tuning(facts, trials, finals, 3.0, True, baselines=baselines).save(
        folder / "study.json"
    )
    yield "study.json", {}
    results.Tuning(facts, trials[:1]).save(folder / "study.json")
    yield "study.json", {}


def _tuning_content(tuning: Any) -> Content:
    return {"content": json.loads(json.dumps(tuning.to_dict())), "report": repr(tuning)}


def _check_tuning(case: Case, content: Content, tuning: Any) -> None:
    wanted = json.loads(case.files[case.main])
    found = content["content"]
    for name in ("trials", "finals", "baselines"):
        if name in wanted and len(found[name]) != len(wanted[name]):
            raise Wrong(f"{name} that differ from the file")


def _use_tuning(tuning: Any) -> None:
    _ = tuning.trials and (tuning.parameters, tuning.command, tuning.python, tuning.model())


# -- the list of all ---------------------------------------------------------------------------

_ARROW = ("pyarrow",)
_MATRIX_OPTIONS = ({}, {}, {"directed": True}, {"weighted": False}, {"self_loops": True})
_MATLAB_OPTIONS = (*_MATRIX_OPTIONS, {"key": "other"}, {"key": "__header__"})
_GRAPHML_OPTIONS = (*_MATRIX_OPTIONS, {"directed": False})
_TABLE_OPTIONS = ({}, {"weighted": False}, {"self_loops": True})
_LABEL_OPTIONS = ({"nodes": "ints", "label": "all"}, {"nodes": "words", "label": 2, "id": 1})
_SUMS = {"checksummed": True}


def _graphs_of(name: str, seeds: Any, options: tuple, check: Check = _nothing, **more: Any):
    return Target(name, r2v.read_graph, graph_content, seeds, check, _use_graph, options, **more)


def _walks_of(name: str, seeds: Any, check: Check = _nothing, **more: Any) -> Target:
    return Target(name, r2v.read_walks, walks_content, seeds, check, **more)


def _vectors_of(name: str, seeds: Any, check: Check = _nothing, **more: Any) -> Target:
    return Target(name, r2v.Embedding.load, vectors_content, seeds, check, _use_embedding, **more)


_LABEL_TARGET = (_read_labels, _labels_content, _text_seeds("labels.csv", _LABELS), _check_labels)
_NODE_TARGET = (_read_with_nodes, graph_content, _text_seeds("nodes.txt", _NODE_LISTS))
_COLUMN_TARGET = (_read_columns, _columns_content, _column_seeds, _check_columns, columns_of)
_TUNING_TARGET = (results.Tuning.load, _tuning_content, _tuning_seeds, _check_tuning, _use_tuning)
_LISTED = (
    _graphs_of("edges", _edge_list_seeds, _EDGE_OPTIONS, _check_edge_list),
    _graphs_of("matrix-market", _mtx_seeds, _MATRIX_OPTIONS, _check_matrix_market),
    _graphs_of("matlab", _mat_seeds, _MATLAB_OPTIONS),
    _graphs_of("graphml", _graphml_seeds, _GRAPHML_OPTIONS, _check_graphml),
    _graphs_of(
        *("edges-parquet", _parquet_seeds, _TABLE_OPTIONS, _check_parquet),
        **_SUMS,
        packages=_ARROW,
    ),
    _graphs_of("graph-npz", _npz_seeds, _TABLE_OPTIONS, **_SUMS),
    _walks_of("walks-text", _text_walk_seeds, _check_text_walks),
    _walks_of("walks-npz", _walk_archive_seeds, _check_walk_matrix, **_SUMS),
    _walks_of("walks-shards", _shard_seeds, **_SUMS),
    _vectors_of("vectors-npz", _vector_seeds(".npz"), **_SUMS),
    _vectors_of(
        "vectors-text", _vector_seeds(".txt", ".vec", ".txt.gz"), _compare_vectors(_word2vec_text)
    ),
    _vectors_of("vectors-bin", _vector_seeds(".bin"), _compare_vectors(_word2vec_binary)),
    _vectors_of("vectors-csv", _csv_vector_seeds, _compare_vectors(_csv_vectors)),
    _vectors_of("vectors-parquet", _vector_seeds(".parquet"), **_SUMS, packages=_ARROW),
    Target("labels", *_LABEL_TARGET, options=(*_NODE_OPTIONS, *_LABEL_OPTIONS)),
    Target("nodes", *_NODE_TARGET, _check_node_list, options=_NODE_OPTIONS, names_file=False),
    Target("columns", *_COLUMN_TARGET, _NODE_OPTIONS),
    Target("checkpoint", _resume, vectors_content, _checkpoint_seeds, **_SUMS),
    Target("model", _read_model, _model_content, _model_seeds, use=_use_model, **_SUMS),
    Target("tuning", *_TUNING_TARGET),
)
TARGETS: dict[str, Target] = {target.name: target for target in _LISTED}

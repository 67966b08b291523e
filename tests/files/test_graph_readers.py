"""Files become the graphs they hold, or a sentence that says what is wrong and where."""

from __future__ import annotations

import gzip
import io
import random
import struct
import zlib

import numpy as np
import pytest
import scipy.io
import scipy.sparse

from helpers.graphs import assert_same
from helpers.real_data import real_file
from helpers.refusals import refusal
from reinforce2vec import Graph, InputError, read_graph
from reinforce2vec.graph.fingerprint import fingerprint

MATRIX = scipy.sparse.csr_array(np.array([[0, 2, 0], [2, 0, 1], [0, 1, 0.0]]))
GRAPH = Graph.from_any(MATRIX)


def outcome(path, **options):
    """What is read, or None if a sentence refuses it; any other exception fails the test."""
    try:
        return fingerprint(read_graph(path, **options))
    except InputError:
        return None


# -- files -------------------------------------------------------------------------------------


def test_options_reach_the_graph(write):
    path = write("1 2\n2 2\n2 1\n1 2\n")
    assert_same(read_graph(path), Graph.from_edges([(1, 2), (2, 2)]))
    assert read_graph(path).dropped_self_loops == 1
    whole = Graph.from_edges([(1, 2), (2, 2), (2, 1)], directed=True, self_loops=True)
    assert_same(read_graph(path, directed=True, self_loops=True), whole)


def test_parallel_edges_are_merged_and_their_weights_added_in_their_order(write):
    weights = [0.1, 0.2, 0.3, 1e16, 1.0]
    graph = read_graph(write("".join(f"a b {weight}\n" for weight in weights)))
    assert (graph.n_edges, graph.merged_edges) == (1, 4)
    total = 0.0
    for weight in weights:
        total += weight
    assert graph.weights.tolist() == [total, total]


@pytest.mark.parametrize("read", [read_graph, Graph.from_any])
def test_what_is_wrong_with_the_graph_of_a_file_names_the_file(write, read):
    path = write("a b 1e-200\nb c 1e200\n")
    assert refusal(read, path).startswith(f"{path}: edge weights span from 1e-200 to 1e+200")


@pytest.mark.parametrize("suffix", [".txt", ".tsv", ".csv", ".edgelist", ".edges", ".TXT"])
def test_suffixes_of_edge_lists_also_compressed(write, suffix):
    expected = Graph.from_edges([("a", "b"), ("b", "c")])
    assert_same(read_graph(write("a\tb\nb\tc\n", "x" + suffix)), expected)
    packed = gzip.compress(b"a\tb\n") + gzip.compress(b"b\tc\n")  # as pigz and cat make them
    assert_same(read_graph(write(packed, "x" + suffix + ".gz")), expected)


def test_a_format_can_be_forced(write):
    assert read_graph(write("1 2\n", "x.dat"), format="txt").n_edges == 1
    assert read_graph(write(gzip.compress(b"1 2\n"), "x.ungraph.gz"), format=".txt.gz").n_edges == 1
    assert "unknown format 'docx'" in refusal(read_graph, write("1 2\n"), format="docx")
    for name in ("x.dat", "x", "x.mat.gz", ".gz"):
        message = refusal(read_graph, write("1 2\n", name))
        assert "unknown suffix" in message
        assert ".txt .tsv .csv" in message
    for suffix in ("mtx", "graphml"):
        path = write("", f"x.{suffix}")
        assert "for edge lists" in refusal(read_graph, path, delimiter=",")
        assert "for tables and edge lists" in refusal(read_graph, path, source="a", target="b")


def test_files_that_cannot_be_opened(tmp_path):
    assert "there is no such file" in refusal(read_graph, tmp_path / "none.txt")
    (tmp_path / "folder.txt").mkdir()
    assert "this is a folder" in refusal(read_graph, tmp_path / "folder.txt")


def test_damaged_gzip_files(write):
    packed = gzip.compress("".join(f"{i} {i * 7919 % 1000}\n" for i in range(5000)).encode())
    middle = len(packed) // 2
    broken = packed[:middle] + bytes(50) + packed[middle + 50 :]
    assert "not a valid gzip file" in refusal(read_graph, write("1 2\n", "a.txt.gz"))
    assert "ends too early" in refusal(read_graph, write(packed[:-20], "b.txt.gz"))
    assert "not a valid gzip file" in refusal(read_graph, write(broken, "c.txt.gz"))
    assert "empty" in refusal(read_graph, write(gzip.compress(b""), "d.txt.gz"))


def test_random_bytes_are_refused_in_every_format(write):
    noise = np.random.default_rng(0).bytes(3000)
    for suffix in (".txt", ".txt.gz", ".mtx", ".mtx.gz", ".mat", ".npz", ".parquet", ".graphml"):
        for content in (noise, b"", b"hello\n", b"PK\x03\x04" + noise, b"\x1f\x8b" + noise):
            path = write(content, "noise" + suffix)
            assert refusal(read_graph, path).startswith(str(path))


# -- sparse matrices ---------------------------------------------------------------------------

BAD_ROWS = {
    "offsets beyond the entries": ([0, 10**9, 2, 3], [1, 0, 2]),
    "offsets that decrease": ([0, 3, 1, 3], [1, 0, 2]),
    "offsets that begin later": ([1, 2, 2, 3], [1, 0, 2]),
    "too few offsets": ([0, 3], [1, 0, 2]),
    "an index that is too large": ([0, 1, 2, 3], [1, 10**9, 2]),
    "an index below 0": ([0, 1, 2, 3], [1, -5, 2]),
    "offsets that end before the entries": ([0, 1, 2, 3], [1, 0, 2, 1]),
}


@pytest.mark.parametrize("what", BAD_ROWS)
def test_the_structure_of_a_matrix_is_checked(tmp_path, what):
    indptr, indices = map(np.array, BAD_ROWS[what])
    path = tmp_path / "g.npz"
    for form in ("csr", "csc", "bsr"):
        data = np.ones((len(indices), 1, 1) if form == "bsr" else len(indices))
        arrays = {"format": form.encode(), "shape": [3, 3], "data": data}
        np.savez(path, **arrays, indptr=indptr, indices=indices)
        assert refusal(read_graph, path).startswith(f"{path}: not a s")  # sparse or sound matrix
    matrix = MATRIX.copy()
    matrix.indptr, matrix.indices, matrix.data = indptr, indices, np.ones(len(indices))
    if len(indices) == 3:
        assert refusal(Graph.from_any, matrix).startswith("not a sound adjacency matrix: ")


def test_indices_of_entries_are_checked():
    entries = scipy.sparse.coo_array(MATRIX)
    entries.coords = (np.array([0, 1, 2, 99]), np.array([1, 0, 1, 0]))
    assert "not a sound adjacency matrix: " in refusal(Graph.from_any, entries)


def test_npz(tmp_path):
    path = tmp_path / "m.npz"
    for form in ("csr", "csc", "bsr", "coo", "dia"):
        scipy.sparse.save_npz(path, MATRIX.asformat(form))
        assert_same(read_graph(path), GRAPH)
    np.savez(path, a=np.ones(3))
    assert "save_npz" in refusal(read_graph, path)
    np.savez(path, data=np.array([print], object), format=np.array(["csr"], object))
    assert str(path) in refusal(read_graph, path)


# -- MATLAB ------------------------------------------------------------------------------------


def save_mat(path, compressed=False, version="5", **variables):
    scipy.io.savemat(path, variables, do_compression=compressed, format=version)
    return path


@pytest.mark.parametrize("compressed", [False, True])
def test_matlab_files_are_read_as_scipy_reads_them(tmp_path, compressed):
    path = tmp_path / "g.mat"
    for kind in ("f8", "f4", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"):
        dense = MATRIX.toarray().astype(kind)
        save_mat(path, compressed, other={"a": 1}, network=dense, text="abc", cell=[[1, "x"]])
        assert_same(read_graph(path), GRAPH)
    save_mat(path, compressed, network=scipy.sparse.csc_matrix(MATRIX), empty=np.zeros((0, 0)))
    assert_same(read_graph(path), GRAPH)
    for matrix in (MATRIX.toarray(), scipy.sparse.csc_matrix(MATRIX)):
        save_mat(path, version="4", first="text", network=matrix)
        assert_same(read_graph(path), GRAPH)


def test_matlab_variables_that_are_no_matrices_are_refused(tmp_path, write):
    path = save_mat(tmp_path / "g.mat", text="abc", pair={"a": 1}, z=1j * np.eye(3), wide=[[1, 1]])
    for key, what in (("text", "char"), ("pair", "struct"), ("z", "complex"), ("wide", "square")):
        assert what in refusal(read_graph, path, key=key)
    for key in ("__header__", "__globals__", "network"):
        message = refusal(read_graph, path, key=key)
        assert f'no variable "{key}": there are text' in message
        assert "key=..." in message
    newest = b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(128) + b"\x89HDF"
    assert "MATLAB 7.3" in refusal(read_graph, write(newest, "n.mat"))


@pytest.mark.parametrize("kind", ["sparse", "dense", "compressed", "version 4"])
def test_damaged_matlab_files_never_end_the_process(tmp_path, kind):
    version, packed = "4" if kind == "version 4" else "5", kind == "compressed"
    matrix = MATRIX.toarray() if kind == "dense" else scipy.sparse.csc_matrix(MATRIX)
    path = save_mat(tmp_path / "g.mat", packed, version, network=matrix)
    sound, rng = path.read_bytes(), random.Random(0)
    for _ in range(150):
        damaged = bytearray(sound)
        for _ in range(rng.choice((1, 1, 4))):
            place = rng.randrange(0 if version == "4" else 128, len(sound))
            damaged[place] = rng.choice((0, 1, 14, 127, 128, 255, damaged[place] ^ 1))
        path.write_bytes(bytes(damaged[: rng.choice((len(sound), len(sound), place))]))
        found = outcome(path)
        if packed:  # which has a checksum
            assert found in (None, fingerprint(GRAPH))


def test_a_compressed_variable_that_announces_another_size_is_refused(tmp_path):
    path = save_mat(tmp_path / "g.mat", True, network=np.eye(3))
    content = path.read_bytes()
    inner = bytearray(zlib.decompress(content[136:]))
    for size in (8, 2**32 - 1):
        struct.pack_into("<I", inner, 4, size)
        packed = zlib.compress(bytes(inner))
        path.write_bytes(content[:128] + struct.pack("<II", 15, len(packed)) + packed)
        assert outcome(path) is None
    path.write_bytes(content[:132] + struct.pack("<I", 10**6) + content[136:])
    assert outcome(path) is None


# -- MatrixMarket ------------------------------------------------------------------------------

HEAD = "%%MatrixMarket matrix {} {} {}\n% a comment\n\n"


def mtx(write, body, form="coordinate", field="real", symmetry="general"):
    return write(HEAD.format(form, field, symmetry) + body, "m.mtx")


@pytest.mark.parametrize("symmetry", ["general", "symmetric"])
@pytest.mark.parametrize("field", ["real", "integer", "pattern"])
@pytest.mark.parametrize("form", ["coordinate", "array"])
def test_matrix_market_is_read_as_scipy_reads_it(tmp_path, form, field, symmetry):
    if (form, field) == ("array", "pattern"):
        pytest.skip("there is no such file")
    matrix = MATRIX if form == "coordinate" else MATRIX.toarray()
    path = tmp_path / "m.mtx"
    scipy.io.mmwrite(path, matrix, field=field, symmetry=symmetry)
    expected = Graph.from_any(MATRIX if field != "pattern" else MATRIX != 0)
    assert_same(read_graph(path), expected)
    (tmp_path / "m.mtx.gz").write_bytes(gzip.compress(path.read_bytes()))
    assert_same(read_graph(tmp_path / "m.mtx.gz"), expected)


def test_entries_of_matrix_market_are_edges(write):
    path = mtx(write, "3 3 3\n1 2 2.0\n2 1 0.5\n2 3 1.0\n")
    assert read_graph(path).weights.tolist() == [2.5, 2.5, 1.0, 1.0]
    directed = read_graph(path, directed=True)
    assert (directed.indices.tolist(), directed.weights.tolist()) == ([1, 0, 2], [2.0, 0.5, 1.0])
    assert not read_graph(path, weighted=False).weighted
    numbers = ["0.1", "1e-3", "123456789.123456789", "0.30000000000000004", "2.5e+1", "1E2", "5."]
    lines = "".join(f"{row} 8 {number} \r\n" for row, number in enumerate(numbers, 1))
    path = mtx(write, f"8 8 {len(numbers)}\n{lines}")
    assert read_graph(path, directed=True).weights.tolist() == [float(n) for n in numbers]
    scipy.io.mmwrite(path, scipy.sparse.coo_array(np.array([[0, 3], [3, 0]], np.uint32)))
    assert read_graph(path).weights.tolist() == [3.0, 3.0]


@pytest.mark.parametrize(
    ("options", "body", "message"),
    [
        *(
            ({}, f"3 3 1\n{line}\n", f'line 5: expected an entry of the matrix, found "{line}"')
            for line in ("1 2", "1 2 1 4", "1 2 1_0", "1 2 0x1", "1 2 .5.5", "1 2 1e", "1 2 1e5e")
        ),
        *(
            ({}, f"3 3 1\n{line}\n", f'found "{line}"')
            for line in (
                "1 2 1-2",
                "1 2 .",
                "1 2 nan",
                "1 x 1",
                "1 2 1e5.3",
                "1 2 1+1",
                "1.0 2 1",
                "1 2.0 1",
                "1 2e0 1",
            )
        ),
        ({}, "3 3 1\n1 2 1\0\n", "line 5"),
        ({}, "3 3 1\n\n1 4 1\n", "Line 6"),
        ({}, "3 3 1\n0 1 1\n", "Line 5"),
        ({}, "3 3 2\n1 2 1\n", "announces 2 entries, and has 1"),
        ({}, "3 3 1\n1 2 1\n2 3 1\n", "announces 1 entries, and has 2"),
        ({}, "3 3 2\n1 2 1 2 3 1\n", "not a MatrixMarket file"),
        ({}, "3 3\n", "its sizes are"),
        ({}, "", "the sizes"),
        ({}, "3000000000 3000000000 0\n", "a graph may have at most 2,147,483,647 nodes"),
        ({}, f"9 9 {10**15}\n", "needs about"),
        ({"field": "integer"}, "3 3 1\n1 2 1.5\n", 'found "1 2 1.5"'),
        ({"field": "pattern"}, "3 3 1\n1 2 5\n", 'found "1 2 5"'),
        ({"field": "complex"}, "3 3 1\n1 2 5 1\n", "holds real numbers, not complex"),
        ({"field": "words"}, "3 3 1\n1 2 5\n", "Line 1"),
        ({}, "3 3 1\n3 2 -1.0\n", "row 2, column 1 (counted from 0)"),
        ({}, "3 4 1\n1 2 1.0\n", "is square, not 3 x 4"),
        ({"symmetry": "skew-symmetric"}, "3 3 1\n2 1 5\n", "holds -5: weights must be positive"),
        ({"symmetry": "symmetric"}, "3 4 1\n2 1 5\n", "a symmetric matrix is square, not 3 x 4"),
        ({"form": "array"}, "2 2\n1\n2\n3\n", "announces 4 entries, and has 3"),
        ({"form": "array"}, f"{10**7} {10**7}\n1\n2\n3\n", "needs about"),
    ],
)
def test_odd_matrix_market_is_refused(write, options, body, message):
    path = mtx(write, body, **options)
    told = refusal(read_graph, path)
    assert told.startswith(str(path))
    assert message in told


def test_what_is_decided_of_a_matrix_is_in_the_report(write):
    path = mtx(write, "3 3 3\n1 2 0.5\n2 1 0.7\n2 3 0\n")
    undirected = "edges read as undirected: the matrix is not symmetric"
    assert read_graph(path).notes == ("weights from the values", "1 zero left out", undirected)
    assert read_graph(path, weighted=True, directed=True).notes == ("1 zero left out",)
    assert read_graph(mtx(write, "2 2 2\n1 2 1\n2 1 1\n")).notes == ("no weights",)


@pytest.mark.parametrize("field", ["pattern", "real"])
def test_entries_of_a_matrix_that_repeat_are_counted_and_can_be_refused(write, field):
    one = "" if field == "pattern" else " 1"
    for symmetry, again in (("general", "2 1"), ("symmetric", "1 2")):
        entries = "".join(f"{pair}{one}\n" for pair in ("2 1", again, "3 2"))
        path = mtx(write, f"3 3 3\n{entries}", field=field, symmetry=symmetry)
        graph = read_graph(path)
        assert (graph.n_edges, graph.weighted, graph.merged_edges) == (2, False, 1)
        message = refusal(read_graph, path, duplicates="refuse")
        assert message.startswith(f"{path}: 1 duplicate edge: ")


# -- Parquet -----------------------------------------------------------------------------------


def test_parquet(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "e.parquet"
    columns = {"year": [1, 2, 3], "dst": ["b", "c", "b"], "src": ["a", "b", "c"]}
    parquet.write_table(pyarrow.table(columns), path, row_group_size=1)
    assert_same(read_graph(path), Graph.from_edges([("a", "b"), ("b", "c"), ("c", "b")]))
    parquet.write_table(pyarrow.table({"u": [5, 7], "v": [7, 9], "weight": [1.5, 2.0]}), path)
    assert_same(read_graph(path), Graph.from_edges([(5, 7), (7, 9)], [1.5, 2.0]))
    assert not read_graph(path, weighted=False).weighted
    parquet.write_table(pyarrow.table({"u": [5]}), path)
    assert "two columns of node ids, found 1" in refusal(read_graph, path)


def test_parquet_without_pyarrow(write, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    assert "pip install 'reinforce2vec[parquet]'" in refusal(read_graph, write("", "e.parquet"))


# -- GraphML -----------------------------------------------------------------------------------

GRAPHML = """<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key id="d0" for="node" attr.name="weight" attr.type="double"/>
  <key id="d1" for="edge" attr.name="weight" attr.type="double">DEFAULT</key>
  <key id="d2" for="edge" attr.name="WEIGHT"/><key id="v" for="edge" attr.name="value"/>
  <graph edgedefault="undirected">
    <node id="a"><data key="d0">7</data></node><node id="lone"/><node id="b"/>
    <edge source="a" target="b"><data key="d1">2.5</data></edge>
    <edge source="b" target="c"/>
  </graph>
</graphml>
""".replace("DEFAULT", "")
PAIRS, NODES = [("a", "b"), ("b", "c")], ["a", "lone", "b"]


def graphml(*changes):
    text = GRAPHML
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return text


@pytest.mark.parametrize(
    ("changes", "weights"),
    [
        ((), [2.5, 1]),
        ((('"double"></key>', '"double"><default>3</default></key>'),), [2.5, 3]),
        ((('"c"/>', '"c"><data key="d2">3</data></edge>'),), [2.5, 3]),  # of another key
        ((('for="edge" attr.name="weight"', 'for="all" attr.name="Weight"'),), [2.5, 1]),
        ((('"c"/>', '"c"><data key="v"><node id="x"/><edge/><graph/></data></edge>'),), [2.5, 1]),
    ],
)
def test_graphml_keeps_nodes_and_weights(write, changes, weights):
    expected = Graph.from_edges(PAIRS, weights, nodes=NODES)
    path = write(graphml(*changes), "g.graphml")
    assert_same(read_graph(path), expected)
    assert_same(read_graph(path, weighted=False), Graph.from_edges(PAIRS, nodes=NODES))
    packed = write(gzip.compress(path.read_bytes()), "g.graphml.gz")
    assert_same(read_graph(packed), expected)


@pytest.mark.parametrize(
    ("default", "own", "directed"),
    [
        ('edgedefault="directed"', "", True),
        *(('edgedefault="undirected"', f' directed="{own}"', True) for own in ("1", " true ")),
        *(('edgedefault="directed"', f' directed="{own}"', False) for own in ("0", "false")),
        ("", "", False),
    ],
)
def test_graphml_directions(write, default, own, directed):
    changes = (('edgedefault="undirected"', default), ("<edge ", f"<edge{own} "))
    path = write(graphml(*changes), "g.graphml")
    graph = read_graph(path)
    assert graph.directed == directed
    assert any("no edgedefault" in note for note in graph.notes) == (default == "")
    assert read_graph(path, directed=not directed).directed != directed


def test_graphml_as_networkx_writes_it(tmp_path):
    networkx = pytest.importorskip("networkx")
    networkx.write_graphml(networkx.DiGraph([(3, 1), (1, 2)]), tmp_path / "g.graphml")
    expected = Graph.from_edges([(3, 1), (1, 2)], directed=True)
    assert_same(read_graph(tmp_path / "g.graphml"), expected)


def test_what_is_decided_of_graphml_is_in_the_report(write):
    notes = read_graph(
        write(graphml(('"c"/>', '"c"><data key="v">5</data></edge>')), "g.graphml")
    ).notes
    assert notes == (
        "1 node named by edges only",
        'left out "value" of edges',
        'left out "weight" of nodes',
        'weights from "weight"',
        "1 edge without a weight: 1",
        "text ids",
    )


SECOND = '<edge source="b" target="c"/>'


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ((SECOND, SECOND.replace("/>", ' directed="1"/>')), "some edges are directed and some are"),
        (("2.5", "much"), 'line 8: expected a weight, found "much"'),
        (("2.5", "2_5"), 'line 8: expected a weight, found "2_5"'),
        (("2.5", "9" * 2000), "expected a weight"),
        (("2.5", "2<b/>5"), "<b> is in a weight"),
        (("2.5", "-2"), "the edge from 'a' to 'b' has the weight -2"),
        (("2.5", "&other;"), "not a GraphML file: undefined entity"),
        (("2.5</data>", '2</data><data key="d1">3</data>'), "two weights"),
        (('<data key="d1">', '<data key="Weight">'), "not declared"),
        (('source="b" ', ""), "line 9, <edge>: 'source' is missing"),
        (('source="b" ', 'source="b" weight="2" '), "weights as attributes"),
        (('<node id="lone"/>', "<hyperedge/>"), "line 7: it has a <hyperedge>"),
        (('<node id="lone"/>', '<locator href="x"/>'), "<locator>"),
        (('<node id="b"/>', '<node id="b"><graph/></node>'), "with one graph"),
        (('<node id="b"/>', '<node id="a"/>'), 'two nodes with the id "a"'),
        (('<node id="b"/>', '<edge source="a" target="b"><edge/></edge>'), "in an edge"),
        (("</graph>", "</graph><key id='q' attr.name='weight'/>"), "comes after edges"),
        (("</graph>", "</graph><node id='q'/>"), "<node> is outside"),
        (("undirected", "both"), "<graph>: 'both' is"),
        (("<edge ", '<edge directed="yes" '), "<edge>: 'yes' is"),
        (("<graphml xml", '<!DOCTYPE g [<!ENTITY a "b">]><graphml xml'), "document type"),
        (("<graphml xml", '<!DOCTYPE g SYSTEM "file:///x"><graphml xml'), "document type"),
        (("UTF-8", "martian"), "not a GraphML file: "),
        (("</graphml>", ""), "not a GraphML file: "),
        ((GRAPHML, "<gexf></gexf>"), "it holds no graph element"),
        ((GRAPHML, "<gexf><graph/></gexf>"), "not a GraphML file"),
        ((GRAPHML, "<a>" * 1000), "nested too deeply"),
    ],
)
def test_odd_graphml_is_refused(write, change, message):
    path = write(graphml(change), "g.graphml")
    told = refusal(read_graph, path)
    assert told.startswith(str(path))
    assert message in told


# -- pipes, and the graphs of the paper --------------------------------------------------------


@pytest.mark.parametrize("suffix", ["npz", "parquet", "mat", "mtx", "graphml", "csv"])
def test_every_format_comes_from_pipes(tmp_path, monkeypatch, suffix):
    if suffix == "parquet":
        pytest.importorskip("pyarrow")
    path = tmp_path / f"g.{suffix}"
    if suffix == "mat":
        scipy.io.savemat(path, {"network": np.eye(3, k=1)})
    elif suffix == "mtx":
        scipy.io.mmwrite(path, scipy.sparse.coo_array(np.eye(3, k=1)))
    elif suffix == "graphml":
        path.write_text(GRAPHML)
    else:
        Graph.from_edges([("a", "b"), ("b", "c")]).save(path)

    class Pipe(io.BytesIO):
        def seekable(self):
            return False

        def seek(self, *_):
            raise io.UnsupportedOperation("seek")

        def fileno(self):
            return stdin.fileno()

    class Standard:
        buffer = Pipe(path.read_bytes())

    with open("/dev/null", "rb") as stdin:
        monkeypatch.setattr("sys.stdin", Standard)
        assert read_graph("-", format=suffix).n_edges == 2


@pytest.mark.study
@pytest.mark.parametrize(
    ("name", "options", "n_nodes", "n_edges", "loops"),
    [
        ("facebook_combined.txt.gz", {}, 4039, 88_234, 0),
        ("ca-AstroPh.txt.gz", {}, 18_772, 198_050, 60),
        ("blogcatalog.mat", {}, 10_312, 333_983, 0),
        ("Homo_sapiens.mat", {}, 3890, 37_845, 894),
        ("dblp.ungraph.gz", {"format": "txt.gz"}, 51_264, 127_968, 0),
    ],
)
def test_the_graphs_of_the_paper(name, options, n_nodes, n_edges, loops):
    graph = read_graph(real_file(name), **options)
    assert (graph.n_nodes, graph.n_edges, graph.dropped_self_loops) == (n_nodes, n_edges, loops)
    assert not graph.weighted

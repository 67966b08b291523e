"""Files become the graphs they hold, or a sentence that says what is wrong and where."""

from __future__ import annotations

import gzip
import io
import re
from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.sparse
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from helpers.graphs import assert_same
from helpers.real_data import real_file
from helpers.refusals import refusal
from reinforce2vec import Graph, read_graph
from reinforce2vec.files._fields import parse_weights
from reinforce2vec.files.edge_lists import read_edge_list


def edges_of(graph):
    """A graph's edges by id, with weights, sorted: what makes two graphs the same."""
    matrix = graph.to_scipy().tocoo()
    ids = graph.ids.tolist()
    triples = zip(matrix.row.tolist(), matrix.col.tolist(), matrix.data.tolist(), strict=True)
    return sorted((str(ids[a]), str(ids[b]), w) for a, b, w in triples)


def parse(text, **options):
    return read_edge_list(io.BytesIO(text.encode()), "edges.txt", **options)


# -- edge lists: what is read ------------------------------------------------------------------


def test_nodes_are_numbered_in_order_of_appearance_source_before_target():
    edges = parse("7 3\n3 9\n-1 7\n")
    assert edges.ids.dtype == np.int64
    assert edges.ids.tolist() == [7, 3, 9, -1]
    assert edges.ends.tolist() == [[0, 1], [1, 2], [3, 0]]
    assert edges.weights is None


@pytest.mark.parametrize(
    "text",
    [
        "1 2\n2 3\n",
        "1 2\n2 3",
        "1\t2\n2\t3\n",
        "1,2\n2,3\n",
        "1, 2\n 2 ,3 \n",
        "1;2\n2;3\n",
        "1|2\n2|3\n",
        "1 | 2\n2|3\n",
        "  1   \t 2  \n\t2 3\t\n",
        "1\t\t2\n2 3\n",
        "# comment\n% another\n\n  # third\n1 2\n   \n2 3\n",
        "1 2\r\n2 3\r\n",
        "1 2\r2 3\r",
        "\ufeff1 2\n2 3\n",
        '"1","2"\n"2",3\n',
        "1 2 {}\n2 3 {}\n",
        "1 2 friend\n2 3 foe\n",
        "1,2,\n2,3,\n",
        "source target\n1 2\n2 3\n",
        "Source,Target,Kind\n1,2,x\n2,3,y\n",
        "who\twhom\n1\t2\n2\t3\n",
    ],
)
def test_many_spellings_of_one_graph(text):
    edges = parse(text)
    assert edges.ids.tolist() == [1, 2, 3]
    assert edges.ends.tolist() == [[0, 1], [1, 2]]
    assert edges.weights is None


@pytest.mark.parametrize("token", ["x", "01", "-0", "+1", "1.5", "1e3", str(2**63), "1" * 25])
def test_one_id_that_is_no_plain_integer_makes_all_ids_strings(token):
    edges = parse(f"5 -17\n5 {token}\n{token} 0\n")
    assert edges.ids.dtype == object
    assert edges.ids.tolist() == ["5", "-17", token, "0"]
    assert edges.ends.tolist() == [[0, 1], [0, 2], [2, 3]]


def test_the_whole_range_of_64_bit_integers_is_integer():
    ends = [2**63 - 1, -(2**63), 0, -1]
    assert parse(f"{ends[0]} {ends[1]}\n{ends[2]} {ends[3]}").ids.tolist() == ends


def test_words_late_in_the_file_keep_earlier_numbers_across_chunks():
    lines = [f"{i} {i * i}" for i in range(3000)]
    text = "\n".join([*lines, "ann bob", "2999 ann"])
    whole = parse(text)
    assert whole.ids[:4].tolist() == ["0", "1", "2", "4"]
    for chunk_bytes in (1, 50, 4000):
        cut = parse(text, chunk_bytes=chunk_bytes)
        assert cut.ids.tolist() == whole.ids.tolist()
        assert np.array_equal(cut.ends, whole.ends)


def test_fields_between_delimiters_may_hold_blanks_and_quotes_may_hold_delimiters():
    edges = parse('New York,"Washington, D.C."\n  São Paulo , 北京 \n"New York","#1"\n')
    assert edges.ids.tolist() == ["New York", "Washington, D.C.", "São Paulo", "北京", "#1"]


def test_quotes_are_letters_where_whitespace_separates():
    assert parse('"a b"\nc "\n').ids.tolist() == ['"a', 'b"', "c", '"']


def test_the_delimiter_can_be_named():
    assert parse("a:b c\n", delimiter=":").ids.tolist() == ["a", "b c"]
    assert parse("a,b c,d\n", delimiter=" ").ids.tolist() == ["a,b", "c,d"]
    assert "delimiter must be" in refusal(parse, "a::b\n", delimiter="::")


def test_a_header_can_be_forced_and_denied():
    assert parse("1 2\n3 4\n", header=True).ids.tolist() == [3, 4]
    assert parse("source target\na b\n", header=False).ids.tolist() == [
        "source",
        "target",
        "a",
        "b",
    ]
    assert parse("ann bob\ncid dee\n").ids.tolist() == ["ann", "bob", "cid", "dee"]
    assert parse("ann 1\n2 3\n").ids.tolist() == ["ann", "1", "2", "3"]


def test_a_header_whose_names_are_nodes_too_is_not_guessed():
    message = refusal(parse, "#\nu v\nv w\n")
    assert message.startswith('edges.txt, line 2: this looks like a header, but "v" is a node id')
    assert parse("u v\nv w\n", header=False).ids.tolist() == ["u", "v", "w"]


def test_weights_are_correctly_rounded():
    rng = np.random.default_rng(0)
    bits = rng.integers(0, 0x7FE0 << 48, 2000, dtype=np.int64)
    doubles = [w for w in bits.view(np.float64).tolist() if w > 0]
    words = [repr(w) for w in [*doubles, *rng.random(500).tolist(), 5e-324, 2**53 + 1.0]]
    words += [f"{w:.{d}g}" for w in doubles[:300] for d in (3, 15, 16, 18)]
    words += ["1e-3", ".5", "5.", "+2", "1E5", "1e+22", "1e-22", "123456789012345e22", "0.1e1"]
    words += ["9007199254740993", "0." + "0" * 30 + "1", "1" + "0" * 40, "00012.50", "1e0000000001"]
    edges = parse("".join(f"1 2 {word}\n" for word in words))
    assert edges.weights.tolist() == [float(word) for word in words]


def test_numbers_of_many_digits_are_correctly_rounded_by_the_kernel():
    rng = np.random.default_rng(1)
    words = [f"{number:.17f}" for number in rng.random(2000)]
    words += [f"{number}e-{rng.integers(1, 22)}" for number in rng.integers(2**53, 2**62, 2000)]
    between = (rng.integers(2**52, 2**53, 2000) * 2 + 1).tolist()  # two numbers of 53 bits
    words += [
        f"{number}.{last}" for number, last in zip(between, rng.integers(0, 10, 2000), strict=True)
    ]
    words += [f"{number * 10 + last}e-1" for number in between for last in (-1, 0, 1)]
    data = np.frombuffer("".join(f"{word}\n" for word in words).encode(), np.uint8)
    bounds = np.zeros((len(words), 6), np.int32)
    bounds[:, 5] = np.flatnonzero(data == ord("\n"))
    bounds[1:, 4] = bounds[:-1, 5] + 1
    found = np.empty(len(words))
    parse_weights(data, bounds, found)
    done = ~np.isnan(found)
    assert found[done].tolist() == np.array([float(word) for word in words])[done].tolist()
    assert done[:4000].mean() > 0.99


def test_weights_can_be_required_or_ignored():
    assert parse("1 2 3\n", weighted=False).weights is None
    assert parse("1 2 -3\n", weighted=False).weights is None
    assert parse("1 2 {'a': 1}\n", weighted=False).weights is None
    assert parse("1 2 3 4\n", weighted=True).weights.tolist() == [3.0]
    assert parse("1 2\n1 3 x\n").weights is None
    assert parse('a,b,"0.5"\n').weights.tolist() == [0.5]


ids_of_any_kind = st.one_of(
    st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=8, unique=True),
    st.lists(
        st.text("abcé北 0123.-_/", min_size=1, max_size=8).map(str.strip).filter(bool),
        min_size=1,
        max_size=8,
        unique=True,
    ),
)


@pytest.mark.slow
@settings(max_examples=80, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_whatever_is_written_comes_back(data):
    ids = data.draw(ids_of_any_kind)
    pairs = data.draw(
        st.lists(st.tuples(st.sampled_from(ids), st.sampled_from(ids)), min_size=1, max_size=20)
    )
    weighted = data.draw(st.booleans())
    weights = data.draw(
        st.lists(st.floats(1e-70, 1e70), min_size=len(pairs), max_size=len(pairs))
        if weighted
        else st.none()
    )
    spaced = any(" " in str(node) for node in ids)
    delimiter = data.draw(st.sampled_from("\t,;|" if spaced else "\t,;| "))
    quoted = data.draw(st.booleans()) and delimiter != " "
    newline = data.draw(st.sampled_from(["\n", "\r\n"]))
    lines = []
    for number, (a, b) in enumerate(pairs):
        lines += data.draw(
            st.lists(st.sampled_from(["", "  ", "# c", " # c, d", "\t"]), max_size=2)
        )
        fields = [f'"{node}"' if quoted else str(node) for node in (a, b)]
        if weights is not None:
            fields.append(repr(weights[number]))
        lines.append(data.draw(st.sampled_from(["", " "])) + delimiter.join(fields))
    text = newline.join(lines) + data.draw(st.sampled_from(["", newline]))
    options = {"header": False, "delimiter": delimiter, "comments": "#", "weighted": weighted}
    read = parse(text, **options, chunk_bytes=data.draw(st.integers(1, 200)))
    assert read.comments == text.count("#")

    named = {node for pair in pairs for node in pair}
    if not all(isinstance(node, int) for node in named):
        integers = all(
            re.fullmatch("0|-?[1-9][0-9]*", str(node)) and -(2**63) <= int(node) < 2**63
            for node in named
        )
        pairs = [(int(a), int(b)) if integers else (a, b) for a, b in pairs]
    expected = Graph.from_edges(pairs, weights, self_loops=True)
    assert read.ids.dtype == expected.ids.dtype
    assert_same(Graph.from_numbered(*read[:1], read.weights, read.ids, self_loops=True), expected)


# -- edge lists: what is refused ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("# c\n1 2\n\n2 3\n\n17\n", "line 6: expected 2 columns, separated by whitespace, found 1"),
        ("1,2\n17\n", 'line 2: expected 2 columns, separated by commas, found 1 ("17")'),
        ("1\t2\n3 4\n", "line 2: expected 2 columns, separated by tabs, found 1"),
        ("a,b\n,c\n", "line 2: column 1 is empty"),
        ("a,b\nc,\n", "line 2: column 2 is empty"),
        ('a,b\n"",c\n', "line 2: column 1 is empty"),
        ('a,b\n"c"d",e\n', "line 2: expected double quotes around a whole field"),
        ('a,b\n"c,e\n', "line 2: a double quote opens in this line and is never closed"),
        ("1 2 0.5\n2 3\n", "line 2: expected 3 columns, separated by whitespace, found 2"),
        ("1,2,3\n2,3,\n", "line 2: column 3 is empty"),
        *(
            (
                f"1 2 0.5\n2 3 {word}\n",
                f'line 2: expected a positive weight in column 3, found "{word}',
            )
            for word in ("x", "1_0", "1e", ".", "-1", "0.0", "1e-999", "NaN", "-inf", "1e999")
        ),
        ("1 2 nan\n", 'line 1: expected a positive weight in column 3, found "nan"'),
        ("1 2 {'weight': 3}\n", "line 1: the third column holds dictionaries"),
        ('1,2,{"weight": 3, "a": 1}\n', "write the file with networkx.write_weighted_edgelist"),
        ("", "expected edges, but the file is empty"),
        (" \n\n", "expected edges, but the file is empty"),
        ("# c\n% d\n", "expected edges, found only comments"),
        ("source,target\n", "expected edges, found only a header"),
        ("1 2\n\n3 \0 4\n", "line 3: expected text in UTF-8, but this line holds a NUL byte"),
        (b"1 2\n\n3 \xff\n", "line 3: expected text in UTF-8, but this line is not UTF-8"),
    ],
)
def test_errors_name_file_line_and_what_was_found(write, content, message):
    path = write(content)
    assert message in refusal(read_graph, path)
    assert refusal(read_graph, path).startswith(f"{path}")


def test_asking_for_weights_where_there_are_none(write):
    assert "line 1: expected 3 columns" in refusal(read_graph, write("1 2\n"), weighted=True)


@pytest.mark.parametrize("chunk_bytes", [1, 7, 10_000])
def test_line_numbers_hold_across_chunks_and_the_first_error_counts(chunk_bytes):
    lines = [f"{i} {i + 1} 1" for i in range(1, 101)]
    lines[70] = "1 2 -1"
    lines[80] = "5"
    message = refusal(parse, "# c\n" + "\r\n".join(lines), chunk_bytes=chunk_bytes)
    assert message.startswith("edges.txt, line 72: ")


def test_long_lines_are_shown_in_part():
    assert len(refusal(parse, "a,b\n" + "x" * 10_000 + "\n")) < 200


# -- files -------------------------------------------------------------------------------------


def test_options_reach_the_graph(write):
    path = write("1 2\n2 2\n2 1\n1 2\n")
    assert_same(read_graph(path), Graph.from_edges([(1, 2), (2, 2)]))
    assert read_graph(path).dropped_self_loops == 1
    assert_same(
        read_graph(path, directed=True, self_loops=True),
        Graph.from_edges([(1, 2), (2, 2), (2, 1)], directed=True, self_loops=True),
    )


@pytest.mark.parametrize("read", [read_graph, Graph.from_any])
def test_what_is_wrong_with_the_graph_of_a_file_names_the_file(write, read):
    path = write("a b 1e-200\nb c 1e200\n")
    assert refusal(read, path).startswith(f"{path}: edge weights span from 1e-200 to 1e+200")


def test_parallel_edges_are_merged_and_their_weights_added(write):
    graph = read_graph(write("a b 1\nb a 2.5\n"))
    assert graph.n_edges == 1
    assert graph.weights.tolist() == [3.5, 3.5]


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


def test_unknown_suffixes_are_answered_with_the_known_ones(write):
    for name in ("x.dat", "x", "x.mat.gz", ".gz"):
        message = refusal(read_graph, write("1 2\n", name))
        assert "unknown suffix" in message
        assert ".txt .tsv .csv" in message


def test_files_that_cannot_be_opened(tmp_path, write, monkeypatch):
    assert "there is no such file" in refusal(read_graph, tmp_path / "none.txt")
    folder = tmp_path / "folder.txt"
    folder.mkdir()
    assert "this is a folder" in refusal(read_graph, folder)
    path = write("1 2\n")

    def denied(*_):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "open", denied)
    assert refusal(read_graph, path) == f"{path}: cannot be read: Permission denied"


def test_damaged_gzip_files(write):
    lines = "".join(f"{i} {i * 7919 % 1000}\n" for i in range(5000)).encode()
    packed = gzip.compress(lines)
    assert "not a valid gzip file" in refusal(read_graph, write("1 2\n", "a.txt.gz"))
    assert "ends too early" in refusal(read_graph, write(packed[:-20], "b.txt.gz"))
    middle = len(packed) // 2
    broken = packed[:middle] + bytes(50) + packed[middle + 50 :]
    assert "not a valid gzip file" in refusal(read_graph, write(broken, "c.txt.gz"))
    assert "empty" in refusal(read_graph, write(gzip.compress(b""), "d.txt.gz"))


def test_text_options_are_refused_for_other_formats(write):
    assert "for edge lists" in refusal(read_graph, write("", "x.mtx"), delimiter=",")


def test_random_bytes_are_refused_in_every_format(write):
    noise = np.random.default_rng(0).bytes(3000)
    for suffix in (".txt", ".txt.gz", ".mtx", ".mtx.gz", ".mat", ".npz", ".parquet", ".graphml"):
        for content in (noise, b"", b"hello\n", b"PK\x03\x04" + noise, b"\x1f\x8b" + noise):
            path = write(content, "noise" + suffix)
            assert refusal(read_graph, path).startswith(str(path))


# -- matrices ----------------------------------------------------------------------------------

SYMMETRIC = "%%MatrixMarket matrix coordinate pattern symmetric\n4 4 2\n2 1\n3 2\n"
GENERAL = "%%MatrixMarket matrix coordinate real general\n3 3 3\n1 2 2.0\n2 1 0.5\n2 3 1.0\n"


@pytest.mark.parametrize("packed", [False, True])
def test_matrix_market(write, packed):
    def read(text, **options):
        content = gzip.compress(text.encode()) if packed else text
        return read_graph(write(content, "m.mtx" + ".gz" * packed), **options)

    graph = read(SYMMETRIC)
    assert_same(graph, Graph.from_edges([(0, 1), (1, 2)], nodes=range(4)))
    assert read(GENERAL).weights.tolist() == [2.5, 2.5, 1.0, 1.0]
    directed = read(GENERAL, directed=True)
    assert directed.indices.tolist() == [1, 0, 2]
    assert directed.weights.tolist() == [2.0, 0.5, 1.0]
    assert not read(GENERAL, weighted=False).weighted


def test_matrices_that_are_no_adjacency(write):
    lines = GENERAL.splitlines()
    wide = "\n".join([lines[0], "3 4 1", "1 2 1.0"])
    assert "is square, not 3 x 4" in refusal(read_graph, write(wide, "m.mtx"))
    negative = "\n".join([lines[0], "3 3 1", "3 2 -1.0"])
    assert "row 2, column 1 (counted from 0)" in refusal(read_graph, write(negative, "m.mtx"))
    cut = "\n".join(lines[:3])
    assert "announces 3 entries, and has 1" in refusal(read_graph, write(cut, "m.mtx"))
    packed = gzip.compress(GENERAL.encode())[:-10]
    assert str(write(packed, "m.mtx.gz")) in refusal(read_graph, write(packed, "m.mtx.gz"))


def test_matlab(tmp_path, write):
    path = tmp_path / "m.mat"
    matrix = scipy.sparse.csc_matrix(([1.0, 1.0], ([0, 1], [1, 0])), shape=(3, 3))
    scipy.io.savemat(path, {"network": matrix, "other": np.ones((2, 2)), "group": np.ones((3, 1))})
    assert_same(read_graph(path), Graph.from_edges([(0, 1)], nodes=range(3)))
    assert read_graph(path, key="other", self_loops=True).n_edges == 3
    message = refusal(read_graph, path, key="A")
    assert 'no variable "A"' in message
    assert "network (3, 3), other (2, 2)" in message
    newest = b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(128) + b"\x89HDF"
    assert "MATLAB 7.3" in refusal(read_graph, write(newest, "n.mat"))


def test_npz(tmp_path):
    path = tmp_path / "m.npz"
    scipy.sparse.save_npz(path, scipy.sparse.coo_array(([2.0], ([0], [1])), shape=(3, 3)))
    assert_same(read_graph(path), Graph.from_edges([(0, 1)], [2.0], nodes=range(3)))
    np.savez(path, a=np.ones(3))
    assert "save_npz" in refusal(read_graph, path)
    np.savez(path, data=np.array([print], object), format=np.array(["csr"], object))
    assert str(path) in refusal(read_graph, path)


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
  <graph edgedefault="KIND">
    <node id="a"><data key="d0">7</data></node><node id="lone"/><node id="b"/>
    <edge source="a" target="b"><data key="d1">2.5</data></edge>
    <edge source="b" target="c"OWN/>
  </graph>
</graphml>
"""


def graphml(kind="undirected", default="", own=""):
    return GRAPHML.replace("KIND", kind).replace("DEFAULT", default).replace("OWN", own)


def test_graphml_keeps_directions_weights_and_isolated_nodes(write):
    nodes, pairs = ["a", "lone", "b"], [("a", "b"), ("b", "c")]
    expected = Graph.from_edges(pairs, [2.5, 1.0], nodes=nodes)
    assert_same(read_graph(write(graphml(), "g.graphml")), expected)
    packed = gzip.compress(graphml("directed", "<default>3</default>").encode())
    expected = Graph.from_edges(pairs, [2.5, 3.0], nodes=nodes, directed=True)
    assert_same(read_graph(write(packed, "g.graphml.gz")), expected)
    path = write(graphml("directed"), "h.graphml")
    assert not read_graph(path, directed=False).directed
    assert not read_graph(path, weighted=False).weighted


def test_graphml_as_networkx_writes_it(tmp_path):
    networkx = pytest.importorskip("networkx")
    graph = networkx.DiGraph([(3, 1), (1, 2)])
    networkx.write_graphml(graph, tmp_path / "g.graphml")
    expected = Graph.from_edges([(3, 1), (1, 2)], directed=True)
    assert_same(read_graph(tmp_path / "g.graphml"), expected)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (graphml(own=' directed="true"'), "some edges are directed and some are not"),
        (graphml().replace("2.5", "much"), 'line 7: expected a weight, found "much"'),
        (graphml().replace("2.5", "-2"), "the edge from 'a' to 'b' has the weight -2"),
        (graphml().replace('source="b" ', ""), "line 8, <edge>: 'source' is missing"),
        (graphml().replace('<node id="lone"/>', "<hyperedge/>"), "<hyperedge>"),
        (graphml().replace('<node id="b"/>', '<node id="b"><graph/></node>'), "with one graph"),
        (graphml()[:400], "not a GraphML file: "),
        ("<gexf></gexf>", "it holds no graph element"),
    ],
)
def test_graphml_that_cannot_be_used(write, text, message):
    path = write(text, "g.graphml")
    assert message in refusal(read_graph, path)
    assert refusal(read_graph, path).startswith(f"{path}")


# -- the graphs of the paper -------------------------------------------------------------------


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


WEIGHTED = """<graphml><key id="w"{}/><graph edgedefault="{}">
<node id="a"/><node id="b"/><edge source="a" target="b"{}><data key="w">2.5</data></edge>
</graph></graphml>"""


@pytest.mark.parametrize(
    "key",
    [' attr.name="weight"', ' for="all" attr.name="weight"', ' for="edge" attr.name="Weight"'],
)
def test_graphml_weights_of_keys_for_everything_are_read(write, key):
    graph = read_graph(write(WEIGHTED.format(key, "undirected", ""), "g.graphml"))
    assert graph.weights.tolist() == [2.5, 2.5]


def test_graphml_directions_are_those_of_the_edges(write):
    for own in ("1", "true", " true "):
        text = WEIGHTED.format("", "undirected", f' directed="{own}"')
        assert read_graph(write(text, "g.graphml")).directed
    for own in ("0", "false"):
        text = WEIGHTED.format("", "directed", f' directed="{own}"')
        assert not read_graph(write(text, "g.graphml")).directed
    graph = read_graph(write(graphml().replace(' edgedefault="undirected"', ""), "g.graphml"))
    assert not graph.directed
    assert any("no edgedefault" in note for note in graph.notes)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (WEIGHTED.format("", "both", ""), "<graph>: 'both' is"),
        (WEIGHTED.format("", "directed", ' directed="yes"'), "<edge>: 'yes' is"),
        (graphml().replace("2.5", "2_5"), 'expected a weight, found "2_5"'),
        (graphml().replace("2.5", "2<b/>5"), "<b> is in a weight"),
        (graphml().replace("2.5", "9" * 2000), "expected a weight"),
        (graphml().replace('<node id="b"/>', '<node id="a"/>'), 'two nodes with the id "a"'),
        (
            graphml().replace("</graph>", "</graph><key id='q' attr.name='weight'/>"),
            "comes after edges",
        ),
        ('<!DOCTYPE g [<!ENTITY a "b">]>' + WEIGHTED, "it has a document type (<!DOCTYPE ...>)"),
        ('<!DOCTYPE g SYSTEM "file:///etc/passwd">' + WEIGHTED, "it has a document type"),
        (graphml().replace("2.5", "&other;"), "not a GraphML file: undefined entity"),
        ('<?xml version="1.0" encoding="martian"?>' + WEIGHTED, "not a GraphML file: "),
    ],
)
def test_odd_graphml_is_refused(write, text, message):
    assert message in refusal(read_graph, write(text, "g.graphml"))


def test_weights_of_two_keys_are_read(write):
    """networkx has one key for integers and one for other numbers."""
    text = graphml().replace(
        "<graph ", "<key id='whole' for='edge' attr.name='weight' attr.type='long'/><graph ", 1
    )
    text = text.replace(
        '<edge source="b" target="c"/>',
        '<edge source="b" target="c"><data key="whole">3</data></edge>',
    )
    graph = read_graph(write(text, "g.graphml"))
    assert sorted(set(graph.weights.tolist())) == [2.5, 3.0]


def test_matrices_of_unsigned_integers_are_read(tmp_path):
    matrix = scipy.sparse.coo_array(np.array([[0, 3], [3, 0]], np.uint32))
    scipy.io.mmwrite(tmp_path / "g.mtx", matrix)
    assert read_graph(tmp_path / "g.mtx").weights.tolist() == [3.0, 3.0]

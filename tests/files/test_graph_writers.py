"""A saved graph is read back as it was: ids, order of the rows, edges, weights, isolated nodes."""

from __future__ import annotations

import gzip

import networkx
import numpy as np
import pytest
import scipy.sparse
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from helpers.refusals import refusal
from reinforce2vec import Graph, karate_club, read_graph
from reinforce2vec._util.ids import as_ids
from reinforce2vec.graph import edges_of
from reinforce2vec.graph.fingerprint import fingerprint

TEXT = [".csv", ".tsv", ".txt", ".edges", ".edgelist"]
SUFFIXES = [*TEXT, ".csv.gz", ".txt.gz", ".parquet", ".npz"]


def saved(graph, folder, suffix, **options):
    path = folder / f"graph{suffix}"
    graph.save(path)
    options = ({} if suffix == ".npz" else {"directed": graph.directed}) | options
    return read_graph(path, **options)


def content(graph):
    """Nodes and weighted edges by id, whatever the order of the rows."""
    matrix = graph.to_scipy().tocoo()
    ids = graph.ids.tolist()
    return set(ids), {
        (ids[a], ids[b], w)
        for a, b, w in zip(matrix.row, matrix.col, matrix.data.tolist(), strict=True)
    }


PAIRS = [("d", "a"), ("b", "c"), ("c", "a"), ("a", "f")]
ODD = [
    *(("source", "target"), ("u", "v"), ("#tag", "% of"), ('say "hi"', "a,b"), (" x ", "7")),
    *(("a\tb", "a;b"), ("New York", "北京")),
]
GRAPHS = {
    "plain": Graph.from_edges(PAIRS),
    "directed": Graph.from_edges(PAIRS, directed=True),
    "weighted": Graph.from_edges(PAIRS, [0.1, 1e-17, 3.0, 2 / 3], nodes=["lone", *"abcde"]),
    "all": Graph.from_edges(PAIRS, [1, 2, 3, 1.5], nodes=["lone", *"abcde"], directed=True),
    "integers": karate_club(),
    "large integers": Graph.from_edges([(-(2**63), 2**63 - 1)]),
    "odd words": Graph.from_edges(ODD),
    "odd words with weights": Graph.from_edges(ODD, np.arange(1.0, 8)),
    "a header or not": Graph.from_edges([("ann", "bob"), ("1", "2")]),
    "a time or not": Graph.from_edges([(1, 2)], [1.6e9]),
}


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("name", GRAPHS)
def test_graphs_are_read_back(tmp_path, suffix, name):
    graph = GRAPHS[name]
    again = saved(graph, tmp_path, suffix)
    assert content(again) == content(graph)
    assert (again.directed, again.weighted) == (graph.directed, graph.weighted)
    assert again.dropped_self_loops == (name in ("weighted", "all") and suffix != ".npz") * 2
    if suffix == ".npz":
        assert fingerprint(again) == fingerprint(graph)


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("directed", [False, True])
def test_a_graph_that_was_read_keeps_the_order_of_its_rows(tmp_path, suffix, directed):
    rng = np.random.default_rng(0)
    pairs = rng.integers(0, 200, (150, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    graph = Graph.from_edges(pairs, rng.random(len(pairs)), directed=directed)
    assert fingerprint(saved(graph, tmp_path, suffix)) == fingerprint(graph)
    pairs[::5, 1] = pairs[::5, 0]
    graph = Graph.from_edges(pairs, rng.random(len(pairs)), directed=directed, self_loops=True)
    assert fingerprint(saved(graph, tmp_path, suffix, self_loops=True)) == fingerprint(graph)


def test_self_loops_and_isolated_nodes_fit_in_npz_alone(tmp_path):
    graph = Graph.from_edges([(1, 2), (2, 2)], nodes=[1, 2, 3], self_loops=True)
    assert "cannot hold self-loops together with isolated nodes, such as 3" in refusal(
        graph.save, tmp_path / "graph.txt"
    )
    graph.save(tmp_path / "graph.npz")
    assert fingerprint(read_graph(tmp_path / "graph.npz", self_loops=True)) == fingerprint(graph)


def test_plain_text_has_no_header_and_others_read_it(tmp_path):
    path = tmp_path / "club.txt"
    karate_club().save(path)
    again = networkx.read_edgelist(path, nodetype=int)
    assert {*map(frozenset, again.edges)} == {
        frozenset(edge[:2]) for edge in content(karate_club())[1]
    }
    weighted = Graph.from_edges([("a", "b", 2.0), ("b", "c", 0.5)])
    weighted.save(tmp_path / "w.csv.gz")
    text = gzip.decompress((tmp_path / "w.csv.gz").read_bytes())
    assert text == b"source,target,weight\na,b,2\nb,c,0.5\n"


def test_npz_keeps_what_text_does_not_and_scipy_reads_it(tmp_path):
    path = tmp_path / "graph.npz"
    graph = Graph.from_edges([("1", "2"), ("2", "3")], [1, 1], directed=True, nodes=["0", "1"])
    graph.save(path)
    assert fingerprint(read_graph(path)) == fingerprint(graph)
    assert not read_graph(path, directed=False).directed
    assert not read_graph(path, weighted=False).weighted
    assert (scipy.sparse.load_npz(path) != graph.to_scipy()).nnz == 0
    Graph.from_edges([], nodes=[]).save(path)
    assert read_graph(path).n_nodes == 0


@pytest.mark.parametrize(
    "changed",
    [
        {"begins": np.array([0, 1, 2])},  # a letter is left over
        {"begins": np.array([0, 3, 1, 3])},
        {"ids": np.array([97, 98, 99]), "begins": np.array([0, 8, 16, 24])},
        {"ids": np.array([0.5, 1, 2]), "begins": None},
    ],
)
def test_ids_in_npz_that_do_not_fit_together_are_refused(tmp_path, changed):
    path = tmp_path / "graph.npz"
    Graph.from_edges([("a", "b"), ("b", "c")]).save(path)
    arrays = {**np.load(path), **changed}
    np.savez(path, **{name: array for name, array in arrays.items() if array is not None})
    assert "its ids" in refusal(read_graph, path)


def test_what_cannot_be_written_is_refused_before_anything_is(tmp_path):
    path = tmp_path / "graph.txt"
    path.write_text("old")
    for ids, message in [(("", "a"), "cannot be written as text"), ((1, "1"), "two node ids read")]:
        assert message in refusal(Graph.from_edges([ids]).save, path)
    assert path.read_text() == "old"
    undecodable = Graph.from_edges([("a", "x\udcff")])
    assert "which UTF-8 cannot express" in refusal(undecodable.save, tmp_path / "graph.parquet")
    assert ".csv .tsv" in refusal(karate_club().save, tmp_path / "graph.docx")
    assert "does not exist" in refusal(karate_club().save, tmp_path / "none" / "graph.txt")
    assert [file.name for file in tmp_path.iterdir()] == ["graph.txt"]


ids_of_one_kind = st.one_of(
    st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=8, unique=True),
    st.lists(
        st.text('ab#é北 ,"\t|;.-7', min_size=1, max_size=6), min_size=1, max_size=8, unique=True
    ),
)


@pytest.mark.slow
@settings(
    max_examples=150,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(data=st.data())
def test_whatever_is_saved_comes_back(tmp_path, data):
    ids = data.draw(ids_of_one_kind)
    pairs = data.draw(st.lists(st.tuples(st.sampled_from(ids), st.sampled_from(ids)), max_size=20))
    weights = data.draw(
        st.none() | st.lists(st.floats(1e-70, 1e70), min_size=len(pairs), max_size=len(pairs))
    )
    graph = Graph.from_edges(pairs, weights, nodes=ids, directed=data.draw(st.booleans()))
    suffix = data.draw(st.sampled_from(SUFFIXES))
    again = saved(graph, tmp_path, suffix)
    assert (again.directed, again.n_edges) == (graph.directed, graph.n_edges)
    nodes, edges = content(again)
    if suffix not in (".npz", ".parquet"):
        graph = Graph.from_numbered(
            *edges_of(graph), as_ids(list(map(str, graph.ids.tolist()))), directed=graph.directed
        )
        nodes = set(map(str, nodes))
        edges = {(str(a), str(b), w) for a, b, w in edges}
    assert (nodes, edges) == content(graph)

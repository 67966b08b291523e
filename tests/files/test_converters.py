"""Other packages' objects become the graphs they hold."""

from __future__ import annotations

from decimal import Decimal
from functools import partial

import numpy as np
import pytest
import scipy.sparse

from helpers import refusals
from helpers.graphs import assert_same
from reinforce2vec import Graph, ProNE, planted_groups

from_any = Graph.from_any
refusal = partial(refusals.refusal, from_any)


# -- what needs no package ---------------------------------------------------------------------


def test_a_graph_is_returned_as_it_is():
    graph = Graph.from_edges([(1, 2)])
    assert from_any(graph) is graph


def test_a_data_set_is_its_graph():
    blocks = planted_groups(50, 2, degree=6)
    assert from_any(blocks) is blocks.graph
    assert ProNE(4).fit_transform(blocks).shape == (50, 4)


def test_a_path_is_read(tmp_path):
    path = tmp_path / "e.txt"
    path.write_text("a:b\n")
    assert from_any(str(path), delimiter=":", directed=True).directed
    assert from_any(path, delimiter=":").ids.tolist() == ["a", "b"]


def test_lists_of_pairs_and_triples():
    pairs = [("a", "b"), ("b", "c")]
    assert_same(from_any(pairs), Graph.from_edges(pairs))
    assert_same(from_any(iter(pairs), directed=True), Graph.from_edges(pairs, directed=True))
    triples = [("a", "b", 2.0), ("b", "c", 3.0)]
    assert_same(from_any(triples), Graph.from_edges(pairs, [2.0, 3.0]))
    assert_same(from_any(triples, weighted=False), Graph.from_edges(pairs))
    assert "weighted=True, but the edges are pairs" in refusal(pairs, weighted=True)
    assert "expected a pair" in refusal([("a", "b"), ("a",)])


def test_arrays_of_edges():
    pairs = [[5, 7], [7, 9], [5, 9]]
    assert_same(from_any(np.array(pairs)), Graph.from_edges(pairs))
    assert_same(from_any(np.array([["a", "b"]])), Graph.from_edges([("a", "b")]))
    assert "may be an adjacency matrix or two edges" in refusal(np.eye(2))
    assert "got the shape 3 x 4" in refusal(np.ones((3, 4)))
    assert "got the shape 3" in refusal(np.ones(3))


@pytest.mark.parametrize("source", [3, None, {"a": ["b"]}, b"a b", object()])
def test_anything_else_is_answered_with_what_is_accepted(source):
    message = refusal(source)
    assert message.startswith(f"cannot make a graph from a {type(source).__name__}: expected")
    assert "networkx" in message


def test_options_of_files_are_refused_for_objects():
    assert "delimiter: only for files, not for a list" in refusal([(1, 2)], delimiter=",")


# -- matrices ----------------------------------------------------------------------------------

SYMMETRIC = np.array([[0, 2, 0, 0], [2, 0, 3, 0], [0, 3, 4, 0], [0, 0, 0, 0]], float)
ONE_WAY = np.array([[0, 2, 0], [1, 0, 5], [0, 0, 0]], float)
FORMATS = ["csr", "csc", "coo", "lil", "dok", "dia", "bsr"]


@pytest.mark.parametrize("make", [scipy.sparse.csr_array, scipy.sparse.csr_matrix])
@pytest.mark.parametrize("format", FORMATS)
def test_sparse_matrices_of_every_format(make, format):
    matrix = make(SYMMETRIC).asformat(format)
    expected = Graph.from_edges([(0, 1), (1, 2), (2, 2)], [2.0, 3.0, 4.0], nodes=range(4))
    assert_same(from_any(matrix), expected)
    assert from_any(matrix).dropped_self_loops == 1


def test_a_symmetric_matrix_counts_each_edge_once():
    graph = from_any(SYMMETRIC, self_loops=True)
    assert np.array_equal(graph.to_scipy().toarray(), SYMMETRIC)
    rounded = SYMMETRIC.copy()
    rounded[0, 1] = np.nextafter(2, 3)
    assert from_any(rounded).weights[0] == pytest.approx(2)


def test_another_matrix_is_a_list_of_edges():
    assert_same(from_any(ONE_WAY), Graph.from_edges([(0, 1), (1, 2)], [3.0, 5.0]))
    directed = from_any(ONE_WAY, directed=True)
    assert directed.directed
    assert np.array_equal(directed.to_scipy().toarray(), ONE_WAY)
    assert from_any(SYMMETRIC, directed=True, self_loops=True).to_scipy().sum() == SYMMETRIC.sum()


def test_weights_of_a_matrix_are_used_where_they_say_something():
    ones = (SYMMETRIC > 0).astype(int)
    assert not from_any(ones).weighted
    assert not from_any(ones.astype(bool)).weighted
    assert from_any(ones, weighted=True).weights.tolist() == [1.0] * 4
    assert not from_any(SYMMETRIC, weighted=False).weighted


def test_explicit_zeros_are_no_edges_and_the_matrix_is_left_alone():
    matrix = scipy.sparse.coo_array(([1, 1, 0, 1], ([0, 1, 1, 0], [1, 0, 2, 1])), shape=(3, 3))
    graph = from_any(matrix)
    assert graph.n_edges == 1
    assert not graph.weighted
    assert matrix.data.tolist() == [1, 1, 0, 1]
    small = scipy.sparse.csr_array(SYMMETRIC)
    before = small.copy()
    from_any(small, weighted=False)
    assert (small != before).nnz == 0


def test_parallel_entries_are_added():
    matrix = scipy.sparse.coo_array(([200, 100], ([0, 0], [1, 1])), shape=(2, 2), dtype=np.uint8)
    assert from_any(matrix).weights.tolist() == [300.0, 300.0]


@pytest.mark.parametrize(("value", "word"), [(-1, "-1"), (np.nan, "nan"), (np.inf, "inf")])
def test_entries_that_are_no_weights_are_named(value, word):
    matrix = SYMMETRIC.copy()
    matrix[2, 1] = value
    for source in (matrix, scipy.sparse.csc_array(matrix)):
        message = refusal(source)
        assert f"row 2, column 1 (counted from 0) of the adjacency matrix holds {word}" in message


def test_matrices_that_are_no_adjacency():
    assert "is square, not 2 x 3" in refusal(scipy.sparse.csr_array(np.ones((2, 3))))
    assert "holds real numbers, not complex128" in refusal(np.ones((3, 3), complex))
    assert "holds real numbers, not object" in refusal(np.full((3, 3), "a", object))


# -- networkx and igraph -----------------------------------------------------------------------


def test_networkx():
    networkx = pytest.importorskip("networkx")
    graph = networkx.Graph([("b", "a"), ("a", "c")])
    graph.add_node("alone")
    expected = Graph.from_edges([("b", "a"), ("a", "c")], nodes=["b", "a", "c", "alone"])
    assert_same(from_any(graph), expected)
    graph["a"]["c"]["weight"] = 2.5
    assert sorted(from_any(graph).weights.tolist()) == [1.0, 1.0, 2.5, 2.5]
    assert not from_any(graph, weighted=False).weighted
    graph["a"]["c"]["weight"] = -2
    assert "the edge from 'a' to 'c' has the weight -2" in refusal(graph)
    graph["a"]["c"]["weight"] = "much"
    assert "weights must be numbers" in refusal(graph)


def test_networkx_directions_and_parallel_edges():
    networkx = pytest.importorskip("networkx")
    graph = networkx.MultiDiGraph([(5, 3), (5, 3), (3, 5)])
    assert_same(from_any(graph), Graph.from_edges([(5, 3), (3, 5)], directed=True))
    graph.add_edge(5, 3, weight=2.0)
    assert from_any(graph).weights.tolist() == [4.0, 1.0]
    assert from_any(graph, directed=False).weights.tolist() == [5.0, 5.0]
    assert from_any(graph, directed=False).n_edges == 1
    assert "carry no weights" in refusal(networkx.path_graph(3), weighted=True)


def test_igraph():
    igraph = pytest.importorskip("igraph")
    graph = igraph.Graph(n=4, edges=[(0, 1), (1, 2), (0, 1)], directed=True)
    expected = Graph.from_edges([(0, 1), (1, 2)], nodes=range(4), directed=True)
    assert_same(from_any(graph), expected)
    graph.vs["name"] = ["a", "b", "c", "d"]
    graph.es["weight"] = [1.0, 2.0, None]
    named = from_any(graph)
    assert named.ids.tolist() == ["a", "b", "c", "d"]
    assert named.weights.tolist() == [2.0, 2.0]
    graph.vs["name"] = ["a", "b", "a", "d"]
    assert "same" in refusal(graph)


# -- tables ------------------------------------------------------------------------------------


@pytest.fixture(params=["pandas", "polars", "pyarrow"])
def table(request):
    """Makes a table of one of the packages from columns."""
    package = pytest.importorskip(request.param)
    return package.table if request.param == "pyarrow" else package.DataFrame


def test_tables_of_words(table):
    pairs = [("b", "a"), ("a", "c")]
    columns = {"year": [1, 2], "Target": ["a", "c"], "Source": ["b", "a"], "note": ["x", "y"]}
    assert_same(from_any(table(columns)), Graph.from_edges(pairs))
    assert_same(from_any(table(columns), directed=True), Graph.from_edges(pairs, directed=True))
    weighted = {**columns, "Weight": [0.5, 2]}
    assert_same(from_any(table(weighted)), Graph.from_edges(pairs, [0.5, 2]))


def test_tables_of_two_columns_with_any_names(table):
    columns = {"one": [7, 3, 7], "two": [3, 9, 9]}
    pairs = [(7, 3), (3, 9), (7, 9)]
    assert_same(from_any(table(columns), bipartite=False), Graph.from_edges(pairs))
    assert "carry no weights" in refusal(table(columns), weighted=True)


def test_tables_of_mixed_and_float_ids(table):
    mixed = from_any(table({"u": [1, 2], "v": ["a", "b"]}))
    assert mixed.ids.tolist() == [1, "a", 2, "b"]
    whole = from_any(table({"u": [1.0, 2.0], "v": [2, 3]}))
    assert whole.ids.dtype == np.int64


def test_tables_of_integers_and_strings_of_digits(table):
    columns = {"source": [5, 7], "target": ["7", "123"]}
    message = refusal(table(columns))
    assert message == (
        'the node ids in "source", "target" are integers, such as 5, but also strings of digits, '
        "such as '7': write both alike"
    )
    assert from_any(table(columns), bipartite=True).n_nodes == 4
    assert from_any(table(columns | {"target": ["7", "a"]})).n_nodes == 4


def test_a_column_of_integers_and_strings_of_digits():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"u": [1, "2"], "v": [3, "1"]}, dtype=object)  # as pandas reads parts
    assert "write both alike" in refusal(frame)


def test_empty_tables(table):
    assert from_any(table({"u": [], "v": []})).n_nodes == 0


def test_tables_that_cannot_be_used(table):
    assert 'found 1: "u"' in refusal(table({"u": [1]}))
    for missing in ([1, None], ["a", None], [1.5, None]):
        message = refusal(table({"u": [1, 2], "v": missing}))
        assert message == 'row 1 (counted from 0): the node id in column "v" is missing'
    bad = table({"u": [1, 2], "v": [2, 3], "weight": [1.0, 0.0]})
    assert "the edge from 2 to 3 has the weight 0" in refusal(bad)


def test_pandas_categories_and_doubled_names():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"u": ["a", "b"], "v": ["b", "c"]}).astype("category")
    assert_same(from_any(frame), Graph.from_edges([("a", "b"), ("b", "c")]))
    frame.columns = ["u", "u"]
    assert "same name" in refusal(frame)


def test_pyarrow_dictionaries_in_chunks():
    pyarrow = pytest.importorskip("pyarrow")
    parts = [
        pyarrow.table(
            {
                "u": pyarrow.array([a]).dictionary_encode(),
                "v": pyarrow.array([b]).dictionary_encode(),
            }
        )
        for a, b in [("x", "y"), ("z", "x")]
    ]
    graph = from_any(pyarrow.concat_tables(parts))
    assert_same(graph, Graph.from_edges([("x", "y"), ("z", "x")]))


# -- PyTorch Geometric -------------------------------------------------------------------------


class Tensor:
    """What matters of a torch tensor."""

    def __init__(self, values, ready=False):
        self.values, self.ready = np.array(values), ready

    def detach(self):
        return self

    def cpu(self):
        return Tensor(self.values, ready=True)

    def __array__(self, dtype=None, copy=None):
        assert self.ready, "still on its device"
        return self.values


class Data:
    """What matters of a torch_geometric.data.Data."""

    def __init__(self, edge_index, num_nodes=None, undirected=False, **attributes):
        self.edge_index = Tensor(edge_index)
        self.num_nodes = num_nodes
        self.undirected = undirected
        for name, values in attributes.items():
            setattr(self, name, Tensor(values))

    def is_undirected(self):
        return self.undirected


BOTH_WAYS = [[0, 1, 1, 2, 2], [1, 0, 2, 1, 2]]


def test_geometric_data_says_whether_it_is_undirected():
    graph = from_any(Data([[0, 1], [1, 2]], num_nodes=4))
    assert_same(graph, Graph.from_edges([(0, 1), (1, 2)], nodes=range(4), directed=True))
    assert from_any(Data([[0, 1], [1, 0]])).n_nodes == 2
    assert not from_any(Data([[0, 1], [1, 2]]), directed=False).directed


def test_geometric_edges_that_stand_twice_count_once():
    weights = [2.0, 2.0, 3.0, 3.0, 4.0]
    for name in ("edge_weight", "edge_attr"):
        data = Data(BOTH_WAYS, undirected=True, **{name: weights})
        expected = Graph.from_edges([(0, 1), (1, 2), (2, 2)], [2.0, 3.0, 4.0], self_loops=True)
        assert_same(from_any(data, self_loops=True), expected)
        assert from_any(data, directed=True).weights.tolist() == [2.0, 2.0, 3.0, 3.0]
    assert not from_any(Data(BOTH_WAYS, undirected=True, edge_attr=[[1.0, 2.0]] * 5)).weighted


def test_geometric_data_that_cannot_be_used():
    assert "edge_index has the shape (2, m)" in refusal(Data([[0, 1, 2]]))
    assert "outside 0 to 1" in refusal(Data([[0, 1], [1, 2]], num_nodes=2))
    message = refusal(Data([[0, 1], [1, 2]], edge_weight=[1.0]))
    assert "expected one weight for each of the 2 edges" in message


@pytest.mark.parametrize("kind", ["f2", "f4", "f8"])
def test_floats_that_may_be_rounded_are_no_ids(kind):
    limit = 2.0 ** (np.finfo(kind).nmant + 1)
    pairs = np.array([[limit, 1], [1, 2], [2, 3]], kind)
    assert "may be rounded" in refusal(pairs)
    table = pytest.importorskip("pandas").DataFrame(pairs, columns=["source", "target"])
    assert 'column "source" holds node ids as' in refusal(table)
    assert from_any(table - 1).ids.tolist() == [limit - 1, 0, 1, 2]


def test_whole_decimals_of_a_database_are_integer_ids():
    ends = [[Decimal("1.00"), Decimal(2)], [Decimal(2), Decimal(10)]]
    table = pytest.importorskip("pandas").DataFrame(ends, columns=["source", "target"])
    for given in (table, pytest.importorskip("pyarrow").Table.from_pandas(table)):
        graph = from_any(given)
        assert graph.ids.dtype == np.int64
        assert graph.ids.tolist() == [1, 2, 10]
    table.loc[0, "source"] = Decimal(2**70)
    assert from_any(table).ids.tolist() == [2**70, 2, 10]

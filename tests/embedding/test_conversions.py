"""Embeddings in other packages hold the same vectors, under the same names."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace

import networkx
import numpy as np
import polars
import pytest

from reinforce2vec import Embedding, Graph, InputError

NAMES = ["ann", "bob", "cid", "dee"]
PEOPLE = Embedding(NAMES, np.random.default_rng(0).normal(size=(4, 3)))
NUMBERS = Embedding([30, 10, 20, 40], PEOPLE.vectors)


def friends(directed=False, weights=(2.0, 0.5)):
    """In another order than the vectors, and without dee."""
    return Graph.from_edges([("cid", "ann"), ("ann", "bob")], weights, directed=directed)


# -- networkx ----------------------------------------------------------------------------------


def test_a_networkx_graph_gets_vectors_and_keeps_what_it_had():
    graph = networkx.Graph([("cid", "ann", {"since": 1990}), ("bob", "ann")])
    graph.add_node("dee", age=40)
    with_vectors = PEOPLE.to_networkx(graph, name="z")
    for node in graph:
        assert np.array_equal(with_vectors.nodes[node]["z"], PEOPLE[node])
    assert list(with_vectors) == ["cid", "ann", "bob", "dee"]
    assert with_vectors.nodes["dee"]["age"] == 40
    assert with_vectors.edges["ann", "cid"]["since"] == 1990
    assert graph.nodes["dee"] == {"age": 40}
    alone = PEOPLE.to_networkx()
    assert (list(alone), alone.number_of_edges()) == (NAMES, 0)
    with pytest.raises(InputError, match="node 'eve'"):
        PEOPLE.to_networkx(networkx.Graph([("ann", "eve")]))


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("weights", [(2.0, 0.5), None])
def test_a_graph_of_ours_becomes_one_of_networkx(directed, weights):
    graph = friends(directed, weights)
    whole = PEOPLE.to_networkx(graph)
    assert whole.is_directed() == directed
    assert list(whole) == ["cid", "ann", "bob"]
    assert whole.edges["cid", "ann"] == ({} if weights is None else {"weight": 2.0})
    assert whole.number_of_edges() == 2
    assert np.array_equal(whole.nodes["bob"]["vector"], PEOPLE["bob"])
    again = Graph.from_any(whole)
    assert again.ids.tolist() == graph.ids.tolist()
    assert np.array_equal(again.to_scipy().todense(), graph.to_scipy().todense())


# -- PyTorch Geometric -------------------------------------------------------------------------


class Tensor:
    """What matters of a torch tensor."""

    def __init__(self, values):
        assert values.flags.writeable  # torch warns of arrays that are not
        self.values = values

    def detach(self):
        return self

    def cpu(self):
        return self.values


class Data(SimpleNamespace):
    """What matters of a torch_geometric.data.Data."""

    def is_undirected(self):
        arcs = set(map(tuple, self.edge_index.values.T.tolist()))
        return arcs == {(b, a) for a, b in arcs}


@pytest.fixture
def torch(monkeypatch):
    """Stand-ins for two large packages."""
    modules = {name: ModuleType(name) for name in ("torch", "torch_geometric.data")}
    modules["torch"].from_numpy = Tensor
    modules["torch_geometric.data"].Data = Data
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setitem(sys.modules, "torch_geometric", ModuleType("torch_geometric"))


@pytest.mark.usefixtures("torch")
def test_geometric_data_has_rows_in_the_order_of_the_vectors():
    data = PEOPLE.to_pyg(friends())
    assert np.array_equal(data.x.values, PEOPLE.vectors)
    assert data.x.values.dtype == np.float32
    assert (data.num_nodes, data.ids) == (4, NAMES)
    index, weights = data.edge_index.values, data.edge_weight.values
    assert (index.dtype, weights.dtype) == (np.int64, np.float32)
    arcs = {(NAMES[a], NAMES[b]): weight for a, b, weight in zip(*index, weights, strict=True)}
    one_way = {("ann", "cid"): 2.0, ("ann", "bob"): 0.5}
    assert arcs == one_way | {(b, a): weight for (a, b), weight in one_way.items()}
    assert set(vars(PEOPLE.to_pyg())) == {"x", "num_nodes", "ids"}
    with pytest.raises(InputError, match="node 'eve'"):
        PEOPLE.to_pyg([("ann", "eve")])


@pytest.mark.usefixtures("torch")
@pytest.mark.parametrize("directed", [False, True])
def test_geometric_data_is_read_back_as_the_same_graph(directed):
    edges = [("cid", "ann"), ("ann", "bob"), ("dee", "cid")]
    graph = Graph.from_edges(edges, nodes=NAMES, directed=directed)
    again = Graph.from_any(PEOPLE.to_pyg(graph))
    assert (again.directed, again.weighted) == (directed, False)
    assert np.array_equal(again.to_scipy().todense(), graph.to_scipy().todense())


# -- gensim ------------------------------------------------------------------------------------


def test_gensim_has_the_same_vectors_and_neighbours(tmp_path):
    keyed_vectors = pytest.importorskip("gensim.models").KeyedVectors
    theirs = PEOPLE.to_gensim()
    assert isinstance(theirs, keyed_vectors)
    assert theirs.index_to_key == NAMES
    assert np.array_equal(theirs.vectors, PEOPLE.vectors)
    ours = PEOPLE.most_similar("ann")
    assert [name for name, _ in theirs.most_similar("ann")] == [name for name, _ in ours]
    for name in ("people.txt", "people.bin"):
        NUMBERS.save(tmp_path / name)
        loaded = keyed_vectors.load_word2vec_format(tmp_path / name, binary=name.endswith(".bin"))
        assert NUMBERS.to_gensim().index_to_key == loaded.index_to_key == ["30", "10", "20", "40"]
        assert np.array_equal(NUMBERS.to_gensim().vectors, loaded.vectors)
    with pytest.raises(InputError, match="'1'"):  # two ids read the same
        Embedding([1, "1"], [[1], [2]]).to_gensim()
    assert len(Embedding([], np.empty((0, 2))).to_gensim()) == 0


@pytest.mark.parametrize(
    ("method", "package"),
    [("to_networkx", "networkx"), ("to_pyg", "torch"), ("to_gensim", "gensim")],
)
def test_a_missing_package_is_named_with_the_way_to_get_it(monkeypatch, method, package):
    monkeypatch.setitem(sys.modules, package, None)
    for module in [name for name in sys.modules if name.startswith(f"{package}.")]:
        monkeypatch.delitem(sys.modules, module)
    with pytest.raises(InputError, match=rf"{method}\(\) needs {package}.*pip install {package}"):
        getattr(PEOPLE, method)()


# -- Arrow, databases and data frames, by the lines of the documentation ------------------------


@pytest.mark.parametrize("embedding", [PEOPLE, NUMBERS], ids=["strings", "integers"])
def test_arrow_polars_and_duckdb_hold_the_same(tmp_path, embedding):
    pyarrow, duckdb = pytest.importorskip("pyarrow"), pytest.importorskip("duckdb")
    table, ids = embedding.to_arrow(), embedding.ids.tolist()
    assert table.schema.types[1] == pyarrow.list_(pyarrow.float32(), 3)
    assert table["node"].to_pylist() == ids
    assert table["vector"].to_pylist() == embedding.vectors.tolist()
    assert b"reinforce2vec" in table.schema.metadata
    ours, theirs, again = (tmp_path / f"{name}.parquet" for name in ("ours", "theirs", "again"))
    embedding.save(ours)
    frame = polars.read_parquet(ours)
    assert frame.schema["vector"] == polars.Array(polars.Float32, 3)
    frame.write_parquet(again)
    expected = embedding.most_similar(ids[0], 2)
    query = """
        select other.node, {compare}(one.vector, other.vector) as cosine
        from {table} one, {table} other
        where one.node = $node and other.node <> $node order by cosine desc limit 2
    """
    with duckdb.connect() as database:
        database.register("arrow", table)
        for source, compare in (
            (f"'{ours}'", "list_cosine_similarity"),
            ("arrow", "array_cosine_similarity"),
        ):
            text = query.format(table=source, compare=compare)
            rows = database.execute(text, {"node": ids[0]}).fetchall()
            assert [node for node, _ in rows] == [node for node, _ in expected]
            assert rows[0][1] == pytest.approx(expected[0][1], abs=1e-5)
        database.execute(f"copy (select node, vector from '{ours}') to '{theirs}'")
    for file in (theirs, again):
        back = Embedding.load(file)
        assert back.ids.tolist() == ids
        assert np.array_equal(back.vectors, embedding.vectors)


def test_lancedb_finds_the_column_of_vectors_by_itself(tmp_path):
    lancedb = pytest.importorskip("lancedb", reason="too large for the extra of the tests")
    table = lancedb.connect(tmp_path / "lance").create_table("nodes", PEOPLE.to_arrow())
    rows = table.search(PEOPLE["ann"]).distance_type("cosine").limit(3).to_list()
    alike = [node for node, _ in PEOPLE.most_similar("ann", 2)]
    assert [row["node"] for row in rows] == ["ann", *alike]

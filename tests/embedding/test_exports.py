"""Embeddings as objects of other packages hold the same vectors, under the same names."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace

import networkx
import numpy as np
import pytest

from reinforce2vec import Embedding, Graph, InputError

NAMES = ["ann", "bob", "cid", "dee"]
PEOPLE = Embedding(NAMES, np.random.default_rng(0).normal(size=(4, 3)))
# in another order than the vectors, and without dee
FRIENDS = Graph.from_edges([("cid", "ann"), ("ann", "bob")], [2.0, 0.5])


# -- networkx ----------------------------------------------------------------------------------


def test_a_networkx_graph_gets_vectors_and_keeps_what_it_had():
    friends = networkx.Graph([("cid", "ann", {"since": 1990}), ("bob", "ann")])
    friends.add_node("dee", age=40)
    with_vectors = PEOPLE.to_networkx(friends, name="z")
    for node in friends:
        assert np.array_equal(with_vectors.nodes[node]["z"], PEOPLE[node])
    assert list(with_vectors) == ["cid", "ann", "bob", "dee"]
    assert with_vectors.nodes["dee"]["age"] == 40
    assert with_vectors.edges["ann", "cid"]["since"] == 1990
    assert friends.nodes["dee"] == {"age": 40}


@pytest.mark.parametrize("directed", [False, True])
def test_a_graph_of_ours_becomes_one_of_networkx(directed):
    graph = Graph.from_edges([("cid", "ann"), ("ann", "bob")], [2.0, 0.5], directed=directed)
    whole = PEOPLE.to_networkx(graph)
    assert whole.is_directed() == directed
    assert list(whole) == ["cid", "ann", "bob"]
    assert whole.edges["cid", "ann"] == {"weight": 2.0}
    assert whole.number_of_edges() == 2
    assert np.array_equal(whole.nodes["bob"]["vector"], PEOPLE["bob"])
    again = Graph.from_any(whole)
    assert again.ids.tolist() == graph.ids.tolist()
    assert np.array_equal(again.to_scipy().todense(), graph.to_scipy().todense())


def test_without_a_graph_there_are_nodes_alone():
    alone = PEOPLE.to_networkx()
    assert list(alone) == NAMES
    assert alone.number_of_edges() == 0


def test_edges_without_weights_get_none():
    assert PEOPLE.to_networkx([("ann", "bob")]).edges["ann", "bob"] == {}


def test_a_node_without_a_vector_is_named():
    with pytest.raises(InputError, match="node 'eve' is not in the embedding"):
        PEOPLE.to_networkx(networkx.Graph([("ann", "eve")]))


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
    data = PEOPLE.to_pyg(FRIENDS)
    assert np.array_equal(data.x.values, PEOPLE.vectors)
    assert data.x.values.dtype == np.float32
    assert (data.num_nodes, data.ids) == (4, NAMES)
    index, weights = data.edge_index.values, data.edge_weight.values
    assert (index.dtype, weights.dtype) == (np.int64, np.float32)
    arcs = {(NAMES[a], NAMES[b]): weight for a, b, weight in zip(*index, weights, strict=True)}
    assert arcs == {
        **{("ann", "cid"): 2.0, ("cid", "ann"): 2.0},
        **{("ann", "bob"): 0.5, ("bob", "ann"): 0.5},
    }


@pytest.mark.usefixtures("torch")
@pytest.mark.parametrize("directed", [False, True])
def test_geometric_data_is_read_back_as_the_same_graph(directed):
    edges = [("cid", "ann"), ("ann", "bob"), ("dee", "cid")]
    graph = Graph.from_edges(edges, nodes=NAMES, directed=directed)
    again = Graph.from_any(PEOPLE.to_pyg(graph))
    assert again.directed == directed
    assert not again.weighted
    assert np.array_equal(again.to_scipy().todense(), graph.to_scipy().todense())


@pytest.mark.usefixtures("torch")
def test_geometric_data_without_a_graph_has_no_edges():
    assert set(vars(PEOPLE.to_pyg())) == {"x", "num_nodes", "ids"}


@pytest.mark.usefixtures("torch")
def test_geometric_data_needs_a_vector_for_every_node():
    with pytest.raises(InputError, match="node 'eve' is not in the embedding"):
        PEOPLE.to_pyg([("ann", "eve")])


# -- gensim ------------------------------------------------------------------------------------


@pytest.fixture
def keyed_vectors():
    return pytest.importorskip("gensim.models").KeyedVectors


def test_gensim_has_the_same_vectors_and_neighbours(keyed_vectors):
    theirs = PEOPLE.to_gensim()
    assert isinstance(theirs, keyed_vectors)
    assert theirs.index_to_key == NAMES
    assert np.array_equal(theirs.vectors, PEOPLE.vectors)
    ours = PEOPLE.most_similar("ann")
    assert [name for name, _ in theirs.most_similar("ann")] == [name for name, _ in ours]
    np.testing.assert_allclose(
        [cosine for _, cosine in theirs.most_similar("ann")],
        [cosine for _, cosine in ours],
        rtol=1e-5,
    )


@pytest.mark.parametrize("name", ["people.txt", "people.bin"])
def test_gensim_loads_from_files_what_it_gets_in_memory(keyed_vectors, tmp_path, name):
    numbers = Embedding([30, 10, 20, 40], PEOPLE.vectors)
    numbers.save(tmp_path / name)
    loaded = keyed_vectors.load_word2vec_format(tmp_path / name, binary=name.endswith(".bin"))
    given = numbers.to_gensim()
    assert given.index_to_key == loaded.index_to_key == ["30", "10", "20", "40"]
    assert np.array_equal(given.vectors, loaded.vectors)


def test_ids_that_read_the_same_are_refused(keyed_vectors):
    with pytest.raises(InputError, match="two node ids read '1' as text"):
        Embedding([1, "1"], [[1], [2]]).to_gensim()


def test_no_vectors_are_no_vectors_for_gensim(keyed_vectors):
    assert len(Embedding([], np.empty((0, 2))).to_gensim()) == 0


# -- packages that are not there ---------------------------------------------------------------


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

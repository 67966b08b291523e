"""Methods that factorise a matrix, beside their definitions written down with dense matrices."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest
import scipy.sparse

from helpers.memory import least_peak_of
from helpers.toy_graphs import dead_ends, random_graph, weighted, weighted_arcs
from reinforce2vec import (
    HOPE,
    Graph,
    GraRep,
    InputError,
    NetMF,
    ProNE,
    Spectral,
    karate_club,
    planted_groups,
    rmat,
    smooth,
)
from reinforce2vec.models.baselines import _blocks, hope, netmf
from reinforce2vec.models.baselines._blocks import Block, BlockMatrix, Steps
from reinforce2vec.models.baselines._spectrum import Search, leading_eigenpairs

METHODS = [HOPE, GraRep, NetMF, ProNE, Spectral]
GRAPHS = {
    "karate": karate_club,
    "weighted": weighted,
    "loops": random_graph,
    "skewed": lambda: rmat(9, 6, seed=3),  # larger than the spaces that eigenvectors live in
}


@pytest.fixture(params=GRAPHS)
def graph(request):
    return GRAPHS[request.param]()


def dense(graph):
    return graph.to_scipy().toarray()


def inner(vectors):
    """Products of all rows: what does not depend on signs, nor on turns of equal columns."""
    vectors = np.asarray(vectors, np.float64)
    return vectors @ vectors.T


def left_factor(matrix, rank):
    left, sizes, _ = np.linalg.svd(matrix)
    return (left * np.sqrt(sizes))[:, :rank]


def unit(rows):
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 1e-6)


def transitions(adjacency):
    sums = adjacency.sum(axis=1, keepdims=True)
    return np.divide(adjacency, sums, out=np.zeros_like(adjacency), where=sums > 0)


def positive_log(matrix):
    return np.log(np.maximum(matrix, 1))


# -- eigenpairs ------------------------------------------------------------------------------------


def test_eigenpairs_of_a_dense_matrix_by_size():
    rng = np.random.default_rng(0)
    matrix = rng.normal(size=(300, 300))
    matrix += matrix.T
    values, vectors = leading_eigenpairs(lambda new: matrix @ new, 300, 7, rng, Search(4))
    exact = np.linalg.eigvalsh(matrix)
    exact = exact[np.argsort(-np.abs(exact))][:7]
    np.testing.assert_allclose(values, exact, rtol=1e-9)
    np.testing.assert_allclose(matrix @ vectors, vectors * values, atol=1e-6)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(7), atol=1e-9)


def test_eigenvalues_that_occur_several_times_are_all_found():
    clique = np.ones((9, 9)) - np.eye(9)
    small = [np.ones((m, m)) - np.eye(m) for m in range(2, 8)] * 5
    blocks = [scipy.sparse.coo_array(part) for part in [clique] * 6 + small]
    matrix = scipy.sparse.csr_array(scipy.sparse.block_diag(blocks))
    values, _ = leading_eigenpairs(
        lambda new: matrix @ new, matrix.shape[0], 8, np.random.default_rng(0), Search(4)
    )
    np.testing.assert_allclose(values, [8] * 6 + [6] * 2, atol=1e-8)


# -- matrices in blocks ----------------------------------------------------------------------------


@pytest.mark.parametrize("room", [0, 5000, 10**9])
def test_products_are_the_same_whatever_is_kept(room):
    rng = np.random.default_rng(0)
    matrix = rng.random((50, 50), np.float32)
    matrix[:30][rng.random((30, 50)) < 0.95] = 0  # some blocks sparse, some dense
    made = []

    def make(rows):
        made.append(rows)
        return matrix[rows].copy()

    slices = [slice(first, min(first + 7, 50)) for first in range(0, 50, 7)]
    whole = BlockMatrix(50, [Block(rows, slice(0, 50), lambda r=rows: make(r)) for rows in slices],
                        kept_bytes=room)  # fmt: skip
    vectors = rng.random((50, 3))
    for _ in range(2):
        np.testing.assert_allclose(whole.product(vectors), matrix @ vectors, rtol=1e-4)
    expected = matrix.T @ (matrix @ vectors)
    np.testing.assert_allclose(whole.gram_product(vectors), expected, rtol=1e-4)
    assert len(made) == 24 if room == 0 else len(made) == 8 if room == 10**9 else 8 < len(made) < 24


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("method", [HOPE, GraRep, ProNE, Spectral])
def test_the_estimate_holds_where_nearly_all_is_edges(method, weighted):
    pairs = np.column_stack(np.triu_indices(900, 1))
    weights = np.random.default_rng(0).uniform(1, 2, len(pairs)) if weighted else None
    graph = Graph.from_edges(pairs, weights)
    method(4).fit(graph, progress=False)  # compiles
    peak = least_peak_of(lambda: method(4).fit(graph, progress=False))
    assert peak <= method(4).estimate_memory(graph)


def test_steps_of_a_walk_become_dense_without_a_change():
    graph = random_graph()
    walk = Steps(graph.to_scipy())
    once = transitions(dense(graph))
    reached = list(islice(walk.after(slice(3, 9)), 5))
    for k, here in zip(range(1, 6), reached, strict=True):
        here = here.toarray() if scipy.sparse.issparse(here) else here
        np.testing.assert_allclose(here, np.linalg.matrix_power(once, k)[3:9], atol=1e-6)


# -- HOPE ------------------------------------------------------------------------------------------


def assert_same_but_for_size(found, expected):
    found, expected = found / np.linalg.norm(found), expected / np.linalg.norm(expected)
    np.testing.assert_allclose(found, expected, atol=1e-5 * np.abs(expected).max())


def katz(graph, beta):
    adjacency = beta * dense(graph)
    return np.linalg.solve(np.eye(len(adjacency)) - adjacency, adjacency)


def best_of_rank(matrix, rank):
    left, sizes, right = np.linalg.svd(matrix)
    return (left[:, :rank] * sizes[:rank]) @ right[:rank]


def reconstructed(vectors, rank):
    vectors = vectors.astype(np.float64)
    return vectors[:, :rank] @ vectors[:, rank : 2 * rank].T


@pytest.mark.slow
@pytest.mark.parametrize("beta", [0.01, 0.2])
def test_hope_is_the_best_approximation_of_katz_proximity(graph, beta):
    if graph.weighted:
        beta /= 100  # 0.2 is beyond the pole in the other graphs, here that would be anywhere
    expected = best_of_rank(katz(graph, beta), 6)
    found = reconstructed(HOPE(12, beta).fit_transform(graph), 6)
    assert_same_but_for_size(found, expected)


@pytest.mark.parametrize("terms", [hope._TERMS, 1], ids=["series", "factors"])
@pytest.mark.parametrize("name", ["arcs", "weighted arcs", "skewed"])
def test_hope_follows_directions(name, terms, monkeypatch):
    monkeypatch.setattr(hope, "_TERMS", terms)
    graph, beta = {
        "arcs": (dead_ends(), 0.3),
        "weighted arcs": (weighted_arcs(), 1e-4),
        "skewed": (rmat(9, 4, directed=True, seed=2), 0.02),
    }[name]
    expected = best_of_rank(katz(graph, beta), 3)
    found = reconstructed(HOPE(6, beta).fit_transform(graph), 3)
    assert_same_but_for_size(found, expected)


def test_hope_beyond_the_pole_of_a_directed_graph():
    graph = rmat(7, 8, directed=True, seed=2)
    beta = 1.3 / np.abs(np.linalg.eigvals(dense(graph))).max()
    expected = best_of_rank(katz(graph, beta), 3)
    found = reconstructed(HOPE(6, beta).fit_transform(graph), 3)
    assert_same_but_for_size(found, expected)


def test_hope_at_the_pole_is_refused():
    with pytest.raises(InputError, match="one over an eigenvalue"):
        HOPE(2, beta=0.5).fit([(0, 1), (1, 2), (2, 0)])  # a triangle has the eigenvalue 2


def test_hope_gives_the_larger_half_to_sources():
    graph = dead_ends()
    odd, even = (HOPE(d, 0.1).fit_transform(graph) for d in (5, 6))
    assert_same_but_for_size(odd, even[:, :5])


@pytest.mark.parametrize("beta", [0.01, 1e-6])
def test_vectors_of_hope_have_a_mean_squared_length_of_one(beta):
    lengths = np.linalg.norm(HOPE(8, beta).fit_transform(karate_club()), axis=1)
    assert (lengths**2).mean() == pytest.approx(1, rel=1e-5)


# -- GraRep ----------------------------------------------------------------------------------------


def grarep_parts(adjacency, ranks):
    once = transitions(adjacency)
    for k, rank in enumerate(ranks, 1):
        power = np.linalg.matrix_power(once, k)
        sums = power.sum(axis=0)
        shares = np.divide(power, sums, out=np.zeros_like(power), where=sums > 0)
        yield unit(left_factor(positive_log(shares * len(power)), rank))


@pytest.mark.slow
def test_grarep_is_its_definition(graph, monkeypatch):
    monkeypatch.setattr(_blocks, "BLOCK_BYTES", 40_000)  # several blocks
    found = GraRep(10, steps=4).fit_transform(graph)
    parts = np.split(found, [3, 6, 8], axis=1)
    for part, expected in zip(parts, grarep_parts(dense(graph), (3, 3, 2, 2)), strict=True):
        np.testing.assert_allclose(inner(part), inner(expected), atol=2e-3)


@pytest.mark.slow
@pytest.mark.parametrize("model", [GraRep(8, steps=2), ProNE(8), ProNE(8, smooth=False)], ids=repr)
def test_components_that_the_dimensions_do_not_reach_have_zeros_and_not_noise(model):
    core = rmat(9, 6, seed=3)
    links = [(int(a), int(b)) for a, b in np.argwhere(np.triu(dense(core), 1))]
    pairs = [(f"x{k}", f"y{k}") for k in range(20)]
    found = model.fit(Graph.from_edges([*links, *pairs])).embedding_
    assert not found[[end for pair in pairs for end in pair]].any()
    assert (np.abs(found[[a for a, _ in links]]).max(axis=1) > 0.1).mean() > 0.9


# -- NetMF -----------------------------------------------------------------------------------------


def deepwalk_matrix(adjacency, window, negatives):
    once = transitions(adjacency)
    powers = sum(np.linalg.matrix_power(once, k) for k in range(1, window + 1))
    degrees = adjacency.sum(axis=1)
    inverse = np.divide(1, degrees, out=np.zeros_like(degrees), where=degrees > 0)
    return positive_log(adjacency.sum() / (negatives * window) * powers * inverse)


@pytest.mark.slow
@pytest.mark.parametrize(("window", "negatives"), [(10, 1), (3, 2)])
def test_netmf_is_its_definition(graph, window, negatives, monkeypatch):
    monkeypatch.setattr(_blocks, "BLOCK_BYTES", 40_000)
    expected = inner(left_factor(deepwalk_matrix(dense(graph), window, negatives), 6))
    found = inner(NetMF(6, window, negatives).fit_transform(graph))
    np.testing.assert_allclose(found, expected, atol=2e-3 * np.abs(expected).max())


@pytest.mark.slow
def test_netmf_of_large_components_comes_from_leading_eigenpairs(monkeypatch):
    monkeypatch.setattr(netmf, "_EXACT", 20)
    graph = rmat(8, 6, seed=3)  # one large component, and isolated nodes
    adjacency = dense(graph)
    roots = np.sqrt(adjacency.sum(axis=1))
    inverse = np.divide(1, roots, out=np.zeros_like(roots), where=roots > 0)
    values, vectors = np.linalg.eigh(inverse[:, None] * adjacency * inverse)
    values, vectors = values[-40:], vectors[:, -40:]
    near = np.mean([values**r for r in range(1, 11)], axis=0)
    half = inverse[:, None] * vectors
    expected = inner(left_factor(positive_log(adjacency.sum() * (half * near) @ half.T), 6))
    found = inner(NetMF(6, rank=40).fit_transform(graph))
    np.testing.assert_allclose(found, expected, atol=5e-3 * np.abs(expected).max())


def test_netmf_with_all_eigenpairs_is_exact(monkeypatch):
    graph = Graph.from_edges(
        [*((int(a), int(b)) for a, b in np.argwhere(np.triu(dense(random_graph()), 1))),
         (100, 101), (101, 102)]
    )  # fmt: skip
    exact = inner(NetMF(6).fit_transform(graph))
    monkeypatch.setattr(netmf, "_EXACT", 10)
    found = inner(NetMF(6, rank=60).fit_transform(graph))
    np.testing.assert_allclose(found, exact, atol=1e-2 * np.abs(exact).max())


# -- ProNE -----------------------------------------------------------------------------------------


def edge_matrix(adjacency):
    once = transitions(adjacency)
    negatives = once.sum(axis=0) ** 0.75
    negatives = np.where(negatives > 0, negatives / negatives.sum(), 1)
    return np.where(once > 0, np.log(np.where(once > 0, once, 1) / negatives), 0)


def test_prone_begins_with_the_logarithms_of_edges(graph):
    expected = unit(left_factor(edge_matrix(dense(graph)), 6))
    found = ProNE(6, smooth=False).fit_transform(graph)
    np.testing.assert_allclose(inner(found), inner(expected), atol=2e-3)


def test_prone_ends_with_smoothing(graph):
    first = ProNE(6, smooth=False).fit_transform(graph)
    found = ProNE(6, order=8, mu=0.1, theta=0.4).fit_transform(graph)
    expected = smooth(first, graph, order=8, mu=0.1, theta=0.4)
    np.testing.assert_allclose(inner(found), inner(expected), atol=1e-5)


# -- Spectral --------------------------------------------------------------------------------------


def eigenvectors(adjacency, regularization):
    """Eigenvectors of the normalised matrix of nodes with edges, the largest eigenvalue first."""
    links = adjacency + regularization * adjacency.sum() / len(adjacency) ** 2
    roots = np.sqrt(links.sum(axis=1))
    return np.linalg.eigh(links / roots / roots[:, None])[1][:, ::-1]


@pytest.mark.parametrize("regularization", [0, 0.1, 1])
def test_spectral_embedding_is_its_definition(graph, regularization):
    adjacency = dense(graph)
    linked = adjacency.any(axis=1)
    expected = unit(eigenvectors(adjacency[np.ix_(linked, linked)], regularization)[:, 1:7])
    found = Spectral(6, regularization).fit_transform(graph)[linked]
    np.testing.assert_allclose(inner(found), inner(expected), atol=1e-2)


@pytest.mark.parametrize("degree", [6, 30])  # several products in a pass of the search, or one
def test_spectral_embedding_finds_planted_groups(degree):
    groups = planted_groups(1000, 4, degree=degree, mixing=0.1, seed=1)
    labels = groups.labels.argmax(axis=1)
    found = Spectral(3).fit_transform(groups.graph)
    means = np.array([found[labels == group].mean(axis=0) for group in range(4)])
    linked = found.any(axis=1)
    assert ((found @ means.T).argmax(axis=1) == labels)[linked].mean() > 0.9


def test_small_components_do_not_take_the_dimensions_of_spectral_embedding():
    core = planted_groups(600, 3, degree=12, mixing=0.1, seed=1).graph
    pairs = [(f"x{k}", f"y{k}") for k in range(40)]
    links = [(int(a), int(b)) for a, b in np.argwhere(np.triu(dense(core), 1))]
    graph = Graph.from_edges([*links, *pairs])
    assert graph.n_components > 40
    ids = [one for one in range(600) if one in graph]
    alone = Spectral(2).fit(Graph.from_edges(links)).embedding_[ids]
    beside = Spectral(2).fit(graph).embedding_[ids]
    products = (inner(alone) * inner(beside)).mean() / (inner(alone) ** 2).mean()
    assert products > 0.95
    without = Spectral(2, regularization=0).fit(graph).embedding_[ids]
    assert (inner(alone) * inner(without)).mean() / (inner(alone) ** 2).mean() < 0.9


# -- all of them -----------------------------------------------------------------------------------

"""What holds for every walk on every graph."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reinforce2vec import (
    FirstOrderWalk,
    Graph,
    InputError,
    ReinforcedWalk,
    SecondOrderWalk,
    WalkSampler,
    karate_club,
    sample_walks,
)
from reinforce2vec._util import machine

modest = settings(max_examples=40)


# -- any graph, any walk -------------------------------------------------------------------------


@st.composite
def graphs(draw):
    """Up to 30 nodes, some isolated; directed or not, weighted or not, self-loops kept or not."""
    n = draw(st.integers(1, 30))
    node = st.integers(0, n - 1)
    edges = draw(st.lists(st.tuples(node, node), max_size=80))
    weight = st.floats(1e-3, 1e3)
    weighted = draw(st.booleans())
    weights = [draw(weight) for _ in edges] if weighted else None
    directed, self_loops = draw(st.booleans()), draw(st.booleans())
    return Graph.from_edges(
        edges, weights, nodes=range(n), directed=directed, self_loops=self_loops
    )


reinforced_walks = st.builds(
    ReinforcedWalk,
    reward=st.sampled_from(["vertex", "kl", "js"]),
    exploration=st.sampled_from(["none", "epsilon", "ucb"]),
    weight=st.none() | st.floats(0, 1),
    annealing=st.sampled_from(["constant", "linear", "exponential"]),
    occupation=st.sampled_from(["graph", "path"]),
    candidates=st.none() | st.integers(1, 12),
    temperature=st.floats(0.01, 100),
)
second_order_walks = st.builds(SecondOrderWalk, p=st.floats(0.01, 100), q=st.floats(0.01, 100))
any_walk = reinforced_walks | second_order_walks | st.just(FirstOrderWalk())
lengths = st.integers(1, 60)
seeds = st.integers(0, 2**70)


def has_edge(graph, source, target):
    return target in graph.indices[graph.indptr[source] : graph.indptr[source + 1]]


@modest
@given(graphs(), any_walk, lengths, seeds)
def test_every_step_is_an_edge_and_walks_end_in_dead_ends_only(graph, walk, length, seed):
    walks = sample_walks(graph, walk, length=length, per_node=2, seed=seed, workers=1)
    assert walks.dtype == np.int32
    assert walks.shape == (2 * graph.n_nodes, length)
    for k, nodes in enumerate(walks.tolist()):
        assert nodes[0] == k % graph.n_nodes
        for here, there in pairwise(nodes):
            if here < 0 or graph.degrees[here] == 0:
                assert there == -1
            else:
                assert has_edge(graph, here, there)


@modest
@given(graphs(), any_walk, lengths, seeds)
def test_a_walk_depends_on_neither_threads_nor_blocks(graph, walk, length, seed):
    options = {"length": length, "per_node": 3, "seed": seed}
    walks = sample_walks(graph, walk, workers=1, **options)
    for workers in (2, 8):
        assert np.array_equal(walks, sample_walks(graph, walk, workers=workers, **options))
    for block_size in (1, 7, None):
        sampler = WalkSampler(graph, walk, workers=2, block_size=block_size, **options)
        blocks = list(sampler)
        assert len(blocks) == len(sampler)
        assert all(len(block) == sampler.block_size for block in blocks[:-1])
        assert np.array_equal(walks, np.concatenate(blocks))


@modest
@given(graphs(), any_walk, lengths, seeds, st.data())
def test_walks_from_chosen_starts(graph, walk, length, seed, data):
    nodes = st.sampled_from(graph.ids.tolist())
    starts = data.draw(st.lists(nodes, min_size=1, max_size=5))
    options = {"length": length, "per_node": 4, "seed": seed, "starts": starts}
    walks = sample_walks(graph, walk, workers=1, **options)
    assert walks[:, 0].tolist() == graph.rows(starts * 4).tolist()
    blocks = WalkSampler(graph, walk, workers=8, block_size=7, **options)
    assert np.array_equal(walks, np.concatenate(list(blocks)))


@modest
@given(any_walk, seeds, st.floats(1e-3, 1e3))
def test_equal_edge_weights_change_nothing(walk, seed, weight):
    edges = [(i, j) for i in range(9) for j in range(i) if (i + j) % 3]
    plain = Graph.from_edges(edges)
    weighted = Graph.from_edges(edges, [weight] * len(edges))
    options = {"length": 20, "per_node": 2, "seed": seed}
    assert np.array_equal(
        sample_walks(plain, walk, **options), sample_walks(weighted, walk, **options)
    )


# -- extreme weights and scores ------------------------------------------------------------------


@pytest.mark.parametrize("exploration", ["none", "epsilon", "ucb"])
@pytest.mark.parametrize("occupation", ["graph", "path"])
@pytest.mark.parametrize("reward", ["vertex", "kl", "js"])
def test_extreme_edge_weights_and_temperatures_still_give_walks(reward, occupation, exploration):
    """A negligible edge is not taken, whatever the scores; nothing overflows or hangs."""
    edges = [("hub", leaf) for leaf in range(20)]
    graph = Graph.from_edges(edges, [1e-70] * 19 + [1e70])
    for temperature in (1e-9, 1e9):
        walk = ReinforcedWalk(
            reward, exploration, occupation=occupation, temperature=temperature, candidates=3
        )
        walks = sample_walks(graph, walk, length=200, per_node=5, starts=["hub"])
        assert (walks[:, ::2] == 0).all()
        assert (walks[:, 1] == graph.row(19)).all()


def test_progress_is_told_and_ends_at_the_number_of_walks():
    told = []
    list(
        WalkSampler(
            karate_club(),
            length=5,
            per_node=3,
            block_size=10,
            progress=lambda done, total: told.append((done, total)),
        )
    )
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert told[-1] == (102, 102)


def test_walks_that_do_not_fit_into_memory_are_refused_before_walking(monkeypatch):
    monkeypatch.setattr(machine, "available_bytes", lambda: 10_000)
    sampler = WalkSampler(karate_club(), length=10, per_node=10, block_size=20)
    assert len(next(iter(sampler))) == 20
    with pytest.raises(InputError, match=r"340 walks of 10 nodes needs about .*=125 would fit"):
        sampler.sample()
    with pytest.raises(InputError, match="use a smaller length"):
        sample_walks(karate_club(), length=10_000, per_node=1)


# -- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "least"), [("length", 1), ("per_node", 0), ("seed", 0), ("workers", 1)]
)
@pytest.mark.parametrize("wrong", ["below", 2.0, "5", True])
def test_counts_must_be_integers_that_make_sense(name, least, wrong):
    wrong = least - 1 if wrong == "below" else wrong
    with pytest.raises(InputError) as caught:
        sample_walks(karate_club(), **{name: wrong})
    assert str(caught.value) == f"{name} must be an integer of at least {least}, not {wrong!r}"


EXTREMES = [
    SecondOrderWalk(1e-300, 1e300),
    SecondOrderWalk(1e300, 1e-300),
    *(
        ReinforcedWalk(reward, "ucb", weight, occupation=occupation, candidates=cap, temperature=t)
        for reward in ("vertex", "kl", "js")
        for occupation in ("graph", "path")
        for cap in (None, 2)
        for weight, t in ((1.0, 1e-300), (1e300, 1e-12), (0.0, 1e-300), (1e6, 1e300))
    ),
]


@pytest.mark.parametrize("walk", EXTREMES, ids=repr)
@pytest.mark.parametrize("shape", ["clique", "star", "ring"])
def test_extreme_parameters_end_in_sound_walks(walk, shape):
    """Where every weight under- or overflows, the walk still moves along edges."""
    edges = {
        "clique": [(i, j) for i in range(9) for j in range(i)],
        "star": [(0, i) for i in range(1, 40)],
        "ring": [(i, (i + 1) % 7) for i in range(7)],
    }[shape]
    graph = Graph.from_edges(edges)
    walks = sample_walks(graph, walk, length=60, per_node=2)
    adjacency = graph.to_scipy().toarray()
    assert (walks >= 0).all()
    assert (adjacency[walks[:, :-1], walks[:, 1:]] == 1).all()

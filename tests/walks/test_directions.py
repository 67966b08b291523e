"""Which way walks follow the edges of a directed graph."""

from __future__ import annotations

import numpy as np
import pytest

from reinforce2vec import (
    Graph,
    InputError,
    Reinforce2Vec,
    WalkSampler,
    planted_groups,
    sample_walks,
)
from reinforce2vec._util import machine
from reinforce2vec.graph import edges_of
from reinforce2vec.graph.graph import bytes_without_directions
from reinforce2vec.walks.directions import likely_direction, mean_length

PATH = Graph.from_edges([(1, 2), (2, 3), (3, 4)], directed=True)
RING = Graph.from_edges([(i, (i + 1) % 12) for i in range(12)], directed=True)


def pointing_up(seed=0):
    """Return a citation graph: every edge leads from a later node to an earlier one."""
    ends = np.sort(edges_of(planted_groups(200, 4, degree=6, seed=seed).graph)[0], axis=1)
    return Graph.from_edges(ends[:, ::-1], directed=True)


def small(**options):
    return Reinforce2Vec(8, walks_per_node=2, walk_length=20, window=2, workers=1, **options)


def fitted(graph, **options):
    return small(**options).fit(graph, progress=False)


def test_the_mean_length_counts_dead_ends():
    assert mean_length(PATH, 40) == 2.5  # 4, 3, 2 and 1 nodes
    assert mean_length(PATH, 2) == 1.75
    assert mean_length(RING, 40) == 40
    assert mean_length(Graph.from_edges([], nodes=["a"], directed=True), 40) == 1


def test_both_ways_is_the_walk_without_directions():
    graph = pointing_up()
    both = WalkSampler(graph, direction="both", per_node=3, length=10)
    assert both.copied_bytes == graph.to_undirected().nbytes
    np.testing.assert_array_equal(
        both.sample(), sample_walks(graph.to_undirected(), per_node=3, length=10)
    )
    assert WalkSampler(graph, direction="forward").graph is graph
    undirected = planted_groups(50, 5, degree=4).graph
    assert WalkSampler(undirected, direction="both").graph is undirected


def test_a_graph_whose_copy_without_directions_does_not_fit_is_refused_before_it_is_made(
    monkeypatch,
):
    graph = pointing_up()
    model = small(direction="both")
    needed = model.estimate_memory(pointing_up())
    assert needed >= bytes_without_directions(graph)[0]
    monkeypatch.setattr(machine, "available_bytes", lambda: 10_000)
    for refused in (
        lambda: WalkSampler(graph, direction="both"),
        lambda: model.fit(graph, progress=False),
    ):
        with pytest.raises(InputError, match=r"without directions .*: direction=.forward. takes"):
            refused()
    assert "_without_directions" not in vars(graph)
    graph.to_undirected()
    assert bytes_without_directions(graph)[0] == 0
    WalkSampler(graph, direction="both")


def test_auto_walks_both_ways_only_where_walks_would_be_short():
    assert likely_direction(pointing_up(), 20) == "both"
    assert likely_direction(RING, 20) == "forward"
    assert likely_direction(planted_groups(50, 5, degree=4).graph, 20) == "forward"
    assert likely_direction(PATH, 1) == "forward"


def test_an_update_keeps_the_direction_that_fit_has_chosen(tmp_path):
    """Although walks would be long enough on the grown graph to go forward only."""
    model = fitted(pointing_up())
    back = [(target, source) for source, target in edges_of(model.graph_)[0].tolist()]
    model.save(tmp_path / "model.r2v")
    assert Reinforce2Vec.load(tmp_path / "model.r2v").direction_ == "both"
    model.partial_fit(Graph.from_edges(model.graph_.ids[np.array(back)], directed=True))
    assert likely_direction(model.graph_, 20) == "forward"
    assert model.direction_ == "both"
    assert model.fit(model.graph_).direction_ == "forward"
    walks = small().fit_walks(sample_walks(RING, per_node=2))
    assert walks.direction_ is None


@pytest.mark.parametrize("make", [small, lambda **given: WalkSampler(RING, **given)])
def test_an_unknown_direction_is_refused(make):
    with pytest.raises(InputError, match=r"direction must be one of .*not 'back'"):
        fitted(RING, direction="back") if make is small else make(direction="back")

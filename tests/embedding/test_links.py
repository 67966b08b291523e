"""Recommended links: never there already, the likeliest first, for whom and to whom one asks."""

from __future__ import annotations

import numpy as np
import pytest

from reinforce2vec import (
    Embedding,
    Graph,
    InputError,
    Reinforce2Vec,
    hold_out_edges,
    karate_club,
    planted_groups,
    recommend_links,
    smooth,
)
from reinforce2vec._util.hyperparameters import LINK_SCORES
from reinforce2vec.embedding._link_paths import ShortPaths

COUNTED = ("allocation", "adamic-adar", "common", "three-steps")


def random_graph(n=60, edges=200, directed=False, seed=0):
    ends = np.random.default_rng(seed).integers(0, n, (edges, 2))
    loops = [(node, node) for node in range(0, n, 3)]
    ends = np.concatenate([ends, loops])
    return Graph.from_edges(ends, nodes=range(n), directed=directed, self_loops=True)


def random_vectors(n=60, dimensions=4, seed=0):
    return Embedding(range(n), np.random.default_rng(seed).normal(size=(n, dimensions)))


def trained(graph, dimensions=16, **options):
    model = Reinforce2Vec(dimensions, walks_per_node=10, workers=1, **options)
    return model.fit(graph, progress=False).embedding_


def tastes(n_users=200, n_items=100, n_groups=5, seed=0):
    """Users, numbered first, who have items of their group, and some others."""
    rng = np.random.default_rng(seed)
    users = rng.integers(0, n_users, 3000)
    items = rng.integers(0, n_items // n_groups, 3000) * n_groups + users % n_groups
    items = np.where(rng.random(3000) < 0.2, rng.integers(0, n_items, 3000), items)
    return Graph.from_edges(np.column_stack([users, n_users + items]), nodes=range(300))


def votes(n=400, seed=0):
    """Directed: everybody votes for some of the first 60, mostly of their own group."""
    rng = np.random.default_rng(seed)
    voters, chosen = rng.integers(0, n, 6000), rng.integers(0, 20, 6000) * 3
    chosen += np.where(rng.random(6000) < 0.8, voters % 3, rng.integers(0, 3, 6000))
    return Graph.from_edges(np.column_stack([voters, chosen]), nodes=range(n), directed=True)


# -- what is recommended -------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["exact", "approximate"])
@pytest.mark.parametrize("score", LINK_SCORES)
@pytest.mark.parametrize("directed", [False, True])
def test_links_are_new_and_the_best_comes_first(score, directed, method):
    if method == "approximate":
        pytest.importorskip("usearch")
    graph, embedding = random_graph(directed=directed), random_vectors()
    links = recommend_links(embedding, graph, 7, score=score, method=method)
    assert links.sources.tolist() == np.repeat(range(60), 7).tolist()
    assert len({link[:2] for link in links}) == len(links)
    assert all(
        target != source and target not in graph.neighbors(source) for source, target, _ in links
    )
    assert (np.diff(links.scores.reshape(60, 7), axis=1) <= 0).all()
    assert score in ("auto", "combined") or links.scorer == score
    if method == "exact":  # a node gets the same alone
        alone = recommend_links(embedding, graph, 7, score=score, nodes=[30, 7])
        assert list(alone) == [link for node in (30, 7) for link in links if link[0] == node]
        assert alone.scorer == links.scorer == links.best(3).scorer


def literal_counts(graph):
    """All counts of all pairs, by sums over middles, from a dense matrix."""
    links = (graph.to_scipy().toarray() > 0).astype(float)
    outward, inward = links.sum(axis=1), links.sum(axis=0)
    both = outward + inward if graph.directed else outward
    three = np.zeros_like(links)
    for u in range(len(links)):
        # source → a ← b → target, where neither a nor b is the source
        others = np.where(np.arange(len(links)) == u, 0, links[u])
        halfway = (others / np.maximum(inward, 1)) @ links.T
        halfway[u] = 0
        three[u] = (halfway / np.maximum(outward, 1)) @ links
    return {
        "common": links @ links,
        "adamic-adar": links @ np.diag(1 / np.log(np.maximum(both, 2))) @ links,
        "allocation": links @ np.diag(1 / np.maximum(both, 1)) @ links,
        "three-steps": three,
    }


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("candidates", [None, range(0, 60, 4)])
@pytest.mark.parametrize("score", [*COUNTED, "cosine"])
def test_scores_are_those_of_looking_at_every_pair(score, candidates, directed):
    graph, embedding = random_graph(directed=directed), random_vectors()
    if score == "cosine":
        expected = np.array([[embedding.similarity(a, b) for b in range(60)] for a in range(60)])
    else:
        expected = literal_counts(graph)[score]
    links = recommend_links(embedding, graph, 7, candidates=candidates, score=score)
    assert set(links.targets.tolist()) <= set(candidates or range(60))
    for source, target, value in links:
        assert value == pytest.approx(expected[source, target], abs=1e-9)
    for source in range(60):
        free = np.isin(np.arange(60), candidates or range(60))
        free[[source, *graph.neighbors(source)]] = False
        best = np.sort(expected[source, free])[::-1][:7]
        assert links.scores[links.sources == source] == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize("score", LINK_SCORES)
def test_both_ends_of_a_pair_get_the_same_score(score):
    graph = planted_groups(120, 4, degree=10).graph
    links = recommend_links(random_vectors(120), graph, 119, score=score)
    scores = {(source, target): value for source, target, value in links}
    assert len(scores) == 120 * 119 - 2 * graph.n_edges
    for (source, target), value in scores.items():
        assert value == pytest.approx(scores[target, source], abs=2e-9)


def test_equal_counts_are_ordered_by_cosine():
    star = Graph.from_edges([("hub", leaf) for leaf in "abcd"])
    vectors = {"hub": [0, 1], "a": [1, 0], "b": [0, 1], "c": [1, 0.2], "d": [1, 1]}
    links = recommend_links(
        Embedding(vectors, list(vectors.values())), star, nodes="a", score="common"
    )
    assert list(links) == [("a", "c", 1.0), ("a", "d", 1.0), ("a", "b", 1.0)]


def test_middles_of_high_degree_are_left_out_where_they_cost_too_much():
    ends = [(0, leaf) for leaf in range(1, 300)]  # a hub
    ends += [(leaf, leaf + 1) for leaf in range(1, 299)]
    graph, source = Graph.from_edges(ends), np.array([5], np.int32)
    found = {}
    for work in (1 << 20, 16):
        paths, extra = ShortPaths.of(graph, most_work=work), np.empty((1, 0), np.int32)
        (part,) = paths.candidates(source, np.ones(300, bool), extra, ("common",), 300)
        counts = dict(zip(graph.ids[part.rows].tolist(), part.counts[:, 0], strict=True))
        found[work] = {node: count for node, count in counts.items() if count}
        (some,) = paths.candidates(source, np.ones(300, bool), extra, ("common",), 5)
        assert len(some.rows) == min(5, len(found[work]))
        assert {3, 7} <= set(graph.ids[some.rows].tolist())
    assert len(found[1 << 20]) == 296  # by the hub; 3 and 7 also by their leaf
    assert found[1 << 20][3] == found[1 << 20][7] == 2
    assert found[16] == {3: 1, 7: 1}


def test_rows_are_matched_by_ids_and_nodes_without_links_get_the_nearest():
    club, rng = karate_club(), np.random.default_rng(0)
    vectors, order = rng.normal(size=(34, 6)), rng.permutation(34)
    ordered, shuffled = (
        recommend_links(Embedding(club.ids[rows], vectors[rows]), club, 3)
        for rows in (np.arange(34), order)
    )
    assert {link[:2] for link in ordered} == {link[:2] for link in shuffled}
    assert list(dict.fromkeys(shuffled.sources.tolist())) == club.ids[order].tolist()
    people = Embedding(["eve", "ann", "bob", "cid"], [[1, 1], [1, 0], [0.9, 0.1], [0.8, 0.3]])
    graph = [("ann", "bob"), ("bob", "zoe"), ("bob", "cid")]
    links = {frozenset(link[:2]) for link in recommend_links(people, graph, score="cosine")}
    new = [("eve", "ann"), ("eve", "bob"), ("eve", "cid"), ("ann", "cid")]
    assert links == {frozenset(pair) for pair in new}
    alone = random_vectors(80)
    links = recommend_links(alone, club, 4, nodes=[70], score="allocation")
    assert links.scores.tolist() == [0.0] * 4
    assert links.targets.tolist() == [node for node, _ in alone.most_similar(70, 4)]


def test_odd_graphs_have_recommendations():
    way_back = Graph.from_edges([(0, 1), (1, 2)], directed=True)
    near = Embedding(range(3), [[1, 0], [1, 0.1], [0, 1]])
    links = recommend_links(near, way_back, 5, score="cosine")
    assert [link[:2] for link in links] == [(0, 2), (1, 0), (2, 1), (2, 0)]
    clique = Graph.from_edges([(a, b) for a in range(30) for b in range(a)], nodes=range(31))
    links = recommend_links(random_vectors(31), clique)
    assert {link[:2] for link in links} >= {(node, 30) for node in range(30)}
    assert not list(recommend_links(random_vectors(30), clique))
    hub = Graph.from_edges([(0, leaf) for leaf in range(1, 400)], nodes=range(500), directed=True)
    assert len(recommend_links(random_vectors(500), hub, 2)) == 2 * 500
    links = recommend_links(random_vectors(5), [(0, 1), (1, 2)], 100, score="combined")
    assert (len(links), links.scorer) == (5 * 4 - 4, "odds")  # too few edges to hide
    nobody_linked = Graph.from_edges([], nodes=range(5))
    found = [
        list(recommend_links(random_vectors(5), nobody_linked, 3, score=s)) for s in LINK_SCORES
    ]
    assert all(len(links) == 15 for links in found)
    by = dict(zip(LINK_SCORES, found, strict=True))
    assert by["odds"] == by["cosine"]  # there is nothing to learn from


def test_degrees_count_no_more_than_the_cosine_in_log_odds():
    """Vectors that say nothing: degrees alone would explain the edges."""
    graph, vectors = planted_groups(300, 3, degree=12, exponent=2.2).graph, random_vectors(300)
    links = recommend_links(vectors, graph, 299, score="odds")
    popular = np.log1p(graph.degrees)
    a, b = vectors.rows(links.sources), vectors.rows(links.targets)
    alike = [vectors.similarity(*link[:2]) for link in links]
    features = np.column_stack([alike, popular[a] + popular[b], np.ones(len(links))])
    (cosine, degrees, _), residual, *_ = np.linalg.lstsq(features, links.scores, rcond=None)
    assert residual < 1e-9
    assert 0 <= degrees <= cosine + 1e-6


@pytest.mark.parametrize("edges", ["01 12 20 23", "01 12 23", "01 02 03 04 05"])
def test_log_odds_of_a_small_graph_are_modest(edges):
    """What is learned from few pairs may make no sense, such as that unlikeness links."""
    graph = Graph.from_edges([tuple(pair) for pair in edges.split()])
    for seed in range(3):
        links = recommend_links(trained(graph, 4, seed=seed), graph)
        assert np.abs(links.scores).max() < 5
        assert links.scores.mean() < 0.5


# -- the choice ----------------------------------------------------------------------------------


def right_links(graph, vectors, split, score):
    lost = set(map(tuple, split.edges.tolist()))
    if not graph.directed:
        lost |= {(b, a) for a, b in lost}
    return sum(link[:2] in lost for link in recommend_links(vectors, split.graph, score=score))


@pytest.mark.parametrize(
    "make",
    [lambda: planted_groups(600, 6, degree=16, mixing=0.1, seed=1).graph, tastes, votes],
    ids=["groups", "tastes", "votes"],
)
def test_the_choice_is_not_worse_than_any_score(make):
    """Over the held-out edges, which it does not know; a miss of a tenth is allowed for chance.

    On these graphs the scores find different numbers, up to ten times as many: a wrong choice is
    noticed.
    """
    graph = make()
    split = hold_out_edges(graph, 0.2)
    vectors = trained(split.graph, smooth=True)
    right = {score: right_links(graph, vectors, split, score) for score in LINK_SCORES}
    others = [right[score] for score in LINK_SCORES if score != "auto"]
    assert right["auto"] > 0.9 * max(others)
    assert right["auto"] > 1.3 * min(others)


def test_vectors_that_say_nothing_are_not_used():
    """Trained on the graph or not, the cosine of a pair must not count because edges are known."""
    graph = planted_groups(600, 6, degree=16, mixing=0.1, seed=1).graph
    split = hold_out_edges(graph, 0.2)
    noise = random_vectors(600, 16)
    counted = max(right_links(graph, noise, split, score) for score in COUNTED)
    assert right_links(graph, noise, split, "auto") > 0.9 * counted
    assert right_links(graph, noise, split, "cosine") < 0.5 * counted


def test_odds_learn_that_popular_nodes_get_more_links():
    split = hold_out_edges(planted_groups(400, 4, degree=20, exponent=2.2, seed=1).graph, 0.2)
    vectors = trained(split.graph)
    odds, cosine = (right_links(split.graph, vectors, split, score) for score in ("odds", "cosine"))
    assert odds > 1.2 * cosine
    links = recommend_links(vectors, split.graph, k=300, score="odds")
    assert np.mean(links.scores > 0) < 0.4  # pairs without an edge score below 0, for the most part


def test_users_get_items_that_others_like_them_have():
    """Two tastes; every user of a taste has all its items but one."""
    likes = [
        (f"user {taste}{user}", f"item {taste}{item}")
        for taste in "ab"
        for user in range(8)
        for item in range(8)
        if item != user
    ]
    graph = Graph.from_edges(likes)
    users, items = ([node for node in graph.ids if node[0] == letter] for letter in "ui")
    vectors = smooth(trained(graph, 8), graph)
    links = recommend_links(vectors, graph, 1, nodes=users, candidates=items)
    assert {link[:2] for link in links} == {
        (f"user {taste}{number}", f"item {taste}{number}") for taste in "ab" for number in range(8)
    }


def test_items_are_found_without_a_common_neighbour():
    users, items = range(200), range(200, 300)
    links = recommend_links(random_vectors(300), tastes(), 5, nodes=users, candidates=items)
    assert links.scorer in ("three-steps", "combined")
    assert set(links.targets.tolist()) <= set(items)
    assert ((links.sources % 5) == (links.targets % 5)).mean() > 0.8  # by chance, 0.2


def test_the_way_back_counts_on_a_directed_graph():
    """Half of the arrows have one in the other direction, and nothing else is to be learned."""
    ends = np.random.default_rng(0).integers(0, 500, (2500, 2))
    arrows = np.concatenate([ends, ends[:1250, ::-1]])
    graph = Graph.from_edges(arrows, nodes=range(500), directed=True)
    links = recommend_links(random_vectors(500), graph, 3)
    assert links.scorer == "combined"
    back = {(b, a) for a, b in ends.tolist()}
    assert np.mean([link[:2] in back for link in links.best(500)]) > 0.9


def test_each_scale_counts_by_itself():
    """One scale says where on a ring a node is, and the other, ten times as long, says nothing."""
    rng = np.random.default_rng(0)
    close = [(node, (node + step) % 800) for node in range(800) for step in range(1, 16)]
    ring = Graph.from_edges([pair for pair in close if rng.random() < 0.2], nodes=range(800))
    split = hold_out_edges(ring, 0.2)
    angle = 2 * np.pi * np.arange(800) / 800
    vectors = np.column_stack([np.cos(angle), np.sin(angle), 10 * rng.normal(size=(800, 4))])
    whole, apart = Embedding(range(800), vectors), Embedding(range(800), vectors, scales=(2, 4))
    right = [right_links(ring, each, split, "combined") for each in (whole, apart)]
    assert right[1] > 1.1 * right[0]


# -- the result ----------------------------------------------------------------------------------


def test_the_best_links_are_there_once():
    links = recommend_links(random_vectors(), random_graph(), 6)
    best = links.best(20)
    pairs = [frozenset(link[:2]) for link in best]
    assert len(set(pairs)) == len(pairs) == 20
    of_each = {frozenset((source, target)): score for source, target, score in links}
    assert best.scores.tolist() == sorted(of_each.values(), reverse=True)[:20]
    assert len(links.best(10**6)) == len(of_each)
    arrows = recommend_links(random_vectors(), random_graph(directed=True), 6)
    assert len(arrows.best(10**6)) == len(arrows)
    table = links.to_frame()
    assert list(table.itertuples(index=False, name=None)) == list(links)
    assert table.columns.tolist() == ["source", "target", "score"]
    assert repr(links) == f"RecommendedLinks(360 undirected links by {links.scorer})"
    assert "<td" in links._repr_html_()


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"k": 0}, "k must be an integer of at least 1"),
        ({"score": "dot"}, "score must be .*'dot'"),
        ({"method": "fast"}, "method must be"),
        ({"nodes": [1, 99]}, "node 99"),
        ({"candidates": [99]}, "node 99"),
        ({"embedding": np.ones((3, 2))}, "an Embedding, not a ndarray"),
        ({"graph": [("a", "b")]}, "no node of the embedding is in the graph.*'a'"),
    ],
)
def test_wrong_arguments_are_refused(changes, sentence):
    with pytest.raises(InputError, match=sentence):
        recommend_links(**({"embedding": random_vectors(), "graph": random_graph()} | changes))

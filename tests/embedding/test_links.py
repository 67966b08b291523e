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
from reinforce2vec.embedding import _approximate_search as indexing


def random_graph(n=60, edges=200, directed=False, seed=0):
    ends = np.random.default_rng(seed).integers(0, n, (edges, 2))
    return Graph.from_edges(ends, nodes=range(n), directed=directed)


def random_vectors(n=60, dimensions=4, seed=0):
    return Embedding(range(n), np.random.default_rng(seed).normal(size=(n, dimensions)))


def literal(embedding, graph, k, candidates=None):
    """The nearest that are not linked, by looking at all, by cosine."""
    found = []
    for source in embedding:
        linked = {source, *graph.neighbors(source).tolist()}
        others = [
            (source, target, cosine)
            for target, cosine in embedding.most_similar(source, k=len(embedding))
            if target not in linked and (candidates is None or target in candidates)
        ]
        found += others[:k]
    return found


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("candidates", [None, range(0, 60, 3)])
def test_links_by_cosine_are_those_of_looking_at_every_pair(directed, candidates):
    graph, embedding = random_graph(directed=directed), random_vectors()
    links = recommend_links(embedding, graph, 5, candidates=candidates, score="cosine")
    expected = literal(embedding, graph, 5, candidates)
    assert [link[:2] for link in links] == [link[:2] for link in expected]
    assert [link[2] for link in links] == pytest.approx([link[2] for link in expected])


@pytest.mark.parametrize("method", ["exact", "approximate"])
@pytest.mark.parametrize("directed", [False, True])
def test_links_are_never_there_already(method, directed):
    if method == "approximate":
        pytest.importorskip("usearch")
    graph, embedding = random_graph(directed=directed), random_vectors()
    links = recommend_links(embedding, graph, 7, method=method)
    assert len(links) == 7 * 60
    for source, target, _ in links:
        assert target != source
        assert target not in graph.neighbors(source)
    assert (np.diff(links.scores.reshape(60, 7), axis=1) <= 0).all()


def test_an_approximate_search_knows_of_popularity(monkeypatch):
    pytest.importorskip("usearch")
    monkeypatch.setattr(indexing, "_WIDTH", 16)  # else it finds all of so few
    monkeypatch.setattr(indexing, "_ENOUGH", 0)
    graph = planted_groups(600, 3, degree=20, exponent=2.2).graph
    vectors = random_vectors(600, 8)
    exact, near = (
        recommend_links(vectors, graph, 5, method=method, score="odds")
        for method in ("exact", "approximate")
    )
    pairs = [{(source, target) for source, target, _ in links} for links in (exact, near)]
    assert len(pairs[0] & pairs[1]) > 0.9 * len(exact)


def test_on_a_directed_graph_the_way_back_can_be_recommended():
    graph = Graph.from_edges([(0, 1), (1, 2)], directed=True)
    near = Embedding(range(3), [[1, 0], [1, 0.1], [0, 1]])
    links = recommend_links(near, graph, 5, score="cosine")
    assert [link[:2] for link in links] == [(0, 2), (1, 0), (2, 1), (2, 0)]


def test_everybody_who_is_linked_to_all_gets_nothing():
    clique = Graph.from_edges([(a, b) for a in range(4) for b in range(a)])
    assert list(recommend_links(random_vectors(4), clique)) == []


def test_a_node_gets_the_same_alone_and_among_all():
    graph, embedding = random_graph(), random_vectors()
    among_all = [link for link in recommend_links(embedding, graph, 4) if link[0] in (7, 30)]
    assert (
        list(recommend_links(embedding, graph, 4, nodes=[30, 7])) == among_all[4:] + among_all[:4]
    )
    assert list(recommend_links(embedding, graph, 4, nodes=7)) == among_all[:4]


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
    users, items = ([node for node in graph.ids if node.startswith(kind)] for kind in ("u", "i"))
    vectors = smooth(
        Reinforce2Vec(dimensions=8, walks_per_node=20, workers=1).fit(graph).embedding_, graph
    )
    links = recommend_links(vectors, graph, 1, nodes=users, candidates=items)
    assert {source: target for source, target, _ in links} == {
        f"user {taste}{one}": f"item {taste}{one}" for taste in "ab" for one in range(8)
    }


def test_odds_learn_that_popular_nodes_get_more_links():
    split = hold_out_edges(planted_groups(400, 4, degree=20, exponent=2.2, seed=1).graph, 0.2)
    model = Reinforce2Vec(dimensions=16, walks_per_node=10, workers=1)
    vectors = model.fit(split.graph).embedding_
    lost = {frozenset(pair) for pair in split.edges.tolist()}
    right = {
        score: sum(
            frozenset((source, target)) in lost
            for source, target, _ in recommend_links(vectors, split.graph, score=score)
        )
        for score in ("odds", "cosine")
    }
    assert right["odds"] > 1.2 * right["cosine"]


def test_log_odds_are_those_of_pairs_that_are_there():
    """Edges score above 0 and pairs without one below, for the most part."""
    groups = planted_groups(300, 3, mixing=0.1)
    model = Reinforce2Vec(dimensions=16, walks_per_node=10, workers=1)
    vectors = model.fit(groups.graph).embedding_
    links = recommend_links(vectors, groups.graph, k=300, score="odds")
    assert np.mean(links.scores > 0) < 0.4
    kin = [(groups.labels[a] == groups.labels[b]).all() for a, b, _ in links.best(100)]
    assert np.mean(kin) > 0.9


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "edges",
    [
        [(0, 1), (1, 2), (2, 0), (2, 3)],
        [(0, 1), (1, 2), (2, 3)],
        [(0, leaf) for leaf in range(1, 6)],
    ],
)
def test_log_odds_of_a_small_graph_are_modest(edges, seed):
    """What is learned from few pairs may make no sense, such as that unlikeness links."""
    graph = Graph.from_edges(edges)
    model = Reinforce2Vec(dimensions=4, walks_per_node=5, workers=1, seed=seed)
    links = recommend_links(model.fit(graph).embedding_, graph)
    assert np.abs(links.scores).max() < 5
    assert links.scores.mean() < 0.5


# -- the result ----------------------------------------------------------------------------------


def test_the_best_links_are_there_once():
    graph, embedding = random_graph(), random_vectors()
    links = recommend_links(embedding, graph, 6)
    best = links.best(20)
    pairs = [frozenset(link[:2]) for link in best]
    assert len(set(pairs)) == len(pairs) == 20
    assert best.scores.tolist() == sorted(best.scores, reverse=True)
    of_each = {frozenset((source, target)): score for source, target, score in links}
    assert best.scores.tolist() == sorted(of_each.values(), reverse=True)[:20]
    assert len(links.best(10**6)) == len(of_each)
    arrows = recommend_links(embedding, random_graph(directed=True), 6)
    assert len(arrows.best(10**6)) == len(arrows)


def test_links_as_a_table_and_in_a_notebook():
    links = recommend_links(random_vectors(), random_graph(), 2)
    table = links.to_frame()
    assert list(table.itertuples(index=False, name=None)) == list(links)
    assert table.columns.tolist() == ["source", "target", "score"]
    assert repr(links) == f"RecommendedLinks(120 undirected links by {links.scorer})"
    assert "<td" in links._repr_html_()


# -- whose vectors, whose graph ------------------------------------------------------------------


def test_nodes_are_matched_by_id():
    club, rng = karate_club(), np.random.default_rng(0)
    vectors = rng.normal(size=(34, 5))
    expected = {
        (source, target): score
        for source, target, score in recommend_links(Embedding(club.ids, vectors), club, 3)
    }
    order = rng.permutation(34)
    shuffled = recommend_links(Embedding(club.ids[order], vectors[order]), club, 3)
    assert {(source, target) for source, target, _ in shuffled} == set(expected)
    assert list(dict.fromkeys(shuffled.sources.tolist())) == club.ids[order].tolist()


def test_nodes_without_a_vector_are_left_out_and_those_without_links_are_not():
    people = Embedding(["eve", "ann", "bob", "cid"], [[1, 1], [1, 0], [0.9, 0.1], [0.8, 0.3]])
    graph = [("ann", "bob"), ("bob", "zoe"), ("bob", "cid")]
    links = recommend_links(people, graph, score="cosine")
    assert {(source, target) for source, target, _ in links} == {
        *(("eve", other) for other in ("ann", "bob", "cid")),
        *((other, "eve") for other in ("ann", "bob", "cid")),
        *(("ann", "cid"), ("cid", "ann")),
    }


def test_nothing_to_learn_from_leaves_the_cosine():
    embedding = random_vectors(5)
    nobody_linked = Graph.from_edges([], nodes=range(5))
    by_odds, by_cosine = (
        list(recommend_links(embedding, nobody_linked, 3, score=score))
        for score in ("odds", "cosine")
    )
    assert by_odds == by_cosine


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"k": 0}, "k must be an integer of at least 1"),
        ({"score": "dot"}, "score must be one of auto, combined, .*, not 'dot'"),
        ({"method": "fast"}, "method must be one of auto"),
        ({"nodes": [1, 99]}, "node 99 is not in the embedding"),
        ({"candidates": [99]}, "node 99 is not in the embedding"),
        ({"embedding": np.ones((3, 2))}, "expected an Embedding, not a ndarray"),
        (
            {"graph": [("a", "b")]},
            "no node of the embedding is in the graph: nodes of the embedding are named like 0, "
            "those of the graph like 'a'",
        ),
    ],
)
def test_wrong_arguments_are_refused(changes, sentence):
    with pytest.raises(InputError, match=sentence):
        recommend_links(**({"embedding": random_vectors(), "graph": random_graph()} | changes))


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("score", ["cosine", "allocation", "adamic-adar", "common", "three-steps"])
def test_with_candidates_the_full_ranking_is_filtered(score, directed):
    graph, embedding = random_graph(directed=directed), random_vectors()
    wanted = range(0, 60, 4)
    ask = {"nodes": range(30), "score": score, "method": "exact", "progress": False}
    everything = list(recommend_links(embedding, graph, 60, **ask))
    found = list(recommend_links(embedding, graph, 5, candidates=wanted, **ask))
    expected = []
    for source in range(30):
        expected += [link for link in everything if link[0] == source and link[1] in wanted][:5]
    positive = [link for link in expected if score == "cosine" or link[2] > 0]
    assert [link for link in found if score == "cosine" or link[2] > 0] == positive
    assert len(positive) > 30


def test_links_of_users_to_items_are_not_scored_by_common_neighbours():
    rng = np.random.default_rng(0)
    edges = {
        (f"u{user}", f"i{item}")
        for user in range(120)
        for item in rng.choice(np.arange(48)[np.arange(48) % 4 == user % 4], 6, replace=False)
    }
    graph = Graph.from_edges(sorted(edges))
    model = Reinforce2Vec(16, walks_per_node=5, workers=1).fit(graph, progress=False)
    items = [node for node in graph.ids if node[0] == "i"]
    links = recommend_links(
        *(model.embedding_, graph, 3), candidates=items, nodes=["u1", "u2"], progress=False
    )
    assert links.scorer not in ("allocation", "adamic-adar", "common")
    assert any(score != 0 for *_, score in links)

"""Maps of very many nodes: a million points in a browser, served in binary."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.command_line import run
from helpers.page_contents import contents, unpack
from reinforce2vec import Embedding, explore
from reinforce2vec.embedding import projection
from reinforce2vec.embedding.nearest import nearest_rows
from reinforce2vec.explorer import _contents, make_page, serve_page
from reinforce2vec.explorer._contents import Limits, cost_note


@pytest.mark.browser
@pytest.mark.slow
def test_a_million_nodes_are_served_drawn_and_asked_about(opened):
    n = 1_000_000
    points = np.random.default_rng(0).normal(size=(n, 2)).astype(np.float32)
    embedding = Embedding(np.arange(n), points)
    columns = {"height": points[:, 0].astype(np.float64)}
    page = make_page(embedding, columns=columns, positions=points, served=True)
    assert len(page.html) < 200_000
    assert page.n_nodes == n
    assert page.details is not None
    with serve_page(page) as server:
        shown = opened(server.url, offline=False)
        assert "1,000,000 nodes" in shown.locator("#facts").text_content()
        shown.locator("#search").fill("777777")
        shown.locator("#search").press("Enter")
        shown.locator("#panel h2", has_text="777777").wait_for()
        near = shown.locator("#panel .near li")
        near.first.wait_for()
        assert near.count() == 10


def test_files_hold_fewer_nodes_than_servers(monkeypatch):
    limits = Limits(in_file=6, served=8)
    embedding = Embedding(range(10), np.eye(10))
    columns = {"number": list(range(10))}
    for served, count in ((False, 6), (True, 8)):
        page = make_page(embedding, columns=columns, method="pca", served=served, limits=limits)
        assert page.n_nodes == count
        assert page.notes == [
            f"The map has a random {count} nodes of 10; neighbours are among these."
        ]


@pytest.mark.parametrize(
    ("method", "nodes", "held", "linked", "said"),
    [
        ("layout", 10**6, False, True, "a map of 1,000,000 nodes by neighbour layout takes about"),
        ("umap", 10**6, False, True, '; the method "layout" is faster'),
        ("layout", 50_000, True, True, "most of it for the neighbours and likely links of every"),
        (None, 200_000, True, False, "a map of 200,000 nodes takes about"),
        (None, 10**6, False, True, ""),
        ("pca", 10**5, False, True, ""),
        ("tsne", 100, True, True, ""),
    ],
)
def test_what_a_large_map_costs_is_known_first(method, nodes, held, linked, said, monkeypatch):
    monkeypatch.setattr(_contents, "available_cpus", lambda: 2)
    told = cost_note(method, nodes, held=held, linked=linked)
    assert said in told
    assert bool(said) == bool(told)


def test_lists_of_every_node_cost_more_than_the_map(monkeypatch):
    monkeypatch.setattr(_contents, "available_cpus", lambda: 2)
    assert cost_note("layout", 30_000, held=True, linked=True)
    assert not cost_note("layout", 30_000, held=False, linked=True)


def test_the_cost_is_said_in_python_and_by_the_command(monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(_contents, "_LONG", 0)
    embedding = Embedding(range(10), np.eye(10))
    explore(embedding, method="pca", export="map.html")
    said = "a map of 10 nodes by PCA takes about 0 seconds"
    assert capsys.readouterr().err.startswith(said)
    embedding.save("vectors.npz")
    words = ("explore", "vectors.npz", "--method", "pca", "-o", "map.html")
    assert said in run(*words).stderr
    assert said not in run(*words, "--quiet").stderr


@pytest.mark.slow
def test_a_map_is_the_same_served_and_in_a_file(monkeypatch):
    monkeypatch.setattr(projection, "_SEARCHED_EXACTLY", 100)
    vectors = np.random.default_rng(0).normal(size=(600, 8))
    _, held = contents(vectors, method="layout", seed=3)
    page = make_page(vectors, method="layout", seed=3, served=True, limits=Limits(held=100))
    header, served = unpack(page.data)
    assert "asks" in header
    assert np.array_equal(held["x"], served["x"])
    assert np.array_equal(held["y"], served["y"])
    exact = nearest_rows(vectors, progress=False)[0]  # what the panel lists
    assert np.array_equal(held["nearest"].reshape(600, 10), exact)

"""Maps of very many nodes: a million points in a browser, served in binary."""

from __future__ import annotations

import numpy as np
import pytest

from reinforce2vec import Embedding
from reinforce2vec.cli._map_options import report_cost
from reinforce2vec.explorer import _data, make_page, serve_page


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
    monkeypatch.setattr(_data, "FILE_NODES", 6)
    monkeypatch.setattr(_data, "SERVED_NODES", 8)
    embedding = Embedding(range(10), np.eye(10))
    columns = {"number": list(range(10))}
    for served, count in ((False, 6), (True, 8)):
        page = make_page(embedding, columns=columns, method="pca", served=served)
        assert page.n_nodes == count
        assert page.notes == [
            f"The map has a random {count} nodes of 10; neighbours are among these."
        ]


@pytest.mark.parametrize(
    ("method", "nodes", "said"),
    [
        ("layout", 10**6, "placing 1,000,000 nodes by layout takes about"),
        ("auto", 5 * 10**6, "placing 2,000,000 nodes by layout takes about"),
        ("umap", 10**6, "; --method layout is faster"),
        ("pca", 10**5, ""),
        ("auto", 100, ""),
    ],
)
def test_what_a_large_map_costs_is_said_first(method, nodes, said, capsys):
    report_cost(method, nodes, 2_000_000, quiet=False)
    told = capsys.readouterr().err
    assert said in told
    assert bool(said) == bool(told)
    report_cost(method, nodes, 2_000_000, quiet=True)
    assert not capsys.readouterr().err

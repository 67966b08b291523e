"""The explorer's page in a real browser: what a reader sees, clicks and saves."""

from __future__ import annotations

import csv
import json
from urllib.parse import quote

import numpy as np
import pytest

from helpers.maps import HOSTILE, listed, search, texts, wait_for_colours
from reinforce2vec import Embedding, find_communities, nearest_neighbors
from reinforce2vec.embedding import recommend_links
from reinforce2vec.explorer import make_page, write_page
from reinforce2vec.plotting.palette import LOOKS

pytestmark = pytest.mark.browser

FIRST, SECOND, THIRD = (tuple(bytes.fromhex(look.light[1:])) for look in LOOKS[:3])


def test_a_node_that_is_searched_for_shows_its_neighbours(opened, address, known):
    embedding, graph, labels = known
    page = opened(address)
    assert page.locator("h1").text_content() == "three <i>groups</i>"
    facts = f"120 nodes · {graph.n_edges} edges · 8 dimensions · PCA"
    assert page.locator("#facts").text_content() == facts
    page.keyboard.press("/")
    page.keyboard.type("n1")
    found = texts(page, "#suggestions .id")
    assert found[:5] == ["n10", "n11", "n12", "n13", "n14"]
    assert len(found) == 12
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert page.locator("#panel h2").text_content() == "n11"
    assert page.url == f"{address}#node=n11"
    near = [(node, f"{cosine:.3f}") for node, cosine in nearest_neighbors(embedding, "n11")["n11"]]
    assert listed(page, "near") == near
    likely = recommend_links(embedding, graph)
    counted = likely.scorer in ("allocation", "adamic-adar", "common", "three-steps")
    unit = 100 / likely.scores.max() if counted else 1
    new = [(node, f"{unit * score:.2f}") for source, node, score in likely if source == "n11"]
    assert listed(page, "missing") == new
    neighbours = texts(page, "#panel section.graph li .id")
    assert sorted(neighbours) == sorted(graph.neighbors("n11"))
    row = embedding.row("n11")
    community = find_communities(graph)[row] + 1
    told = texts(page, "#panel dd")
    assert told == [labels[row], f"{community}: {labels[row]}", str(graph.degrees[row])]
    page.locator("#panel section.near li button").first.click()
    assert page.locator("#panel h2").text_content() == near[0][0]
    page.keyboard.press("Escape")
    assert page.locator("#panel").is_hidden()


def test_nodes_are_coloured_by_label_community_and_degree(opened, exported, known):
    page = opened(exported)
    assert texts(page, "#colour option") == ["Label", "Community", "Degree"]
    assert sorted(texts(page, "#legend .name")) == ["<u>green</u>", "blue", "red"]
    assert sorted(texts(page, "#names span")) == ["<u>green</u>", "blue", "red"]
    groups = (FIRST, SECOND, THIRD)
    wait_for_colours(page, lambda seen: all(seen.get(colour, 0) > 100 for colour in groups))
    page.locator("#legend .entry").first.click()
    wait_for_colours(page, lambda seen: seen.get(FIRST, 0) > 100 and SECOND not in seen)
    assert page.locator("#legend .entry[aria-pressed=true]").count() == 1
    page.select_option("#colour", "community")
    wait_for_colours(page, lambda seen: seen.get(SECOND, 0) > 100)
    sizes = np.bincount(find_communities(known[1]))
    assert texts(page, "#legend .number") == [str(size) for size in sizes]
    page.select_option("#colour", "degree")
    wait_for_colours(page, lambda seen: not {FIRST, SECOND} & set(seen))
    ticks = [int(text) for text in texts(page, "#legend .ticks span")]
    assert len(ticks) > 1
    assert known[1].degrees.min() <= ticks[0] < ticks[-1] <= known[1].degrees.max()
    assert texts(page, "#names span") == []


def test_a_selection_is_saved(opened, exported, known):
    embedding, graph, labels = known
    page = opened(exported)
    page.keyboard.down("Shift")
    page.mouse.move(250, 90)
    page.mouse.down()
    for corner in ((980, 90), (980, 630), (250, 630), (250, 90)):
        page.mouse.move(*corner, steps=2)
    page.mouse.up()
    page.keyboard.up("Shift")
    page.locator("#panel h2", has_text="120 nodes selected").wait_for()
    with page.expect_download() as saving:
        page.get_by_text("Save as CSV").click()
    assert saving.value.suggested_filename == "three-i-groups-i-selection.csv"
    with open(saving.value.path(), newline="", encoding="utf-8") as stream:
        rows = {row["id"]: row for row in csv.DictReader(stream)}
    quoted = {
        node: f"'{node}" for node in ('=HYPERLINK("x")', "@x", "-x")
    }  # spreadsheets run these
    assert set(rows) == {quoted.get(node, node) for node in embedding}
    communities = find_communities(graph)
    for row, node in enumerate(embedding):
        saved = rows[quoted.get(node, node)]
        assert (saved["label"], saved["degree"]) == (labels[row], str(graph.degrees[row]))
        assert saved["community"] == str(communities[row] + 1)
        assert np.isfinite([float(saved["x"]), float(saved["y"])]).all()
    with page.expect_download() as saving:
        page.get_by_text("Save as JSON").click()
    with open(saving.value.path(), encoding="utf-8") as stream:
        assert {entry["id"] for entry in json.load(stream)} == set(embedding)


def test_hostile_ids_are_text_and_nothing_else(opened, exported):
    page = opened(f"{exported}#node={quote(HOSTILE[0])}")
    for node in HOSTILE:
        search(page, node[:8])
        page.wait_for_function(
            "id => document.querySelector('#panel h2')?.textContent === id", arg=node
        )
    assert page.title() == "three <i>groups</i> – reinforce2vec"
    assert page.locator("img, b, u, i").count() == 0


def test_neighbours_are_right_in_long_lists_of_edges(opened, tmp_path):
    """A star of 1,200 leaves, and a path of 400 nodes from its last leaf: all steps are 1."""
    pairs = [(0, leaf) for leaf in range(1, 1201)] + [(n, n + 1) for n in range(1200, 1600)]
    places = np.random.default_rng(0).normal(size=(1601, 2))
    made = make_page(places, pairs, positions=places)
    page = opened(f"{write_page(tmp_path / 'map.html', made).as_uri()}#node=1500")
    rows = page.locator("#panel section.graph li .id")
    assert sorted(rows.all_text_contents()) == ["1499", "1501"]
    search(page, "0")
    page.locator("#panel h2", has_text="0").wait_for()
    assert texts(page, "#panel dd")[-1] == "1,200"  # its degree
    page.get_by_text("Show 1,000 of 1,200").click()
    shown = {int(node) for node in rows.all_text_contents()}
    assert len(shown) == rows.count() == 1000
    assert shown < set(range(1, 1201))
    assert page.locator("#panel section.graph p").last.text_content() == "And 200 more."


@pytest.mark.parametrize("script", [None, "history.replaceState = () => { throw Error('never') }"])
def test_nodes_are_chosen_where_the_address_cannot_tell_them(opened, tmp_path, script):
    made = make_page(Embedding(["plain", "odd \udc80"], np.eye(2)), method="pca")
    address = write_page(tmp_path / "map.html", made).as_uri()
    page = opened(f"{address}#node=plain", script=script)
    assert page.locator("#panel h2").text_content() == "plain"
    search(page, "odd")
    page.wait_for_function(
        "() => document.querySelector('#panel h2').textContent === 'odd \\udc80'"
    )
    page.wait_for_function("() => document.activeElement === document.querySelector('#panel h2')")
    assert page.url == (f"{address}#node=plain" if script else address)


def test_without_webgl_the_page_says_so(opened, exported):
    missing = "HTMLCanvasElement.prototype.getContext = () => null"
    page = opened(exported, "#message:has-text('WebGL')", missing)
    assert "open the page in another browser" in page.locator("#message").text_content()


def test_the_map_can_be_used_without_a_mouse(opened, exported):
    page = opened(exported)
    names = page.locator("#names span").first
    page.locator("#points").focus()
    places = [names.get_attribute("style")]
    for key in ("ArrowRight", "+", "0"):
        page.keyboard.press(key)
        page.wait_for_function(
            "before => document.querySelector('#names span').getAttribute('style') !== before",
            arg=places[-1],
        )
        places.append(names.get_attribute("style"))
    page.keyboard.press("?")
    assert page.locator("#help").is_visible()

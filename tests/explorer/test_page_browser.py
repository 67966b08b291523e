"""The page around the map: columns, filters, search, phones, keyboard and screen readers."""

from __future__ import annotations

import csv
import datetime
import json

import numpy as np
import pytest

from helpers.maps import PHONE, listed, search, texts
from reinforce2vec import Embedding, nearest_neighbors
from reinforce2vec.explorer import make_page, serve_page, write_page
from reinforce2vec.explorer._contents import Limits

pytestmark = pytest.mark.browser

CALM = {"reduced_motion": "reduce"}  # the map is there at once, without a flight
ON_PHONE = {"viewport": PHONE, "has_touch": True, "is_mobile": True, **CALM}
FIRST_DAY = datetime.date(2020, 1, 1)


@pytest.fixture(scope="session")
def columns():
    """Columns of all kinds for 120 nodes; the first has no venue, every tenth no score."""
    rng = np.random.default_rng(0)
    return {
        "venue": [None, *rng.choice(["ICML", "KDD", "WWW"], 119, p=[0.5, 0.3, 0.2]).tolist()],
        "year": rng.integers(2001, 2021, 120).tolist(),
        "score": [None if row % 10 == 0 else row / 8 for row in range(120)],
        "published": [str(FIRST_DAY + datetime.timedelta(days=7 * row)) for row in range(120)],
        "abstract": [f"<b>Study</b> number {row} of walks" for row in range(120)],
    }


@pytest.fixture(scope="session")
def with_columns(known, columns, tmp_path_factory):
    """The address of a page with columns."""
    made = make_page(*known, columns=columns, method="pca", title="columns")
    return write_page(tmp_path_factory.mktemp("columns") / "map.html", made).as_uri()


def press(page, key, times):
    for _ in range(times):
        page.keyboard.press(key)


def told(page, text):
    """Wait until the live region says a text."""
    page.locator("#said", has_text=text).wait_for(state="attached")


def focused(page):
    return page.evaluate("document.activeElement.id || document.activeElement.tagName")


# -- columns -----------------------------------------------------------------------------------


def test_columns_give_colours_sizes_and_facts(opened, with_columns, columns, known):
    page = opened(with_columns, **CALM)
    own = ["venue", "year", "score", "published"]
    assert texts(page, "#colour option") == ["Label", *own, "Community", "Degree"]
    assert texts(page, "#size option") == ["year", "score", "published", "Degree", "Nothing"]
    page.select_option("#colour", "venue")
    counts = {name: columns["venue"].count(name) for name in ("ICML", "KDD", "WWW")}
    ranked = sorted(counts, key=counts.get, reverse=True)
    assert texts(page, "#legend .name") == [*ranked, "No venue"]
    assert texts(page, "#legend .number") == [*(str(counts[name]) for name in ranked), "1"]
    page.select_option("#colour", "score")
    assert texts(page, "#legend .ticks span") == ["5", "10"]
    assert texts(page, "#legend .without span") == ["No value", "12"]
    page.select_option("#colour", "published")
    assert texts(page, "#legend .ticks span")[0].startswith("2020-")
    page.select_option("#size", "year")
    assert texts(page, "#size-key span") == [str(min(columns["year"])), str(max(columns["year"]))]
    search(page, "n55")
    page.locator("#panel h2", has_text="n55").wait_for()
    names, values = texts(page, "#panel dt"), texts(page, "#panel dd")
    facts = dict(zip(names, values, strict=True))
    assert names == ["Label", *own, "abstract", "Community", "Degree"]
    assert facts["Label"] == known[2][55]
    assert facts["year"] == str(columns["year"][55])  # not 2,014
    assert facts["published"] == columns["published"][55]
    assert facts["abstract"] == columns["abstract"][55]
    search(page, "n50")
    page.locator("#panel h2", has_text="n50").wait_for()
    assert texts(page, "#panel dd")[3] == "none"


def test_a_category_that_is_searched_for_is_selected_and_saved_with_all_columns(
    opened, with_columns, columns
):
    page = opened(with_columns, **CALM)
    page.locator("#search").fill("kdd")
    assert texts(page, "#suggestions .category .name") == ["KDD"]
    page.keyboard.press("Enter")
    rows = [row for row in range(120) if columns["venue"][row] == "KDD"]
    page.locator("#panel h2", has_text=f"{len(rows)} nodes selected").wait_for()
    with page.expect_download() as saving:
        page.get_by_text("Save as CSV").click()
    with open(saving.value.path(), newline="", encoding="utf-8") as stream:
        saved = list(csv.DictReader(stream))
    assert list(saved[0]) == ["id", "x", "y", "label", *columns, "community", "degree"]
    for name in ("venue", "published", "abstract"):
        assert [row[name] for row in saved] == [columns[name][row] for row in rows]
    with page.expect_download() as saving:
        page.get_by_text("Save as JSON").click()
    with open(saving.value.path(), encoding="utf-8") as stream:
        entries = json.load(stream)
    wanted = [columns["score"][row] for row in rows]
    assert [entry["score"] for entry in entries] == ["" if s is None else s for s in wanted]
    assert [entry["year"] for entry in entries] == [columns["year"][row] for row in rows]


def test_the_search_says_where_it_matched(opened, with_columns):
    page = opened(with_columns)
    page.locator("#search").fill("NUMBER 11")
    assert texts(page, "#suggestions .id")[:3] == ["n11", "n110", "n111"]
    found = texts(page, "#suggestions .muted")
    assert found[0] == "abstract: <b>Study</b> number 11 of walks"
    assert texts(page, "#suggestions mark") == ["number 11"] * 11
    page.locator("#search").fill("no such thing")
    assert page.locator("#no-match").is_visible()
    told(page, "Nothing contains this text.")


# -- filters -----------------------------------------------------------------------------------


def test_filters_combine_and_everything_follows(opened, with_columns, columns, known):
    page = opened(with_columns, **CALM)
    page.click("#show-filters")
    assert page.locator("#filters fieldset").count() == 7  # all columns but texts
    assert page.locator("[data-column=score]").get_by_text("12 without a value").is_visible()
    handles = page.locator("[data-column=year] input")
    years = np.array(columns["year"])
    low, high = years.min() + 5, years.max() - 3
    handles.first.focus()
    press(page, "ArrowRight", 5)
    handles.last.focus()
    press(page, "ArrowLeft", 3)
    assert handles.first.get_attribute("aria-valuetext") == str(low)
    passing = (years >= low) & (years <= high)
    told(page, f"{passing.sum()} of 120 nodes pass the filters")
    page.get_by_label("ICML").check()
    venues = np.array([name == "ICML" for name in columns["venue"]])
    told(page, f"{(passing & venues).sum()} of 120 nodes pass the filters")
    facts = page.locator("#facts").text_content()
    assert facts.startswith(f"{(passing & venues).sum()} of 120 nodes · ")
    others = np.array([name == "KDD" for name in columns["venue"]])  # those that a check would add
    bars = page.locator("[data-column=venue] li", has_text="KDD").locator(".number")
    assert bars.text_content() == str((passing & others).sum())
    labels = np.array(known[2])
    for name, number in zip(
        texts(page, "#legend .name"), texts(page, "#legend .number"), strict=True
    ):
        assert int(number) == (passing & venues & (labels == name)).sum()
    left_out = next(row for row in range(10, 120) if not (passing & venues)[row])
    page.locator("#search").fill(f"n{left_out}")
    assert "(filtered out)" in page.locator("#suggestions li").first.text_content()
    page.keyboard.press("Enter")
    page.get_by_text("This node does not pass the filters.").wait_for()
    page.click("#panel .filtered button")
    page.wait_for_function("() => document.querySelector('#passing').textContent === '120 nodes'")
    assert page.locator("#clear-filters").is_disabled()
    assert not page.get_by_label("ICML").is_checked()
    assert page.locator("#panel .filtered").count() == 0
    page.get_by_label("No venue").check()  # of the first node
    told(page, "1 of 120 nodes pass the filters")
    page.click("#clear-filters")
    scores = page.locator("[data-column=score]")
    scores.get_by_label("without a value").uncheck()
    told(page, "108 of 120 nodes pass the filters")
    scores.get_by_label("score, to").focus()
    page.keyboard.press("Home")  # of 1/8, which the second node has
    told(page, "1 of 120 nodes pass the filters")
    scores.get_by_label("without a value").check()
    told(page, "13 of 120 nodes pass the filters")


def test_a_lasso_leaves_out_what_does_not_pass(opened, with_columns, columns):
    page = opened(with_columns, **CALM)
    page.click("#show-filters")
    page.get_by_label("WWW").check()
    told(page, f"{columns['venue'].count('WWW')} of 120 nodes pass")
    page.click("#lasso")
    page.mouse.move(260, 90)
    page.mouse.down()
    for corner in ((940, 90), (940, 630), (260, 630), (260, 90)):
        page.mouse.move(*corner, steps=2)
    page.mouse.up()
    wanted = f"{columns['venue'].count('WWW')} nodes selected"
    page.locator("#panel h2", has_text=wanted).wait_for()
    assert page.locator("#lasso").get_attribute("aria-pressed") == "false"


def test_all_of_very_many_categories_can_be_checked(opened, tmp_path):
    places = np.random.default_rng(0).normal(size=(500, 2))
    labels = [f"c{row}" for row in range(500)]
    columns = {name: ["a", "b"] * 250 for name in ("constructor", "__proto__")}
    made = make_page(places, labels=labels, columns=columns, positions=places)
    page = opened(write_page(tmp_path / "map.html", made).as_uri(), **CALM)
    page.click("#show-filters")
    for button in ("Show 300 of 488 more", "Show 188 more"):
        page.get_by_text(button, exact=True).click()
    assert sorted(texts(page, "[data-column=label] .name")) == sorted(labels)
    assert page.locator("[data-column=label] .more").count() == 0
    page.locator("[data-column=label]").get_by_label("c499").check()
    told(page, "1 of 500 nodes pass the filters")
    for name in columns:  # which JavaScript knows
        page.select_option("#colour", name)
        assert texts(page, "#legend .name") == ["a", "b"]
        assert page.locator("#legend-title").text_content() == f"2 values of {name}"


def test_time_is_stepped_through_and_played(opened, with_columns, columns):
    page = opened(with_columns, **CALM)
    page.click("#show-filters")
    output = page.locator("[data-column=published] output")
    whole = output.text_content()
    assert whole == f"{FIRST_DAY} – {FIRST_DAY + datetime.timedelta(days=7 * 119)}"
    handle = page.locator("[data-column=published] input").first
    handle.focus()
    press(page, "ArrowRight", 17)  # to 70.8 days after the first
    day = handle.get_attribute("aria-valuetext")
    assert day == str(FIRST_DAY + datetime.timedelta(days=71))
    after = sum(date >= day for date in columns["published"])
    told(page, f"{after} of 120 nodes pass the filters")
    page.keyboard.press("Home")
    page.locator("[data-column=published]").get_by_label("Later").click()
    first = output.text_content()
    assert first.startswith(f"{FIRST_DAY} – 2020-")
    told(page, "12 of 120 nodes pass the filters")  # a tenth of the time
    page.locator("[data-column=published]").get_by_label("Play").click()
    page.wait_for_function(
        "before => document.querySelector('[data-column=published] output').textContent !== before",
        arg=first,
    )
    page.locator("[data-column=published]").get_by_label("Pause").click()
    assert page.locator("[data-column=published]").get_by_label("Play").is_visible()


# -- reading -----------------------------------------------------------------------------------


def test_neighbours_with_an_edge_are_marked(opened, exported, known):
    embedding, graph, _ = known
    page = opened(f"{exported}#node=n34", **CALM)
    page.locator("#panel section.near li").first.wait_for()
    near = [node for node, _ in nearest_neighbors(embedding, "n34")["n34"]]
    assert [node for node, _ in listed(page, "near")] == near
    marked = page.locator("#panel section.near li", has=page.locator(".tag")).locator(".id")
    wanted = [node for node in near if node in graph.neighbors("n34")]
    assert marked.all_text_contents() == wanted
    assert 0 < len(wanted) < len(near)


def test_a_map_of_four_nodes_can_be_read(opened, tmp_path):
    """Two of them have one place, and the first column has one value."""
    places = np.array([[0, 0], [0, 0], [1, 0], [0, 1.0]])
    embedding = Embedding(["a", "b", "c", "d"], places + 1)
    pairs = [("a", "b"), ("b", "c"), ("c", "d"), ("a", "d")]
    columns = {"note": ["x", None, None, None]}
    made = make_page(embedding, pairs, columns=columns, positions=places)
    page = opened(write_page(tmp_path / "map.html", made).as_uri(), **CALM)
    page.locator("#overlay[data-edges='4']").wait_for(state="attached")  # at first, as they are few
    assert page.locator("#colour").input_value() == "community"
    assert page.locator("#size-key").is_hidden()  # all degrees are 2
    for node in ("a", "b"):
        search(page, node)
        page.locator("#panel h2", has_text=node).wait_for()
        page.wait_for_function("() => document.querySelector('#points').dataset.chosen")
        page.mouse.move(*map(int, page.locator("#points").get_attribute("data-chosen").split()))
        page.wait_for_function(
            "id => document.querySelector('#tooltip').firstChild?.textContent === id", arg=node
        )


# -- phones ------------------------------------------------------------------------------------


def test_on_a_phone_neither_details_nor_sheets_cover_the_nodes(opened, with_columns):
    page = opened(with_columns, **ON_PHONE)
    bar = page.locator("#bar").bounding_box()
    assert bar["height"] < 64  # one line
    assert page.locator("#legend").is_hidden()
    for node in ("n20", "n64", "n118"):
        search(page, node)
        page.locator("#panel h2", has_text=node).wait_for()
        page.wait_for_function("() => document.querySelector('#points').dataset.chosen")
        x, y = map(int, page.locator("#points").get_attribute("data-chosen").split())
        assert 0 < x < PHONE["width"]
        assert bar["y"] + bar["height"] < y < page.locator("#panel").bounding_box()["y"]
    page = opened(with_columns, **ON_PHONE)
    names = page.locator("#names span")
    for sheet in ("legend", "filters", "view"):
        page.tap(f"#show-{sheet}")
        box = page.locator(f"#{sheet}").bounding_box()
        assert box["width"] > PHONE["width"] - 40
        assert PHONE["height"] - 40 < box["y"] + box["height"] <= PHONE["height"]
        page.wait_for_function(
            "top => [...document.querySelectorAll('#names span')].every("
            "(one) => one.getBoundingClientRect().bottom < top)",
            arg=box["y"],
        )
    assert names.count() == 3


def test_on_a_phone_targets_are_large_and_nothing_overflows(opened, with_columns):
    page = opened(f"{with_columns}#node=n30", **ON_PHONE)
    page.locator("#panel section.near li").first.wait_for()
    for button in ("", "#show-legend", "#show-filters", "#show-view"):
        if button:
            page.tap(button)
        small = page.evaluate(
            """() => [...document.querySelectorAll(
                 "button, select, input:not([type=checkbox]):not([type=range]), label:has(input)")]
               .filter((one) => one.offsetParent)
               .map((one) => [one.id || one.textContent, one.getBoundingClientRect()])
               .filter(([, { width, height }]) => width < 44 || height < 44)
               .map(([name, { width, height }]) => `${name}: ${width} x ${height}`)"""
        )
        assert small == [], button
        assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    assert (
        page.evaluate("getComputedStyle(document.querySelector('#points')).touchAction") == "none"
    )


# -- keyboard and screen reader ----------------------------------------------------------------


def test_the_focus_moves_to_the_details_and_back(opened, with_columns, known):
    _, graph, labels = known
    page = opened(with_columns, **CALM)
    page.keyboard.press("/")
    page.keyboard.type("n32")
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.activeElement.matches('#panel h2')")
    assert graph.degrees[32] == 8
    told(page, f"n32, {labels[32]}, 8 graph neighbours, 10 nearest neighbours")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # on its nearest neighbour
    page.wait_for_function("() => document.querySelector('#panel h2').textContent !== 'n32'")
    page.wait_for_function("() => document.activeElement.matches('#panel h2')")
    page.keyboard.press("Escape")
    assert page.locator("#panel").is_hidden()
    assert focused(page) == "search"
    told(page, "Nothing is selected.")
    page.locator("#points").focus()
    page.keyboard.press("Enter")  # the node in the middle of the map
    page.wait_for_function("() => document.activeElement.matches('#panel h2')")
    page.keyboard.press("Escape")
    assert focused(page) == "points"
    page.locator("#show-filters").focus()
    page.keyboard.press("Enter")
    assert focused(page) == "filters-title"
    page.keyboard.press("Escape")
    assert page.locator("#filters").is_hidden()
    assert focused(page) == "show-filters"


@pytest.mark.slow
@pytest.mark.parametrize(
    "context", [CALM, {**ON_PHONE, "color_scheme": "dark"}], ids=["light", "dark phone"]
)
def test_axe_finds_nothing(opened, with_columns, context):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    page = opened(with_columns, **context)

    def check(state):
        found = axe.run(page).response["violations"]
        problems = [f"{one['id']}: {node['html'][:200]}" for one in found for node in one["nodes"]]
        assert problems == [], state

    check("start")
    page.click("#show-filters")
    page.get_by_label("ICML").check()
    told(page, "pass the filters")
    check("filters")
    page.keyboard.press("Escape")
    page.click("#show-view")
    check("view")
    page.keyboard.press("Escape")
    page.locator("#search").fill("n1")
    check("search")
    page.keyboard.press("Enter")
    page.locator("#panel section.near li").first.wait_for()
    check("node")
    search(page, "ICML")
    page.locator("#panel h2", has_text="nodes selected").wait_for()
    check("selection")
    page.click("#about")
    check("help")


# -- loading -----------------------------------------------------------------------------------


def test_the_page_says_that_its_server_has_ended(opened, known):
    with serve_page(
        make_page(*known, method="pca", served=True, limits=Limits(held=100))
    ) as server:
        page = opened(server.url, **CALM)
    page.evaluate("() => { window.fetch = async () => { throw TypeError('Failed to fetch'); }; }")
    search(page, "n30")
    gone = "The server of this page no longer answers: start it again."
    page.locator("#panel .waiting", has_text=gone).wait_for()
    told(page, f"n30. {gone}")
    page.click("#show-view")
    page.get_by_label("Edges of what is in view").check()
    page.locator("#no-edges", has_text=gone).wait_for()

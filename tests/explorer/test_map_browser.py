"""The explorer's map in a real browser: gestures, names, contours, edges, pictures, WebGL."""

from __future__ import annotations

import math
from itertools import combinations, pairwise
from time import time as now
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.image import imread

from helpers.maps import DESKTOP, PHONE, search, texts, wait_for_colours
from reinforce2vec import Embedding, Graph
from reinforce2vec.explorer import make_page, write_page
from reinforce2vec.plotting.palette import LOOKS

pytestmark = [pytest.mark.browser, pytest.mark.slow]

SVG = "{http://www.w3.org/2000/svg}"
CORNERS = {
    "north west": (-9, 6),
    "north east": (9, 6),
    "south west": (-9, -6),
    "south east": (9, -6),
}
INITIALS = {corner: "".join(word[0] for word in corner.split()).upper() for corner in CORNERS}
COUNT_DRAWINGS = """
    window.drawings = 0;
    const draw = WebGL2RenderingContext.prototype.drawElements;
    WebGL2RenderingContext.prototype.drawElements = function (...given) {
        window.drawings++;
        return draw.apply(this, given);
    };
    addEventListener("DOMContentLoaded", () => {
        try {
            window.compiled = Function("return 1")();
        } catch (error) {
            window.compiled = error.name;
        }
    });
"""
REFUSED = "Refused to evaluate", "Evaluating a string"  # what Chromium's versions say of it


@pytest.fixture(scope="module")
def corners_page(tmp_path_factory):
    """A group of 100 nodes in the middle, and one node in each corner, which is a group itself."""
    rng = np.random.default_rng(0)
    places = np.vstack([rng.normal(size=(100, 2)), *CORNERS.values()])
    ids = [*(f"n{number}" for number in range(100)), *CORNERS]
    labels = ["middle"] * 100 + list(INITIALS.values())
    made = make_page(Embedding(ids, places), None, labels, positions=places, title="<corners>")
    return write_page(tmp_path_factory.mktemp("page") / "corners.html", made).as_uri()


@pytest.fixture(scope="module")
def forty():
    """40 groups of 60 nodes on a lattice; within the first one is a group of 3, named inner."""
    rng = np.random.default_rng(1)
    lattice = np.array([(2.0 * (k % 8), 2.0 * (k // 8)) for k in range(40)])
    places = np.repeat(lattice, 60, axis=0) + rng.uniform(-0.7, 0.7, size=(2400, 2))
    places[:3] = lattice[0] + [[0, 0], [0.02, 0], [0, 0.02]]
    labels = ["inner"] * 3 + [f"group {k}" for k in range(40) for _ in range(60)][3:]
    pairs = [(node, node + 1) for node in range(2400 - 1) if (node + 1) % 60]
    return places, Graph.from_edges(pairs, nodes=range(2400)), labels


@pytest.fixture(scope="module")
def forty_page(forty, tmp_path_factory):
    places, graph, labels = forty
    made = make_page(places, graph, labels, positions=places, title="forty & more")
    return write_page(tmp_path_factory.mktemp("page") / "forty.html", made).as_uri()


@pytest.fixture(scope="module")
def open_page(browser):
    """Opens a page for several tests, with reduced motion, and checks that it never complains."""
    contexts, complaints = [], []

    def open_at(address, **settings):
        contexts.append(browser.new_context(reduced_motion="reduce", **settings))
        page = contexts[-1].new_page()
        page.set_default_timeout(30_000)
        page.add_init_script(COUNT_DRAWINGS)
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(address)
        page.wait_for_selector("html[data-ready]")
        return page

    yield open_at
    for context in contexts:
        context.close()
    assert [text for text in complaints if not any(part in text for part in REFUSED)] == []


@pytest.fixture(scope="module")
def corners_desktop(open_page, corners_page):
    return open_page(corners_page, viewport=DESKTOP)


@pytest.fixture(scope="module")
def corners_phone(open_page, corners_page):
    return open_page(corners_page, viewport=PHONE, has_touch=True, is_mobile=True)


@pytest.fixture(scope="module")
def forty_desktop(open_page, forty_page):
    return open_page(forty_page, viewport={"width": 1200, "height": 800})


@pytest.fixture
def desktop(corners_desktop):
    return started_anew(corners_desktop)


@pytest.fixture
def phone(corners_phone):
    return started_anew(corners_phone)


@pytest.fixture
def many(forty_desktop):
    return started_anew(forty_desktop)


def started_anew(page):
    """The page as it was when it was opened: with nothing selected, and all nodes in view."""
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    page.locator("#panel").wait_for(state="hidden")
    page.locator("#points").focus()
    page.keyboard.press("0")
    return page


def place_of(page, corner):
    """Where the name of a corner is, which is where its only node is."""
    found = page.wait_for_function(
        """text => {
            const name = [...document.querySelectorAll("#names span")].find(
                (one) => one.textContent === text,
            );
            const box = name?.getBoundingClientRect();
            return box && [(box.left + box.right) / 2, (box.top + box.bottom) / 2];
        }""",
        arg=INITIALS[corner],
    )
    return np.array(found.json_value())


def wait_for_move(page, corner, suits):
    """Wait until the place of a corner suits."""
    for _ in range(200):
        if suits(place := place_of(page, corner)):
            return place
        page.wait_for_timeout(25)
    raise AssertionError(f"{corner} stays at {place}")


def beside(place, right, down):
    """The place some pixels away from another."""
    return place + np.array([right, down])


def is_near(place, other):
    return np.abs(place - other).max() < 3


def distance(page):
    """The distance between two corners on the screen."""
    return float(np.linalg.norm(place_of(page, "north west") - place_of(page, "south east")))


def wait_for_distance(page, wanted):
    for _ in range(200):
        if math.isclose(distance(page), wanted, rel_tol=0.03):
            return
        page.wait_for_timeout(25)
    raise AssertionError(f"the corners are {distance(page)} pixels apart, not {wanted}")


def touch(page, *moments, time=None):
    """Move fingers: each moment is the list of where they are, and they are lifted at the end.

    All of it happens at a time that can be given, in seconds, so that tests do not depend on it.
    """
    session = page.context.new_cdp_session(page)
    kinds = ["touchStart", *["touchMove"] * (len(moments) - 1), "touchEnd"]
    for kind, fingers in zip(kinds, [*moments, []], strict=True):
        points = [{"x": float(x), "y": float(y), "id": i} for i, (x, y) in enumerate(fingers)]
        when = {} if time is None else {"timestamp": time}
        event = {"type": kind, "touchPoints": points, **when}
        session.send("Input.dispatchTouchEvent", event)
    session.detach()


def along(path, steps=4):
    """Points along a path of one finger, as moments."""
    return [
        [np.asarray(start) + (np.asarray(end) - start) * step / steps]
        for start, end in pairwise(path)
        for step in range(steps + 1)
    ]


# -- fingers -----------------------------------------------------------------------------------


def test_one_finger_moves_the_map(phone):
    before = place_of(phone, "north west")
    touch(phone, *along([(200, 400), (240, 480)]))
    after = wait_for_move(phone, "north west", lambda place: np.abs(place - before).max() > 70)
    np.testing.assert_allclose(after - before, [40, 80], atol=2)
    assert phone.locator("#panel").is_hidden()


def test_two_fingers_zoom_the_map_and_not_the_page(phone):
    before = distance(phone)
    touch(phone, *[[(195 - away, 420), (195 + away, 420)] for away in (60, 45, 36, 30)])
    wait_for_distance(phone, before / 2)  # both corners stay in view
    assert phone.evaluate("visualViewport.scale") == 1
    assert phone.locator("#panel").is_hidden()


def test_a_tap_selects_the_node_near_it(phone):
    place = place_of(phone, "south east")
    touch(phone, [beside(place, 0, 60)])
    assert phone.locator("#panel").is_hidden()
    touch(phone, [beside(place, -13, 17)])  # 21 pixels away
    phone.locator("#panel h2", has_text="south east").wait_for()
    assert phone.locator("#tooltip").is_hidden()  # only mice hover


def test_a_double_tap_zooms_in(phone):
    place = place_of(phone, "north west")
    nothing = beside(place, -8, 40)
    start = now()
    touch(phone, [nothing], time=start)
    touch(phone, [nothing], time=start + 0.1)
    wait_for_move(phone, "north west", lambda now: is_near(now, nothing + 2 * (place - nothing)))


def test_a_finger_draws_a_lasso(phone):
    west, east = place_of(phone, "south west"), place_of(phone, "south east")
    phone.locator("#lasso").tap()
    assert phone.locator("#lasso").get_attribute("aria-pressed") == "true"
    corners = [
        beside(west, -15, -25),
        beside(east, 15, -25),
        beside(east, 15, 25),
        beside(west, -15, 25),
    ]
    touch(phone, *along([*corners, corners[0]]))
    phone.locator("#panel h2", has_text="2 nodes selected").wait_for()
    assert {"south east", "south west"} <= set(texts(phone, "#panel li .id"))
    assert phone.locator("#lasso").get_attribute("aria-pressed") == "false"


def test_a_node_that_is_searched_for_is_never_under_its_details(phone):
    for corner in ("south east", "north west"):
        search(phone, corner)
        phone.locator("#panel h2", has_text=corner).wait_for()
        panel, bar = (phone.locator(name).bounding_box() for name in ("#panel", "#bar"))
        free = (bar["y"] + bar["height"], panel["y"])
        place = wait_for_move(phone, corner, lambda place, free=free: free[0] < place[1] < free[1])
        assert 0 < place[0] < PHONE["width"]


# -- mouse -------------------------------------------------------------------------------------


def test_a_mouse_hovers_moves_zooms_and_selects(desktop):
    place = place_of(desktop, "north east")
    desktop.mouse.move(*beside(place, 3, 2))
    desktop.locator("#tooltip", has_text="north east").wait_for()
    desktop.mouse.move(*beside(place, -60, 0))
    desktop.locator("#tooltip").wait_for(state="hidden")
    desktop.mouse.down()
    desktop.mouse.move(*beside(place, -160, 50), steps=3)
    desktop.mouse.up()
    moved = wait_for_move(desktop, "north east", lambda now: np.abs(now - place).max() > 90)
    np.testing.assert_allclose(moved - place, [-100, 50], atol=2)
    desktop.mouse.move(*moved)
    before = distance(desktop)
    desktop.mouse.wheel(0, 200)
    wait_for_distance(desktop, before / math.exp(200 * 0.0018))
    np.testing.assert_allclose(place_of(desktop, "north east"), moved, atol=2)
    desktop.mouse.click(*beside(moved, 2, 2))
    desktop.locator("#panel h2", has_text="north east").wait_for()


# -- what is drawn -----------------------------------------------------------------------------


def test_the_page_draws_without_compiling_text(desktop):
    assert desktop.evaluate("window.compiled") == "EvalError"
    assert desktop.evaluate("window.drawings") > 0


def test_nothing_is_drawn_while_nothing_changes(desktop):
    seen = [-1, -2, -3]
    while len(set(seen[-3:])) > 1 and len(seen) < 60:
        desktop.wait_for_timeout(100)
        seen.append(desktop.evaluate("window.drawings"))
    assert len(seen) < 60


def test_forty_groups_have_their_looks_on_the_map(many):
    wanted = {tuple(bytes.fromhex(look.light[1:])) for look in LOOKS}
    assert len(wanted) >= 20
    wait_for_colours(many, lambda seen: sum(seen.get(colour, 0) > 20 for colour in wanted) >= 20)
    looks = many.locator("#legend .entry .swatch").evaluate_all(
        "swatches => swatches.map(({ firstChild: shape }) =>"
        " shape.getAttribute('fill') + (shape.getAttribute('points') ?? ''))"
    )
    assert len(looks) == len(set(looks)) == 41


def test_the_map_is_drawn_again_after_a_lost_context(desktop):
    largest = tuple(bytes.fromhex(LOOKS[0].light[1:]))
    wait_for_colours(desktop, lambda seen: seen.get(largest, 0) > 100)
    desktop.evaluate(
        """() => {
            const gl = document.getElementById("points").getContext("webgl2");
            window.lost = gl.getExtension("WEBGL_lose_context");
            window.lost.loseContext();
        }"""
    )
    wait_for_colours(desktop, lambda seen: largest not in seen)
    desktop.evaluate("window.lost.restoreContext()")
    wait_for_colours(desktop, lambda seen: seen.get(largest, 0) > 100)


def test_names_are_those_of_what_is_in_view(many):
    names = many.locator("#names span:visible")
    names.nth(30).wait_for()
    shown = names.all_text_contents()
    assert "inner" not in shown  # 3 of 2,400 nodes
    assert len(shown) > 30  # as many as there is room for
    boxes = names.evaluate_all(
        "all => all.map((one) => one.getBoundingClientRect())"
        ".map(({ left, right, top, bottom }) => [left, right, top, bottom])"
    )
    for one, other in combinations(boxes, 2):  # places are rounded to pixels
        beside = one[1] <= other[0] + 1 or other[1] <= one[0] + 1
        assert beside or one[3] <= other[2] + 1 or other[3] <= one[2] + 1
    search(many, "0")
    many.locator("#panel h2").wait_for()
    many.locator("#names span:visible", has_text="inner").wait_for()
    left = names.all_text_contents()
    assert "group 0" in left
    assert len(left) < 10


def test_contours_are_drawn_where_points_are_many(many):
    overlay = many.locator("#overlay")
    assert overlay.get_attribute("data-contours") == "0"  # not at first with so few
    many.locator("#show-view").click()
    many.locator("#density").check()
    many.locator("#overlay[data-contours='5']").wait_for()
    search(many, "0")
    many.locator("#overlay[data-contours='0']").wait_for()  # few are in view
    started_anew(many)
    many.locator("#overlay[data-contours='5']").wait_for()
    if many.locator("#view").is_hidden():
        many.locator("#show-view").click()
    many.locator("#density").uncheck()
    many.locator("#overlay[data-contours='0']").wait_for()


def test_all_edges_of_what_is_in_view_are_drawn(many, forty):
    many.locator("#show-view").click()
    many.locator("#edges").check()
    many.locator(f"#overlay[data-edges='{forty[1].n_edges}']").wait_for()
    search(many, "0")
    many.wait_for_function(
        "most => { const n = Number(document.getElementById('overlay').dataset.edges);"
        " return n > 0 && n < most; }",
        arg=forty[1].n_edges // 4,
    )
    started_anew(many)
    if many.locator("#view").is_hidden():
        many.locator("#show-view").click()
    many.locator("#edges").uncheck()
    many.locator("#overlay[data-edges='0']").wait_for()


# -- pictures ----------------------------------------------------------------------------------


def saved(page, type_):
    if page.locator("#view").is_hidden():
        page.locator("#show-view").click()
    with page.expect_download() as saving:
        page.locator(f"#save-{type_}").click()
    assert saving.value.suggested_filename.endswith(f".{type_}")
    return saving.value.path()


def test_a_picture_is_saved_as_svg(many, forty):
    root = ElementTree.parse(saved(many, "svg")).getroot()
    written = [text.text for text in root.iter(f"{SVG}text")]
    assert "forty & more" in written
    assert {f"group {k}" for k in range(40)} <= set(written)  # in the legend
    anchors = [
        text.get("text-anchor") for text in root.iter(f"{SVG}text") if text.text == "group 20"
    ]
    assert anchors == ["middle", "middle", "start"]  # on the map with its rim, and in the legend
    lights = {look.light for look in LOOKS}
    filled = [path for path in root.iter(f"{SVG}path") if path.get("fill") in lights]
    points = sum(path.get("d").count("M") for path in filled)
    colours = [path.get("fill") for path in filled]
    changes = sum(one != other for one, other in pairwise(colours))
    assert changes > 1000  # points of one colour are not all over those of another
    assert points == len(forty[0]) - 3 + 40  # on the map but for the smallest group; in the legend


def test_a_picture_is_saved_as_png(many):
    image = imread(saved(many, "png"), format="png")
    assert image.shape[1] > 2000
    colours = np.unique(np.rint(image[::3, ::3, :3] * 255).astype(int) @ [65536, 256, 1])
    assert sum(int(light[1:], 16) in colours for light in {look.light for look in LOOKS}) >= 20

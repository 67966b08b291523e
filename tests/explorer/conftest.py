"""A browser for the explorer's pages, and a page that most tests open."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.maps import DESKTOP, HOSTILE
from reinforce2vec import Embedding, Graph, planted_groups
from reinforce2vec.explorer import make_page, serve_page, write_page

TITLE = "three <i>groups</i>"


@pytest.fixture
def opened(browser):
    """Opens pages; complains if one complains, or asks for anything but itself.

    More arguments are those of a browser context: a viewport, has_touch, color_scheme, ….
    """
    contexts, complaints, strange = [], [], []

    def open_at(address, ready="html[data-ready]", script=None, offline=True, **context):
        context = browser.new_context(**{"viewport": DESKTOP, **context})
        contexts.append(context)
        page = context.new_page()
        if script:
            page.add_init_script(script)
        page.set_default_timeout(30_000)
        itself = address.partition("#")[0].partition("?")[0]

        def check(request):
            if not request.url.startswith((itself, "blob:")):
                strange.append(request.url)

        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", check)
        page.goto(address)
        page.wait_for_selector(ready)
        context.set_offline(offline)
        return page

    yield open_at
    for context in contexts:
        context.close()
    assert complaints == []
    assert strange == []


@pytest.fixture(scope="session")
def known():
    """A graph of three groups with vectors and labels; some ids and a label are hostile."""
    dataset = planted_groups(120, 3, degree=8, seed=1)
    ids = [*HOSTILE, *(f"n{number}" for number in range(len(HOSTILE), 120))]
    pairs = [
        (ids[node], ids[other])
        for node in range(120)
        for other in dataset.graph.neighbors(node)
        if node < other
    ]
    graph = Graph.from_edges(pairs, nodes=ids)
    rng = np.random.default_rng(0)
    vectors = dataset.labels @ rng.normal(size=(3, 8)) + rng.normal(size=(120, 8)) / 3
    names = np.array(["red", "<u>green</u>", "blue"])
    return Embedding(ids, vectors), graph, names[dataset.labels.argmax(axis=1)].tolist()


@pytest.fixture(scope="session")
def made(known):
    return make_page(*known, method="pca", title=TITLE)


@pytest.fixture(scope="session")
def exported(made, tmp_path_factory):
    """The address of that page in a file."""
    return write_page(tmp_path_factory.mktemp("page") / "map.html", made).as_uri()


@pytest.fixture(scope="session", params=["served", "exported"])
def address(request, known):
    """The address of that page: on a server, or in a file."""
    if request.param == "exported":
        yield request.getfixturevalue("exported")
    else:
        made = make_page(*known, method="pca", title=TITLE, served=True)
        with serve_page(made) as server:
            yield server.url

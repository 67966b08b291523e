"""The explorer in a notebook: the map in place, and its selection in both directions."""

from __future__ import annotations

import sys
from importlib.resources import files
from types import SimpleNamespace

import numpy as np
import pytest

from reinforce2vec import Embedding, InputError, explore
from reinforce2vec._util.errors import UnknownNode
from reinforce2vec.explorer import MapView, make_page, notebook

pytest.importorskip("anywidget", reason="anywidget is not installed")

PEOPLE = Embedding(["ann", "bob", "cid", "dan"], np.eye(4))
FRONT_END = files("reinforce2vec.explorer") / "static" / "widget.js"


@pytest.fixture
def in_a_notebook(monkeypatch):
    shell = SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))


@pytest.fixture
def without_anywidget(monkeypatch):
    monkeypatch.setitem(sys.modules, "anywidget", None)
    notebook._widget_class.cache_clear()
    yield
    notebook._widget_class.cache_clear()


@pytest.fixture
def view(in_a_notebook):
    return explore(PEOPLE, [("ann", "bob")], method="pca")


# -- Python ----------------------------------------------------------------------------------------


def test_a_notebook_shows_the_page_in_place(view):
    assert isinstance(view, MapView)
    bundle, _ = view._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in bundle
    assert view._widget.page.endswith(b"</html>\n")
    assert repr(view) == "MapView(4 nodes)"


def test_the_selection_comes_back_and_goes_in(view):
    told = []
    end = view.observe(told.append)
    assert view.selection == []
    view._widget.set_state({"rows": [2, 0]})  # as the front end does
    assert view.selection == ["cid", "ann"]
    view.selection = ["bob", "dan", "bob"]
    assert view._widget.rows == [1, 3]
    assert view._widget.get_state("rows") == {"rows": [1, 3]}
    assert told == [["cid", "ann"], ["bob", "dan"]]
    end()
    view.selection = np.array(["ann"], object)
    assert view.selection == ["ann"]
    assert len(told) == 2


@pytest.mark.parametrize(
    ("nodes", "kind", "complaint"),
    [(["eve"], UnknownNode, "'eve' is not in the map"), ("ann", InputError, "list of node ids")],
)
def test_a_selection_of_no_nodes_is_a_sentence(view, nodes, kind, complaint):
    with pytest.raises(kind, match=complaint):
        view.selection = nodes
    assert view.selection == []


def test_without_anywidget_the_page_is_shown_all_the_same(in_a_notebook, without_anywidget):
    view = explore(PEOPLE, method="pca", title='a "b"')
    bundle = view._repr_mimebundle_()
    assert bundle["text/html"].count("<") == 2  # of the frame alone: the page is escaped
    assert "&lt;/html&gt;" in bundle["text/html"]
    assert 'allow="fullscreen; clipboard-write"' in bundle["text/html"]
    with pytest.raises(InputError, match=r"pip install 'reinforce2vec\[notebook\]'"):
        _ = view.selection
    with pytest.raises(InputError, match="anywidget"):
        view.observe(print)


def test_a_server_is_still_to_be_had_in_a_notebook(in_a_notebook, monkeypatch):
    monkeypatch.setattr("webbrowser.open", lambda uri: True)
    with explore(PEOPLE, method="pca", browser=False) as server:
        assert server.url.startswith("http://127.0.0.1:")
    with explore(PEOPLE, method="pca", port=server.port) as again:
        assert again.port == server.port


def test_a_terminal_is_no_notebook(monkeypatch):
    assert not notebook.in_notebook()
    for shell in (None, SimpleNamespace()):
        ipython = SimpleNamespace(get_ipython=lambda shell=shell: shell)
        monkeypatch.setitem(sys.modules, "IPython", ipython)
        assert not notebook.in_notebook()


@pytest.mark.slow
def test_a_real_kernel_shows_the_widget():
    nbclient = pytest.importorskip("nbclient")
    nbformat = pytest.importorskip("nbformat")
    code = """
import numpy as np, reinforce2vec as r2v
view = r2v.explore(r2v.Embedding(["ann", "bob"], np.eye(2)), method="pca")
view.selection = ["bob"]
view"""
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)])
    nbclient.NotebookClient(book, timeout=60, kernel_name="python3").execute()
    (shown,) = book.cells[0].outputs
    model = shown.data["application/vnd.jupyter.widget-view+json"]["model_id"]
    widgets = book.metadata["widgets"]["application/vnd.jupyter.widget-state+json"]["state"]
    assert widgets[model]["state"]["rows"] == [1]
    assert "render" in widgets[model]["state"]["_esm"]


# -- the front end ---------------------------------------------------------------------------------

HOST = """
import widget from "./widget.js";
const listeners = new Set();
const state = { rows: [2], height: 500, page: null };
window.model = {
  get: (name) => state[name],
  set: (name, value) => {  // as Backbone does
    if (String(state[name]) === String(value)) return;
    state[name] = value;
    for (const one of listeners) one();
  },
  save_changes: () => { window.saved = [...(window.saved ?? []), state.rows]; },
  on: (_, listener) => listeners.add(listener),
  off: (_, listener) => listeners.delete(listener),
};
window.sent = []; // to the page
const post = MessagePort.prototype.postMessage;
MessagePort.prototype.postMessage = function (rows) {
  window.sent.push([...rows]);
  post.call(this, rows);
};
const page = await fetch("./page.html");
state.page = new DataView(await page.arrayBuffer());
window.end = widget.render({ model: window.model, el: document.body });
window.listening = () => listeners.size;
"""


@pytest.mark.browser
@pytest.mark.slow
def test_the_front_end_passes_the_selection_on_in_both_directions(browser):
    """Also after its cell was moved; and ids are copied from within the frame."""
    html = make_page(PEOPLE, [("ann", "bob")], method="pca").html
    served = {
        "/": ("text/html", b'<!doctype html><script type="module" src="host.js"></script>'),
        "/host.js": ("text/javascript", HOST.encode()),
        "/widget.js": ("text/javascript", FRONT_END.read_bytes()),
        "/page.html": ("text/plain", html),
    }
    context = browser.new_context(viewport={"width": 900, "height": 600})
    page = context.new_page()
    complaints = []
    page.on("pageerror", lambda error: complaints.append(str(error)))

    def reply(route):
        kind, body = served[route.request.url.removeprefix("http://localhost")]
        route.fulfill(content_type=kind, body=body)

    page.route("http://localhost/**", reply)
    page.goto("http://localhost/")
    frame = page.frame_locator("iframe")
    frame.locator("html[data-ready]").wait_for(state="attached", timeout=30_000)
    card = frame.locator("#panel h2")
    assert card.first.text_content(timeout=10_000) == "cid"  # selected in Python before
    assert page.evaluate("window.saved") is None  # nothing is sent back
    page.evaluate("model.set('rows', [0])")
    frame.locator("#panel h2", has_text="ann").wait_for(timeout=10_000)
    frame.locator("#search").fill("dan")
    frame.locator("#search").press("Enter")
    page.wait_for_function("window.saved?.length === 1", timeout=10_000)
    assert page.evaluate("[model.get('rows'), window.saved]") == [[3], [[3]]]
    assert page.evaluate("window.sent") == [[2], [0]]  # no echo of what was selected there
    page.evaluate("document.body.append(document.querySelector('iframe'))")  # it loads again
    frame.locator("#panel h2", has_text="dan").wait_for(timeout=30_000)
    page.evaluate("model.set('rows', [0, 1])")
    frame.locator("#panel h2", has_text="2 nodes selected").wait_for(timeout=10_000)
    frame.get_by_text("Copy ids").click()
    frame.get_by_text("Copied", exact=True).wait_for(timeout=10_000)
    frame.locator("#panel li", has_text="bob").get_by_role("button").click()
    page.wait_for_function("String(model.get('rows')) === '1'", timeout=10_000)
    assert page.evaluate("window.listening()") == 1
    page.evaluate("end()")
    assert page.evaluate("window.listening()") == 0
    assert page.locator("iframe").count() == 0
    context.close()
    assert complaints == []

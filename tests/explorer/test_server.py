"""The explorer's server: who may have the page and its data, and what it answers."""

from __future__ import annotations

import http.client
import importlib.util
import json
import os
import re
import socket
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

import numpy as np
import pytest

from helpers.page_contents import contents, unpack
from reinforce2vec import Embedding, Graph, InputError, explore, nearest_neighbors, planted_groups
from reinforce2vec.explorer import PageServer, _links, _page, exploring, make_page, serve_page
from reinforce2vec.explorer import server as serving
from reinforce2vec.explorer._contents import Limits


@pytest.fixture(scope="module")
def server():
    with PageServer(b"<p>the page</p>", data=b"data") as running:
        yield running


def answer(server, method="GET", path="", body=None, **headers):
    """Ask for a path after the secret; one that begins with a slash has none."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    whole = path if path.startswith("/") else f"/{server.url.split('/')[3]}/{path}"
    connection.request(method, whole, body, named)
    reply = connection.getresponse()
    text = reply.read()
    connection.close()
    return reply.status, text, reply.headers


def test_the_page_is_served_with_headers_that_keep_it_to_itself(server):
    code, text, headers = answer(server)
    assert (code, text) == (200, b"<p>the page</p>")
    assert headers["Content-Type"] == "text/html; charset=utf-8"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Cache-Control"] == "no-store"
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert headers["X-Frame-Options"] == "DENY"
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert "Python" not in headers["Server"]
    assert answer(server, "HEAD")[:2] == (200, b"")


def test_the_data_is_sent_in_binary(server):
    code, body, headers = answer(server, path="data")
    assert (code, body) == (200, b"data")
    assert headers["Content-Type"] == "application/octet-stream"
    assert "Access-Control-Allow-Origin" not in headers


# -- the secret ----------------------------------------------------------------------------------


def test_the_address_holds_a_secret_that_nobody_guesses(server):
    found = re.fullmatch(rf"http://127\.0\.0\.1:{server.port}/([\w-]+)/", server.url)
    with PageServer(b"") as another:
        assert another.url.split("/")[3] != found[1]
    assert len(found[1]) >= 32


def test_without_the_secret_there_is_nothing(server):
    secret = server.url.split("/")[3]
    wrong = ["/", "/data", "/index.html", f"/{secret[:-1]}/", f"/{secret}x/"]
    wrong += [f"/?{secret}", f"/x/{secret}/", f"/{secret.swapcase()}/data", "/%00/"]
    for path in wrong:
        code, text, _ = answer(server, path=path)
        assert code == 403, path
        assert b"the address lacks the secret" in text
        assert b"<p>" not in text


def test_the_secret_is_compared_in_constant_time(server, monkeypatch):
    compared = []

    def comparing(one, other):
        compared.append(one)
        return one == other

    monkeypatch.setattr(serving.hmac, "compare_digest", comparing)
    assert answer(server)[0] == 200
    assert answer(server, path="/guess/")[0] == 403
    assert compared == [server.url.split("/")[3].encode(), b"guess"]


# -- who may ask -----------------------------------------------------------------------------------


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "", "127.0.0.1.nip"])
def test_foreign_hosts_are_refused(server, host):
    code, text, _ = answer(server, Host=host)
    assert code == 403
    assert b"<p>" not in text


def test_its_own_names_are_not_foreign(server):
    for name in ("localhost", "LOCALHOST", "127.0.0.1"):
        own = f"{name}:{server.port}"
        assert answer(server, Host=own)[0] == 200
    own = f"http://127.0.0.1:{server.port}"
    assert answer(server, Origin=own)[0] == 200


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1:1"])
def test_foreign_origins_are_refused(server, origin):
    for path in ("", "data"):
        code, text, headers = answer(server, path=path, Origin=origin)
        assert code == 403
        assert b"<p>" not in text
        assert "Access-Control-Allow-Origin" not in headers


@pytest.mark.parametrize("path", ["index.html", "../etc/passwd", "?x", "details?row=0", "data?x=1"])
def test_there_is_nothing_else(server, path):
    code, text, _ = answer(server, path=path)
    assert code == 404
    assert b"<p>" not in text


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "PATCH", "BREW"])
def test_other_methods_are_refused(server, method):
    code, text, headers = answer(server, method, body=b"x" if method == "POST" else None)
    assert code == 405
    assert headers["Allow"] == "GET, HEAD"
    assert b"<p>" not in text


def test_only_this_machine_can_connect(server):
    assert server._server.socket.getsockname() == ("127.0.0.1", server.port)


def test_a_port_in_use_is_a_sentence(server):
    with pytest.raises(InputError, match=rf"cannot listen on port {server.port}: .*choose another"):
        PageServer(b"", server.port)


@pytest.mark.parametrize("port", ["x", 1.5, -1, 65_536])
def test_what_is_no_port_is_a_sentence(port):
    with pytest.raises(InputError, match="port must be"):
        PageServer(b"", port)


@pytest.mark.parametrize(("system", "shared"), [("nt", False), ("posix", True)])
def test_no_other_server_takes_the_address_on_windows(monkeypatch, system, shared):
    spec = importlib.util.spec_from_file_location(f"{serving.__name__}_there", serving.__file__)
    module = importlib.util.module_from_spec(spec)
    with monkeypatch.context() as there:
        there.setattr(os, "name", system)
        spec.loader.exec_module(module)
    assert bool(module._Server.allow_reuse_address) == shared


def test_the_policy_is_worked_out_once_and_lets_only_served_pages_ask():
    assert _page.content_policy() is _page.content_policy()
    assert "connect-src 'none'" in _page.content_policy()
    assert "connect-src 'self'" in _page.content_policy(served=True)
    for served in (False, True):
        assert "unsafe" not in _page.content_policy(served=served)


def test_closing_frees_the_address():
    with PageServer(b"") as server:
        pass
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", server.port), timeout=5)


# -- details of large maps -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def groups():
    dataset = planted_groups(120, 3, degree=8, seed=1)
    rng = np.random.default_rng(0)
    vectors = dataset.labels @ rng.normal(size=(3, 8)) + rng.normal(size=(120, 8)) / 3
    return Embedding(dataset.graph.ids, vectors), dataset.graph


@pytest.fixture(scope="module")
def large(groups):
    """A server of a map that is taken for a large one."""
    page = make_page(*groups, method="pca", served=True, limits=Limits(held=100))
    with serve_page(page) as running:
        yield running


def test_a_large_page_asks_for_details(large, groups):
    embedding, graph = groups
    code, body, headers = answer(large, path="details?row=7")
    assert (code, headers["Content-Type"]) == (200, "application/json")
    found = json.loads(body)
    expected = nearest_neighbors(embedding, [7], progress=False)
    assert [one["row"] for one in found["similar"]] == expected.rows[0].tolist()
    values = [one["value"] for one in found["similar"]]
    assert values == pytest.approx(expected.cosines[0].tolist(), abs=0.00051)
    linked = set(graph.neighbors(7).tolist())
    assert all(one["edge"] == (one["row"] in linked) for one in found["similar"])
    assert not linked & {one["row"] for one in found["likely"]}
    (own,) = found["neighbours"]
    assert {one["row"] for one in own["found"]} == linked
    assert own["total"] == len(linked)


def test_a_small_page_that_is_served_holds_the_same_details(large, groups):
    page = make_page(*groups, method="pca", served=True)
    assert page.details is None
    header, arrays = unpack(page.data)
    assert "asks" not in header
    places = {"similar": ("nearest", "cosines", 3), "likely": ("missing", "scores", 2)}
    for row in (0, 7, 119):
        found = json.loads(answer(large, path=f"details?row={row}")[1])
        for name, (rows, values, digits) in places.items():
            part = slice(row * 10, row * 10 + len(found[name]))
            assert arrays[rows][part].tolist() == [one["row"] for one in found[name]]
            stored = arrays[values][part] / 10**digits
            assert stored.tolist() == pytest.approx(
                [one["value"] for one in found[name]], abs=0.011
            )
        linked = arrays["linked"][row * 10 : row * 10 + 10].astype(bool).tolist()
        assert linked == [one["edge"] for one in found["similar"]]


@pytest.mark.parametrize("directed", [False, True])
def test_edges_that_are_not_listed_are_marked_all_the_same(directed, monkeypatch):
    monkeypatch.setattr(_links, "_LISTED_NEIGHBOURS", 2)
    monkeypatch.setattr(_links, "_PER_NODE", (1,))
    limits = Limits(held=2, edges=5)
    pairs = [(0, other) if other % 2 else (other, 0) for other in range(1, 9)] + [(1, 2), (3, 4)]
    graph = Graph.from_edges(pairs, nodes=range(10), directed=directed)
    embedding = Embedding(range(10), np.random.default_rng(0).normal(size=(10, 4)))
    _, arrays = contents(embedding, graph, limits=limits)
    listed = arrays["linked"].reshape(10, 10).astype(bool)
    details = make_page(embedding, graph, method="pca", served=True, limits=limits).details
    for row, linked in ((0, set(range(1, 9))), (1, {0, 2})):
        similar = details.of(row)["similar"]
        assert {one["row"] for one in similar if one["edge"]} == linked
        assert set(arrays["nearest"].reshape(10, 10)[row][listed[row]].tolist()) == linked


def test_the_vectors_are_measured_once(groups, monkeypatch):
    page = make_page(*groups, method="pca", served=True, limits=Limits(held=2))
    page.details.of(0)
    monkeypatch.setattr("reinforce2vec.embedding._similarity.norms", None)
    assert page.details._similar.nearest(1, 3)[0].size == 3


def test_the_edges_between_rows_are_answered(large, groups):
    _, graph = groups
    rows = np.arange(0, 120, 2, dtype="<u4")
    code, body, _ = answer(large, "POST", "details?most=1000", rows.tobytes())
    assert code == 200
    inside = set(rows.tolist())
    expected = {
        (row, int(other))
        for row in inside
        for other in graph.neighbors(row)
        if row < other and int(other) in inside
    }
    assert {tuple(pair) for pair in json.loads(body)} == expected
    assert answer(large, "POST", "details?most=3", rows.tobytes())[:2] == (200, b"null")
    assert answer(large, "POST", "details?most=3", b"")[:2] == (200, b"[]")


@pytest.mark.parametrize("path", ["details", "details?row=-1", "details?row=120"])
def test_questions_about_no_node_are_refused(large, path):
    assert answer(large, path=path)[0] == 400


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("details?most=9", b"\1\0\0"),
        ("details?most=9", np.array([120], "<u4").tobytes()),
        ("details?most=999999999", b""),
        ("details", b""),
        ("details?most=9", bytes(4 * (serving._MOST_ROWS + 1))),
    ],
)
def test_questions_about_no_edges_are_refused(large, path, body):
    assert answer(large, "POST", path, body)[0] == 400


def test_questions_need_the_secret_and_the_origin_too(large):
    assert answer(large, path="/details?row=1")[0] == 403
    assert answer(large, "POST", "/x/details?most=9", b"")[0] == 403
    assert answer(large, "POST", "details?most=9", b"", Origin="https://evil.example")[0] == 403


def test_directed_and_weighted_neighbours_are_answered(monkeypatch):
    graph = Graph.from_edges([("a", "b"), ("b", "a"), ("c", "a")], [1.5, 2, 4], directed=True)
    how = {"method": "pca", "served": True, "limits": Limits(held=2)}
    page = make_page(Embedding(["c", "a", "b"], np.eye(3)), graph, **how)
    to, back = page.details.of(1)["neighbours"]
    assert (to["title"], to["found"], to["total"]) == ("Points to", [{"row": 2, "weight": 1.5}], 1)
    assert back["found"] == [{"row": 0, "weight": 4}, {"row": 2, "weight": 2}]
    assert page.details.edges_among(np.array([0, 1]), 9) == [[0, 1]]
    assert make_page(np.eye(3), **how).details.of(0)["likely"] is None


# -- Python ----------------------------------------------------------------------------------------


def test_explore_serves_and_opens_the_page(groups, monkeypatch):
    opened = []
    monkeypatch.setattr("webbrowser.open", lambda uri: not opened.append(uri))
    with explore(*groups, method="pca") as server:
        (uri,) = opened
        assert server.url.split("/")[3] not in uri  # others can see the arguments of commands
        file = Path(url2pathname(urlsplit(uri).path))
        assert f'content="0; url={server.url}"' in file.read_text()
        if os.name == "posix":
            assert file.stat().st_mode & 0o777 == 0o600
        assert b"Map of an embedding" in answer(server)[1]
        assert not file.exists()  # it has done its work
        assert b'data-source="data"' in answer(server)[1]
        assert len(answer(server, path="data")[1]) > 1000
        server.open()
        file = Path(url2pathname(urlsplit(opened[1]).path))
        assert file.exists()
        assert server.url in server._repr_html_()
    assert not file.exists()


def test_a_port_serves_the_page_in_a_notebook_too(groups, monkeypatch):
    monkeypatch.setattr(exploring, "in_notebook", lambda: True)
    monkeypatch.setattr("webbrowser.open", lambda uri: True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with explore(*groups, method="pca", port=port) as server:
        assert server.port == port

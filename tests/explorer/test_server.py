"""The explorer's server: who may have the page and its data, what it answers, and what it bears."""

from __future__ import annotations

import errno
import http.client
import json
import os
import re
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

import numpy as np
import pytest

from helpers.page_contents import contents, unpack
from reinforce2vec import Embedding, Graph, InputError, explore, nearest_neighbors, planted_groups
from reinforce2vec.explorer import PageServer, make_page, serve_page
from reinforce2vec.explorer import server as serving
from reinforce2vec.explorer._contents import Limits

IS_ROOT = sys.platform == "linux" and os.getuid() == 0
NOBODY = 65_534


@pytest.fixture
def server():
    with PageServer(b"<p>the page</p>", data=b"data") as running:
        yield running


def secret_of(server):
    return server.url.split("/")[3]


def answer(server, method="GET", path="", body=None, **headers):
    """Ask for a path after the secret; one that begins with a slash has none."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    whole = path if path.startswith("/") else f"/{secret_of(server)}/{path}"
    connection.request(method, whole, body, headers)
    reply = connection.getresponse()
    text = reply.read()
    connection.close()
    return reply.status, text, reply.headers


def connected(server):
    return socket.create_connection(("127.0.0.1", server.port), timeout=20)


def request_of(server, *headers):
    host = f"Host: 127.0.0.1:{server.port}"
    lines = [f"GET /{secret_of(server)}/ HTTP/1.1", host, *headers, "", ""]
    return "\r\n".join(lines).encode()


def everything(connection):
    """Read until the server closes the connection."""
    content = b""
    with suppress(ConnectionError):  # closed before all was read
        while part := connection.recv(1 << 16):
            content += part
    return content


def reply(server, request):
    with connected(server) as connection:
        with suppress(ConnectionError):
            connection.sendall(request)
        return everything(connection)


def is_served(server):
    return reply(server, request_of(server)).startswith(b"HTTP/1.0 200")


# -- who may ask -------------------------------------------------------------------------------


def test_the_page_is_served_with_headers_that_keep_it_to_itself(server):
    code, text, headers = answer(server)
    assert (code, text) == (200, b"<p>the page</p>")
    assert headers["Content-Type"] == "text/html; charset=utf-8"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Cache-Control"] == "no-store"
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert headers["X-Frame-Options"] == "DENY"
    policy = headers["Content-Security-Policy"]
    for rule in ("frame-ancestors 'none'", "default-src 'none'", "connect-src 'self'"):
        assert rule in policy
    assert "unsafe" not in policy
    assert "Python" not in headers["Server"]
    assert answer(server, "HEAD")[:2] == (200, b"")
    code, body, headers = answer(server, path="data")
    assert (code, body) == (200, b"data")
    assert headers["Content-Type"] == "application/octet-stream"
    assert "Access-Control-Allow-Origin" not in headers
    with PageServer(b"") as alone:
        assert "connect-src 'none'" in answer(alone)[2]["Content-Security-Policy"]


def test_the_address_holds_a_secret_that_nobody_guesses(server, monkeypatch):
    secret = re.fullmatch(rf"http://127\.0\.0\.1:{server.port}/([\w-]+)/", server.url)[1]
    assert len(secret) >= 32
    with PageServer(b"") as another:
        assert secret_of(another) != secret
    wrong = ["/", "/data", "/index.html", f"/{secret[:-1]}/", f"/{secret}x/", "/%00/"]
    wrong += [f"/?{secret}", f"/x/{secret}/", f"/{secret.swapcase()}/data"]
    for path in wrong:
        code, text, _ = answer(server, path=path)
        assert code == 403, path
        assert b"<p>" not in text
    compared = []
    compare = serving.hmac.compare_digest
    monkeypatch.setattr(
        serving.hmac, "compare_digest", lambda *both: compared.append(both) or compare(*both)
    )
    assert answer(server, path="/guess/")[0] == 403
    assert compared == [(b"guess", secret.encode())]  # in constant time


@pytest.mark.parametrize(
    ("header", "value"),
    [
        *(("Host", host) for host in ("evil.example", "127.0.0.1", "127.0.0.1:1", "", "x.nip")),
        *(("Origin", o) for o in ("https://evil.example", "null", "http://127.0.0.1:1")),
    ],
)
def test_foreign_hosts_and_origins_are_refused(server, header, value):
    for method, path in (("GET", ""), ("GET", "data"), ("POST", "details?most=9")):
        code, text, headers = answer(server, method, path, **{header: value})
        assert code == 403
        assert b"<p>" not in text
        assert "Access-Control-Allow-Origin" not in headers
    for name in ("localhost", "LOCALHOST", "127.0.0.1"):
        assert answer(server, Host=f"{name}:{server.port}")[0] == 200
    assert answer(server, Origin=f"http://127.0.0.1:{server.port}")[0] == 200
    assert server._server.socket.getsockname() == ("127.0.0.1", server.port)


def test_there_is_nothing_else(server):
    for path in ("index.html", "../etc/passwd", "?x", "details?row=0", "data?x=1"):
        code, text, _ = answer(server, path=path)
        assert (code, b"<p>" in text) == (404, False)
    for method, expected in (("POST", 404), ("PUT", 501), ("OPTIONS", 501), ("BREW", 501)):
        code, text, headers = answer(server, method, body=b"x" if method == "POST" else None)
        assert (code, b"<p>" in text) == (expected, False)
    code, text, headers = answer(server, path="/<script>alert(1)</script>")
    assert b"script" not in text
    assert headers["Content-Type"].startswith("text/plain")
    for request in ("<script>", "GET /<script> x HTTP/1.1", "GET / <script>"):
        assert b"script>" not in reply(server, f"{request}\r\n\r\n".encode())


def test_what_is_no_free_port_is_a_sentence(server):
    with pytest.raises(InputError, match=rf"port {server.port}.*choose another"):
        PageServer(b"", server.port)
    for port in ("x", 1.5, -1, 65_536):
        with pytest.raises(InputError, match="port must be"):
            PageServer(b"", port)
    with PageServer(b"") as closed:
        pass
    with pytest.raises(ConnectionRefusedError):
        connected(closed)


# -- other users of this machine -----------------------------------------------------------------


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="only Linux tells")
def test_the_user_at_the_other_end_is_known(server):
    with connected(server) as connection:
        assert serving._user_of(connection.getsockname(), server.port) == os.getuid()
        port = connection.getsockname()[1]  # anybody can use it with another address of ours
        assert serving._user_of(("127.0.0.2", port), server.port) == serving._STRANGER
    assert serving._user_of(("127.0.0.1", 1), server.port) == serving._STRANGER


@pytest.mark.parametrize("problem", [FileNotFoundError, PermissionError, OSError])
def test_where_the_system_tells_nothing_the_secret_must_do(server, monkeypatch, problem):
    def fail(*_):
        raise problem(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(Path, "read_text", fail)
    unknown = serving._STRANGER if problem is OSError else None
    assert serving._user_of(("127.0.0.1", 1), server.port) == unknown


@pytest.mark.skipif(os.name != "posix", reason="users have no numbers on Windows")
def test_other_users_are_refused_even_with_the_address(server, monkeypatch):
    assert is_served(server)
    monkeypatch.setattr(os, "getuid", lambda: 12_345)
    for user, allowed in ((12_346, 0), (serving._STRANGER, 0), (12_345, 1), (0, 1), (None, 1)):
        monkeypatch.setattr(serving, "_user_of", lambda client, port, user=user: user)
        assert is_served(server) == bool(allowed)


@pytest.mark.skipif(not IS_ROOT, reason="needs root, to become another user")
@pytest.mark.parametrize("shut", ["open", "half"])
def test_a_process_of_another_user_is_refused(server, shut):
    begin = "import encodings.idna, os, socket, sys\n"  # others cannot read it in our home
    code = (
        "one = socket.create_connection(('127.0.0.1', int(sys.argv[1])), timeout=20)\n"
        "try:\n"
        "    one.sendall(sys.argv[2].encode())\n"
        "    if sys.argv[3] == 'half': one.shutdown(socket.SHUT_WR)\n"
        "    print(one.recv(100))\n"
        "except ConnectionError: print(b'')\n"
    )
    become = f"os.setgroups([]); os.setgid({NOBODY}); os.setuid({NOBODY})\n"
    words = [str(server.port), request_of(server).decode(), shut]
    for user, expected in (("", True), (become, False)):
        command = [sys.executable, "-c", begin + user + code, *words]
        done = subprocess.run(command, capture_output=True, check=True, timeout=60)
        assert (b"200 OK" in done.stdout) == expected


def test_the_secret_is_in_no_argument_and_no_file_of_others(server, monkeypatch, tmp_path):
    opened = []
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr("webbrowser.open", lambda uri: opened.append(uri) or True)
    server.open()
    assert secret_of(server) not in opened[0]
    (redirect,) = tmp_path.iterdir()
    (page,) = redirect.iterdir()
    assert opened == [page.as_uri()]
    if os.name == "posix":
        assert stat.S_IMODE(redirect.stat().st_mode) == 0o700
        assert stat.S_IMODE(page.stat().st_mode) == 0o600
    assert 'name="referrer" content="no-referrer"' in page.read_text()
    server.open()
    (other,) = tmp_path.iterdir()  # the first is gone
    assert other.name != redirect.name
    assert is_served(server)
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setattr("webbrowser.open", lambda uri: False)
    assert not server.open()
    assert list(tmp_path.iterdir()) == []


# -- slow and huge requests ------------------------------------------------------------------------


def test_requests_that_never_end_are_given_up(server, monkeypatch):
    """Also where each byte comes in time, but the request does not."""
    monkeypatch.setattr(serving, "_SECONDS", 0.5)
    ended = threading.Event()
    with connected(server) as silent, connected(server) as slow:
        slow.sendall(request_of(server, "X: ")[:-4])

        def drip():
            while not ended.wait(0.05):
                try:
                    slow.sendall(b"x")
                except OSError:
                    return

        thread = threading.Thread(target=drip)
        thread.start()
        assert everything(silent) == b""
        assert everything(slow) == b""  # hangs, if the time begins anew with each byte
        ended.set()
        thread.join()
    monkeypatch.undo()
    assert is_served(server)


def test_further_connections_are_closed_and_room_is_made_again(monkeypatch):
    monkeypatch.setattr(serving, "_MOST_CONNECTIONS", 3)
    with PageServer(b"<p>the page</p>") as server:
        idle = [connected(server) for _ in range(3)]
        for connection in idle:
            connection.sendall(b"GET ")
        with connected(server) as further:
            assert everything(further) == b""
        for connection in idle:
            connection.close()
        end = time.monotonic() + 60
        while not is_served(server):  # the threads notice it soon
            assert time.monotonic() < end
            time.sleep(0.01)


@pytest.mark.parametrize(
    "request_",
    [
        b"GET /" + b"x" * 200_000 + b" HTTP/1.1\r\n\r\n",
        b"x" * 2_000_000,
        b"GET / HTTP/1.1\r\nX: " + b"x" * 200_000 + b"\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 5000 + b"\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET /\r\n\r\n",
        b"\0" * 5000 + b"\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: \xff\xfe\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n",
    ],
    ids=range(9),
)
def test_huge_and_broken_requests_are_refused(server, request_, capfd):
    assert b" 200" not in reply(server, request_)[:12]
    assert is_served(server)
    assert capfd.readouterr() == ("", "")  # and nothing is logged


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


def test_a_large_page_asks_for_what_a_small_one_holds(large, groups):
    embedding, graph = groups
    page = make_page(*groups, method="pca", served=True)
    header, arrays = unpack(page.data)
    assert page.details is None
    assert "asks" not in header
    for row in (0, 7, 119):
        code, body, headers = answer(large, path=f"details?row={row}")
        assert (code, headers["Content-Type"]) == (200, "application/json")
        details = json.loads(body)
        expected = nearest_neighbors(embedding, [row], progress=False)
        assert [node["row"] for node in details["similar"]] == expected.rows[0].tolist()
        values = [node["value"] for node in details["similar"]]
        assert values == pytest.approx(expected.cosines[0].tolist(), abs=0.00051)
        linked = set(graph.neighbors(row).tolist())
        assert all(node["edge"] == (node["row"] in linked) for node in details["similar"])
        (own,) = details["neighbours"]
        assert {node["row"] for node in own["found"]} == linked
        assert own["total"] == len(linked)
        part = slice(row * 10, row * 10 + len(details["likely"]))
        assert arrays["missing"][part].tolist() == [node["row"] for node in details["likely"]]
        scores = (arrays["scores"][part] / 100).tolist()
        assert scores == pytest.approx([node["value"] for node in details["likely"]], abs=0.011)
        marked = arrays["linked"][row * 10 : row * 10 + 10].astype(bool).tolist()
        assert marked == [node["edge"] for node in details["similar"]]


@pytest.mark.parametrize("directed", [False, True])
def test_edges_that_are_not_listed_are_marked_all_the_same(directed):
    pairs = [(0, other) if other % 2 else (other, 0) for other in range(1, 30)] + [(1, 2), (3, 4)]
    graph = Graph.from_edges(pairs, nodes=range(31), directed=directed)
    vectors = np.random.default_rng(0).normal(size=(31, 4))
    limits = Limits(held=2, edges=5)
    _, arrays = contents(vectors, graph, limits=limits)
    details = make_page(vectors, graph, method="pca", served=True, limits=limits).details
    matrix = graph.to_undirected().to_scipy().toarray() > 0
    for row in (0, 1, 30):
        similar = details.of(row)["similar"]
        rows = [node["row"] for node in similar]
        assert [node["edge"] for node in similar] == matrix[row, rows].tolist()
        place = slice(row * 10, row * 10 + 10)
        assert arrays["linked"][place].tolist() == matrix[row, arrays["nearest"][place]].tolist()


def test_the_edges_between_rows_are_answered(large, groups):
    _, graph = groups
    rows = np.arange(20, 100, dtype="<u4")
    code, body, _ = answer(large, "POST", "details?most=1000", rows.tobytes())
    assert code == 200
    inside = set(rows.tolist())
    expected = {
        (row, other)
        for row in inside
        for other in graph.neighbors(row).tolist()
        if row < other and other in inside
    }
    assert {tuple(pair) for pair in json.loads(body)} == expected
    assert answer(large, "POST", "details?most=3", rows.tobytes())[:2] == (200, b"null")
    assert answer(large, "POST", "details?most=3", b"")[:2] == (200, b"[]")


def test_directed_and_weighted_neighbours_are_answered():
    graph = Graph.from_edges([("a", "b"), ("b", "a"), ("c", "a")], [1.5, 2, 4], directed=True)
    how = {"method": "pca", "served": True, "limits": Limits(held=2)}
    details = make_page(Embedding(["c", "a", "b"], np.eye(3)), graph, **how).details
    to, back = details.of(1)["neighbours"]
    assert (to["title"], to["found"], to["total"]) == ("Points to", [{"row": 2, "weight": 1.5}], 1)
    assert back["found"] == [{"row": 0, "weight": 4}, {"row": 2, "weight": 2}]
    assert details.edges_among(np.array([0, 1]), 9) == [[0, 1]]
    assert make_page(np.eye(3), **how).details.of(0)["likely"] is None


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("details", None),
        ("details?row=-1", None),
        ("details?row=120", None),
        ("details", b""),
        ("details?most=9", b"\1\0\0"),
        ("details?most=9", np.array([120], "<u4").tobytes()),
        ("details?most=999999999", b""),
        ("details?most=9", bytes(400_004)),
    ],
)
def test_questions_about_nothing_are_refused(large, path, body, monkeypatch):
    assert answer(large, "GET" if body is None else "POST", path, body)[0] == 400
    assert answer(large, "POST", f"/x/{path}", b"")[0] == 403


@pytest.mark.parametrize("length", ["99999999999", "-4", "x", "400004", "4, 4", "٤", "8"])
def test_bodies_of_any_other_length_are_refused(large, length, monkeypatch):
    monkeypatch.setattr(serving, "_SECONDS", 0.5)  # a body that does not come is given up
    request = request_of(large, f"Content-Length: {length}").replace(b"GET", b"POST")
    request = request.replace(b"/ HTTP", b"/details?most=1 HTTP")
    assert b"200" not in reply(large, request + bytes(7))[:12]


# -- Python ----------------------------------------------------------------------------------------


def test_explore_serves_and_opens_the_page(groups, monkeypatch):
    opened = []
    monkeypatch.setattr("webbrowser.open", lambda uri: not opened.append(uri))
    with explore(*groups, method="pca") as server:
        file = Path(url2pathname(urlsplit(opened[0]).path))
        assert f'content="0; url={server.url}"' in file.read_text()
        page = answer(server)[1]
        assert b"Map of an embedding" in page
        assert b'data-source="data"' in page
        assert not file.exists()  # it has done its work
        assert len(answer(server, path="data")[1]) > 1000
        server.open()
        file = Path(url2pathname(urlsplit(opened[1]).path))
        assert file.exists()
        assert server.url in server._repr_html_()
    assert not file.exists()

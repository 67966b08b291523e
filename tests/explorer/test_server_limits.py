"""The explorer's server holds against slow, huge and foreign requests, and its secret stays one."""

from __future__ import annotations

import errno
import http.client
import os
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

from reinforce2vec.explorer import PageServer
from reinforce2vec.explorer import server as serving

IS_ROOT = sys.platform == "linux" and os.getuid() == 0
NOBODY = 65_534


@pytest.fixture
def server():
    with PageServer(b"<p>the page</p>", data=b"data") as running:
        yield running


def connected(server):
    return socket.create_connection(("127.0.0.1", server.port), timeout=20)


def request_of(server, *headers):
    host = f"Host: 127.0.0.1:{server.port}"
    lines = [f"GET /{server.url.split('/')[3]}/ HTTP/1.1", host, *headers, "", ""]
    return "\r\n".join(lines).encode()


def everything(connection):
    """Read until the server closes the connection."""
    found = b""
    with suppress(ConnectionError):  # closed before all was read
        while part := connection.recv(1 << 16):
            found += part
    return found


def status(server, request):
    with connected(server) as connection:
        with suppress(ConnectionError):
            connection.sendall(request)
        return everything(connection)[:12]


def is_served(server):
    return status(server, request_of(server)) == b"HTTP/1.0 200"


# -- slow requests ---------------------------------------------------------------------------------


def test_a_request_that_never_ends_is_given_up(server, monkeypatch):
    monkeypatch.setattr(serving, "_SECONDS", 0.3)
    with connected(server) as silent, connected(server) as begun:
        begun.sendall(request_of(server)[:-1])
        assert everything(silent) == b""
        assert everything(begun) == b""
    monkeypatch.undo()
    assert is_served(server)


def test_a_byte_now_and_then_does_not_keep_a_connection(server, monkeypatch):
    """Each byte comes in time, but the request does not."""
    monkeypatch.setattr(serving, "_SECONDS", 0.5)
    ended = threading.Event()
    with connected(server) as slow:
        slow.sendall(request_of(server, "X: ")[:-4])

        def drip():
            while not ended.wait(0.05):
                try:
                    slow.sendall(b"x")
                except OSError:
                    return

        thread = threading.Thread(target=drip)
        thread.start()
        assert everything(slow) == b""  # hangs, if the time begins anew with each byte
        ended.set()
        thread.join()


def test_further_connections_are_closed_and_room_is_made_again(monkeypatch):
    monkeypatch.setattr(serving, "_MOST_CONNECTIONS", 3)
    with PageServer(b"<p>the page</p>") as server:
        idle = [connected(server) for _ in range(3)]
        for one in idle:
            one.sendall(b"GET ")
        with connected(server) as further:
            assert everything(further) == b""
        for one in idle:
            one.close()
        end = time.monotonic() + 60
        while not is_served(server):  # the threads notice it soon
            assert time.monotonic() < end
            time.sleep(0.01)


def test_a_body_that_does_not_come_is_given_up(monkeypatch):
    class Details:
        def __len__(self):
            return 10

        def edges_among(self, rows, most):
            return []

    with PageServer(b"<p>the page</p>", data=b"data", details=Details()) as server:
        request = request_of(server, "Content-Length: 8").replace(b"GET", b"POST")
        request = request.replace(b"/ HTTP", b"/details?most=1 HTTP")
        assert status(server, request + bytes(8)) == b"HTTP/1.0 200"
        monkeypatch.setattr(serving, "_SECONDS", 0.3)
        assert b"200" not in status(server, request + bytes(7))


# -- huge requests ---------------------------------------------------------------------------------


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
        b"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
    ],
    ids=range(10),
)
def test_huge_and_broken_requests_are_refused(server, request_, capfd):
    assert b" 200" not in status(server, request_)
    assert is_served(server)
    assert capfd.readouterr() == ("", "")  # and nothing is logged


@pytest.mark.parametrize("length", ["99999999999", "-4", "x", "400001", "4, 4", "٤"])
def test_bodies_of_any_other_length_are_refused(server, length):
    secret = server.url.split("/")[3]
    text = (
        f"POST /{secret}/details?most=1 HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
        f"Content-Length: {length}\r\n\r\n"
    )
    assert status(server, text.encode())[9:12] in (b"400", b"405")


# -- other users of this machine -------------------------------------------------------------------


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

    monkeypatch.setattr(serving.Path, "read_text", fail)
    assert serving._user_of(("127.0.0.1", 1), server.port) == (
        serving._STRANGER if problem is OSError else None
    )


@pytest.mark.skipif(os.name != "posix", reason="users have no numbers on Windows")
def test_other_users_are_refused_even_with_the_address(server, monkeypatch):
    assert is_served(server)
    monkeypatch.setattr(serving.os, "getuid", lambda: 12_345)
    monkeypatch.setattr(serving, "_user_of", lambda client, port: 12_346)
    assert status(server, request_of(server)) == b""
    monkeypatch.setattr(serving, "_user_of", lambda client, port: serving._STRANGER)
    assert status(server, request_of(server)) == b""
    for allowed in (12_345, 0, None):
        monkeypatch.setattr(serving, "_user_of", lambda client, port, user=allowed: user)
        assert is_served(server)


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
        done = subprocess.run(
            [sys.executable, "-c", begin + user + code, *words],
            capture_output=True,
            check=True,
            timeout=60,
        )
        assert (b"200 OK" in done.stdout) == expected


# -- the secret ------------------------------------------------------------------------------------


def test_the_secret_is_in_no_argument_and_no_file_of_others(server, monkeypatch, tmp_path):
    opened = []
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr("webbrowser.open", lambda uri: opened.append(uri) or True)
    server.open()
    secret = server.url.split("/")[3]
    assert secret not in opened[0]
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


def test_where_no_browser_is_found_no_file_is_left(server, monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr("webbrowser.open", lambda uri: False)
    assert not server.open()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name != "posix", reason="Windows has no such locks")
def test_what_a_killed_server_left_is_removed_by_the_next(server, monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr("webbrowser.open", lambda uri: True)
    (tmp_path / "reinforce2vec-maps").mkdir()  # somebody's own
    child = os.fork()
    if not child:
        try:
            PageServer(b"?").open()
        finally:
            os._exit(9)
    os.waitpid(child, 0)
    (left,) = tmp_path.glob(".reinforce2vec.map-*")
    server.open()
    (live,) = tmp_path.glob(".reinforce2vec.map-*")
    assert live != left
    with PageServer(b"?") as other:
        other.open()
        assert live.exists()  # that of a server that goes on
    assert {*tmp_path.iterdir()} == {live, tmp_path / "reinforce2vec-maps"}
    assert is_served(server)
    assert not live.exists()


def test_refusals_do_not_repeat_what_was_asked(server):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
    connection.request("GET", "/<script>alert(1)</script>")
    reply = connection.getresponse()
    assert b"script" not in reply.read()
    assert reply.headers["Content-Type"].startswith("text/plain")
    connection.close()


@pytest.mark.parametrize("request_", ["<script>", "GET /<script> x HTTP/1.1", "GET / <script>"])
def test_requests_that_are_none_are_not_repeated(server, request_):
    with connected(server) as connection:
        connection.sendall(f"{request_}\r\n\r\n".encode())
        said = everything(connection)
    assert said.endswith(b"this is no request that can be answered\n")
    assert b"script>" not in said

"""A server of one page, for browsers on this machine only."""

from __future__ import annotations

import atexit
import hmac
import io
import json
import os
import re
import secrets
import socket
import sys
import tempfile
import threading
import time
import webbrowser
from collections.abc import Callable
from contextlib import ExitStack, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qs

import numpy as np

from .._util.checks import check_count
from .._util.errors import InputError
from .._util.locks import temporary_folder
from ._links import Details
from ._page import content_policy

_HOST = "127.0.0.1"
_HOST_NAMES = (_HOST, "localhost")  # allowed in the Host header
_SECRET_BYTES = 24
_MOST_CONNECTIONS = 64  # at a time; further ones are closed
_SECONDS = 30.0  # that a request may take to arrive, and each block of the answer to leave
_MOST_ROWS = 100_000  # in a question about edges
_MOST_EDGES = 100_000  # in its answer
_BLOCK = 1 << 20  # bytes to send at a time
_HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
_HTML, _TEXT = "text/html; charset=utf-8", "text/plain; charset=utf-8"
_REDIRECT = ".reinforce2vec.map-"  # how names of folders begin that hold this page
_REDIRECT_PAGE = (
    '<!doctype html><meta charset="utf-8"><title>Map of an embedding</title>'
    '<meta name="referrer" content="no-referrer"><meta http-equiv="refresh" content="0; url={0}">'
    '<p><a href="{0}">Open the map</a></p>\n'
)
_JSON, _BINARY = "application/json", "application/octet-stream"
_STRANGER = -1  # in place of the number of a user
_SOCKETS = ("/proc/net/tcp", "/proc/net/tcp6")  # Linux lists connections there, with their users


class PageServer:
    """A server of a page on this machine, until it is closed.

    Its address holds a secret, as that of Jupyter does, and it answers only browsers on this
    machine that know it: requests without the secret, made by other sites, or under another host
    name are refused. On Linux, other users of the machine but root are refused even if they know
    the address.

    Parameters
    ----------
    page : bytes
        The page, in HTML.
    port : int, default 0
        The port; 0 takes a free one.
    data : bytes, optional
        What the page fetches from `data`, beside it.
    details : Details, optional
        Answers what the page asks at `details`.

    Attributes
    ----------
    url : str
        The address of the page; who knows it can read the page.
    """

    def __init__(
        self,
        page: bytes,
        port: int = 0,
        *,
        data: bytes | None = None,
        details: Details | None = None,
    ) -> None:
        try:
            self._server = _Server((_HOST, check_count("port", port, 0, 65535)), _Handler)
        except OSError as error:
            raise InputError(
                f"cannot listen on port {port}: {error.strerror or error}; choose another, or 0 "
                "for one that is free"
            ) from None
        self._server.page, self._server.data, self._server.details = page, data, details
        self._server.secret = secrets.token_urlsafe(_SECRET_BYTES)
        self._server.fetched = self._remove_redirect
        self.port = int(self._server.server_address[1])
        self.url = f"http://{_HOST}:{self.port}/{self._server.secret}/"
        self._redirect = ExitStack()  # removes the file that leads a browser to the address
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def open(self) -> bool:
        """Open the page in the browser; False if there is none.

        The browser opens a file that only this user can read, and that leads to the address: other
        users can see the arguments of commands. When the page was fetched, the file is removed.
        """
        self._remove_redirect()
        atexit.register(self._remove_redirect)
        folder = self._redirect.enter_context(temporary_folder(tempfile.gettempdir(), _REDIRECT))
        descriptor, name = tempfile.mkstemp(".html", dir=folder)  # for this user alone
        with open(descriptor, "w", encoding="ascii") as stream:
            stream.write(_REDIRECT_PAGE.format(self.url))
        opened = webbrowser.open(Path(name).as_uri())
        if not opened:
            self._remove_redirect()
        return opened

    def _remove_redirect(self) -> None:
        redirect, self._redirect = self._redirect, ExitStack()
        redirect.close()

    def wait(self) -> None:
        """Serve until interrupted by Ctrl-C."""
        with self, suppress(KeyboardInterrupt):
            while self._thread.is_alive():
                self._thread.join(0.5)

    def close(self) -> None:
        """Stop serving; the address is free again."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
        self._remove_redirect()
        atexit.unregister(self._remove_redirect)

    def __enter__(self) -> PageServer:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"PageServer({self.url!r})"

    def _repr_html_(self) -> str:
        return f'<a href="{self.url}" target="_blank" rel="noopener">{self.url}</a>'


class _Server(ThreadingHTTPServer):
    allow_reuse_address = os.name != "nt"  # on Windows, others could take an address in use
    daemon_threads = True
    page: bytes
    data: bytes | None
    details: Details | None
    secret: str
    fetched: Callable[[], None]  # is called when the page was sent

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._free = threading.BoundedSemaphore(_MOST_CONNECTIONS)

    def verify_request(self, request: Any, client_address: Any) -> bool:
        """Close connections of other users at once, and those that are too many."""
        if not _is_own(_user_of(client_address, self.server_address[1])):
            return False
        return self._free.acquire(blocking=False)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Start a thread; if the system refuses, the connection gives its place back."""
        try:
            super().process_request(request, client_address)
        except BaseException:
            self._free.release()
            raise

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Answer in a thread, and then make room for another connection."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore browsers that closed the connection."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


class _Answer(NamedTuple):
    """What is sent."""

    mime_type: str
    body: bytes
    code: int = 200


def _refusal(code: int, sentence: str) -> _Answer:
    return _Answer(_TEXT, f"{sentence}\n".encode(), code)


_NOTHING = _refusal(404, "there is nothing here but the page")


class _Handler(BaseHTTPRequestHandler):
    """Sends the page and its data to allowed requests."""

    server: _Server
    server_version = "reinforce2vec"
    sys_version = ""
    timeout = _SECONDS

    def setup(self) -> None:
        """Read requests within a time."""
        super().setup()
        self.rfile.close()
        self.rfile = io.BufferedReader(_Arriving(self.connection, time.monotonic() + _SECONDS))

    def do_GET(self) -> None:
        """Send the page, its data, or the details of a node."""
        self._send(self._refused() or self._content())

    do_HEAD = do_GET  # headers alone

    def do_POST(self) -> None:
        """Send the edges between the rows that the request holds."""
        self._send(self._refused() or self._edges())

    def send_error(self, code: int, *_: Any) -> None:
        """Refuse a request that is none, or another method, without repeating it as a page."""
        self._send(_refusal(code, "this is no request that can be answered"))

    # -- who may ask -------------------------------------------------------------------------------

    def _refused(self) -> _Answer | None:
        """Return a refusal, or None if the request may be answered."""
        names = {f"{name}:{self.server.server_address[1]}" for name in _HOST_NAMES}
        origin = self.headers.get("Origin")
        if self.headers.get("Host", "").lower() not in names:
            return _refusal(403, "this is served to this machine only, under its own name")
        if origin is not None and origin not in {f"http://{name}" for name in names}:
            return _refusal(403, "this is not served to other sites")
        secret = "".join(self.path.split("/", 2)[1:2])
        if not hmac.compare_digest(secret.encode(), self.server.secret.encode()):
            return _refusal(
                403, "the address lacks the secret: use the whole address that was shown"
            )
        return None

    # -- what is answered --------------------------------------------------------------------------

    def _parts(self) -> tuple[str, dict[str, list[str]]]:
        """Return the part of the path after the secret, and the parameters."""
        path, _, parameters = self.path.partition("?")
        rest = path.split("/", 2)
        return rest[2] if len(rest) == 3 else "?", parse_qs(parameters)

    def _content(self) -> _Answer:
        name, parameters = self._parts()
        server = self.server
        if self.path == f"/{server.secret}/":
            server.fetched()
            return _Answer(_HTML, server.page)
        if name == "data" and server.data is not None and not parameters:
            return _Answer(_BINARY, server.data)
        if name == "details" and server.details is not None:
            row = _whole(parameters.get("row"), len(server.details) - 1)
            if row is None:
                return _refusal(400, "expected the row of a node")
            return _Answer(_JSON, json.dumps(server.details.of(row)).encode())
        return _NOTHING

    def _edges(self) -> _Answer:
        details, (name, parameters) = self.server.details, self._parts()
        if details is None or name != "details":
            return _NOTHING
        most = _whole(parameters.get("most"), _MOST_EDGES)
        length = _whole([self.headers.get("Content-Length", "")], 4 * _MOST_ROWS)
        if most is None or length is None or length % 4:
            return _refusal(400, "expected the number of edges, and rows of nodes")
        body = self.rfile.read(length)
        rows = np.frombuffer(body, "<u4").astype(np.int64) if len(body) == length else None
        if rows is None or (rows.size and rows.max() >= len(details)):
            return _refusal(400, "expected rows of nodes")
        return _Answer(_JSON, json.dumps(details.edges_among(rows, most)).encode())

    def _send(self, answer: _Answer) -> None:
        if answer.code != 200:
            self.close_connection = True  # do not read the rest of the request
        self.connection.settimeout(_SECONDS)
        self.send_response(answer.code)
        policy = content_policy(served=self.server.data is not None)
        headers = _HEADERS | {
            "Content-Type": answer.mime_type,
            "Content-Length": str(len(answer.body)),
            "Content-Security-Policy": f"{policy}; frame-ancestors 'none'",
        }
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            for begin in range(0, len(answer.body), _BLOCK):
                self.wfile.write(answer.body[begin : begin + _BLOCK])

    def log_message(self, format: str, *words: Any) -> None:
        """Log nothing."""


class _Arriving(io.RawIOBase):
    """What a connection sends until a point in time; a byte now and then does not extend it."""

    def __init__(self, connection: socket.socket, end: float) -> None:
        self._connection, self._end = connection, end

    def readable(self) -> bool:
        """Return that it can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read what has arrived; TimeoutError after the end."""
        left = self._end - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self._connection.settimeout(left)
        return self._connection.recv_into(buffer)


# -- who is connected ------------------------------------------------------------------------------


def _user_of(client: tuple[str, int], server: int) -> int | None:
    """Return the number of the user whose end of a connection to the server's port is `client`.

    None if that is unknown: other systems than Linux do not tell, and there the secret must do.
    _STRANGER if the system tells, and knows of no such connection. The address counts as well as
    the port: others may come from 127.0.0.2 and the number of a port of ours.
    """
    ours, theirs = _listed(_HOST, server), _listed(*client)  # the ends of mapped IPv6, too
    user = None
    for path in _SOCKETS:
        try:
            lines = Path(path).read_text("ascii").splitlines()[1:]
        except (FileNotFoundError, PermissionError, ValueError):
            continue
        except OSError:  # too many files are open
            return _STRANGER
        for line in lines:
            words = line.split()
            if len(words) < 10 or words[9] == "0":
                continue  # closed, and listed as root's
            if words[1].endswith(theirs) and words[2].endswith(ours):
                return int(words[7])
            if words[1].endswith(ours):  # we are listed, so others are, too
                user = _STRANGER
    return user


def _listed(host: str, port: int) -> str:
    """Return an address as Linux lists it."""
    return f"{int.from_bytes(socket.inet_aton(host), sys.byteorder):08X}:{port:04X}"


def _is_own(user: int | None) -> bool:
    """Return whether a connection may be that of a user: ourselves, root, or one that is unknown.

    Root can read everything anyway, and relays connections, as from Windows to its Linux.
    """
    return user is None or user == 0 or user == os.getuid()


def _whole(values: list[str] | None, most: int) -> int | None:
    """Return the whole number that a request names, from 0 to `most`; None if it is none."""
    text = values[0] if values else ""
    number = int(text) if re.fullmatch("[0-9]{1,10}", text) else most + 1
    return number if number <= most else None

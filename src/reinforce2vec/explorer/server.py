"""A server of one page, for browsers on this machine only."""

from __future__ import annotations

import os
import sys
import threading
import webbrowser
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

from .._util.checks import check_count
from .._util.errors import InputError
from ._page import content_policy

_HOST = "127.0.0.1"
_HOST_NAMES = (_HOST, "localhost")  # allowed in the Host header
_HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


class PageServer:
    """A server of a page on this machine, until it is closed.

    It answers only browsers on this machine that use its own address: requests made by other sites,
    or under another host name, are refused.

    Parameters
    ----------
    page : bytes
        The page, in HTML.
    port : int, default 0
        The port; 0 takes a free one.

    Attributes
    ----------
    url : str
        The address of the page.
    """

    def __init__(self, page: bytes, port: int = 0) -> None:
        try:
            self._server = _Server((_HOST, check_count("port", port, 0)), _Handler)
        except OverflowError:
            raise InputError(
                f"port must be a number from 0 to 65535, not {port}", parameter="port", value=port
            ) from None
        except OSError as error:
            raise InputError(
                f"cannot listen on port {port}: {error.strerror or error}; choose another, or 0 "
                "for one that is free"
            ) from None
        self._server.page = page
        self.port = int(self._server.server_address[1])
        self.url = f"http://{_HOST}:{self.port}/"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def open(self) -> bool:
        """Open the page in the browser; False if there is none."""
        return webbrowser.open(self.url)

    def wait(self) -> None:
        """Serve until interrupted by Ctrl-C."""
        try:
            while self._thread.is_alive():
                self._thread.join(0.5)
        except KeyboardInterrupt:
            pass
        finally:
            self.close()

    def close(self) -> None:
        """Stop serving; the address is free again."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def __enter__(self) -> PageServer:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"PageServer({self.url!r})"

    def _repr_html_(self) -> str:
        return f'<a href="{self.url}" target="_blank" rel="noopener">{self.url}</a>'


class _Server(ThreadingHTTPServer):
    allow_reuse_address = os.name != "nt"  # on Windows, others could take an address in use
    daemon_threads = True
    page: bytes

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore browsers that closed the connection."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    """Sends the page to allowed requests."""

    server: _Server
    server_version = "reinforce2vec"
    sys_version = ""
    timeout = 30  # seconds without data

    def do_GET(self) -> None:
        """Send the page."""
        self._answer(with_body=True)

    def do_HEAD(self) -> None:
        """Send the headers alone."""
        self._answer(with_body=False)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("do_"):  # every other method
            return lambda: self._refuse(405, "only GET and HEAD are answered")
        raise AttributeError(name)

    def _answer(self, with_body: bool) -> None:
        names = {f"{name}:{self.server.server_address[1]}" for name in _HOST_NAMES}
        origin = self.headers.get("Origin")
        if self.headers.get("Host", "").lower() not in names:
            self._refuse(403, "this is served to this machine only, under its own name")
        elif origin is not None and origin not in {f"http://{name}" for name in names}:
            self._refuse(403, "this is not served to other sites")
        elif self.path != "/":
            self._refuse(404, "there is nothing here but the page at /")
        else:
            self._send(200, "text/html; charset=utf-8", self.server.page, with_body)

    def _refuse(self, code: int, sentence: str) -> None:
        self.close_connection = True  # do not read the rest of the request
        body = f"{sentence}\n".encode()
        self._send(code, "text/plain; charset=utf-8", body, self.command != "HEAD")

    def _send(self, code: int, kind: str, body: bytes, with_body: bool) -> None:
        self.send_response(code)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        if code == 405:
            self.send_header("Allow", "GET, HEAD")
        self.send_header("Content-Security-Policy", f"{content_policy()}; frame-ancestors 'none'")
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        self.end_headers()
        if with_body:
            self.wfile.write(body)

    def log_message(self, format: str, *words: Any) -> None:
        """Log nothing."""

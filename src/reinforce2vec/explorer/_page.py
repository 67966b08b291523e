"""The page: one HTML file with its script, its style and its data in it."""

from __future__ import annotations

import base64
import hashlib
import html
import re
from functools import cache
from importlib.resources import files

_PLACEHOLDER = re.compile(rb"\{\{(\w+)\}\}")


def page_with(title: str, data: bytes = b"", source: str = "") -> bytes:
    """Return the whole page around its data, as text, or with the address of its data."""
    parts = {
        "title": html.escape(title, quote=True).encode("utf-8", "replace"),
        "policy": content_policy(served=bool(source)).encode(),
        "style": _static("explorer.css"),
        "script": _static("explorer.js"),
        "data": data,
        "source": source.encode(),
    }
    return _PLACEHOLDER.sub(lambda found: parts[found[1].decode()], _static("page.html"))


@cache
def content_policy(served: bool = False) -> str:
    """Return the content security policy: the page runs its own script and makes no requests.

    One that is served may ask its server.
    """
    script, style = _hash("explorer.js"), _hash("explorer.css")
    return "; ".join(
        [
            "default-src 'none'",
            f"script-src {script}",
            f"style-src {style}",
            "img-src data:",
            "connect-src 'self'" if served else "connect-src 'none'",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )


def _hash(name: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(_static(name)).digest()).decode()}'"


def _static(name: str) -> bytes:
    content = (files(__package__) / "static" / name).read_bytes()
    return content.replace(b"\r\n", b"\n")  # browsers normalize line ends before they hash

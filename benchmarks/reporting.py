"""Writing results: raw numbers, and a page made from them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path


def publish(found: dict, render: Callable[[dict], str], path: Path) -> None:
    """Write results as JSON, and the page that `render` makes of them; print the page."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(found, indent=1) + "\n")
    page = render(found)
    path.with_suffix(".md").write_text(page)
    print(page)

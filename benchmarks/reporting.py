"""Where results go: raw numbers, and a report made of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path


def publish(found: dict, tell: Callable[[dict], str], path: Path) -> None:
    """Write what was measured as JSON, beside it what `tell` makes of it, and print that."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(found, indent=1) + "\n")
    report = tell(found)
    path.with_suffix(".md").write_text(report)
    print(report)

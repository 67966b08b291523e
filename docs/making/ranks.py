"""Rank the pages of a search: guides before the tables and logs that name every term often."""

from __future__ import annotations

from typing import Any

# The beginning of a page's path, and the factor of its score; the first that fits counts.
FACTORS = {
    "tutorial": 2.0,
    "howto/index": 0.5,
    "howto/": 2.0,
    "index": 1.5,
    "cite": 2.0,
    "results/": 0.1,
    "benchmarks/": 0.3,
    "gpu": 0.3,
    "architecture": 0.3,
    "changelog": 0.1,
    "notebooks/": 0.5,
}
# Words that people type and a page does not use, or not where a search weighs them most.
KEYWORDS = {
    "cite": ["citation"],
    "howto/files": ["load"],
    "howto/neighbours": ["neighbors"],
    "howto/visualization": ["visualise", "color"],
}


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Give a page its factor and its keywords, which the theme calls tags."""
    fitting = (factor for path, factor in FACTORS.items() if page.file.src_uri.startswith(path))
    page.meta["search"] = {"boost": next(fitting, 1.0)}
    page.meta["tags"] = KEYWORDS.get(page.file.src_uri.removesuffix(".md"), [])
    return markdown

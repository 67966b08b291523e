"""Parts of pages that scripts write: between a marker and the end marker."""

from __future__ import annotations

import re
from pathlib import Path

END = "<!-- end -->"


def rewrite(page: Path, begin: str, content: str) -> None:
    """Replace what stands between a marker and the next end marker of a page."""
    text = page.read_text(encoding="utf-8")
    pattern = f"{re.escape(begin)}.*?{re.escape(END)}"
    part = f"{begin}\n\n{content}\n\n{END}"
    page.write_text(re.sub(pattern, lambda _: part, text, flags=re.S), encoding="utf-8")

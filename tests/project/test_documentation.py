"""The documentation: its code runs, its site builds, its links lead somewhere on this machine."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

import reinforce2vec
from helpers import pages
from helpers.paths import ROOT

DOCS = ROOT / "docs"
PAGES = sorted(str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md"))
RUN = [
    page
    for page in PAGES
    if any(block.language != "text" for block in pages.blocks_of(DOCS / page))
]


# -- what the pages say ------------------------------------------------------------------------


@pytest.mark.parametrize("page", RUN)
def test_the_code_of_a_page_runs_and_prints_what_the_page_shows(labelled, page):
    pages.run_page(DOCS / page, labelled)


def test_a_page_that_shows_something_else_is_found(folder):
    page = folder / "page.md"
    page.write_text("```python\nprint(1 + 1)\n```\n```text\n3\n```\n")
    with pytest.raises(AssertionError, match="shows something else"):
        pages.run_page(page, folder)
    page.write_text("```sh\nreinforce2vec embed nothing.txt -o vectors.npz\n```\n")
    with pytest.raises(AssertionError, match="there is no such file"):
        pages.run_page(page, folder)


def test_few_blocks_are_not_run():
    found = [block for page in RUN for block in pages.blocks_of(DOCS / page)]
    excused = [block for block in found if (block.excused or "").startswith("not run")]
    assert len(excused) <= len(found) / 20


def test_every_public_name_is_in_the_reference():
    reference = "\n".join(page.read_text() for page in (DOCS / "reference").glob("*.md"))
    described = set(re.findall(r"^::: reinforce2vec\.([\w.]+)$", reference, re.MULTILINE))
    names = set(reinforce2vec.__all__) - {"__version__", "plotting"}
    names |= {f"plotting.{name}" for name in reinforce2vec.plotting.__all__}
    assert names <= described
    listed = (DOCS / "reference" / "index.md").read_text()
    assert [name for name in names if f"][reinforce2vec.{name}]" not in listed] == []


def test_the_drawings_show_what_is_computed_now(tmp_path):
    drawn = run_drawings(tmp_path)
    kept = {path.name: words_of(path) for path in (DOCS / "how-it-works").glob("*.svg")}
    assert {path.name: words_of(path) for path in drawn.glob("*.svg")} == kept


def run_drawings(folder):
    script = DOCS / "drawings" / "draw.py"
    command = [sys.executable, script, folder]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


def words_of(drawing):
    """All words and numbers of a drawing, which matplotlib leaves in comments."""
    words = re.findall(r"<!-- (.*?) -->", drawing.read_text(encoding="utf-8"), re.DOTALL)
    assert words
    return words


# -- the site ----------------------------------------------------------------------------------


def build_site(folder):
    """The pages of the site, built as `make docs` does: a warning is an error."""
    command = [sys.executable, "-W", "ignore", "-m", "mkdocs", "build", "--strict", "--quiet"]
    done = subprocess.run(
        [*command, "--config-file", ROOT / "mkdocs.yml", "--site-dir", folder],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
    )
    assert done.returncode == 0, done.stderr
    return {path: Page(path) for path in folder.rglob("*.html")}


class Page(HTMLParser):
    """A page of the site: what it loads, where its links lead, and which places it has."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.links: list[str] = []
        self.places: set[str] = set()
        self.classes: set[str] = set()
        self.path = path
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.places |= {given[name] for name in ("id", "name") if name in given}
        self.classes |= set(given.get("class", "").split())
        if "src" in given:
            self.loads.append(given["src"])
        if "srcset" in given:
            self.loads += [part.split()[0] for part in given["srcset"].split(",")]
        if "href" in given:
            (self.links if tag == "a" else self.loads).append(given["href"])


def test_the_site_builds_and_has_no_dead_link_and_needs_no_other_machine(tmp_path):
    """One test for all: building takes some seconds."""
    site = build_site(tmp_path)
    assert len(site) > len(PAGES) - 10
    for path, page in site.items():
        check_nothing_is_fetched(page)
        if path.name != "404.html":  # whose links begin at the root of a server
            check_links(page, site)
    for style in tmp_path.rglob("*.css"):
        assert not re.search(r"(?:url\(|@import)\s*[\"']?(?:https?:)?//", style.read_text()), style


def check_nothing_is_fetched(page):
    assert [url for url in page.loads if urlsplit(url).netloc] == [], page.path
    # these would make the theme's script ask other machines for diagrams, or for stars
    assert not {"mermaid", "md-source"} & page.classes, page.path


def check_links(page, site):
    for url in [*page.loads, *page.links]:
        parts = urlsplit(url)
        if parts.scheme or parts.netloc:
            continue
        target = (page.path.parent / unquote(parts.path)).resolve() if parts.path else page.path
        assert target.is_file(), f"{page.path}: {url}"
        if parts.fragment and target in site:
            assert unquote(parts.fragment) in site[target].places, f"{page.path}: {url}"

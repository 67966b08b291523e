"""The documentation: its code runs, its words are plain, its site builds and has no dead links."""

from __future__ import annotations

import ast
import html
import json
import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

import reinforce2vec
from helpers import pages
from helpers.commands_of import COMMANDS
from helpers.paths import ROOT

DOCS = ROOT / "docs"
PAGES = sorted(str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md"))
RUN = [
    page
    for page in PAGES
    if any(block.language != "text" for block in pages.blocks_of(DOCS / page))
]
ON_RAY = ("howto/cluster.md",)


# -- the code of the pages ------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("page", RUN)
def test_the_code_of_a_page_runs_and_prints_what_the_page_shows(labelled, request, page):
    if page in ON_RAY:
        request.getfixturevalue("ray_cluster")  # skips where Ray is not installed
    for table in (DOCS / page).with_suffix("").glob("*.csv"):  # which the page lets people download
        shutil.copy(table, labelled)
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


# -- the words of the pages --------------------------------------------------------------------

# A term that people search for, and the page that they should find.
SEARCH_TERMS = {
    "quickstart": "index.md",
    "Jupyter": "howto/index.md",
    "tutorial": "tutorial.md",
    "BibTeX": "cite.md",
    "GPU": "howto/gpu.md",
    "CUDA": "howto/gpu.md",
    "cluster": "howto/cluster.md",
    "Kubernetes": "howto/cluster.md",
    "Ray": "howto/cluster.md",
    "hyperparameter": "howto/tuning.md",
    "grid search": "howto/other-packages.md",
    "visualize": "howto/visualization.md",
    "t-SNE": "howto/visualization.md",
    "UMAP": "howto/visualization.md",
    "inductive": "howto/new-nodes.md",
    "out-of-sample": "howto/new-nodes.md",
    "link prediction": "howto/evaluation.md",
    "node classification": "howto/evaluation.md",
    "nearest neighbours": "howto/neighbours.md",
    "recommend": "howto/neighbours.md",
    "checkpoint": "howto/checkpoints.md",
    "resume": "howto/checkpoints.md",
    "callbacks": "howto/checkpoints.md",
    "seed": "howto/reproducibility.md",
    "memory": "howto/large-graphs.md",
    "weighted graphs": "howto/weighted-graphs.md",
    "directed graphs": "howto/directed-graphs.md",
    "bipartite": "howto/messy-data.md",
    "isolated nodes": "howto/messy-data.md",
    "DeepWalk": "howto/choosing-a-walk.md",
    "node2vec": "howto/choosing-a-walk.md",
    "rejection sampling": "how-it-works.md",
    "negative sampling": "how-it-works.md",
    "threads": "faq.md",
    "exit codes": "commands/index.md",
    "JSON": "commands/index.md",
    "architecture": "architecture.md",
}

# Words that a reader has to decode, and that nobody searches for.
HOUSE_WORDS = (
    r"graphics cards?",
    r"(?:the|a|this|each|NVIDIA) cards?",
    r"(?:the|a|all|as many) processors?",
    r"(?:is|are|was|were) told",
    r"told apart",
    r"says? nothing",
    r"asked for",
    r"(?:is|are) worth",
    r"the two readings",
    r"walks? that remembers?(?! (?:its|their))",
    r"tells? labels",
    r"anew",
    r"makes? no sense",
)
# What is read: pages, the text of notebooks, the strings of Python files (docstrings, messages).
READ = (
    "*.md",
    "CITATION.cff",
    "Makefile",
    "mkdocs.yml",
    "pyproject.toml",
    "benchmarks/*.md",
    "benchmarks/*.py",
    "benchmarks/peers/*.py",
    "benchmarks/results/*.md",
    "docs/*.md",
    "docs/benchmarks/*.md",
    "docs/commands/*.md",
    "docs/drawings/*.py",
    "docs/howto/*.md",
    "docs/making/*.py",
    "docs/reference/*.md",
    "examples/*.ipynb",
    "reliability/*.md",
    "reliability/**/*.py",
    "src/reinforce2vec/**/*.py",
)


def words_in(path):
    """Return the text that people read in a file, on one line."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":  # the output of programs has its words from src
        text = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    if path.suffix == ".ipynb":
        text = " ".join("".join(cell["source"]) for cell in json.loads(text)["cells"])
    if path.suffix == ".py":
        nodes = ast.walk(ast.parse(text))
        constants = [node.value for node in nodes if isinstance(node, ast.Constant)]
        text = " ".join(value for value in constants if isinstance(value, str))
    return " ".join(text.split())


@pytest.mark.parametrize(("term", "page"), SEARCH_TERMS.items())
def test_a_search_for_a_standard_term_finds_its_page(term, page):
    assert term.lower() in words_in(DOCS / page).lower()


@pytest.mark.parametrize("pattern", READ)
def test_pages_use_standard_terms(pattern):
    pages_read = sorted(ROOT.glob(pattern))
    assert pages_read
    for page in pages_read:
        found = re.findall(rf"\b(?:{'|'.join(HOUSE_WORDS)})\b", words_in(page))
        assert found == [], page


def test_the_files_that_the_architecture_page_names_exist():
    text = (DOCS / "architecture.md").read_text(encoding="utf-8")
    text += " ".join(words_of(DOCS / "how-it-works" / "embed.svg"))
    named = set(re.findall(r"(?<![\w/-])(?:\w+/)+(?:\w+\.\w+)?(?![\w/])", text))
    assert len(named) > 50
    package = Path(reinforce2vec.__file__).parent
    missing = [name for name in named if not any((at / name).exists() for at in (package, ROOT))]
    assert sorted(missing) == []


def test_the_architecture_page_lists_sub_packages_in_the_order_of_imports():
    rules = (ROOT / "tests" / "project" / "test_imports.py").read_text(encoding="utf-8")
    order = re.search(r"^ORDER = (\(.*?^\))$", rules, re.MULTILINE | re.DOTALL)
    listed = re.findall(r"^\| `(\w+)/` \|", (DOCS / "architecture.md").read_text(), re.MULTILINE)
    assert tuple(listed) == ast.literal_eval(order[1])


def test_every_public_name_is_in_the_reference():
    reference = "\n".join(page.read_text() for page in (DOCS / "reference").glob("*.md"))
    described = set(re.findall(r"^::: reinforce2vec\.([\w.]+)$", reference, re.MULTILINE))
    names = set(reinforce2vec.__all__) - {"__version__", "plotting"}
    names |= {f"plotting.{name}" for name in reinforce2vec.plotting.__all__}
    assert names <= described
    listed = (DOCS / "reference" / "index.md").read_text()
    assert [name for name in names if f"][reinforce2vec.{name}]" not in listed] == []


def test_every_command_has_a_page_and_a_row_in_the_list():
    named = {name.split()[0] for name in COMMANDS}
    texts = {page.stem: page.read_text(encoding="utf-8") for page in DOCS.glob("commands/*.md")}
    listed = texts.pop("index").splitlines()
    assert texts.keys() == named
    for name, text in texts.items():
        assert f"<!-- the command {name} -->" in text
    for name, command in COMMANDS.items():
        arguments = [one for one in command.params if one.param_type_name == "argument"]
        words = [one.metavar.partition("|")[0] for one in arguments if one.required]
        row = f"| [`{' '.join([name, *words])}"
        assert any(line.startswith(row) for line in listed), row


@pytest.mark.slow
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
    """Return all words and numbers of a drawing, which matplotlib writes into comments."""
    words = re.findall(r"<!-- (.*?) -->", drawing.read_text(encoding="utf-8"), re.DOTALL)
    assert words
    return words


# -- the site ----------------------------------------------------------------------------------


def build_site(folder):
    """Return the pages of the site, built as by `make docs`: a warning is an error."""
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
    """A page of the site: the files it loads, its links and its anchors."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.links: list[str] = []
        self.places: set[str] = set()
        self.classes: set[str] = set()
        self.path = path
        self.text = path.read_text(encoding="utf-8")
        self.feed(self.text)

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


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The pages of the site; building takes some seconds."""
    return build_site(tmp_path_factory.mktemp("site"))


def page_of(site, name):
    (path,) = [path for path in site if path.as_posix().endswith(f"/{name}.html")]
    return site[path]


@pytest.mark.slow
def test_the_site_has_no_dead_link_and_loads_nothing_from_other_servers(site):
    assert len(site) > len(PAGES) - 10
    for path, page in site.items():
        check_nothing_is_fetched(page)
        if path.name != "404.html":  # whose links begin at the root of a server
            check_links(page, site)
    for style in top_of(site).rglob("*.css"):
        assert not re.search(r"(?:url\(|@import)\s*[\"']?(?:https?:)?//", style.read_text()), style


def top_of(site):
    return min(site, key=lambda path: len(path.parts)).parent


def check_nothing_is_fetched(page):
    assert [url for url in page.loads if urlsplit(url).netloc] == [], page.path
    # these would make the theme's script load diagrams or counts of stars from other servers
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


@pytest.mark.slow
@pytest.mark.parametrize(
    "notebook", sorted((ROOT / "examples").glob("*.ipynb")), ids=lambda p: p.stem
)
def test_the_site_shows_the_notebooks_with_their_outputs(site, notebook):
    page = page_of(site, f"notebooks/{notebook.stem}")
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    outputs = [output for cell in cells for output in cell.get("outputs", [])]
    pictures = [output for output in outputs if "image/png" in output.get("data", {})]
    shown = [url for url in page.loads if url.startswith(f"{notebook.stem}-")]
    assert len(shown) == len(pictures) > 0
    assert f"{notebook.stem}.ipynb" in page.links
    assert (page.path.parent / notebook.name).read_bytes() == notebook.read_bytes()
    printed = [line for output in outputs for line in output.get("text", [])]
    assert all(html.escape(line.strip(), quote=False) in page.text for line in printed)


# -- the reference -----------------------------------------------------------------------------


def signatures(page):
    """Return the signatures of a page of the reference, as text."""
    found = re.findall(r'<div class="[^"]*doc-signature[^"]*">.*?</pre>', page.text, re.DOTALL)
    return [html.unescape(re.sub(r"<[^>]+>", "", one)).strip() for one in found]


@pytest.mark.slow
def test_a_long_signature_has_a_parameter_a_line(site):
    (fit, *_) = [one for one in signatures(page_of(site, "reference/models")) if "fit(" in one]
    assert fit.splitlines()[:4] == ["fit(", "    graph: Graph,", "    y: None = None,", "    *,"]
    for name in ("graphs", "walks", "models", "embeddings", "evaluation", "visualization"):
        for signature in signatures(page_of(site, f"reference/{name}")):
            lines = signature.splitlines()
            assert all(line.count(": ") <= 2 - (len(lines) > 1) for line in lines), signature
            assert all(len(line) <= 80 for line in lines), signature


@pytest.mark.slow
def test_no_parameter_has_a_type_that_says_nothing(site):
    found = [
        one
        for name in ("graphs", "walks", "models", "embeddings", "evaluation", "visualization")
        for one in signatures(page_of(site, f"reference/{name}"))
        if re.search(r": Any\b|-> Any\b|\b_Callback\b|NDArray\[Any\]\B", one)
    ]
    assert found == []
    (walks,) = [one for one in signatures(page_of(site, "reference/models")) if "walks(" in one]
    assert walks.splitlines()[1:4] == [
        "    walks: NDArray | Sequence | PathLike,",
        "    ids: Sequence | Graph | None = None,",
        "    *,",
    ]


@pytest.mark.slow
def test_classes_in_words_are_no_tuple(site):
    for name in ("walks", "models"):
        text = html.unescape(re.sub(r"<[^>]+>", "", page_of(site, f"reference/{name}").text))
        assert not re.search(r"\(ReinforcedWalk,\s", text)


@pytest.mark.slow
def test_fit_comes_before_inherited_methods(site):
    text = page_of(site, "reference/models").text
    for name in ("Reinforce2Vec", "LINE", "HOPE", "GraRep", "NetMF", "ProNE", "Spectral"):
        members = re.findall(rf'<h3 id="reinforce2vec\.{name}\.(\w+)"', text)
        assert members.index("fit") < min(map(members.index, ("transform", "get_params", "save")))


# -- searching the site ------------------------------------------------------------------------

# A term, and the page that should be among the first three that a search finds.
SEARCHES = {
    "node2vec": "howto/choosing-a-walk",
    "DeepWalk": "howto/choosing-a-walk",
    "link prediction": "howto/evaluation",
    "node classification": "howto/evaluation",
    "weights": "howto/weighted-graphs",
    "directed": "howto/directed-graphs",
    "bipartite": "howto/messy-data",
    "isolated nodes": "howto/messy-data",
    "GPU": "howto/gpu",
    "CUDA": "howto/gpu",
    "resume": "howto/checkpoints",
    "t-SNE": "howto/visualization",
    "UMAP": "howto/visualization",
    "explorer": "howto/visualization",
    "cite": "cite",
    "BibTeX": "cite",
    "install": "index",
    "quickstart": "index",
    "tutorial": "tutorial",
    "CSV": "howto/files",
    "pandas": "howto/other-packages",
    "networkx": "howto/other-packages",
    "inductive": "howto/new-nodes",
    "nearest neighbours": "howto/neighbours",
    "recommend": "howto/neighbours",
    "hyperparameter": "howto/settings",
    "memory": "howto/large-graphs",
    "seed": "howto/reproducibility",
    "Docker": "howto/containers",
    "Kubernetes": "howto/cluster",
    "negative sampling": "how-it-works",
    "most_similar": "reference/embeddings",
    "exit codes": "commands/index",
    "JSON": "commands/index",
    "cluster": "howto/cluster",
    "clustering": "howto/other-packages",
    "visualise": "howto/visualization",
    "color": "howto/visualization",
    "neighbors": "howto/neighbours",
    "citation": "cite",
    "random state": "howto/reproducibility",
    "random walk": "howto/choosing-a-walk",
    "notebook": "notebooks/quickstart",
    "load": "howto/files",
    "t-": "tutorial",  # while t-SNE is typed
}


@pytest.mark.slow
@pytest.mark.browser
def test_a_search_in_the_site_opened_from_disk_finds_standard_terms(site, browser):
    view = browser.new_page()
    requests: list[str] = []
    said: list[str] = []
    view.on("console", lambda message: said.append(message.text))
    view.on("request", lambda request: requests.append(request.url))
    view.goto((top_of(site) / "index.html").as_uri())
    found = {term: search(view, term) for term in SEARCHES}
    view.close()
    missed = {term: pages for term, pages in found.items() if SEARCHES[term] not in pages[:3]}
    assert missed == {}
    assert said == []
    assert {urlsplit(url).scheme for url in requests} <= {"file", "data"}


def search(view, term):
    """Return the pages that the site's search finds, the best first."""
    box = view.locator("input.md-search__input")
    box.click()
    for text, said in (("", "Type to start"), (term, "match")):
        box.fill(text)
        box.press("End")  # the page listens to keys
        view.locator(".md-search-result__meta", has_text=said).wait_for()
    links = ".md-search-result__item > .md-search-result__link"
    urls = view.eval_on_selector_all(links, "found => found.map(one => one.href)")
    top = view.url.rpartition("/")[0]
    pages = [url.removeprefix(f"{top}/").partition(".html")[0] for url in urls]
    return list(dict.fromkeys(pages))


# -- one way to install and to cite ------------------------------------------------------------


def test_there_is_one_way_to_install():
    """From a copy of the project: the name alone would be looked up on an index that lacks it."""
    read = [ROOT / "README.md", *DOCS.rglob("*.md"), *(ROOT / "examples").glob("*.ipynb")]
    text = "".join(path.read_text(encoding="utf-8") for path in read if path.stem != "changelog")
    found = set(re.findall(r"(?:uv )?pip install (?:--no-cache-dir )?([^\s`\\]+)", text))
    found = {one.rstrip(",:;").strip("'\"") for one in found}
    ours = {one for one in found if one.startswith((".", "/")) or "reinforce2vec" in one}
    copy = r"(?:(?:\$HOME)?/reinforce2vec|\.)(?:\[[\w,]+\])?"
    assert ours
    assert [one for one in ours if not re.fullmatch(copy, one)] == []


def test_the_page_on_citing_has_the_facts_of_the_citation_file():
    facts = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    page = (DOCS / "cite.md").read_text(encoding="utf-8")
    for title in re.findall(r'title: "(.+)"', facts):
        assert title in page
    for family, given in re.findall(r"family-names: (\w+)\n +given-names: ([\w. ]+)", facts):
        assert f"{family}, {given}" in page
    assert f"version = {{{reinforce2vec.__version__}}}" in page
    (year,) = re.findall(r"year: (\d+)", facts)
    assert f"year      = {{{year}}}" in page

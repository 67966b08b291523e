"""The command `explore`: an embedding as a map in the browser."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from .._util.progress import counted, readable_bytes
from . import _inputs as inputs
from . import _options as options
from ._app import command
from ._options import GRAPH_OPTIONS, MAP, OUTPUT, SERVER
from ._run import Run
from .plot import check_map

if TYPE_CHECKING:
    from ..explorer import Page


@command(
    options.VECTORS,
    options.argument(
        "graph GRAPH",
        "The graph of the vectors, in a file as for embed: adds neighbours, degrees, and "
        "links that are likely missing.",
        Path | None,
        default=None,
    ),
    MAP.option("labels FILE", options.LABELS_HELP),
    MAP.option(
        "columns FILE",
        "More about the nodes: a .csv, .tsv or .parquet file with a column of ids and any "
        "number of others, to colour, size, filter and search by.",
    ),
    *options.shared("label", "id"),
    options.PROJECTION,
    options.MAP_SEED,
    MAP.option("title TEXT", "Title above the map. Default: the name of the file."),
    OUTPUT.option(
        "export --output -o FILE",
        "Write the page to this .html file, which works offline on any machine, instead "
        "of serving it.",
    ),
    *options.shared("as_json", "quiet"),
    SERVER.option(
        "port N",
        "Port of the page, on this machine only. 0: any free port.",
        default=0,
        min=0,
        max=65535,
    ),
    SERVER.flag(
        "browser --browser/--no-browser",
        "Open the page in the browser, as by default, or only serve it.",
    ),
    *options.shared(*(name for name in GRAPH_OPTIONS if name != "edge_columns")),
    examples=(
        "explore vectors.npz edges.txt --labels labels.txt",
        "explore vectors.npz edges.txt --columns nodes.csv",
        "explore vectors.npz edges.txt -o map.html",
    ),
)
def explore(run: Run) -> None:
    """See an embedding as a map in the browser: search, neighbours, likely missing links.

    Serves the page to this machine until Ctrl-C, or writes it to a file. A served map holds up to
    2,000,000 nodes, one in a file 200,000; of larger graphs, those of highest degree are shown.
    """
    from ..explorer import make_page, write_page

    given = run.given
    _check(run)
    run.begin()
    embedding = inputs.read_input_vectors(run, given.vectors)
    graph = given.graph and inputs.read_input_graph(run, given.graph)
    if graph is not None:
        embedding = inputs.check_graph_of(run, embedding, graph)
    page = make_page(
        embedding,
        graph,
        given.labels and inputs.read_input_labels(run, given.labels, embedding),
        columns=given.columns and inputs.read_input_columns(run, given.columns, embedding),
        served=given.export is None,
        method=given.method,
        title=given.title or given.vectors.name.partition(".")[0],
        seed=given.seed,
        progress=not run.quiet,
    )
    for note in page.notes:
        run.report(f"note: {note}")
    facts = {"nodes": len(embedding), "shown": page.n_nodes, "method": page.method}
    facts |= {"bytes": page.size, "notes": page.notes}
    if given.export is None:
        _serve(run, page, facts)
        return
    write_page(given.export, page)
    run.report(f"{given.export}: a page of {_size(page)}; open it in a browser")
    if given.as_json:
        run.print_json(url=None, files=[given.export], **facts)


def _check(run: Run) -> None:
    """Raise InputError for options that do not go together, and for a page that cannot be."""
    given = run.given
    check_map(run)
    if given.labels is None:
        run.refuse(["label"], "--labels", "no labels")
    if given.labels is None and given.columns is None:
        run.refuse(["id"], "--labels or --columns", "neither")
    if given.export is not None:
        from ..files.targets import known_suffix
        from ..files.writing import check_target

        run.refuse(["port", "browser"], "a server", "--output")
        check_target(given.export)
        known_suffix(given.export, (".html", ".htm"), "pages are written to")
        run.writes(given.export, reads=[given.vectors, given.graph, given.labels, given.columns])


def _size(page: Page) -> str:
    return f"{counted(page.n_nodes, 'node')}, {readable_bytes(page.size)}"


def _serve(run: Run, page: Page, facts: dict[str, object]) -> None:
    """Serve the page until Ctrl-C."""
    from ..explorer import serve_page

    with serve_page(page, run.given.port) as server, suppress(KeyboardInterrupt):
        if run.given.as_json:
            run.print_json(url=server.url, files=[], **facts)
        else:
            typer.echo(server.url)
        run.report(f"serving a page of {_size(page)} to this machine; Ctrl-C ends it")
        if run.given.browser is not False and not server.open():
            run.report("no browser was found: open the address yourself")
        server.wait()
    run.report("the server has ended")

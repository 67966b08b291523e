"""The command `explore`: an embedding as a map in the browser."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from .._util.progress import counted, readable_bytes
from . import _options as options
from ._exit_codes import FAILURE, USAGE, exit_code
from ._help import examples
from ._inputs import (
    VectorsArgument,
    check_graph_of,
    given_files,
    read_input_columns,
    read_input_graph,
    read_input_labels,
    read_input_vectors,
)
from ._map_options import MapSeed, Projection, check_map
from ._messages import check_different, print_json, report, status
from ._options import GRAPH_OPTIONS, MAP, OUTPUT, SERVER

EPILOG = examples(
    "explore vectors.npz edges.txt --labels labels.txt",
    "explore vectors.npz edges.txt --columns nodes.csv",
    "explore vectors.npz edges.txt -o map.html",
    "explore vectors.npz --no-browser --port 8000",
)


@options.shared(*(name for name in GRAPH_OPTIONS if name != "edge_columns"))
def explore(
    context: typer.Context,
    vectors: VectorsArgument,
    graph: Annotated[
        Path | None,
        typer.Argument(
            metavar="GRAPH",
            help="The graph of the vectors, in a file as for embed: adds neighbours, degrees, and "
            "links that are likely missing.",
            show_default=False,
        ),
    ] = None,
    labels: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help=options.LABELS_HELP,
            rich_help_panel=MAP,
        ),
    ] = None,
    columns: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="More about the nodes: a .csv, .tsv or .parquet file with a column of ids and any "
            "number of others, to colour, size, filter and search by.",
            rich_help_panel=MAP,
        ),
    ] = None,
    label: options.LabelColumn = None,
    id: options.IdColumn = None,
    method: Projection = "auto",
    seed: MapSeed = 0,
    title: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT",
            help="Title above the map. Default: the name of the file.",
            rich_help_panel=MAP,
        ),
    ] = None,
    export: Annotated[
        Path | None,
        typer.Option(
            *("--output", "-o"),
            metavar="FILE",
            help="Write the page to this .html file, which works offline on any machine, instead "
            "of serving it.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
    port: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=0,
            max=65535,
            help="Port of the page, on this machine only. 0: any free port.",
            rich_help_panel=SERVER,
        ),
    ] = 0,
    browser: Annotated[
        bool | None,
        typer.Option(
            "--browser/--no-browser",
            help="Open the page in the browser, as by default, or only serve it.",
            rich_help_panel=SERVER,
        ),
    ] = None,
) -> None:
    """See an embedding as a map in the browser: search, neighbours, likely missing links.

    Serves the page to this machine until Ctrl-C, or writes it to a file. A served map holds up to
    2,000,000 nodes, one in a file 200,000; of larger graphs, those of highest degree are shown.
    """
    with exit_code(USAGE):
        check_map(context, method, graph)
        if labels is None:
            options.check_unused(context, ["label"], "--labels", "no labels")
        if labels is None and columns is None:
            options.check_unused(context, ["id"], "--labels or --columns", "neither")
        if export is not None:
            from ..files.locks import claimed
            from ..files.targets import known_suffix
            from ..files.writing import check_target

            options.check_unused(context, ("port", "browser"), "a server", "--output")
            read = [path for path in (vectors, graph, labels, columns) if path is not None]
            check_different([*read, *given_files(context.params)], [export])
            check_target(export)
            known_suffix(export, (".html", ".htm"), "pages are written to")
            context.with_resource(claimed(export))
    with exit_code(FAILURE):
        from ..explorer import make_page, serve_page, write_page

        embedding = read_input_vectors(vectors, quiet)
        known = None if graph is None else read_input_graph(graph, context)
        if known is not None:
            embedding = check_graph_of(embedding, known, context, quiet)
        classes = None if labels is None else read_input_labels(labels, embedding, context)
        table = None if columns is None else read_input_columns(columns, embedding, context)
        page = make_page(
            embedding,
            known,
            classes,
            columns=table,
            served=export is None,
            method=method,
            title=title or vectors.name.partition(".")[0],
            seed=seed,
            progress=not quiet,
            step=lambda message: status(message, quiet),
            tell=lambda message: report(message, quiet),
        )
        for note in page.notes:
            report(f"note: {note}", quiet)
        facts = {"nodes": len(embedding), "shown": page.n_nodes, "method": page.method}
        facts |= {"bytes": page.size, "notes": page.notes}
        size = f"{counted(page.n_nodes, 'node')}, {readable_bytes(page.size)}"
        if export is not None:
            write_page(export, page)
            report(f"{export}: a page of {size}; open it in a browser", quiet)
            if as_json:
                print_json(context, url=None, files=[export], **facts)
            return
        with serve_page(page, port) as server, suppress(KeyboardInterrupt):
            if as_json:
                print_json(context, url=server.url, files=[], **facts)
            else:
                typer.echo(server.url)
            report(f"serving a page of {size} to this machine; Ctrl-C ends it", quiet)
            if browser is not False and not server.open():
                report("no browser was found: open the address yourself", quiet)
            server.wait()
        report("the server has ended", quiet)

"""The command `plot`: an embedding as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from .._util.progress import counted
from . import _map_options as maps
from . import _options as options
from ._app import examples
from ._inputs import Vectors, known_graph, known_labels, known_vectors
from ._map_options import THE_MAP
from ._messages import FAILURE, USAGE, check_different, print_json, say, sentences, status
from ._options import OUTPUT
from .embed import embed

EPILOG = examples(
    "plot vectors.npz -o map.png",
    "plot vectors.npz --labels labels.txt --graph edges.txt -o map.svg --method tsne",
    "plot vectors.npz --graph edges.txt --colour-by degree",
)
COLOURED_BY = ("label", "community", "degree", "none")


@options.borrowed(embed, options.GRAPH_OPTIONS)
def plot(
    context: typer.Context,
    vectors: Vectors,
    output: Annotated[
        Path | None,
        typer.Option(
            *("--output", "-o"),
            metavar="FILE",
            help="Where the picture goes: .png, .svg or .pdf. Default: the name of EMB, with .png.",
            rich_help_panel=OUTPUT,
            show_default=False,
        ),
    ] = None,
    labels: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Text with an id and its labels a line, separated by tabs, commas or blanks; of "
            "several labels of a node the most frequent is shown.",
            rich_help_panel=THE_MAP,
        ),
    ] = None,
    graph: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The graph of the vectors: nodes are as large as their degree, and communities "
            "are those of the graph.",
            rich_help_panel=THE_MAP,
        ),
    ] = None,
    method: maps.Method = "auto",
    colour_by: Annotated[
        str | None,
        options.choice(
            "What colours tell. Default: label with --labels, else community, which needs no "
            "graph: nodes with similar vectors are then taken as linked. That takes long for very "
            "many: more than 100,000 nodes without a graph have one colour by default.",
            *COLOURED_BY,
            group=THE_MAP,
        ),
    ] = None,
    title: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="Stands above the map.", rich_help_panel=THE_MAP),
    ] = None,
    width: Annotated[
        float,
        typer.Option(
            metavar="INCHES",
            help="Of the picture. 3.4 fits a column of a paper, 7 a page.",
            rich_help_panel=THE_MAP,
        ),
    ] = 6.0,
    height: Annotated[
        float, typer.Option(metavar="INCHES", help="Of the picture.", rich_help_panel=THE_MAP)
    ] = 4.5,
    seed: maps.Seed = 0,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Draw a map of an embedding, fit for a paper: similar nodes lie close together.

    Colours are told apart by colour-blind readers too. The file appears when it is complete.
    """
    target = vectors.with_suffix(".png") if output is None else output
    with sentences(USAGE):
        from ..embedding.projection import project_method
        from ..plotting import embedding_map, save
        from ..plotting.maps import METHOD_NAMES, check_drawing
        from ..plotting.style import check_picture, matplotlib

        project_method(method, 1)
        check_drawing(colour_by, labels, graph, width, height)
        if graph is None:
            options.check_unused(context, options.GRAPH_OPTIONS, "a graph", "vectors alone")
        else:
            options.check_reading(graph, context.params)
        check_picture(target)
        check_different([path for path in (vectors, graph, labels) if path], [target])
        matplotlib()
    with sentences(FAILURE):
        embedding = known_vectors(vectors, quiet)
        known: Any = None if graph is None else known_graph(graph, context)
        classes = None if labels is None else known_labels(labels, embedding, quiet)
        chosen = METHOD_NAMES[project_method(method, len(embedding))]
        with status(f"placing {counted(len(embedding), 'node')} by {chosen}", quiet):
            figure = embedding_map(
                *(embedding, classes, known, method),
                colour_by=colour_by,
                title=title,
                width=width,
                height=height,
                seed=seed,
                progress=not quiet,
            )
        save(figure, target)
        told = check_drawing(colour_by, labels, graph, width, height, len(embedding))
        colours = "one colour" if told == "none" else f"coloured by {told}"
        say(f"{target}: {counted(len(embedding), 'node')} by {chosen}, {colours}", quiet)
        if as_json:
            facts = {"nodes": len(embedding), "method": chosen, "colour_by": told}
            print_json(context, files=[target], **facts)

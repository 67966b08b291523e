"""The command `plot`: an embedding as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from .._util.hyperparameters import COLOURINGS
from .._util.progress import counted
from . import _options as options
from ._exit_codes import FAILURE, USAGE, exit_code
from ._help import examples
from ._inputs import (
    VectorsArgument,
    given_files,
    read_input_graph,
    read_input_labels,
    read_input_vectors,
)
from ._map_options import MapSeed, Projection, check_map
from ._messages import check_different, print_json, report, status
from ._options import GRAPH_OPTIONS, MAP, OUTPUT

EPILOG = examples(
    "plot vectors.npz -o map.png",
    "plot vectors.npz edges.txt --labels labels.txt -o map.svg --method tsne",
    "plot vectors.npz edges.txt --colour-by degree",
)


@options.shared(*GRAPH_OPTIONS)
def plot(
    context: typer.Context,
    vectors: VectorsArgument,
    graph: Annotated[
        Path | None,
        typer.Argument(
            metavar="GRAPH",
            help="The graph of the vectors, in a file as for embed: nodes are as large as their "
            "degree, and communities are those of the graph.",
            show_default=False,
        ),
    ] = None,
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
            help=options.LABELS_HELP
            + " If a node has several labels, the most frequent one is shown.",
            rich_help_panel=MAP,
        ),
    ] = None,
    label: options.LabelColumn = None,
    id: options.IdColumn = None,
    method: Projection = "auto",
    colour_by: Annotated[
        str | None,
        options.choice(
            "What colours show. Default: label with --labels, else community. Without a graph, "
            "communities are those of a graph that links nodes with similar vectors. That takes "
            "long for very many: more than 100,000 nodes without a graph have one colour by "
            "default.",
            *COLOURINGS,
            group=MAP,
            names=("--colour-by", "--color-by"),
        ),
    ] = None,
    title: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="Title above the map.", rich_help_panel=MAP),
    ] = None,
    width: Annotated[
        float,
        typer.Option(
            metavar="INCHES",
            help="Width of the picture. 3.4 fits a column of a paper, 7 a page.",
            rich_help_panel=MAP,
        ),
    ] = 6.0,
    height: Annotated[
        float, typer.Option(metavar="INCHES", help="Height of the picture.", rich_help_panel=MAP)
    ] = 4.5,
    seed: MapSeed = 0,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Draw a map of an embedding for a paper: similar nodes lie close together.

    Colour-blind readers can distinguish the colours. The file appears when it is complete.
    """
    target = vectors.with_suffix(".png") if output is None else output
    with exit_code(USAGE):
        from ..embedding.projection import project_method
        from ..plotting import embedding_map, save
        from ..plotting.maps import METHOD_NAMES, check_drawing
        from ..plotting.style import check_picture_path, matplotlib

        check_map(context, method, graph)
        if labels is None:
            options.check_unused(context, ["label", "id"], "--labels", "no labels")
        check_drawing(colour_by, labels, graph, width, height)
        check_picture_path(target)
        read = [path for path in (vectors, graph, labels) if path is not None]
        check_different([*read, *given_files(context.params)], [target])
        matplotlib()
    with exit_code(FAILURE):
        embedding = read_input_vectors(vectors, quiet)
        known: Any = None if graph is None else read_input_graph(graph, context)
        classes = None if labels is None else read_input_labels(labels, embedding, context)
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
        shown = check_drawing(colour_by, labels, graph, width, height, len(embedding))
        by = shown
        if shown == "label" and classes is not None:
            by = classes.column or by
            several = int((classes.matrix.sum(axis=1) > 1).sum())
            if several:
                where = f"{counted(several, 'node')} with several labels"
                report(f"note: {where}: the one with the most nodes gives the colour", quiet)
        colours = "one colour" if shown == "none" else f"coloured by {by}"
        report(f"{target}: {counted(len(embedding), 'node')} by {chosen}, {colours}", quiet)
        if as_json:
            facts = {"nodes": len(embedding), "method": chosen, "colour_by": shown}
            print_json(context, files=[target], **facts)

"""The command `plot`: an embedding as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._util.hyperparameters import COLOURINGS
from .._util.progress import counted
from . import _inputs as inputs
from . import _options as options
from ._app import command
from ._options import GRAPH_OPTIONS, MAP, OUTPUT
from ._run import Run

if TYPE_CHECKING:
    from ..files.label_files import NamedLabels


@command(
    options.VECTORS,
    options.argument(
        "graph GRAPH",
        "The graph of the vectors, in a file as for embed: nodes are as large as their "
        "degree, and communities are those of the graph.",
        Path | None,
        default=None,
    ),
    OUTPUT.option(
        "output --output -o FILE",
        "Where the picture goes: .png, .svg or .pdf. Default: the name of EMB, with .png.",
    ),
    MAP.option(
        "labels FILE",
        f"{options.LABELS_HELP} If a node has several labels, the most frequent one is shown.",
    ),
    *options.shared("label", "id"),
    options.PROJECTION,
    MAP.choice(
        "colour_by --colour-by --color-by",
        COLOURINGS,
        "What colours show. Default: label with --labels, else community. Without a graph, "
        "communities are those of a graph that links nodes with similar vectors. That takes "
        "long for very many: more than 100,000 nodes without a graph have one colour by "
        "default.",
    ),
    MAP.option("title TEXT", "Title above the map."),
    MAP.option(
        "width INCHES", "Width of the picture. 3.4 fits a column of a paper, 7 a page.", default=6.0
    ),
    MAP.option("height INCHES", "Height of the picture.", default=4.5),
    options.MAP_SEED,
    *options.shared("as_json", "quiet", *GRAPH_OPTIONS),
    examples=(
        "plot vectors.npz -o map.png",
        "plot vectors.npz edges.txt --labels labels.txt -o map.svg --method tsne",
        "plot vectors.npz edges.txt --colour-by degree",
    ),
)
def plot(run: Run) -> None:
    """Draw a map of an embedding for a paper: similar nodes lie close together.

    Colour-blind readers can distinguish the colours. The file appears when it is complete.
    """
    from ..embedding.projection import project_method
    from ..plotting import embedding_map, save
    from ..plotting.maps import METHOD_NAMES, check_drawing
    from ..plotting.style import check_picture_path, matplotlib

    given = run.given
    target = given.output or given.vectors.with_suffix(".png")
    check_map(run)
    if given.labels is None:
        run.refuse(["label", "id"], "--labels", "no labels")
    drawing = (given.colour_by, given.labels, given.graph, given.width, given.height)
    check_drawing(*drawing)
    check_picture_path(target)
    run.writes(target, reads=[given.vectors, given.graph, given.labels])
    matplotlib()
    run.begin()
    embedding = inputs.read_input_vectors(run, given.vectors)
    graph = given.graph and inputs.read_input_graph(run, given.graph)
    labels = given.labels and inputs.read_input_labels(run, given.labels, embedding)
    method = METHOD_NAMES[project_method(given.method, len(embedding))]
    with run.status(f"placing {counted(len(embedding), 'node')} by {method}"):
        settings = {name: getattr(given, name) for name in ("colour_by", "title", "seed")}
        settings |= {"width": given.width, "height": given.height, "progress": not run.quiet}
        figure = embedding_map(embedding, labels, graph, given.method, **settings)
    save(figure, target)
    shown = check_drawing(*drawing, len(embedding))
    colours = _colours(run, shown, labels)
    run.report(f"{target}: {counted(len(embedding), 'node')} by {method}, {colours}")
    if given.as_json:
        run.print_json(files=[target], nodes=len(embedding), method=method, colour_by=shown)


def _colours(run: Run, shown: str, labels: NamedLabels | None) -> str:
    """Return what the colours of a map show."""
    if shown == "none":
        return "one colour"
    if shown != "label" or labels is None:
        return f"coloured by {shown}"
    several = int((labels.matrix.sum(axis=1) > 1).sum())
    if several:
        where = f"{counted(several, 'node')} with several labels"
        run.report(f"note: {where}: the one with the most nodes gives the colour")
    return f"coloured by {labels.column or shown}"


def check_map(run: Run) -> None:
    """Raise InputError for an unknown method, or for options of a graph without a graph."""
    from ..embedding.projection import project_method

    given: Any = run.given
    project_method(given.method, 1)
    if given.graph is None:
        run.refuse(GRAPH_OPTIONS, "a graph", "vectors alone")
    else:
        inputs.check_reading(run, given.graph)

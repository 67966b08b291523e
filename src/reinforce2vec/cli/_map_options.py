"""Options that `plot` and `explore` share: how vectors become a map."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .._util.hyperparameters import PROJECTIONS
from .._util.progress import counted
from . import _options as options
from ._messages import report
from ._options import MAP

_LONG = 10  # seconds that are worth a word

Projection = Annotated[
    str,
    options.choice(
        "How vectors become points: pca is fast and rough; tsne and umap show groups and need "
        "scikit-learn or umap-learn; layout shows groups too, and is fast for many nodes. auto: "
        "tsne for up to 10,000 nodes if it is installed, else layout.",
        *PROJECTIONS,
        group=MAP,
    ),
]
MapSeed = Annotated[
    int,
    typer.Option(
        metavar="N", min=0, help="Seed of the map and the communities.", rich_help_panel=MAP
    ),
]


def check_map(context: typer.Context, method: str, graph: Path | None) -> None:
    """Raise InputError for an unknown method, or for options of a graph without a graph."""
    from ..embedding.projection import project_method

    project_method(method, 1)
    if graph is None:
        options.check_unused(context, options.GRAPH_OPTIONS, "a graph", "vectors alone")
    else:
        options.check_reading(graph, context.params)


def report_cost(method: str, n_nodes: int, most: int, quiet: bool) -> None:
    """Say how long the projection of so many nodes, or as many as a map has, will take if long."""
    from ..embedding.projection import project_method, projection_seconds

    n_nodes = min(n_nodes, most)
    chosen = project_method(method, n_nodes)
    seconds = projection_seconds(chosen, n_nodes)
    if seconds >= _LONG:
        about = f"{seconds:.0f} seconds" if seconds < 100 else f"{seconds / 60:.0f} minutes"
        faster = "; --method layout is faster" if chosen in ("tsne", "umap") else ""
        nodes = counted(n_nodes, "node")
        report(f"placing {nodes} by {chosen} takes about {about}{faster}", quiet)

"""Options that `plot` and `explore` share: how vectors become a map."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .._util.hyperparameters import PROJECTIONS
from . import _options as options
from ._inputs import check_reading
from ._options import MAP

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
        check_reading(graph, context.params)

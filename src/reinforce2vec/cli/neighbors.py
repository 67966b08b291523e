"""The command `neighbors`: which nodes are most similar."""

from __future__ import annotations

from typing import Annotated

import typer

from .._util.hyperparameters import SEARCH_METHODS
from . import _options as options
from ._app import examples
from ._exit_codes import FAILURE, USAGE, exit_code
from ._inputs import VectorsArgument, read_input_vectors
from ._messages import print_json
from ._nodes import K, SearchMethod, named_nodes, print_table

EPILOG = examples(
    "neighbors vectors.npz 34",
    "neighbors vectors.npz ann bob -k 3",
    "neighbors vectors.npz 34 --json",
)


def neighbors(
    context: typer.Context,
    vectors: VectorsArgument,
    nodes: Annotated[
        list[str],
        typer.Argument(metavar="ID", help="Nodes, by their ids; after -- if one is negative."),
    ],
    k: K = 10,
    method: SearchMethod = "auto",
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Find the nodes with the most similar vectors.

    Prints a table: the node, a neighbour, and the cosine similarity of their vectors, which is 1 if
    they point the same way.
    """
    with exit_code(USAGE):
        from .._util.checks import check_choice

        check_choice("method", method, SEARCH_METHODS)
    with exit_code(FAILURE):
        from ..embedding import nearest_neighbors
        from ..embedding.nearest import search_method

        embedding = read_input_vectors(vectors, quiet)
        wanted = named_nodes(nodes, embedding)
        found = nearest_neighbors(embedding, wanted, k, method, progress=not quiet)
        if as_json:
            similar = [
                {
                    "node": node,
                    "neighbors": [
                        {"node": other, "cosine": round(cosine, 6)} for other, cosine in others
                    ],
                }
                for node, others in found.items()
            ]
            taken = search_method(method, len(found), *embedding.vectors.shape)
            print_json(context, vectors=vectors, k=k, method=taken, neighbors=similar)
        else:
            print_table(
                ("node", "neighbor", "cosine"),
                (
                    (str(node), str(other), f"{cosine:.4f}")
                    for node, others in found.items()
                    for other, cosine in others
                ),
            )

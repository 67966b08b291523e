"""The command `neighbors`: which nodes are most similar."""

from __future__ import annotations

from typing import Annotated

import typer

from . import _options as options
from ._app import examples
from ._inputs import Vectors, known_vectors
from ._messages import FAILURE, USAGE, print_json, sentences
from ._nodes import METHODS, K, Method, named_nodes, print_table

EPILOG = examples(
    "neighbors vectors.npz 34",
    "neighbors vectors.npz ann bob -k 3",
    "neighbors vectors.npz 34 --json",
)


def neighbors(
    context: typer.Context,
    vectors: Vectors,
    nodes: Annotated[
        list[str],
        typer.Argument(metavar="ID", help="Nodes, by their ids; after -- if one is negative."),
    ],
    k: K = 10,
    method: Method = "auto",
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Tell the nodes whose vectors point most nearly the same way.

    Prints a table: the node, a neighbour, and the cosine of the angle between their vectors, which
    is 1 if they point the same way.
    """
    with sentences(USAGE):
        from .._util.checks import check_choice

        check_choice("method", method, METHODS)
    with sentences(FAILURE):
        from ..embedding import nearest_neighbors
        from ..embedding.nearest import search_method

        embedding = known_vectors(vectors, quiet)
        asked = named_nodes(nodes, embedding)
        found = nearest_neighbors(embedding, asked, k, method, progress=not quiet)
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

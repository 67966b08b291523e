"""The command `neighbors`: which nodes are most similar."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from .._util.errors import InputError
from .._util.hyperparameters import SEARCH_METHODS
from .._util.progress import counted
from . import _options as options
from ._exit_codes import FAILURE, USAGE, exit_code
from ._help import examples
from ._inputs import VectorsArgument, read_input_vectors
from ._messages import check_different, check_stdout, print_json, report, status
from ._nodes import (
    IdsFile,
    K,
    SearchMethod,
    TableOutput,
    row_parts,
    selected_nodes,
)
from ._tables import print_table

if TYPE_CHECKING:
    from ..files.table_files import Columns

EPILOG = examples(
    "neighbors vectors.npz 34",
    "neighbors vectors.npz ann bob -k 3",
    "neighbors vectors.npz -o neighbors.csv",
    "neighbors vectors.npz --ids ids.txt --json",
)

_DIGITS = 6  # of a cosine after the decimal point


def neighbors(
    context: typer.Context,
    vectors: VectorsArgument,
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="ID",
            help="Nodes, by their ids; after -- if one is negative. With --output, every node by "
            "default.",
            show_default=False,
        ),
    ] = None,
    ids: IdsFile = None,
    k: K = 10,
    method: SearchMethod = "auto",
    output: TableOutput = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Find the nodes with the most similar vectors.

    Prints, or writes, a table: the node, a neighbour, and the cosine similarity of their vectors,
    which is 1 if they point the same way.
    """
    with exit_code(USAGE):
        from .._util.checks import check_choice

        check_choice("method", method, SEARCH_METHODS)
        if not names and ids is None and output is None:
            raise InputError(
                "name nodes, or give --ids FILE; -o FILE writes the neighbours of all nodes"
            )
        if output is not None:
            from ..files.table_files import check_table_path
            from ..files.vector_files import files_of_vectors

            check_stdout(output, as_json)
            read = [*files_of_vectors(vectors), *([] if ids is None else [ids])]
            check_different(read, [check_table_path(output)])
    with exit_code(FAILURE):
        from ..embedding import nearest_neighbors
        from ..embedding.nearest import search_method

        embedding = read_input_vectors(vectors, quiet)
        wanted = selected_nodes(names, ids, embedding, quiet)
        found = nearest_neighbors(embedding, wanted, k, method, progress=not quiet)
        facts = {"vectors": vectors, "k": k}
        facts["method"] = search_method(method, len(found), *embedding.vectors.shape)
        if output is not None:
            from ..files.table_files import write_table

            with status(f"writing {output}", quiet):
                write_table(output, map(_rounded, row_parts(found.columns, len(found))))
            report(lambda: f"{output}: the neighbours of {counted(len(found), 'node')}", quiet)
            if as_json:
                print_json(context, files=[output], nodes=len(found), **facts)
        elif as_json:
            similar = [
                {
                    "node": node,
                    "neighbors": [
                        {"node": other, "cosine": round(cosine, _DIGITS)}
                        for other, cosine in others
                    ],
                }
                for node, others in found.items()
            ]
            print_json(context, **facts, neighbors=similar)
        else:
            print_table(
                ("node", "neighbor", "cosine"),
                (
                    (str(node), str(other), f"{cosine:.4f}")
                    for node, others in found.items()
                    for other, cosine in others
                ),
            )


def _rounded(columns: Columns) -> Columns:
    """Return columns with cosines as they are written."""
    return {**columns, "cosine": columns["cosine"].astype(float).round(_DIGITS)}

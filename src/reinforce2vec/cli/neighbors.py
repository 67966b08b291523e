"""The command `neighbors`: which nodes are most similar."""

from __future__ import annotations

from typing import TYPE_CHECKING

import reinforce2vec as r2v

from .._util.errors import InputError
from .._util.progress import counted
from . import _inputs as inputs
from . import _options as options
from ._app import command
from ._messages import print_table
from ._nodes import check_table, selected_nodes, write_rows
from ._run import Run

if TYPE_CHECKING:
    from ..files.table_files import Columns

_DIGITS = 6  # of a cosine after the decimal point


@command(
    options.VECTORS,
    options.argument(
        "names ID",
        "Nodes, by their ids; after -- if one is negative. With --output, every node by default.",
        list[str] | None,
        default=None,
    ),
    *options.shared("ids", "k"),
    options.SEARCH_METHOD,
    options.TABLE_OUTPUT,
    *options.shared("as_json", "quiet"),
    examples=(
        "neighbors vectors.npz 34",
        "neighbors vectors.npz ann bob -k 3",
        "neighbors vectors.npz -o neighbors.csv",
    ),
)
def neighbors(run: Run) -> None:
    """Find the nodes with the most similar vectors.

    Prints, or writes, a table: the node, a neighbour, and the cosine similarity of their vectors,
    which is 1 if they point the same way.
    """
    from ..embedding.nearest import search_method

    given = run.given
    if not given.names and given.ids is None and given.output is None:
        raise InputError(
            "name nodes, or give --ids FILE; -o FILE writes the neighbours of all nodes"
        )
    check_table(run, given.ids)
    run.begin()
    embedding = inputs.read_input_vectors(run, given.vectors)
    nodes = selected_nodes(run, embedding)
    similar = r2v.nearest_neighbors(embedding, nodes, given.k, given.method, progress=not run.quiet)
    method = search_method(given.method, len(similar), *embedding.vectors.shape)
    facts = {"vectors": given.vectors, "k": given.k, "method": method}
    if given.output is not None:
        write_rows(run, lambda part: _rounded(similar.columns(part)), len(similar))
        run.report(lambda: f"{given.output}: the neighbours of {counted(len(similar), 'node')}")
        if given.as_json:
            run.print_json(files=[given.output], nodes=len(similar), **facts)
    elif given.as_json:
        table = [
            {
                "node": node,
                "neighbors": [
                    {"node": other, "cosine": round(cosine, _DIGITS)} for other, cosine in others
                ],
            }
            for node, others in similar.items()
        ]
        run.print_json(**facts, neighbors=table)
    else:
        rows = (
            (str(node), str(other), f"{cosine:.4f}")
            for node, others in similar.items()
            for other, cosine in others
        )
        print_table(("node", "neighbor", "cosine"), rows, left=(0, 1))


def _rounded(columns: Columns) -> Columns:
    """Return columns with cosines as they are written."""
    return {**columns, "cosine": columns["cosine"].astype(float).round(_DIGITS)}

"""The command `recommend`: which links a graph most likely misses."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .._util.errors import InputError
from .._util.hyperparameters import LINK_SCORES, SEARCH_METHODS
from .._util.progress import counted
from . import _options as options
from ._exit_codes import FAILURE, USAGE, exit_code
from ._help import examples
from ._inputs import (
    VectorsArgument,
    check_graph_of,
    check_reading,
    given_files,
    graph_facts,
    read_input_graph,
    read_input_vectors,
)
from ._messages import check_different, check_stdout, print_json, report, status
from ._nodes import (
    IdsFile,
    K,
    SearchMethod,
    TableOutput,
    nodes_in_file,
    row_parts,
    selected_nodes,
)
from ._options import GRAPH_OPTIONS, SEARCH
from ._tables import print_table

if TYPE_CHECKING:
    from ..embedding import Embedding
    from ..graph import Graph

EPILOG = examples(
    "recommend vectors.npz edges.txt 34 -k 3",
    "recommend vectors.npz edges.txt --best 50",
    "recommend vectors.npz edges.txt --ids users.txt --candidates items.txt -o links.csv",
)
_COLUMNS = ("source", "target", "score")
_SHOWN = 20  # links that are printed where neither nodes nor a number are given


@options.shared(*GRAPH_OPTIONS)
def recommend(
    context: typer.Context,
    vectors: VectorsArgument,
    graph: Annotated[Path, typer.Argument(metavar="GRAPH", help=options.GRAPH_HELP)],
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="ID",
            help="Nodes that get recommendations, by their ids; every node by default.",
            show_default=False,
        ),
    ] = None,
    ids: IdsFile = None,
    candidates: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Recommend only these nodes, an id a line; such as items, if --ids are users. "
            "Default: every node.",
            rich_help_panel=SEARCH,
        ),
    ] = None,
    k: K = 10,
    best: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help=f"Only the N most likely links overall. Default: all; {_SHOWN} if neither nodes "
            "nor --output is given.",
            rich_help_panel=SEARCH,
        ),
    ] = None,
    score: Annotated[
        str,
        typer.Option(
            metavar="SCORE",  # the names of all are too long for a line
            help="auto: whichever of the others finds most links that are hidden once more from "
            "the graph. allocation, adamic-adar, common: common neighbours. three-steps: paths of "
            "three steps, as from users to items. odds: log-odds by the cosine of the vectors and "
            "the degrees. combined: log-odds by all of these. cosine: the cosine alone.",
            rich_help_panel=SEARCH,
            autocompletion=lambda: list(LINK_SCORES),
        ),
    ] = "auto",
    method: SearchMethod = "auto",
    output: TableOutput = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Recommend links that are most likely missing from a graph.

    Prints, or writes, a table: a node, another node that it is not linked to, and a score, which is
    higher for likelier links.
    """
    with exit_code(USAGE):
        from .._util.checks import check_choice

        check_choice("method", method, SEARCH_METHODS)
        check_choice("score", score, LINK_SCORES)
        check_reading(graph, context.params)
        if output is not None:
            from ..files.table_files import check_table_path
            from ..files.vector_files import files_of_vectors

            check_stdout(output, as_json)
            read = [path for path in (graph, ids, candidates) if path is not None]
            read += files_of_vectors(vectors)
            read += given_files(context.params)
            check_different(read, [check_table_path(output)])
        if str(ids) == str(candidates) == "-":
            raise InputError("--ids - and --candidates - both read stdin: give one as a file")
    with exit_code(FAILURE):
        from ..embedding import recommend_links
        from ..embedding.nearest import search_method

        embedding = read_input_vectors(vectors, quiet)
        wanted = selected_nodes(names, ids, embedding, quiet)
        among = None if candidates is None else nodes_in_file(candidates, embedding, quiet)
        whole = read_input_graph(graph, context)
        embedding = check_graph_of(embedding, whole, context, quiet)
        if not quiet:
            _report_strangers(vectors, embedding, graph, whole)
        links = recommend_links(
            *(embedding, whole, k),
            nodes=wanted,
            candidates=among,
            score=score,
            method=method,
            progress=not quiet,
        )
        if score == "auto":
            report(f"score: {links.scorer}, which finds most hidden links", quiet or as_json)
        if best is not None:
            links = links.best(best)
        elif wanted is None and output is None:
            links = links.best(_SHOWN)
            note = (
                f"the {_SHOWN} most likely links overall, at most {k} for each node; name nodes "
                "for theirs, choose --best N, or write all with -o FILE"
            )
            report(note, quiet or as_json)
        if output is not None:
            from ..files.table_files import write_table

            with status(f"writing {output}", quiet):
                write_table(output, row_parts(links.columns, len(links)))
            report(f"{output}: {counted(len(links), 'link')}", quiet)
        if as_json:
            n_sources = len(embedding) if wanted is None else len(set(wanted))
            taken = search_method(method, n_sources, *embedding.vectors.shape)
            facts = {"vectors": vectors, "graph": graph, **graph_facts(whole), "k": k}
            table = [dict(zip(_COLUMNS, link, strict=True)) for link in links]
            print_json(
                context,
                **({} if output is None else {"files": [output]}),
                **facts,
                score=links.scorer,
                method=taken,
                **({"links": table} if output is None else {}),
            )
        elif output is None:
            print_table(_COLUMNS, ((str(a), str(b), f"{value:.4f}") for a, b, value in links))


def _report_strangers(vectors: Path, embedding: Embedding, graph: Path, whole: Graph) -> None:
    """Print how many nodes are only in one of the two files, if there are any."""
    known = sum(node in embedding for node in whole.ids.tolist())
    if without := whole.n_nodes - known:
        report(f"{graph}: {counted(without, 'node')} without a vector, left out", quiet=False)
    if apart := len(embedding) - known:
        nodes = counted(apart, "node")
        report(f"{vectors}: {nodes} not in the graph, without links so far", quiet=False)

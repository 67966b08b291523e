"""The command `walk`: random walks to a file."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from . import options
from .embed import embed
from .speech import FAILURE, USAGE, check_different, say, sentences, status

EPILOG = "Example: reinforce2vec walk edges.txt -o walks.txt --reading released"


@options.borrowed(embed, ("kind", *options.WALK_OPTIONS, *options.GRAPH_OPTIONS, "quiet"))
def walk(
    context: typer.Context,
    graph: Annotated[Path, typer.Argument(metavar="GRAPH", help=options.GRAPH_HELP)],
    output: Annotated[
        Path,
        typer.Option(
            *("--output", "-o"),
            metavar="FILE",
            help="Where the walks go: .txt or .txt.gz (a walk a line, ids separated by tabs), "
            ".npy (row numbers; ids in NAME.ids.txt) or .parquet (lists of ids).",
        ),
    ],
    length: Annotated[
        int, typer.Option(metavar="N", min=1, help="Nodes in a walk, the start included.")
    ] = 40,
    per_node: Annotated[int, typer.Option(metavar="N", min=1, help="Walks from every node.")] = 80,
    seed: options.Seed = 0,
    workers: options.Workers = None,
    backend: options.Backend = "auto",
) -> None:
    """Write random walks from every node of a graph to a file.

    The file appears when it is complete; until then an older one stays as it is.
    """
    quiet = context.params["quiet"]
    with sentences(USAGE):
        chosen = options.walk_from(context.params)
        from ..cuda.device import choose
        from ..walks.files import check_output

        choose(backend, workers=workers, pays=False)
        target, _ = check_output(output)
        check_different([graph], [target])
    with sentences(FAILURE):
        from ..progress import readable
        from ..walks.files import write_walks
        from ..walks.sampler import WalkSampler

        with status(f"reading {graph}", quiet):
            whole = options.read_graph_from(graph, context.params)
        say(f"{graph}: {whole!r}", quiet)
        with status("preparing (at its first use, a kind of walk is compiled)", quiet):
            one = WalkSampler(
                whole, chosen, length=1, per_node=1, starts=whole.ids[:1], backend=backend
            )
            one.sample()
        began = time.perf_counter()
        sampler = WalkSampler(
            whole,
            chosen,
            length=length,
            per_node=per_node,
            seed=seed,
            workers=workers,
            backend=backend,
            progress=not quiet,
        )
        steps = write_walks(output, sampler)
        seconds = time.perf_counter() - began
        say(
            f"{output}: {sampler.n_walks:,} walks, {steps:,} steps in {seconds:.2f} s "
            f"({readable(steps / seconds)} steps/s)",
            quiet,
        )

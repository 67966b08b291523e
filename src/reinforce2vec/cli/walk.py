"""The command `walk`: random walks to a file."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from . import options
from .embed import embed
from .options import OUTPUT, WALK
from .shape import examples
from .speech import FAILURE, USAGE, check_different, print_json, say, sentences, status

EPILOG = examples(
    "walk edges.txt -o walks.txt",
    "walk edges.txt -o walks.npy --length 80 --per-node 10 --reading released",
    "walk edges.csv -o walks.txt.gz --directed --walk second-order --p 0.5 --q 2",
)
RUN_OPTIONS = ("seed", "workers", "backend")


@options.borrowed(
    embed,
    ("kind", *options.WALK_OPTIONS, *options.GRAPH_OPTIONS, *RUN_OPTIONS),
)
def walk(
    context: typer.Context,
    graph: Annotated[
        Path, typer.Argument(metavar="GRAPH", help=options.GRAPH_HELP, readable=False)
    ],
    output: Annotated[
        Path,
        typer.Option(
            *("--output", "-o"),
            metavar="FILE",
            help="Where the walks go: .txt or .txt.gz (a walk a line, ids separated by tabs), "
            ".npy (row numbers; ids in NAME.ids.txt) or .parquet (lists of ids).",
            rich_help_panel=OUTPUT,
        ),
    ],
    as_json: options.Json = False,
    quiet: options.Quiet = False,
    length: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=1,
            help="Nodes in a walk, the start included.",
            rich_help_panel=WALK,
        ),
    ] = 40,
    per_node: Annotated[
        int,
        typer.Option(metavar="N", min=1, help="Walks from every node.", rich_help_panel=WALK),
    ] = 80,
) -> None:
    """Write random walks from every node of a graph to a file.

    The file appears when it is complete; until then an older one stays as it is.
    """
    given = context.params
    running = {name: given[name] for name in RUN_OPTIONS}
    with sentences(USAGE):
        chosen = options.walk_from(given)
        options.check_reading(graph, given)
        from .._util.cuda.device import choose
        from ..files.walk_writers import check_walk_file, walk_ids_path

        choose(given["backend"], "walks", workers=given["workers"])
        target, _ = check_walk_file(output)
        written = [target] if target.suffix != ".npy" else [target, walk_ids_path(target)]
        check_different([graph], written)
    with sentences(FAILURE):
        from .._util.machine import peak_bytes
        from .._util.progress import readable
        from ..files import write_walks
        from ..walks import WalkSampler

        with status(f"reading {graph}", quiet):
            whole = options.read_graph_from(graph, given)
        say(f"{graph}: {whole!r}", quiet)
        with status("preparing (at its first use, a kind of walk is compiled)", quiet):
            WalkSampler(
                *(whole, chosen),
                length=1,
                per_node=1,
                starts=whole.ids[:1],
                backend=given["backend"],
            ).sample()
        sampler = WalkSampler(
            *(whole, chosen), length=length, per_node=per_node, progress=not quiet, **running
        )
        began = time.perf_counter()
        steps = write_walks(output, sampler)
        seconds = time.perf_counter() - began
        say(
            f"{output}: {sampler.n_walks:,} walks, {steps:,} steps in {seconds:.2f} s "
            f"({readable(steps / seconds)} steps/s)",
            quiet,
        )
        if as_json:
            tokens = steps + sampler.n_walks
            print_json(
                context,
                files=[output, *written[1:]],
                graph=graph,
                **options.graph_facts(whole),
                walks=sampler.n_walks,
                tokens=tokens,
                seconds=seconds,
                tokens_per_second=tokens / seconds,
                peak_memory=peak_bytes(),
                backend=sampler.backend,
                settings={"walk": options.walk_facts(chosen), "length": length}
                | {"per_node": per_node, **running},
            )

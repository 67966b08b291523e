"""The command `walk`: random walks to a file."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from .._util.hyperparameters import DIRECTIONS, PARAMETERS, SHARD_FORMATS
from . import _options as options
from ._exit_codes import FAILURE, USAGE, exit_code
from ._help import examples
from ._inputs import check_reading, given_files, graph_facts, read_graph_from, report_reading
from ._messages import check_different, print_json, report, status
from ._models import walk_from
from ._options import GRAPH_OPTIONS, OUTPUT, WALK, WALK_OPTIONS, choice, hyperparameter

EPILOG = examples(
    "walk edges.txt -o walks.txt",
    "walk edges.txt -o walks.npz --walk-length 80 --walks-per-node 10 --reading released",
    "walk edges.txt -o walks/ --backend ray",
    "walk edges.csv -o walks.txt.gz --directed --walk second-order --p 0.5 --q 2",
)
_RUNNING = ("seed", "workers", "backend")


@options.shared(*WALK_OPTIONS, *GRAPH_OPTIONS, *_RUNNING)
def walk(
    context: typer.Context,
    graph: Annotated[
        Path, typer.Argument(metavar="GRAPH", help=options.GRAPH_HELP, readable=False)
    ],
    output: Annotated[
        str,  # not a Path, which would lose the slash of a folder
        typer.Option(
            *("--output", "-o"),
            metavar="FILE|FOLDER/",
            help="Output file: .txt or .txt.gz (one walk per line, ids separated by tabs), "
            "or .npz (row numbers and ids). A folder, whose name ends in a slash, gets many .npy "
            "files and a manifest.json.",
            rich_help_panel=OUTPUT,
            autocompletion=options.completed(),  # by files
        ),
    ],
    shards: Annotated[
        str | None,
        choice("Format of the files in an output folder.", *SHARD_FORMATS, group=OUTPUT),
    ] = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
    length: Annotated[
        int,
        hyperparameter(
            *("walk_length", WALK),
            names=("--walk-length", "--length"),
            help="Nodes in a walk, including the start.",
        ),
    ] = PARAMETERS["walk_length"].default,
    per_node: Annotated[
        int,
        hyperparameter(
            *("walks_per_node", WALK),
            names=("--walks-per-node", "--per-node"),
            help="Walks from every node.",
        ),
    ] = 80,
    direction: Annotated[
        str,
        choice(
            "Directed graphs: whether walks follow edges in their direction or both ways.",
            *DIRECTIONS,
            group=WALK,
        ),
    ] = "forward",
) -> None:
    """Write random walks from every node of a graph to a file or a folder.

    It is written atomically: existing walks are replaced only by complete new ones.
    """
    given = context.params
    running = {name: given[name] for name in _RUNNING}
    with exit_code(USAGE):
        chosen = walk_from(given)
        check_reading(graph, given)
        from .._util.backend_choice import choose
        from .._util.checks import check_choice
        from ..files.locks import claimed
        from ..files.walk_shards import is_shard_folder
        from ..files.walk_writers import check_walks_path

        check_choice("direction", direction, DIRECTIONS)
        choose(given["backend"], "walks", workers=given["workers"])
        target = check_walks_path(output, shards)
        check_different([graph, *given_files(given)], [target])
        if not is_shard_folder(output):  # which write_walks claims
            context.with_resource(claimed(target))
    with exit_code(FAILURE):
        from .._util.machine import peak_bytes
        from .._util.progress import readable
        from ..files import write_walks
        from ..walks import WalkSampler
        from ..walks.directions import are_short

        with status(f"reading {graph}", quiet):
            whole = read_graph_from(graph, given)
        report(lambda: f"{graph}: {whole!r}", quiet)
        report_reading(graph, whole, quiet)
        with status("preparing", quiet):
            WalkSampler(
                *(whole, chosen),
                length=1,
                per_node=1,
                starts=whole.ids[:1],
                backend="cpu" if given["backend"] == "ray" else given["backend"],
            ).sample()
        sampler = WalkSampler(
            *(whole, chosen),
            length=length,
            per_node=per_node,
            progress=not quiet,
            direction=direction,
            **running,
        )
        began = time.perf_counter()
        steps = write_walks(output, sampler, shards=shards)
        seconds = time.perf_counter() - began
        report(
            lambda: (
                f"{output}: {sampler.n_walks:,} walks, {steps:,} steps in {seconds:.2f} s "
                f"({readable(steps / seconds)} steps/s)"
            ),
            quiet,
        )
        mean = (steps + sampler.n_walks) / max(sampler.n_walks, 1)
        if whole.directed and direction == "forward" and are_short(mean, length):
            report(
                f"walks end at nodes without out-edges and have {mean:.1f} of {length} nodes on "
                "average: --direction both follows edges both ways",
                quiet,
            )
        if as_json:
            from ..models.settings import walk_facts

            tokens = steps + sampler.n_walks
            print_json(
                context,
                files=[output],
                graph=graph,
                **graph_facts(whole),
                walks=sampler.n_walks,
                tokens=tokens,
                seconds=seconds,
                tokens_per_second=tokens / seconds,
                peak_memory=peak_bytes(),
                backend=sampler.backend,
                settings={"walk": walk_facts(chosen), "length": length}
                | {"per_node": per_node, "direction": direction, **running},
            )

"""The command `walk`: random walks to a file."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import reinforce2vec as r2v

from .._util.hyperparameters import DIRECTIONS, PARAMETERS, SHARD_FORMATS
from . import _inputs as inputs
from . import _options as options
from ._app import command
from ._models import walk_from
from ._options import GRAPH_OPTIONS, OUTPUT, WALK, WALK_OPTIONS
from ._run import Run

if TYPE_CHECKING:
    pass


@command(
    options.argument("graph GRAPH", options.GRAPH_HELP, readable=False),
    OUTPUT.option(
        "output --output -o FILE|FOLDER/",
        "Output file: .txt or .txt.gz (one walk per line, ids separated by tabs), or .npz (row "
        "numbers and ids). A folder, whose name ends in a slash, gets many .npy files and a "
        "manifest.json.",
        kind=str,
        default=...,
        autocompletion=options.completed(),
    ),
    OUTPUT.choice("shards", SHARD_FORMATS, "Format of the files in an output folder."),
    *options.shared("as_json", "quiet"),
    WALK.option(
        "length --walk-length --length N",
        "Nodes in a walk, including the start.",
        default=PARAMETERS["walk_length"].default,
    ),
    WALK.option("per_node --walks-per-node --per-node N", "Walks from every node.", default=80),
    WALK.choice(
        "direction",
        DIRECTIONS,
        "Directed graphs: whether walks follow edges in their direction or both ways.",
        default="forward",
    ),
    *options.shared(*WALK_OPTIONS, *GRAPH_OPTIONS, "seed", "workers", "backend"),
    examples=(
        "walk edges.txt -o walks.txt",
        "walk edges.txt -o walks.npz --walk-length 80 --walks-per-node 10 --reading released",
        "walk edges.txt -o walks/ --backend ray",
    ),
)
def walk(run: Run) -> None:
    """Write random walks from every node of a graph to a file or a folder.

    It is written atomically: existing walks are replaced only by complete new ones.
    """
    from .._util.backend_choice import choose
    from ..files.walk_shards import is_shard_folder
    from ..files.walk_writers import check_walks_path

    given, policy = run.given, walk_from(run)
    inputs.check_reading(run, given.graph)
    choose(given.backend, "walks", workers=given.workers)
    target = check_walks_path(given.output, given.shards)
    claim = not is_shard_folder(given.output)  # else write_walks does
    run.writes(target, reads=[given.graph], claim=claim)
    run.begin()
    graph = inputs.read_input_graph(run, given.graph)
    with run.status("preparing"):
        here = "cpu" if given.backend == "ray" else given.backend
        r2v.WalkSampler(
            graph, policy, length=1, per_node=1, starts=graph.ids[:1], backend=here
        ).sample()
    settings = {name: getattr(given, name) for name in ("length", "per_node", "direction")}
    settings |= {name: getattr(given, name) for name in ("seed", "workers", "backend")}
    sampler = r2v.WalkSampler(graph, policy, progress=not run.quiet, **settings)
    began = time.perf_counter()
    steps = r2v.write_walks(given.output, sampler, shards=given.shards)
    _report(run, graph, sampler, steps, time.perf_counter() - began, settings)


def _report(
    run: Run,
    graph: r2v.Graph,
    sampler: r2v.WalkSampler,
    steps: int,
    seconds: float,
    settings: dict[str, Any],
) -> None:
    """Print what was written."""
    from .._util.machine import peak_bytes
    from .._util.progress import readable
    from ..models.model_file import walk_facts
    from ..walks.directions import are_short

    given, tokens = run.given, steps + sampler.n_walks
    run.report(
        lambda: (
            f"{given.output}: {sampler.n_walks:,} walks, {steps:,} steps in {seconds:.2f} s "
            f"({readable(steps / seconds)} steps/s)"
        )
    )
    mean = tokens / max(sampler.n_walks, 1)
    if graph.directed and given.direction == "forward" and are_short(mean, given.length):
        run.report(
            f"walks end at nodes without out-edges and have {mean:.1f} of {given.length} nodes on "
            "average: --direction both follows edges both ways"
        )
    if given.as_json:
        run.print_json(
            files=[given.output],
            graph=given.graph,
            **inputs.graph_facts(graph),
            walks=sampler.n_walks,
            tokens=tokens,
            seconds=seconds,
            tokens_per_second=tokens / seconds,
            peak_memory=peak_bytes(),
            backend=sampler.backend,
            settings={"walk": walk_facts(sampler.walk), **settings},
        )

"""The command `embed`: a graph to vectors."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .._util.errors import InputError
from . import options
from .options import LEARNING, OUTPUT, READING, RUNNING
from .shape import examples
from .speech import FAILURE, USAGE, check_different, print_json, say, sentences, status

EPILOG = examples(
    "embed edges.txt -o vectors.npz",
    "embed edges.csv -o vectors.npz --directed --walks-per-node 20 --smooth",
    "embed edges.txt -o vectors.txt --dimensions 128 --walk second-order --p 0.5 --q 2",
    "embed large.txt -o vectors.npz --checkpoint run.npz --resume",
    "embed --walks walks.txt -o vectors.npz --json",
)
WALKING = ("walks_per_node", "walk_length", "smooth")  # what walks that are there need not be told


def embed(
    context: typer.Context,
    output: Annotated[
        Path,
        typer.Option(
            *("--output", "-o"),
            metavar="FILE",
            help="Where the vectors go: .npz (ids and vectors; Embedding.load reads it), .txt, "
            ".txt.gz or .vec (word2vec text), .bin (word2vec binary), .parquet, or .tsv (for the "
            "TensorBoard projector; ids in NAME.metadata.tsv).",
            rich_help_panel=OUTPUT,
        ),
    ],
    graph: Annotated[
        Path | None,
        typer.Argument(
            metavar="GRAPH", help=options.GRAPH_HELP, show_default=False, readable=False
        ),
    ] = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
    dimensions: Annotated[
        int,
        typer.Option(
            *("--dimensions", "-d"),
            metavar="N",
            min=1,
            help="Numbers in a vector. 64 is the paper's choice; 128 is common elsewhere and "
            "seldom worse, at twice the memory and less than twice the time.",
            rich_help_panel=LEARNING,
        ),
    ] = 64,
    walks_per_node: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=1,
            help="Walks from every node. 80, as in the paper, is much; on large graphs 10 to 20 "
            "do, with a larger --learning-rate.",
            rich_help_panel=LEARNING,
        ),
    ] = 80,
    walk_length: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=1,
            help="Nodes in a walk, the start included. The paper's 40 gives a walk that remembers "
            "time to return.",
            rich_help_panel=LEARNING,
        ),
    ] = 40,
    window: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=1,
            help="Nodes up to so many steps apart in a walk move towards each other, near ones "
            "more often. 10 shows communities; less keeps to direct neighbours.",
            rich_help_panel=LEARNING,
        ),
    ] = 10,
    negatives: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=1,
            help="Random nodes that each pair is told apart from. 5 is enough on all but tiny "
            "graphs; time grows with it.",
            rich_help_panel=LEARNING,
        ),
    ] = 5,
    epochs: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=1,
            help="Rounds of training, each on new walks (with --walks: on the same again). One is "
            "enough at 80 walks a node.",
            rich_help_panel=LEARNING,
        ),
    ] = 1,
    learning_rate: Annotated[
        float | None,
        typer.Option(
            metavar="RATE",
            help="How far a vector moves at first; falls to almost nothing. Default: 0.05 with up "
            "to 20 walks of 40 nodes from every node, and less with more, down to 0.025 with 80.",
            rich_help_panel=LEARNING,
        ),
    ] = None,
    subsample: Annotated[
        float,
        typer.Option(
            metavar="SHARE",
            help="Skip visits of nodes with more than about this share of all visits; 0 skips "
            "none. 0.001 speeds up graphs with a few huge hubs.",
            rich_help_panel=LEARNING,
        ),
    ] = 0.0,
    smooth: Annotated[
        bool,
        typer.Option(
            "--smooth",
            help="Smooth the vectors along the graph when they are learned. Costs seconds, and "
            "mostly pays, above all with few walks.",
            rich_help_panel=LEARNING,
        ),
    ] = False,
    kind: options.Kind = "reinforced",
    reading: options.Reading = None,
    reward: options.Reward = None,
    exploration: options.Exploration = None,
    weight: options.Weight = None,
    annealing: options.Annealing = None,
    occupation: options.Occupation = None,
    candidates: options.Candidates = None,
    temperature: options.Temperature = None,
    attraction: options.Attraction = None,
    p: options.P = None,
    q: options.Q = None,
    walks: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Learn from walks that are there already, as `reinforce2vec walk` writes them, "
            "instead of a graph.",
            rich_help_panel=READING,
        ),
    ] = None,
    directed: options.Directed = None,
    weighted: options.Weighted = None,
    self_loops: options.SelfLoops = False,
    format: options.Format = None,
    delimiter: options.Delimiter = None,
    header: options.Header = None,
    key: options.Key = "network",
    seed: options.Seed = 0,
    workers: options.Workers = None,
    backend: options.Backend = "auto",
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Keep the training in this file while it is under way; removed when the vectors "
            "are written.",
            rich_help_panel=RUNNING,
        ),
    ] = None,
    checkpoint_every: Annotated[
        float,
        typer.Option(
            metavar="SECONDS", min=0, help="How often to write it.", rich_help_panel=RUNNING
        ),
    ] = 300.0,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            help="Go on from the checkpoint, if there is one; with --workers 1 to the same "
            "vectors, bit for bit, as without the interruption.",
            rich_help_panel=RUNNING,
        ),
    ] = False,
) -> None:
    """Learn a vector for every node of a graph.

    The file appears when it is complete; until then an older one stays as it is.
    """
    source = graph or walks
    with sentences(USAGE):
        if source is None or (graph is not None and walks is not None):
            raise InputError("give either GRAPH or --walks FILE")
        if resume and checkpoint is None:
            raise InputError("--resume needs --checkpoint FILE: what to go on from")
        from ..files.vector_files import check_vector_file, metadata_path
        from ..files.walk_writers import walk_ids_path
        from ..files.writing import check_target

        written = [check_vector_file(output)]
        if written[0].suffix == ".tsv":
            written.append(metadata_path(written[0]))
        if checkpoint is not None:
            written.append(check_target(checkpoint))
        read = [source] if source.suffix != ".npy" else [source, walk_ids_path(source)]
        check_different(read, written)
        if walks is not None:
            unused = (*options.GRAPH_OPTIONS, *options.WALK_OPTIONS, "kind", *WALKING)
            options.check_unused(context, unused, "a graph", "--walks")
        else:
            options.check_reading(source, context.params)
        model = options.model_from(context.params)
    with sentences(FAILURE, checkpoint):
        from .._util.machine import peak_bytes
        from .._util.progress import counted, readable, readable_bytes
        from ..files import read_walks
        from ..graph import Graph

        with status(f"reading {source}", quiet):
            found = options.read_graph_from(graph, context.params) if graph else read_walks(source)
        check_vector_file(output, found.ids, dimensions)
        needed = f"{readable_bytes(model.estimate_memory(found))} more"
        if backend == "cuda":
            on_card = readable_bytes(model.estimate_memory(found, backend="cuda"))
            needed += f", and {on_card} on the graphics card"
        say(f"{source}: {found!r}; learning needs about {needed}", quiet)
        learn = model.fit if graph else model.fit_walks
        with status("preparing (at its first use, training is compiled)", quiet):
            learn(
                found,
                progress=not quiet,
                checkpoint=checkpoint,
                checkpoint_every=checkpoint_every,
                resume=resume,
            )
        model.embedding_.save(output)
        if checkpoint is not None:
            written.pop().unlink(missing_ok=True)
        tokens, seconds, peak = model.n_tokens_, max(model.seconds_, 1e-9), peak_bytes()
        if not model.loss_curve_.size:
            say("no walk has two nodes, so nothing was learned: vectors are random", quiet)
        nodes = counted(len(model.embedding_), "node")
        place = " on the graphics card" if model.backend_ == "cuda" else ""
        say(
            f"{output}: {nodes}, {counted(dimensions, 'dimension')}; {tokens:,} tokens in "
            f"{seconds:.2f} s{place} ({readable(tokens / seconds)} tokens/s), peak memory "
            f"{readable_bytes(peak)}",
            quiet,
        )
        if as_json:
            print_json(
                context,
                files=[output, *written[1:]],
                **({"graph": graph} if graph else {"walks": walks}),
                **(
                    options.graph_facts(found)
                    if isinstance(found, Graph)
                    else {"nodes": len(found.ids)}
                ),
                dimensions=dimensions,
                tokens=tokens,
                seconds=seconds,
                tokens_per_second=tokens / seconds,
                peak_memory=peak,
                loss=float(model.loss_curve_[-1]) if model.loss_curve_.size else None,
                backend=model.backend_,
                settings=options.model_facts(model) | {"learning_rate": model.learning_rate_},
            )

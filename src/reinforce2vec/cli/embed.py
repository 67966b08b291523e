"""The command `embed`: a graph to vectors."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .._util.errors import InputError
from . import _options as options
from ._app import examples
from ._exit_codes import FAILURE, USAGE, exit_code
from ._inputs import report_reading
from ._messages import check_different, print_json, report, status
from ._options import GRAPH_OPTIONS, MODEL_OPTIONS, OUTPUT, READING, RUNNING, WALK_OPTIONS

EPILOG = examples(
    "embed edges.txt -o vectors.npz",
    "embed edges.csv -o vectors.npz --directed --dimensions 64",
    "embed edges.txt -o vectors.txt --preset paper --walk second-order --p 0.5 --q 2",
    "embed large.txt -o vectors.npz --checkpoint run.npz --resume",
    "embed --walks walks.txt -o vectors.npz --json",
)
# options that have no effect on training with given walks
_OF_A_GRAPH = (*GRAPH_OPTIONS, *WALK_OPTIONS, "walks_per_node", "walk_length")


@options.shared(*MODEL_OPTIONS, *GRAPH_OPTIONS, "seed")
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
    walks: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Train on given walks, as `reinforce2vec walk` writes them, instead of a graph.",
            rich_help_panel=READING,
        ),
    ] = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Save the state of the training to this file; removed when the vectors are "
            "written.",
            rich_help_panel=RUNNING,
        ),
    ] = None,
    checkpoint_every: Annotated[
        float,
        typer.Option(
            metavar="SECONDS",
            min=0,
            help="Time between two checkpoints.",
            rich_help_panel=RUNNING,
        ),
    ] = 300.0,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            help="Resume from the checkpoint, if there is one; on the CPU the vectors are the "
            "same, bit for bit, as without the interruption.",
            rich_help_panel=RUNNING,
        ),
    ] = False,
) -> None:
    """Learn a vector for every node of a graph.

    The file is written atomically: an existing one is replaced only by a complete new one.
    """
    given, source = context.params, graph or walks
    with exit_code(USAGE):
        if source is None or (graph is not None and walks is not None):
            raise InputError("give either GRAPH or --walks FILE")
        if resume and checkpoint is None:
            raise InputError("--resume needs --checkpoint FILE: the file to resume from")
        from ..files.vector_files import check_vectors_fit, check_vectors_path, metadata_path
        from ..files.walk_writers import walk_ids_path
        from ..files.writing import ProbedPath, check_target

        written = [check_vectors_path(output)]
        if written[0].suffix == ".tsv":
            written.append(metadata_path(written[0]))
        if checkpoint is not None:
            written.append(check_target(checkpoint))
        read = [source] if source.suffix != ".npy" else [source, walk_ids_path(source)]
        check_different([*read, *options.given_files(given)], written)
        if walks is not None:
            options.check_unused(context, _OF_A_GRAPH, "a graph", "--walks")
        else:
            options.check_reading(source, given)
        model = options.model_from(given)
    with exit_code(FAILURE, checkpoint):
        from .._util.machine import peak_bytes
        from .._util.progress import counted, readable, readable_bytes
        from ..files import read_walks
        from ..graph import Graph

        with status(f"reading {source}", quiet):
            found = options.read_graph_from(graph, given) if graph else read_walks(source)
        check_vectors_fit(output, found.ids, model.dimensions)

        def estimate() -> str:
            needed = f"{readable_bytes(model.estimate_memory(found))} of memory"
            if model.backend == "cuda":
                on_gpu = readable_bytes(model.estimate_memory(found, backend="cuda"))
                needed += f", and {on_gpu} on the GPU"
            return f"{source}: {found!r}; training needs about {needed}"

        report(estimate, quiet)
        if isinstance(found, Graph):
            report_reading(source, found, quiet)
        fit = model.fit if graph else model.fit_walks
        with status("preparing (training is compiled at its first use)", quiet):
            fit(
                found,
                progress=not quiet,
                checkpoint=None if checkpoint is None else ProbedPath(checkpoint),
                checkpoint_every=checkpoint_every,
                resume=resume,
            )
        model.embedding_.save(output)
        if checkpoint is not None:
            written.pop().unlink(missing_ok=True)
        tokens, seconds = model.n_tokens_, max(model.seconds_, 1e-9)
        if not model.loss_curve_.size:
            report("every walk has a single node: nothing was learned, vectors are random", quiet)

        def summary() -> str:
            nodes = counted(len(model.embedding_), "node")
            place = " on the GPU" if model.backend_ == "cuda" else ""
            return (
                f"{output}: {nodes}, {counted(model.dimensions, 'dimension')}; {tokens:,} tokens "
                f"in {seconds:.2f} s{place} ({readable(tokens / seconds)} tokens/s), peak memory "
                f"{readable_bytes(peak_bytes())}"
            )

        report(summary, quiet)
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
                dimensions=model.dimensions,
                tokens=tokens,
                seconds=seconds,
                tokens_per_second=tokens / seconds,
                peak_memory=peak_bytes(),
                loss=model.loss_curve_[-1].tolist() if model.loss_curve_.size else None,
                backend=model.backend_,
                settings=options.model_facts(model) | {"learning_rate": model.learning_rate_},
            )

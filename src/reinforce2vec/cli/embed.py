"""The command `embed`: a graph to vectors."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .._util.errors import InputError
from . import _options as options
from ._exit_codes import FAILURE, USAGE, exit_code
from ._help import examples
from ._inputs import (
    check_reading,
    given_files,
    graph_facts,
    read_graph_from,
    report_direction,
    report_reading,
    unescaped,
)
from ._messages import check_different, check_stdout, print_json, report, status
from ._models import model_facts, model_from, place_of
from ._options import GRAPH_OPTIONS, MODEL_OPTIONS, OUTPUT, READING, RUNNING, WALK_OPTIONS
from ._outputs import VectorsOutput, checked_outputs

if TYPE_CHECKING:
    from ..models.estimator import Estimator

EPILOG = examples(
    "embed edges.txt -o vectors.npz",
    "embed edges.csv -o vectors.npz --directed --dimensions 64",
    "embed edges.txt -o vectors.txt --preset paper --walk second-order --p 0.5 --q 2",
    "embed edges.txt -o vectors.npz --method prone",
    "embed edges.txt -o vectors.npz --model model.r2v",
    "embed large.txt -o vectors.npz --checkpoint run.npz --resume",
    "embed --walks walks.txt -o vectors.npz --json",
    "embed large.txt -o vectors.npz --backend ray --address head-node:6379",
)
# options that have no effect on training with given walks, and on methods without training
_OF_READING_WALKS = ("delimiter", "id_type")  # of the options of graphs
_OF_A_GRAPH = (
    *(name for name in GRAPH_OPTIONS if name not in _OF_READING_WALKS),
    *WALK_OPTIONS,
    "walks_per_node",
    "walk_length",
)
_OF_SAMPLING = {"walk", "walk_length", "walks_per_node", "direction"}
_OF_TRAINING = ("walks", "model", "checkpoint", "checkpoint_every", "resume", "scratch")


@options.shared(*MODEL_OPTIONS, *GRAPH_OPTIONS, "seed", "scratch")
def embed(
    context: typer.Context,
    graph: Annotated[
        Path | None,
        typer.Argument(
            metavar="GRAPH", help=options.GRAPH_HELP, show_default=False, readable=False
        ),
    ] = None,
    output: VectorsOutput = None,
    model: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Also, or only, write the model, to a .r2v file: `reinforce2vec update` adds "
            "edges to it later, and Reinforce2Vec.load reads it.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
    walks: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE|FOLDER",
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
        if output is None and model is None:
            raise InputError("give --output FILE for the vectors, --model FILE, or both")
        if resume and checkpoint is None:
            raise InputError("--resume needs --checkpoint FILE: the file to resume from")
        from ..files.locks import claimed
        from ..files.writing import ProbedPath, check_target
        from ..skipgram.checkpoint import check_new

        check_stdout(output, as_json)
        made, written = checked_outputs(output, model)
        if checkpoint is not None:
            written.append(check_target(checkpoint))
        check_different([source, *given_files(given)], written)
        if checkpoint is not None:
            with claimed(checkpoint):  # else it is that of a run that goes on
                check_new(checkpoint, resume)
        context.with_resource(claimed(*made))
        if walks is not None:
            options.check_unused(context, _OF_A_GRAPH, "a graph", "--walks")
        else:
            check_reading(source, given)
        learner = model_from(context)
        from ..models import Reinforce2Vec

        if not isinstance(learner, Reinforce2Vec):
            method = f"--method {given['method']}"
            options.check_unused(context, _OF_TRAINING, "methods that train on walks", method)
            if "backend" not in learner.get_params(deep=False):
                options.check_unused(context, ["backend"], "training and smoothing", method)
    with exit_code(FAILURE, checkpoint):
        from .._util.machine import peak_bytes
        from .._util.progress import counted, readable, readable_bytes
        from ..files import read_walks
        from ..files.vector_files import check_vectors_fit
        from ..graph import Graph
        from ..skipgram.checkpoint import remove_checkpoint

        if resume and checkpoint is not None:
            begun = f"{checkpoint}: nothing to resume yet, training begins"
            if checkpoint.exists():
                begun = f"resuming from {checkpoint}"
            report(begun, quiet)
        with status(f"reading {source}", quiet):
            separator = unescaped(given["delimiter"])
            found = (
                read_graph_from(graph, given)
                if graph
                else read_walks(source, delimiter=separator, id_type=given["id_type"])
            )
        if output is not None:
            check_vectors_fit(output, found.ids, given["dimensions"])

        def estimate() -> str:
            if not isinstance(learner, Reinforce2Vec):
                return f"{source}: {found!r}"
            if learner.backend == "ray":
                a_worker = readable_bytes(learner.estimate_memory(found, backend="ray"))
                return f"{source}: {found!r}; training needs about {a_worker} for each worker"
            needed = f"{readable_bytes(learner.estimate_memory(found))} of memory"
            if learner.backend == "cuda":
                on_gpu = readable_bytes(learner.estimate_memory(found, backend="cuda"))
                needed += f", and {on_gpu} on the GPU"
            return f"{source}: {found!r}; training needs about {needed}"

        report(estimate, quiet)
        if isinstance(found, Graph):
            report_reading(source, found, quiet)
            report_direction(learner, found, quiet)
        elif found.notes:
            report(f"{source}: {'; '.join(found.notes)}", quiet)
        began = time.perf_counter()
        trained = isinstance(learner, Reinforce2Vec)
        stage = "preparing" if trained else "computing"
        with status(stage, quiet):
            if isinstance(learner, Reinforce2Vec):
                fit = learner.fit if graph else learner.fit_walks
                fit(
                    found,
                    progress=not quiet,
                    checkpoint=None if checkpoint is None else ProbedPath(checkpoint),
                    checkpoint_every=checkpoint_every,
                    resume=resume,
                )
            else:
                learner.fit(found, progress=not quiet)
        seconds = max(time.perf_counter() - began, 1e-9)
        if output is not None:
            learner.embedding_.save(output)
        if model is not None:
            learner.save(model)
        if checkpoint is not None:
            remove_checkpoint(written.pop())
        work, rate, backend = given["method"], None, "cpu"
        if isinstance(learner, Reinforce2Vec):
            seconds, backend = max(learner.seconds_, 1e-9), learner.backend_
            work, rate = f"{learner.n_tokens_:,} tokens", learner.n_tokens_ / seconds
            if not learner.loss_curve_.size:
                report(
                    "every walk has a single node: nothing was learned, vectors are random", quiet
                )

        def summary() -> str:
            shape = f"{counted(len(learner.embedding_), 'node')}, "
            shape += counted(learner.embedding_.dimensions, "dimension")
            place = place_of(backend, given["workers"])
            pace = "" if rate is None else f" ({readable(rate)} tokens/s)"
            return (
                f"{', '.join(map(str, made))}: {shape}; {work} in {seconds:.2f} s{place}{pace}, "
                f"peak memory {readable_bytes(peak_bytes())}"
            )

        report(summary, quiet)
        if as_json:
            print_json(
                context,
                files=made,
                **({"graph": graph} if graph else {"walks": walks}),
                **(graph_facts(found) if isinstance(found, Graph) else {"nodes": len(found.ids)}),
                method=given["method"],
                dimensions=learner.embedding_.dimensions,
                seconds=seconds,
                tokens_per_second=rate,
                peak_memory=peak_bytes(),
                backend=backend,
                **_training_facts(learner),
            )


def _training_facts(model: Estimator) -> dict[str, Any]:
    """Return what JSON has on a training; null for methods that have none."""
    from ..models import Reinforce2Vec

    settings, tokens, loss = model_facts(model), None, None
    if isinstance(model, Reinforce2Vec):
        settings["learning_rate"], tokens = model.learning_rate_, model.n_tokens_
        if model.graph_ is None:  # of walks that were given, it knows nothing of this
            settings = {name: value for name, value in settings.items() if name not in _OF_SAMPLING}
        else:
            settings["direction"] = model.direction_
        loss = model.loss_curve_[-1].tolist() if model.loss_curve_.size else None
    return {"tokens": tokens, "loss": loss, "settings": settings}

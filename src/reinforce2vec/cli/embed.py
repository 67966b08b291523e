"""The command `embed`: a graph to vectors."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import reinforce2vec as r2v

from .._util.errors import InputError
from . import _inputs as inputs
from . import _options as options
from ._app import command
from ._models import check_outputs, model_facts, model_from, place_of
from ._options import GRAPH_OPTIONS, MODEL_OPTIONS, OUTPUT, READING, RUNNING, WALK_OPTIONS
from ._run import Run

if TYPE_CHECKING:
    from ..files.stored_walks import StoredWalks

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


@command(
    options.argument("graph GRAPH", options.GRAPH_HELP, Path | None, default=None, readable=False),
    options.VECTORS_OUTPUT,
    OUTPUT.option(
        "model FILE",
        "Also, or only, write the model, to a .r2v file: `reinforce2vec update` adds "
        "edges to it later, and Reinforce2Vec.load reads it.",
    ),
    *options.shared("as_json", "quiet"),
    READING.option(
        "walks FILE|FOLDER",
        "Train on given walks, as `reinforce2vec walk` writes them, instead of a graph.",
    ),
    RUNNING.option(
        "checkpoint FILE",
        "Save the state of the training to this file; removed when the vectors are written.",
    ),
    RUNNING.option("checkpoint_every SECONDS", "Time between two checkpoints.", default=300.0),
    RUNNING.flag(
        "resume",
        "Resume from the checkpoint, if there is one; on the CPU the vectors are the "
        "same, bit for bit, as without the interruption.",
    ),
    *options.shared(*MODEL_OPTIONS, *GRAPH_OPTIONS, "seed", "scratch"),
    examples=(
        "embed edges.txt -o vectors.npz",
        "embed edges.txt -o vectors.txt --preset paper --walk second-order --p 0.5 --q 2",
        "embed edges.txt -o vectors.npz --model model.r2v",
        "embed large.txt -o vectors.npz --checkpoint run.npz --resume",
        "embed large.txt -o vectors.npz --backend ray --address head-node:6379",
    ),
)
def embed(run: Run) -> None:
    """Learn a vector for every node of a graph.

    The file is written atomically: an existing one is replaced only by a complete new one.
    """
    given = run.given
    source, outputs = _check_files(run)
    model = _checked_model(run)
    run.begin(given.checkpoint)
    data = _read(run, source)
    if given.output is not None:
        from ..files.vector_files import check_vectors_fit

        check_vectors_fit(given.output, data.ids, given.dimensions)
    if _is_trained(model):
        run.report(lambda: _plan(model, data))
    seconds = _train(run, model, data)
    if given.output is not None:
        model.embedding_.save(given.output)
    if given.model is not None:
        model.save(given.model)
    if given.checkpoint is not None:
        from ..files.targets import resolve_target
        from ..skipgram.checkpoint import remove_checkpoint

        remove_checkpoint(resolve_target(given.checkpoint))
    _report(run, model, data, outputs, seconds)


# -- before the work -----------------------------------------------------------------------------


def _check_files(run: Run) -> tuple[Path, list[Path]]:
    """Return what is read and what is written; the files are free, and claimed."""
    from ..files.writing import claimed
    from ..skipgram.checkpoint import check_new

    given, source = run.given, run.given.graph or run.given.walks
    if source is None or (given.graph is not None and given.walks is not None):
        raise InputError("give either GRAPH or --walks FILE")
    if given.output is None and given.model is None:
        raise InputError("give --output FILE for the vectors, --model FILE, or both")
    if given.resume and given.checkpoint is None:
        raise InputError("--resume needs --checkpoint FILE: the file to resume from")
    outputs = check_outputs(given.output, given.model)
    if given.checkpoint is not None:
        from ..files.writing import check_target

        check_target(given.checkpoint)
        run.writes(*outputs, given.checkpoint, reads=[source], claim=False)
        with claimed(given.checkpoint):  # else it is that of a run that goes on
            check_new(given.checkpoint, given.resume)
    run.writes(*outputs, reads=[source])
    return source, outputs


def _checked_model(run: Run) -> Any:
    """Return the model that is to be trained; options that it has no use for are refused."""
    if run.given.walks is not None:
        run.refuse(_OF_A_GRAPH, "a graph", "--walks")
    else:
        inputs.check_reading(run, run.given.graph)
    model = model_from(run)
    if not _is_trained(model):
        method = f"--method {run.given.method}"
        run.refuse(_OF_TRAINING, "methods that train on walks", method)
        if "backend" not in model.get_params(deep=False):
            run.refuse(["backend"], "training and smoothing", method)
    return model


def _is_trained(model: Any) -> bool:
    """Return whether a model trains on walks."""
    return isinstance(model, r2v.Reinforce2Vec)


# -- the work ------------------------------------------------------------------------------------


def _read(run: Run, source: Path) -> r2v.Graph | StoredWalks:
    """Read the graph or the walks."""
    given = run.given
    if given.resume:
        exists = given.checkpoint.exists()
        begun = f"{given.checkpoint}: nothing to resume yet, training begins"
        run.report(f"resuming from {given.checkpoint}" if exists else begun)
    if given.graph is not None:
        return inputs.read_input_graph(run, source)

    with run.status(f"reading {source}"):
        delimiter = inputs.unescaped(given.delimiter)
        walks = r2v.read_walks(source, delimiter=delimiter, id_type=given.id_type)
    run.report(lambda: "; ".join([f"{source}: {walks!r}", *walks.notes]))
    return walks


def _plan(model: Any, data: r2v.Graph | StoredWalks) -> str:
    """Return how much memory the training needs, in a sentence."""
    from .._util.progress import readable_bytes

    if model.backend == "ray":
        a_worker = readable_bytes(model.estimate_memory(data, backend="ray"))
        return f"training needs about {a_worker} for each worker"
    plan = f"training needs about {readable_bytes(model.estimate_memory(data))} of memory"
    if model.backend == "cuda":
        plan += f", and {readable_bytes(model.estimate_memory(data, backend='cuda'))} on the GPU"
    return plan


def _train(run: Run, model: Any, data: Any) -> float:
    """Train the model; return the seconds that it took."""
    from ..files.writing import ProbedPath

    given, began = run.given, time.perf_counter()
    settings: dict[str, Any] = {"progress": not run.quiet}
    if given.graph is not None:
        inputs.report_direction(run, model, data)
    with run.status("preparing" if _is_trained(model) else "computing"):
        if _is_trained(model):
            settings["checkpoint"] = given.checkpoint and ProbedPath(given.checkpoint)
            settings |= {"checkpoint_every": given.checkpoint_every, "resume": given.resume}
        fit = model.fit if given.graph is not None else model.fit_walks
        fit(data, **settings)
    seconds = model.seconds_ if _is_trained(model) else time.perf_counter() - began
    return max(float(seconds), 1e-9)


def _report(
    run: Run, model: Any, data: r2v.Graph | StoredWalks, outputs: list[Path], seconds: float
) -> None:
    """Print what was learned and written."""
    from .._util.machine import peak_bytes
    from .._util.progress import counted, readable, readable_bytes

    given, trained = run.given, _is_trained(model)
    rate = model.n_tokens_ / seconds if trained else None
    backend = model.backend_ if trained else "cpu"
    if trained and not model.loss_curve_.size:
        run.report("every walk has a single node: nothing was learned, vectors are random")

    def summary() -> str:
        work = f"{model.n_tokens_:,} tokens" if trained else given.method
        pace = "" if rate is None else f" ({readable(rate)} tokens/s)"
        return (
            f"{', '.join(map(str, outputs))}: {counted(len(model.embedding_), 'node')}, "
            f"{counted(model.embedding_.dimensions, 'dimension')}; {work} in {seconds:.2f} s"
            f"{place_of(backend, given.workers)}{pace}, peak memory {readable_bytes(peak_bytes())}"
        )

    run.report(summary)
    if given.as_json:
        is_graph = isinstance(data, r2v.Graph)
        run.print_json(
            files=outputs,
            **({"graph": given.graph} if is_graph else {"walks": given.walks}),
            **(
                inputs.graph_facts(data)
                if isinstance(data, r2v.Graph)
                else {"nodes": len(data.ids)}
            ),
            method=given.method,
            dimensions=model.embedding_.dimensions,
            seconds=seconds,
            tokens_per_second=rate,
            peak_memory=peak_bytes(),
            backend=backend,
            **_training_facts(model),
        )


def _training_facts(model: Any) -> dict[str, Any]:
    """Return what JSON has on a training; null for methods that have none."""
    settings, tokens, loss = model_facts(model), None, None
    if _is_trained(model):
        settings["learning_rate"], tokens = model.learning_rate_, model.n_tokens_
        if model.graph_ is None:  # of walks that were given, it knows nothing of this
            settings = {name: value for name, value in settings.items() if name not in _OF_SAMPLING}
        else:
            settings["direction"] = model.direction_
        loss = model.loss_curve_[-1].tolist() if model.loss_curve_.size else None
    return {"tokens": tokens, "loss": loss, "settings": settings}

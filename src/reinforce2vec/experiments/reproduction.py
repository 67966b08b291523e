"""`reproduce`: from names of experiments to files with their results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from .._util import backend_choice
from .._util.checks import check_choice, check_count
from .._util.cuda import device
from .._util.errors import InputError
from .._util.hyperparameters import MACHINE_BACKENDS
from .._util.machine import available_cpus
from ..datasets import load_dataset
from ..evaluation.estimators import checked_estimator
from ..files.locks import claimed
from .catalogue import experiments_named
from .cells import Cell, all_needed
from .graphs import TITLES, own_graph
from .report import RESULTS_JSON, write_report
from .running import RunOutcome, kept_cells, run_cells
from .scale import PAPER_SCALE, Scale
from .views import Results


def reproduce(
    names: Sequence[str],
    out: Path,
    *,
    seeds: int = 3,
    data_dir: str | None = None,
    jobs: int | None = None,
    scale: Scale = PAPER_SCALE,
    backend: str = "cpu",
    graph: Any = None,
    labels: Any = None,
    title: str = "your graph",
    estimator: str | None = None,
    say: Callable[[str], None] = lambda message: None,
) -> RunOutcome:
    """Compute missing cells, and write tables, figures and data.

    A graph or an estimator of your own becomes another column or row of the tables that compare
    methods: table-4 (link prediction), table-7 (node classification, which needs labels), wide,
    figure-3 and speed.

    Parameters
    ----------
    names : sequence of str
        Experiments; `all` for every table and figure of the paper.
    out : path
        The folder for results; created if it does not exist.
    seeds : int, default 3
        How many seeds: 0, 1, ...
    data_dir : str, optional
        A folder with the data sets.
    jobs : int, optional
        Number of processes; by default one per CPU.
    scale : Scale
        Sizes and amounts.
    backend : {"cpu", "cuda", "auto"}, default "cpu"
        Where methods and classifiers that can use a GPU run; "cpu" repeats to the last bit. "auto"
        is "cuda" if there is a GPU that CuPy can use. Cells of one are not reused for the other.
    graph : Graph, optional
        A graph of your own, or anything else that :meth:`Graph.from_any` takes.
    labels : optional
        Labels of its nodes, as for :func:`evaluate_node_classification`; a dict is matched by ids.
    title : str
        What tables call your graph.
    estimator : str, optional
        A Python path `module:Class`, or `module:factory`; the module may be in the current folder.
        What it makes has a method `fit_transform(graph)` that returns a matrix with a row for each
        node in the order of `graph.ids`. `dimensions` and `seed` are passed if it has parameters of
        these names.
    say : callable
        Called with sentences about anything unusual.

    Returns
    -------
    Outcome
        Results and failures by cell.

    Raises
    ------
    InputError
        Before anything is computed, if a data set is missing, or the graph or the estimator cannot
        be used. An estimator that fails later costs its own cells.
    """
    experiments = experiments_named(names)
    listed = range(check_count("seeds", seeds, 1))
    workers = available_cpus() if jobs is None else check_count("jobs", jobs, 1)
    if out.exists() and not out.is_dir():
        raise InputError(f"{out}: this is a file, expected a folder for the results")
    if graph is None and labels is not None:
        raise InputError("labels need a graph: those of the data sets are known")
    scale = replace(scale, backend=_chosen_backend(backend))
    if estimator is not None:
        scale = replace(scale, own_estimator=checked_estimator(estimator))
    with ExitStack() as stack:
        if graph is not None:
            own = stack.enter_context(own_graph(graph, labels, title))
            scale = replace(scale, own_graph=own)
        cells = [cell for one in experiments for cell in one.cells(listed, scale)]
        _check_needed(cells, out / "cells", data_dir)
        out.mkdir(parents=True, exist_ok=True)
        stack.enter_context(claimed(out / RESULTS_JSON))
        outcome = run_cells(cells, out / "cells", jobs=workers, data_dir=data_dir, say=say)
        write_report(out, experiments, Results(outcome.results), listed, scale, say)
    return outcome


def _chosen_backend(backend: str) -> str:
    """Return "cpu" or "cuda"; InputError if the backend is unknown."""
    chosen = str(check_choice("backend", backend, MACHINE_BACKENDS))
    if chosen == "auto":
        return "cpu" if device.why_not() is not None else "cuda"
    return chosen


def _check_needed(cells: list[Cell], folder: Path, data_dir: str | None) -> None:
    """Check that missing cells can be computed: there is a GPU if they need one, and their data."""
    wanted = all_needed(cells)
    kept = kept_cells(wanted, folder, lambda message: None)
    missing = [cell for cell in wanted if cell.name not in kept]
    for backend in {cell.scale.backend for cell in missing}:
        backend_choice.choose(backend, "training")
    real = [cell for cell in missing if not cell.scale.planted and cell.graph in TITLES]
    for name in sorted({cell.graph for cell in real}):
        load_dataset(name, data_dir)

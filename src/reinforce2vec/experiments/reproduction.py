"""`reproduce`: from names of experiments to files with their results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from .._util.checks import check_count
from .._util.errors import InputError
from .._util.machine import available_cpus
from ..datasets import load_dataset
from .catalogue import experiments_named
from .cells import Cell, all_needed
from .report import write_report
from .running import RunOutcome, kept_cells, run_cells
from .scale import PAPER_SCALE, Scale
from .views import Results
from .walk_figures import TOY


def reproduce(
    names: Sequence[str],
    out: Path,
    *,
    seeds: int = 1,
    data_dir: str | None = None,
    jobs: int | None = None,
    scale: Scale = PAPER_SCALE,
    say: Callable[[str], None] = lambda message: None,
) -> RunOutcome:
    """Compute missing cells, and write tables, figures and data.

    Parameters
    ----------
    names : sequence of str
        Experiments; `all` for every table and figure of the paper.
    out : path
        The folder for results; created if it does not exist.
    seeds : int, default 1
        How many seeds: 0, 1, ...
    data_dir : str, optional
        A folder with the data sets.
    jobs : int, optional
        Number of processes; by default one per CPU.
    scale : Scale
        Sizes and amounts.
    say : callable
        Called with sentences about anything unusual.

    Returns
    -------
    Outcome
        Results and failures by cell.

    Raises
    ------
    InputError
        Before anything is computed, if a data set is missing.
    """
    experiments = experiments_named(names)
    listed = range(check_count("seeds", seeds, 1))
    workers = available_cpus() if jobs is None else check_count("jobs", jobs, 1)
    if out.exists() and not out.is_dir():
        raise InputError(f"{out}: this is a file, expected a folder for the results")
    cells = [cell for one in experiments for cell in one.cells(listed, scale)]
    _load_needed(cells, out / "cells", data_dir)
    outcome = run_cells(cells, out / "cells", jobs=workers, data_dir=data_dir, say=say)
    write_report(out, experiments, Results(outcome.results), listed, scale, say)
    return outcome


def _load_needed(cells: list[Cell], folder: Path, data_dir: str | None) -> None:
    """Load each data set of missing cells, so that a missing file is reported now."""
    wanted = [cell for cell in all_needed(cells) if not cell.scale.planted and cell.graph != TOY]
    kept = kept_cells(wanted, folder, lambda message: None)
    for name in sorted({cell.graph for cell in wanted if cell.name not in kept}):
        load_dataset(name, data_dir)

"""One call from names of experiments to files with their results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from ..checks import check_count
from ..errors import InputError
from ..machine import available_cpus
from .catalogue import chosen
from .report import write_report
from .running import Outcome, run_cells
from .scale import PAPER_SCALE, Scale
from .views import Results


def reproduce(
    names: Sequence[str],
    out: Path,
    *,
    seeds: int = 1,
    data_dir: str | None = None,
    jobs: int | None = None,
    scale: Scale = PAPER_SCALE,
    say: Callable[[str], None] = lambda message: None,
) -> Outcome:
    """Compute what is not there yet and write tables, figures and data.

    Parameters
    ----------
    names : sequence of str
        Experiments; `all` for every table and figure of the paper.
    out : path
        The folder for results; made if it is not there.
    seeds : int, default 1
        How many seeds: 0, 1, ...
    data_dir : str, optional
        A folder with the data sets.
    jobs : int, optional
        Processes; by default one for each processor.
    scale : Scale
        Amounts of everything.
    say : callable
        Takes sentences on what happens.

    Returns
    -------
    Outcome
        Results and failures by cell.
    """
    experiments = chosen(names)
    listed = range(check_count("seeds", seeds, 1))
    workers = available_cpus() if jobs is None else check_count("jobs", jobs, 1)
    if out.exists() and not out.is_dir():
        raise InputError(f"{out}: this is a file, expected a folder for the results")
    cells = [cell for one in experiments for cell in one.cells(listed, scale)]
    outcome = run_cells(cells, out / "cells", jobs=workers, data_dir=data_dir, say=say)
    write_report(out, experiments, Results(outcome.results), listed, scale, say)
    return outcome

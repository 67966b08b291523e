"""Running cells in several processes; finished ones are kept, and reused by later runs."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from .._util.progress import ProgressLine, clock, counted
from ._processes import JobProcesses, JobResult
from .cells import (
    NODE_CLASSIFICATION,
    Cell,
    CellScores,
    all_needed,
    cell_path,
    read_cell,
    write_cell,
)

_Say = Callable[[str], None]
EVERY = 1.0  # seconds between two updates of the line on a terminal
_EVERY_LINE = 60.0  # and between two lines in a file


class RunOutcome(NamedTuple):
    """Results and failures of a run."""

    results: dict[str, dict[str, Any]]  # by the cell's name: the content of its file
    failures: dict[str, str]  # by the cell's name: the reason
    computed: int  # cells computed by this run


def run_cells(
    cells: list[Cell],
    folder: Path,
    *,
    jobs: int,
    data_dir: str | None = None,
    say: _Say = lambda message: None,
    stream: TextIO | None = None,
) -> RunOutcome:
    """Compute the cells that are missing, the long ones first.

    Parameters
    ----------
    cells : list of Cell
        The cells to compute; those they need are added.
    folder : path
        The folder of finished cells.
    jobs : int
        Number of processes.
    data_dir : str, optional
        A folder with the data sets.
    say : callable
        Called with sentences about anything unusual.
    stream : file, optional
        Where progress is written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    wanted = all_needed(cells)
    results, failures = kept_cells(wanted, folder, say), dict[str, str]()
    missing = [cell for cell in wanted if cell.name not in results]
    # cells that others need come first, then the long ones
    needed = {pilot.name for cell in missing for pilot in cell.needs()}
    waiting = sorted(_grouped(missing), key=lambda group: _order(group, needed))
    progress = Progress(missing, len(results), jobs, sys.stderr if stream is None else stream)
    commit = _library_commit()
    under_way: dict[Future[JobResult], list[Cell]] = {}  # a cell, and those after it in its group
    try:
        with JobProcesses(min(jobs, max(len(waiting), 1))) as processes:
            while waiting or under_way:
                while processes.free and (group := _next_ready(waiting, results, failures)):
                    waiting.remove(group)
                    lost = [name for cell in group for name in _lost(cell, failures)]
                    if lost:
                        for cell in group:
                            failures[cell.name] = f"{lost[0]}, which it needs, failed"
                            progress.over(cell, done=False)
                        continue
                    calls = [
                        (cell, data_dir, [results[one.name]["scores"] for one in cell.needs()])
                        for cell in group
                    ]
                    for place, future in enumerate(processes.submit(_compute, calls)):
                        under_way[future] = group[place:]
                    progress.began(group[0])
                for future, result in processes.finished(list(under_way), EVERY):
                    cell, *following = under_way.pop(future)
                    if result.failure is None:
                        results[cell.name] = result.value | ({"commit": commit} if commit else {})
                        write_cell(folder, cell, results[cell.name])
                    else:
                        failures[cell.name] = result.failure
                    progress.over(cell, done=result.failure is None)
                    if following:
                        progress.began(following[0])
                progress.show()
    finally:
        progress.end()
    return RunOutcome(results, failures, len(missing) - len(failures))


def _compute(cell: Cell, data_dir: str | None, pilots: list[CellScores]) -> dict[str, Any]:
    """Compute a cell in a worker process, which alone imports what computes it."""
    from .scoring import compute

    return compute(cell, data_dir, pilots)


def kept_cells(cells: list[Cell], folder: Path, say: _Say) -> dict[str, dict[str, Any]]:
    """Return the cells that an earlier run has finished."""
    found = {}
    for cell in cells:
        try:
            kept = read_cell(folder, cell)
        except ValueError as error:
            say(f"{cell_path(folder, cell)}: damaged ({error}), computed again")
            continue
        if kept is not None:
            found[cell.name] = kept
    return found


def _grouped(cells: list[Cell]) -> list[list[Cell]]:
    """Group cells of several seeds where all seeds have the same vectors."""
    groups: dict[str, list[Cell]] = {}
    for cell in cells:
        shared = cell.task == NODE_CLASSIFICATION and not cell.method.seeded
        key = f"{cell.graph} {cell.method.name} {cell.scope}" if shared else cell.name
        groups.setdefault(key, []).append(cell)
    return list(groups.values())


def _next_ready(
    waiting: list[list[Cell]], results: dict[str, Any], failures: dict[str, str]
) -> list[Cell] | None:
    """Return the first group whose needed cells are finished or failed."""
    for group in waiting:
        needed = (pilot.name for cell in group for pilot in cell.needs())
        if all(name in results or name in failures for name in needed):
            return group
    return None


def _lost(cell: Cell, failures: dict[str, str]) -> list[str]:
    return [pilot.name for pilot in cell.needs() if pilot.name in failures]


def _order(group: list[Cell], needed: set[str]) -> tuple[bool, float]:
    return group[0].name not in needed, -sum(cell.cost() for cell in group)


def _library_commit() -> str:
    """Return the commit of this library's source; empty if there is none, or no git."""
    try:
        done = subprocess.run(
            ["git", "describe", "--always", "--dirty", "--abbrev=12"],
            cwd=Path(__file__).parent,
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()


class Progress:
    """Cells done, time since the beginning and time left; a line on a terminal, or now and then."""

    def __init__(self, missing: list[Cell], kept: int, jobs: int, stream: TextIO) -> None:
        self.left = {cell.name: cell.cost() for cell in missing}
        self.all = kept + len(missing)
        self.jobs, self.stream = jobs, stream
        self.line = ProgressLine(stream=stream, every=EVERY, log_every=_EVERY_LINE)
        self.began_at = time.monotonic()
        self.costs = self.seconds = 0.0  # of cells done: expected, and taken
        self.current: dict[str, float] = {}  # cells under way, and since when
        if kept and missing:
            stream.write(f"{counted(kept, 'cell')} of {self.all:,} from an earlier run\n")

    def began(self, cell: Cell) -> None:
        """A cell is under way."""
        self.current[cell.name] = time.monotonic()

    def over(self, cell: Cell, done: bool) -> None:
        """A cell is finished, or never will be."""
        now, cost = time.monotonic(), self.left.pop(cell.name)
        began = self.current.pop(cell.name, None)
        if done and began is not None:
            self.costs += cost
            self.seconds += now - began

    def remaining(self) -> float | None:
        """Seconds left, from how long the cells so far took beside what was expected."""
        if not self.costs:
            return None
        now, pace = time.monotonic(), self.seconds / self.costs
        under_way = [
            max(pace * self.left[name] - (now - at), 0.0) for name, at in self.current.items()
        ]
        waiting = sum(cost for name, cost in self.left.items() if name not in self.current)
        everything = sum(under_way) + pace * waiting
        return max(everything / self.jobs, *under_way, 0.0)

    def show(self) -> None:
        """Tell how far it is, if it is time to."""
        if not self.left or not self.line.due():
            return
        done, left = self.all - len(self.left), self.remaining()
        elapsed = clock(time.monotonic() - self.began_at)
        line = f"{done:,} of {counted(self.all, 'cell')}  {elapsed} elapsed  "
        line += "" if left is None else f"about {clock(left)} left  "
        line += "now: " + ", ".join(self.current)
        self.line.show(line)

    def end(self) -> None:
        """Clear the line."""
        self.line.clear()

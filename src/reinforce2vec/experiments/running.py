"""Running cells in several processes; finished ones are kept, and reused by later runs."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from .. import __version__
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
from .costs import cost_of

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
    progress = Progress(missing, len(results), jobs, sys.stderr if stream is None else stream)
    run = _CellRun(folder, data_dir, results, failures, progress, library_commit())
    try:
        run.compute([cell for cell in missing if not cell.scale.threads], jobs, 1)
        for threads in sorted({cell.scale.threads for cell in missing} - {0}):
            # timed: one at a time, while nothing else runs
            run.compute([cell for cell in missing if cell.scale.threads == threads], 1, threads)
    finally:
        progress.end()
    return RunOutcome(results, failures, len(missing) - len(failures))


@dataclass
class _CellRun:
    """Cells that are being computed, their results and failures so far."""

    folder: Path
    data_dir: str | None
    results: dict[str, dict[str, Any]]
    failures: dict[str, str]
    progress: Progress
    commit: str

    def compute(self, cells: list[Cell], jobs: int, threads: int) -> None:
        """Compute some cells in processes of so many threads."""
        if not cells:
            return
        # cells that others need come first, then the long ones
        needed = {pilot.name for cell in cells for pilot in cell.needs()}
        waiting = sorted(_grouped(cells), key=lambda group: _order(group, needed))
        under_way: dict[Future[JobResult], list[Cell]] = {}  # a cell, and those after it
        with JobProcesses(min(jobs, len(waiting)), threads) as processes:
            while waiting or under_way:
                while processes.free and (group := self._next_ready(waiting)):
                    waiting.remove(group)
                    if self._give_up(group):
                        continue
                    for place, future in enumerate(processes.submit(_compute, self._calls(group))):
                        under_way[future] = group[place:]
                    self.progress.began(group[0])
                for future, result in processes.finished(list(under_way), EVERY):
                    cell, *following = under_way.pop(future)
                    self._keep(cell, result)
                    if following:
                        self.progress.began(following[0])
                self.progress.show()

    def _next_ready(self, waiting: list[list[Cell]]) -> list[Cell] | None:
        """Return the first group whose needed cells are finished or failed."""
        for group in waiting:
            needed = (pilot.name for cell in group for pilot in cell.needs())
            if all(name in self.results or name in self.failures for name in needed):
                return group
        return None

    def _give_up(self, group: list[Cell]) -> bool:
        """Return whether a group cannot be computed, since cells that it needs failed."""
        needed = (pilot.name for cell in group for pilot in cell.needs())
        lost = [name for name in needed if name in self.failures]
        for cell in group if lost else ():
            self.failures[cell.name] = f"{lost[0]}, which it needs, failed"
            self.progress.over(cell, done=False)
        return bool(lost)

    def _calls(self, group: list[Cell]) -> list[tuple[Any, ...]]:
        """Return what to call the function that computes a cell with, for each cell."""
        return [
            (cell, self.data_dir, [self.results[one.name]["scores"] for one in cell.needs()])
            for cell in group
        ]

    def _keep(self, cell: Cell, result: JobResult) -> None:
        """Keep the result of a cell, or the reason why there is none."""
        if result.failure is None:
            self.results[cell.name] = result.value | {"commit": self.commit}
            write_cell(self.folder, cell, self.results[cell.name])
        else:
            self.failures[cell.name] = result.failure
        self.progress.over(cell, done=result.failure is None)


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
        key = replace(cell, seed=0).name if shared else cell.name
        groups.setdefault(key, []).append(cell)
    return list(groups.values())


def _order(group: list[Cell], needed: set[str]) -> tuple[bool, float]:
    return group[0].name not in needed, -sum(cost_of(cell) for cell in group)


def library_commit() -> str:
    """Return the commit of this library's source; its version if that is no checkout.

    The environment variable REINFORCE2VEC_COMMIT tells it for a copy without the history.
    """
    if told := os.environ.get("REINFORCE2VEC_COMMIT"):
        return told
    folder = Path(__file__).resolve().parent

    def git(*words: str) -> str:
        done = subprocess.run(
            ["git", *words],  # noqa: S607  the words are our own; git has no fixed place
            cwd=folder,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.strip()

    try:
        git("ls-files", "--error-unmatch", Path(__file__).name)  # not the repository of a project
        return git("rev-parse", "--short", "HEAD")
    except (OSError, subprocess.SubprocessError):
        return __version__


class Progress:
    """Cells done, time since the beginning and time left; a line on a terminal, or now and then."""

    def __init__(self, missing: list[Cell], kept: int, jobs: int, stream: TextIO) -> None:
        self.left = {cell.name: cost_of(cell) for cell in missing}
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
        self.line.show(line, done / max(self.all, 1))

    def end(self) -> None:
        """Clear the line."""
        self.line.clear()

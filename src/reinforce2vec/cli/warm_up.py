"""The command `warm-up`: compile everything in advance, for the image of a container."""

from __future__ import annotations

import os
import random
import time
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from tempfile import gettempdir
from typing import Any

from .._util.errors import InputError
from .._util.locks import temporary_folder
from .._util.progress import counted, readable_bytes
from . import _options as options
from ._app import command
from ._run import INTERRUPTED, Run

_SHORT = "--per-node 1 --length 5 -o walks.txt"
_FEW = "--walks-per-node 2 --walk-length 10 --dimensions 16"
# Small runs that together compile what commands use: for graphs with and without weights, and with
# ids that are numbers or text.
_GRAPHS = ("numbers.txt", "weighted.csv --weighted")
_FILES = (".txt", ".csv", ".npz", ".html")
_WALKS = (
    "",
    "--directed",
    "--reading released",
    "--reward kl --candidates 3",
    "--reward vertex",
    "--exploration epsilon",
    "--exploration none",
    "--annealing linear --temperature 0.5 --attraction 2",
    "--walk first-order",
    "--walk second-order --p 0.5 --q 2",
)
_STEPS = {
    "graphs and walks": tuple(
        f"walk {graph} {_SHORT} {words}" for graph in _GRAPHS for words in _WALKS
    ),
    "training and smoothing": (
        "embed --walks walks.txt -o vectors.npz",
        f"embed weighted.csv -o vectors.npz {_FEW} --weighted",
        f"embed weighted.csv -o vectors.npz {_FEW} --weighted --directed",
        f"embed numbers.txt -o vectors.npz {_FEW} --directed --subsample 0.001",
        f"embed numbers.txt -o vectors.txt {_FEW} --window 5 --no-smooth",
        f"embed numbers.txt -o vectors.npz {_FEW}",
    ),
    "neighbours, links, communities": (
        "neighbors vectors.npz 1",
        *(
            f"recommend vectors.npz numbers.txt --score {score} {directed}"
            for score in ("auto", "combined", "odds", "cosine")
            for directed in ("", "--directed")
        ),
        "explore vectors.npz numbers.txt --method pca --output page.html",
    ),
    "evaluation and LINE": (
        "evaluate link-prediction numbers.txt --seeds 1 --method line --dimensions 16",
        "evaluate link-prediction weighted.csv --seeds 1 --method line --dimensions 16",
        "evaluate node-classification vectors.npz --labels labels.txt --seeds 1",
    ),
}


@command(*options.shared("as_json", "quiet"), examples=("warm-up", "warm-up --json"))
def warm_up(run: Run) -> None:
    """Compile all that the other commands use, and save it for later runs.

    For images of containers: the commands then start at once, also for users who cannot write.
    """
    run.begin()
    from .._util.code_cache import tally
    from .._util.compiled import INTERPRETED

    began = time.monotonic()
    if INTERPRETED:
        raise InputError("nothing is compiled while NUMBA_DISABLE_JIT is 1: unset it")
    with temporary_folder(gettempdir(), ".reinforce2vec.warm-up-") as folder:
        _write_inputs(Path(folder))
        for step, lines in _STEPS.items():
            before, since = tally.compiled, time.monotonic()
            with run.status(f"compiling: {step}"):
                for line in lines:
                    _run_command(run, line, Path(folder))
                    if tally.problem is not None:
                        raise InputError(tally.problem)
            if tally.compiled > before:
                functions = counted(tally.compiled - before, "function")
                run.report(f"{step}: {functions} in {time.monotonic() - since:.1f} s")
    place = Path(os.path.commonpath(tally.folders))
    size = sum(
        path.stat().st_size
        for folder in tally.folders
        for path in Path(folder).iterdir()
        if path.suffix in (".nbi", ".nbc")
    )
    seconds, functions = time.monotonic() - began, counted(tally.compiled, "function")
    what = f"compiled {functions}" if tally.compiled else "everything was compiled already"
    run.report(f"{place}: {what}; {readable_bytes(size)} in {seconds:.1f} s")
    if run.given.as_json:
        run.print_json(
            folder=place,
            bytes=size,
            compiled=tally.compiled,
            loaded=tally.loaded,
            seconds=seconds,
        )


def _run_command(run: Run, line: str, folder: Path) -> None:
    """Run another command on files of a folder; InputError if it fails."""
    words = [str(folder / word) if word.endswith(_FILES) else word for word in line.split()]
    commands: Any = run.context.find_root().command
    said = StringIO()
    try:
        with redirect_stdout(StringIO()), redirect_stderr(said):
            commands.main(words, prog_name="reinforce2vec")
    except SystemExit as end:
        if end.code == INTERRUPTED:
            raise KeyboardInterrupt from None
        if end.code:
            reason = said.getvalue().strip().rpartition("\n")[2].removeprefix("error: ")
            raise InputError(f"`reinforce2vec {line}` fails: {reason}") from None


def _write_inputs(folder: Path) -> None:
    """Write a graph with numbers, one with names and weights, and labels."""
    numbers = random.Random(0)  # noqa: S311  no secret
    edges = {(node, (node + step) % 60) for node in range(60) for step in (1, 2)}
    edges |= {(numbers.randrange(60), numbers.randrange(60)) for _ in range(60)}
    lines = [f"{a} {b}\n" for a, b in sorted(edges) if a != b]
    (folder / "numbers.txt").write_text("".join(lines))
    rows = [f"n{a},n{b},{1 + (a + b) % 3}.5\n" for a, b in sorted(edges) if a != b]
    (folder / "weighted.csv").write_text("source,target,weight\n" + "".join(rows))
    (folder / "labels.txt").write_text("".join(f"{node} {node % 2}\n" for node in range(60)))

"""Benchmark the first run on a machine, when nothing is compiled yet.

Each command is run by a new process with an empty folder for compiled code; the second run of
`embed` finds it full.

    python benchmarks/first_run.py       # five minutes on two cores
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from measuring import describe, read_options
from reporting import ROOT, column, publish, ratios, spread, table

COMMAND = ("-m", "reinforce2vec")
EMBED = (*COMMAND, "embed", "-o", "vectors.npz", "--quiet")
AGAIN = "embed again"  # with what the run before it has compiled
RUNS = {
    "import reinforce2vec": ("-c", "import reinforce2vec"),
    "--help": (*COMMAND, "--help"),
    "walk": (*COMMAND, "walk", "numbers.txt", "-o", "walks.npz", "--quiet"),
    "embed, numbers as ids": (*EMBED, "numbers.txt"),
    "embed, names as ids": (*EMBED, "names.txt"),
    AGAIN: (*EMBED, "names.txt"),
}


def write_graphs(folder: Path) -> None:
    """Write a graph of four communities with 240 nodes twice, with numbers and names as ids."""
    rng = random.Random(0)
    pairs = [
        (60 * community + rng.randrange(60), 60 * community + rng.randrange(60))
        for community in range(4)
        for _ in range(300)
    ]
    pairs += [(rng.randrange(240), rng.randrange(240)) for _ in range(80)]
    edges = sorted({(a, b) for a, b in pairs if a != b})
    (folder / "numbers.txt").write_text("".join(f"{a} {b}\n" for a, b in edges))
    (folder / "names.txt").write_text("".join(f"node{a} node{b}\n" for a, b in edges))


def seconds_of(words: tuple[str, ...], folder: Path, cache: Path) -> dict:
    """Return the seconds of a process: on the clock, and of CPU time with its threads."""
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src"), "NUMBA_CACHE_DIR": str(cache)}
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, *words], cwd=folder, env=environment, stdout=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{' '.join(words)} failed")
    return {"wall": time.perf_counter() - began, "cpu": usage.ru_utime + usage.ru_stime}


def measure(rounds: int) -> list[dict]:
    """Return the seconds of all runs, round by round."""
    rows = []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        write_graphs(folder)
        for turn in range(rounds):
            for name, words in RUNS.items():
                if name != AGAIN:
                    cache = Path(tempfile.mkdtemp(dir=folder))
                row = {"round": turn, "run": name, "version": "this"}
                rows.append(row | seconds_of(words, folder, cache))
                print(rows[-1], file=sys.stderr)
                for path in folder.glob("*.np*"):
                    path.unlink()
    return rows


def render(results: dict) -> str:
    """Return the page; older results may have another version beside this one."""
    rows, (this, *others) = results["results"], results["versions"]

    def values(run: str, version: str, what: str) -> list[float]:
        return column(rows, what, run=run, version=version)

    def beside(run: str, other: str) -> str:
        return spread(ratios(values(run, this, "cpu"), values(run, other, "cpu")))

    lines = [
        "# The first run",
        "\nSeconds of a process on a graph of 240 nodes, from its start to its end, with nothing "
        "compiled; the last row has everything compiled. CPU time is that of all threads. Medians, "
        f"and the range over the rounds. {results['machine']['date']}.\n",
        *table(
            ["run", "CPU, s", "wall, s", *(f"CPU / {other}" for other in others)],
            (
                [
                    run,
                    *(spread(values(run, this, what)) for what in ("cpu", "wall")),
                    *(beside(run, other) for other in others),
                ]
                for run in RUNS
            ),
        ),
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run the benchmark."""
    options = read_options("first_run", __doc__, rounds=3)
    results = {"machine": describe(), "versions": ["this"], "results": measure(options.rounds)}
    publish(results, render, options.out)


if __name__ == "__main__":
    main()

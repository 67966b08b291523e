"""Benchmark the first run on a machine, when nothing is compiled yet, beside another version.

Each command is run by a new process with an empty folder for compiled code; the second run of
`embed` finds it full. Versions take turns.

    python benchmarks/first_run.py --against COMMIT       # ten minutes on two cores
    python benchmarks/first_run.py --against COMMIT --rounds 1
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from checkouts import ROOT, checkout_of
from machine import describe
from reporting import publish

HERE = Path(__file__).parent
COMMAND = ("-m", "reinforce2vec")
RUNS = {  # what is run, and whether its folder for compiled code is empty
    "import reinforce2vec": (("-c", "import reinforce2vec"), True),
    "--help": ((*COMMAND, "--help"), True),
    "walk": ((*COMMAND, "walk", "numbers.txt", "-o", "walks.npz", "--quiet"), True),
    "embed, numbers as ids": (
        (*COMMAND, "embed", "numbers.txt", "-o", "vectors.npz", "--quiet"),
        True,
    ),
    "embed, names as ids": (
        (*COMMAND, "embed", "names.txt", "-o", "vectors.npz", "--quiet"),
        True,
    ),
    "embed again": ((*COMMAND, "embed", "names.txt", "-o", "vectors.npz", "--quiet"), False),
}


def write_graphs(folder: Path) -> None:
    """Write a graph of four communities with 240 nodes twice, with numbers and names as ids."""
    numbers = random.Random(0)
    edges = set()
    for community in range(4):
        for _ in range(300):
            a, b = (60 * community + numbers.randrange(60) for _ in range(2))
            edges.add((a, b))
    edges |= {(numbers.randrange(240), numbers.randrange(240)) for _ in range(80)}
    edges = sorted((a, b) for a, b in edges if a != b)
    (folder / "numbers.txt").write_text("".join(f"{a} {b}\n" for a, b in edges))
    (folder / "names.txt").write_text("".join(f"node{a} node{b}\n" for a, b in edges))


def seconds_of(words: tuple[str, ...], checkout: Path, folder: Path, cache: Path) -> dict:
    """Return the seconds of a process: on the clock, and of CPU time with its threads."""
    environment = os.environ | {"PYTHONPATH": str(checkout / "src"), "NUMBA_CACHE_DIR": str(cache)}
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, *words], cwd=folder, env=environment, stdout=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{' '.join(words)} failed")
    return {"wall": time.perf_counter() - began, "cpu": usage.ru_utime + usage.ru_stime}


def measure(versions: dict[str, Path], rounds: int) -> list[dict]:
    """Return the seconds of all runs of all versions, round by round."""
    rows = []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        write_graphs(folder)
        for number in range(rounds):
            cache = dict.fromkeys(versions, folder)
            for run, (words, empty) in RUNS.items():
                for version, checkout in versions.items():
                    if empty:
                        cache[version] = Path(tempfile.mkdtemp(dir=folder))
                    found = seconds_of(words, checkout, folder, cache[version])
                    rows.append({"round": number, "run": run, "version": version, **found})
                    print(rows[-1], file=sys.stderr)
                    for result in (*folder.glob("*.np*"),):
                        result.unlink()
    return rows


def shown(values: list[float]) -> str:
    """Format a median with its range."""
    return f"{median(values):.2f} ({min(values):.2f} – {max(values):.2f})"


def render(found: dict) -> str:
    """Return the page."""
    rows, (this, *others) = found["results"], found["versions"]

    def values(run: str, version: str, kind: str) -> list[float]:
        return [row[kind] for row in rows if (row["run"], row["version"]) == (run, version)]

    title = "| run | CPU, s | wall, s |" + "".join(f" CPU / {other} |" for other in others)
    lines = [
        "# The first run",
        "\nSeconds of a process on a graph of 240 nodes, from its start to its end, with nothing "
        "compiled; the last row has everything compiled. CPU time is that of all threads. Medians, "
        f"and the range over the rounds. {found['machine']['date']}.\n",
        title,
        "|" + "---|" * (3 + len(others)),
    ]
    for run in RUNS:
        cells = [shown(values(run, this, kind)) for kind in ("cpu", "wall")]
        for other in others:
            pairs = zip(values(run, this, "cpu"), values(run, other, "cpu"), strict=True)
            cells.append(shown([own / theirs for own, theirs in pairs]))
        lines.append(f"| {' | '.join([run, *cells])} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--against", metavar="COMMIT", help="another version, or its folder")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--output", type=Path, default=HERE / "results" / "first_run.json")
    options = parser.parse_args()
    found = {"machine": describe(), "versions": ["this"]}
    if options.against is None:
        found["results"] = measure({"this": ROOT}, options.rounds)
    else:
        name = Path(options.against).name[:7]
        found["versions"].append(name)
        with checkout_of(options.against) as other:
            found["results"] = measure({"this": ROOT, name: other}, options.rounds)
    publish(found, render, options.output)


if __name__ == "__main__":
    main()

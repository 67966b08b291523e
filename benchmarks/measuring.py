"""How benchmarks measure: options, turns, processes of their own, and the machine."""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from datetime import datetime, timezone
from importlib import import_module
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from reinforce2vec._util.machine import peak_bytes
from reporting import RESULTS, ROOT, publish

DATA = ROOT.parent / "shared" / "data"  # the files of the paper's graphs, if they are there
THREADS = 2


def read_options(script: str, doc: str, **defaults: Any) -> argparse.Namespace:
    """Read the command line: an option for each default, and --out for the file of results.

    An option is the type of its value if it has no default; a dictionary or tuple holds the values
    to choose from; False is a switch, True one that is switched off by --no-NAME.
    """
    parser = argparse.ArgumentParser(
        description=doc, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name, default in defaults.items():
        words = name.replace("_", "-")
        if default is True:
            parser.add_argument(f"--no-{words}", dest=name, action="store_false")
        elif default is False:
            parser.add_argument(f"--{words}", action="store_true")
        elif isinstance(default, (dict, tuple)):
            parser.add_argument(f"--{words}", choices=list(default))
        elif isinstance(default, list):
            parser.add_argument(f"--{words}", nargs="+", type=type(default[0]), default=default)
        elif isinstance(default, type):
            parser.add_argument(f"--{words}", type=default)
        else:
            parser.add_argument(f"--{words}", type=type(default), default=default)
    if "out" not in defaults:
        parser.add_argument("--out", type=Path, default=RESULTS / f"{script}.json")
    return parser.parse_args()


def measure_each(
    options: argparse.Namespace,
    names: Iterable[str],
    measure: Callable[[str, argparse.Namespace], Any],
    render: Callable[[dict], str],
    **more: dict,
) -> None:
    """Measure what --only names, or everything; publish it, beside earlier results with --only."""
    machine = describe()  # the commit that is measured, whatever is committed meanwhile
    settings = {key: value for key, value in vars(options).items() if key not in ("out", "only")}
    results = {}
    if options.only and options.out.exists():
        results = json.loads(options.out.read_text())["results"]
    for name in [options.only] if options.only else names:
        results[name] = measure(name, options)
    results = {name: results[name] for name in names if name in results}
    report = {"machine": machine, **more, "options": settings, "results": results}
    publish(report, render, options.out)


def in_turns(tasks: dict[Any, Callable[[], dict]], rounds: int) -> Iterator[tuple[int, Any, dict]]:
    """Run all tasks, round after round; yield the round, the name and what the task returned."""
    for turn in range(rounds):
        for name, task in tasks.items():
            result = task()
            print(f"round {turn + 1} of {rounds}, {name}: {result}", file=sys.stderr, flush=True)
            yield turn, name, result


def in_new_process(work: Callable, *arguments: object) -> Any:
    """Return what a function of a module returns in a process of its own."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        return process.submit(work, *arguments).result()


def timed(work: Callable[[], Any]) -> tuple[dict[str, float], Any]:
    """Return the seconds of some work, on the clock and of all CPUs together, and its result."""
    began, cpu_began = time.perf_counter(), time.process_time()
    result = work()
    seconds, cpu_seconds = time.perf_counter() - began, time.process_time() - cpu_began
    return {"seconds": seconds, "cpu_seconds": cpu_seconds}, result


def measured(work: Callable[[], Any]) -> tuple[dict[str, float], Any]:
    """Return what `timed` does, also the growth of the peak of memory (Linux)."""
    Path("/proc/self/clear_refs").write_text("5")  # forgets the peak so far
    before = peak_bytes()
    facts, result = timed(work)
    return facts | {"peak_bytes": peak_bytes() - before}, result


def describe(*packages: str) -> dict:
    """Return machine, versions, date and commit, for a file of results."""
    own = import_module("reinforce2vec").__version__
    names = ("numpy", "scipy", "numba", *packages)
    command = ["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"]
    try:
        commit = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    except OSError:
        commit = ""
    return {
        "date": datetime.now(timezone.utc).date().isoformat(),
        "processor": processor(),
        "processors": os.cpu_count(),
        "python": platform.python_version(),
        "versions": {"reinforce2vec": own} | {name: version(name) for name in names},
        "commit": commit.strip(),
    }


def processor() -> str:
    """Return the name of the CPU, from Linux where possible."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(": ")[2] for line in lines if line.startswith("model name")), "")

"""Benchmark reading an edge list: time and memory, beside networkx and polars.

Makes a file of random edges with integer ids and one with string ids, and reads both with
reinforce2vec.read_graph, networkx.read_edgelist and polars.read_csv (which only parses, and makes
no graph). Every reading has a process of its own; the readers take turns, so that other load on the
machine affects all of them. Memory is the peak above that of the interpreter with its imports.
Times include loading compiled code from numba's cache, which a first, uncounted run fills.

    python benchmarks/reading.py --lines 2000000 --repeats 3
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from machine import describe
from reinforce2vec._util.machine import peak_bytes
from reporting import publish

HERE = Path(__file__).parent
SEED = 0
LINES_AT_ONCE = 1_000_000


# -- the readers, each in a process of its own -------------------------------------------------


def prepare_reinforce2vec(path: Path, _integers: bool):
    from reinforce2vec import read_graph

    def read():
        graph = read_graph(path)
        return {
            "nodes": graph.n_nodes,
            "csr_bytes": graph.indptr.nbytes + graph.indices.nbytes,
        }

    return read


def prepare_networkx(path: Path, integers: bool):
    import networkx

    def read():
        graph = networkx.read_edgelist(path, nodetype=int if integers else str)
        return {"nodes": graph.number_of_nodes()}

    return read


def prepare_polars(path: Path, _integers: bool):
    import polars

    def read():
        table = polars.read_csv(path, separator=" ", has_header=False)
        return {"rows": table.height}

    return read


READERS = {
    "reinforce2vec": prepare_reinforce2vec,
    "networkx": prepare_networkx,
    "polars": prepare_polars,
}


def measure_here(reader: str, path: Path, integers: bool) -> dict[str, float]:
    """Read the file in this process."""
    read = READERS[reader](path, integers)
    before = peak_bytes()
    start, cpu_start = time.perf_counter(), time.process_time()
    found = read()
    return {
        "seconds": time.perf_counter() - start,
        "cpu_seconds": time.process_time() - cpu_start,
        "peak_bytes": peak_bytes() - before,
        **found,
    }


def measure(reader: str, path: Path, kind: str) -> dict[str, float]:
    """Read the file in a new process."""
    command = [sys.executable, __file__, "--child", reader, str(path), kind]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


# -- the run -----------------------------------------------------------------------------------


def write_files(folder: Path, n_lines: int, n_nodes: int) -> dict[str, Path]:
    """Write the same random edges with integer and with string ids."""
    rng = np.random.default_rng(SEED)
    paths = {"integers": folder / "integers.txt", "strings": folder / "strings.txt"}
    with paths["integers"].open("w") as integers, paths["strings"].open("w") as strings:
        for begin in range(0, n_lines, LINES_AT_ONCE):
            edges = rng.integers(0, n_nodes, (min(LINES_AT_ONCE, n_lines - begin), 2)).tolist()
            integers.writelines(f"{a} {b}\n" for a, b in edges)
            strings.writelines(f"user_{a:x} user_{b:x}\n" for a, b in edges)
    return paths


def run(arguments: argparse.Namespace) -> list[dict]:
    """Run all measurements, the readers in turns."""
    repeats = {"reinforce2vec": arguments.repeats, "polars": arguments.repeats}
    repeats["networkx"] = arguments.networkx_repeats
    results = []
    with tempfile.TemporaryDirectory() as folder:
        paths = write_files(Path(folder), arguments.lines, arguments.nodes or arguments.lines // 10)
        for path in paths.values():
            measure("reinforce2vec", path, "integers")  # fills numba's cache
        for turn in range(max(repeats.values())):
            for kind, path in paths.items():
                for reader in (name for name in READERS if turn < repeats[name]):
                    found = measure(reader, path, kind)
                    size = path.stat().st_size
                    results.append({"reader": reader, "ids": kind, "file_bytes": size, **found})
                    print(f"{reader} {kind} {found['seconds']:.2f} s", file=sys.stderr)
    return results


def table(results: list[dict]) -> str:
    """Format the results as Markdown: medians, and the range of times."""
    lines = [
        "| ids | reader | seconds (range) | CPU s | networkx / reader | peak MB | peak / CSR |",
        "|---|---|---|---|---|---|---|",
    ]
    for kind in ("integers", "strings"):
        of_kind = [result for result in results if result["ids"] == kind]
        seconds = {
            reader: [result["seconds"] for result in of_kind if result["reader"] == reader]
            for reader in READERS
        }
        csr = next(result["csr_bytes"] for result in of_kind if "csr_bytes" in result)
        for reader, times in seconds.items():
            if not times:
                continue
            own = [result for result in of_kind if result["reader"] == reader]
            peak = statistics.median(result["peak_bytes"] for result in own)
            cpu = statistics.median(result["cpu_seconds"] for result in own)
            median = statistics.median(times)
            networkx = seconds["networkx"]
            ratio = f"{statistics.median(networkx) / median:.1f}" if networkx else ""
            lines.append(
                f"| {kind} | {reader} | {median:.2f} ({min(times):.2f}-{max(times):.2f}) "
                f"| {cpu:.2f} | {ratio} | {peak / 1e6:,.0f} | {peak / csr:.1f} |"
            )
    return "\n".join(lines)


def render(report: dict) -> str:
    machine = report["machine"]
    return (
        f"# Reading an edge list of {report['lines']:,} lines\n\n"
        f"{machine['processor']}, Python {machine['python']}, {machine['date']}.\n\n"
        f"{table(report['results'])}\n"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lines", type=int, default=10_000_000)
    parser.add_argument("--nodes", type=int, help="default: a tenth of the lines")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--networkx-repeats", type=int, default=1)
    parser.add_argument("--output", type=Path, default=HERE / "results" / "reading.json")
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        reader, path, kind = arguments.child
        print(json.dumps(measure_here(reader, Path(path), kind == "integers")))
        return
    results = run(arguments)
    report = {
        "machine": describe("networkx", "polars"),
        "lines": arguments.lines,
        "nodes": arguments.nodes or arguments.lines // 10,
        "seed": SEED,
        "results": results,
    }
    publish(report, render, arguments.output)


if __name__ == "__main__":
    main()

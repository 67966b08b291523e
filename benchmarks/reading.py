"""Benchmark reading an edge list: time and memory, beside networkx and polars.

Makes a file of random edges with integer ids and one with string ids, and reads both with
reinforce2vec.read_graph, networkx.read_edgelist and polars.read_csv (which only parses, and makes
no graph). Every reading has a process of its own; the readers take turns, so that other load on the
machine affects all of them. Memory is the peak above that of the interpreter with its imports.
Times include loading compiled code from numba's cache, which a first, uncounted run fills.

    python benchmarks/reading.py --lines 2000000 --repeats 3
"""

from __future__ import annotations

import sys
import tempfile
from itertools import product
from pathlib import Path
from statistics import median

import numpy as np

from measuring import describe, in_new_process, measured, read_options
from reporting import column, publish, select, spread, table

SEED = 0
LINES_AT_ONCE = 1_000_000
READERS = ("reinforce2vec", "networkx", "polars")


def read(reader: str, path: Path, ids: str) -> dict[str, float]:
    """Read the file in this process."""
    if reader == "reinforce2vec":
        from reinforce2vec import read_graph

        work = lambda: read_graph(path)  # noqa: E731
    elif reader == "networkx":
        import networkx

        node = int if ids == "integers" else str
        work = lambda: networkx.read_edgelist(path, nodetype=node)  # noqa: E731
    else:
        import polars

        work = lambda: polars.read_csv(path, separator=" ", has_header=False)  # noqa: E731
    facts, result = measured(work)
    if reader == "reinforce2vec":
        facts["csr_bytes"] = result.indptr.nbytes + result.indices.nbytes
    return facts


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


def lines_of(rows: list[dict]) -> list[list[str]]:
    """Return a line for each kind of ids and reader: medians, and the range of times."""
    lines = []
    for ids, reader in product(("integers", "strings"), READERS):
        where = {"ids": ids, "reader": reader}
        if not select(rows, **where):
            continue
        [csr, *_] = column(rows, "csr_bytes", ids=ids)
        networkx = column(rows, "seconds", ids=ids, reader="networkx")
        seconds = column(rows, "seconds", **where)
        cpu, peak = (median(column(rows, key, **where)) for key in ("cpu_seconds", "peak_bytes"))
        ratio = f"{median(networkx) / median(seconds):.1f}" if networkx else ""
        lines.append(
            [
                *(ids, reader, spread(seconds, dash="-"), f"{cpu:.2f}", ratio),
                *(f"{peak / 1e6:,.0f}", f"{peak / csr:.1f}"),
            ]
        )
    return lines


HEADS = (
    *("ids", "reader", "seconds (range)", "CPU s", "networkx / reader", "peak MB", "peak / CSR"),
)


def render(results: dict) -> str:
    machine = results["machine"]
    return "\n".join(
        [
            f"# Reading an edge list of {results['lines']:,} lines\n",
            f"{machine['processor']}, Python {machine['python']}, {machine['date']}.\n",
            *table(HEADS, lines_of(results["results"])),
            "",
        ]
    )


def main() -> None:
    options = read_options(
        "reading", __doc__, lines=10_000_000, nodes=int, repeats=5, networkx_repeats=1
    )
    nodes = options.nodes or options.lines // 10
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        paths = write_files(Path(folder), options.lines, nodes)
        for ids, path in paths.items():
            in_new_process(read, "reinforce2vec", path, ids)  # fills numba's cache
        for turn, (ids, path), reader in product(range(options.repeats), paths.items(), READERS):
            if reader != "networkx" or turn < options.networkx_repeats:
                row = {"reader": reader, "ids": ids, "file_bytes": path.stat().st_size}
                rows.append(row | in_new_process(read, reader, path, ids))
                print(rows[-1], file=sys.stderr)
    results = {
        "machine": describe("networkx", "polars"),
        "lines": options.lines,
        "nodes": nodes,
        "seed": SEED,
        "results": rows,
    }
    publish(results, render, options.out)


if __name__ == "__main__":
    main()

"""Benchmark the explorer: making pages of many nodes, and opening them in headless Chromium.

The graphs have planted groups and ten edges a node, and the nodes three columns. A page in a file
holds everything; one that is served asks for details of nodes. There is no GPU: Chromium draws on
the CPU with SwiftShader. Needs playwright and chromium.

    python benchmarks/explorer.py                       # half an hour on two cores
    python benchmarks/explorer.py --only "1,000,000 served"    # keeps the other results
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import reinforce2vec as r2v
from machine import describe
from reinforce2vec.explorer import Page, make_page, serve_page, write_page
from reporting import publish

HERE = Path(__file__).parent
DIMENSIONS, DEGREE, GROUP = 64, 10, 2000  # of vectors; of nodes; nodes in a group
PAGES = {  # nodes, and whether they are served
    "100,000 in a file": (100_000, False),
    "200,000 in a file": (200_000, False),
    "1,000,000 served": (1_000_000, True),
}
ARGUMENTS = [
    *("--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"),
    *("--enable-precise-memory-info", "--disable-background-networking"),
]
ROUNDS = 3  # openings of each page
ASKED = 20  # nodes whose details are asked


def nodes_of(n: int) -> tuple[r2v.Embedding, r2v.Graph, dict]:
    """Return vectors, a graph and columns of nodes in planted groups."""
    rng = np.random.default_rng(0)
    dataset = r2v.planted_groups(n, n // GROUP, degree=DEGREE, seed=0)
    group = dataset.labels.argmax(axis=1)
    count = int(group.max()) + 1
    centres = rng.normal(size=(count, DIMENSIONS))
    centres += 1.5 * rng.normal(size=(10, DIMENSIONS))[rng.integers(0, 10, count)]
    inside = rng.normal(size=(count, 2, DIMENSIONS))
    vectors = np.empty((n, DIMENSIONS), np.float32)
    for rows in np.array_split(np.arange(n), max(1, n // 50_000)):
        places = rng.uniform(-1, 1, (len(rows), 2))
        own = centres[group[rows]] + np.einsum("ni,nij->nj", places, inside[group[rows]])
        vectors[rows] = own + rng.normal(scale=0.2, size=own.shape)
    columns = {
        "group": [f"group {number}" for number in group.tolist()],
        "size": rng.lognormal(size=n).round(3).tolist(),
        "joined": np.datetime64("2000-01-01") + rng.integers(0, 9000, n),
    }
    columns["joined"] = columns["joined"].astype(str).tolist()
    return r2v.Embedding(dataset.graph.ids, vectors), dataset.graph, columns


def made(n: int, served: bool) -> tuple[Page, dict]:
    """Return a page, and what it took."""
    embedding, graph, columns = nodes_of(n)
    make_page(np.eye(20), [(0, 1), (1, 2)], method="layout")  # compiles
    before = cpu_seconds()
    begin = time.perf_counter()
    page = make_page(embedding, graph, columns=columns, served=served, method="layout")
    facts = {"seconds": time.perf_counter() - begin, "cpu": cpu_seconds() - before}
    facts["peak"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return page, facts | {"bytes": page.size}


def cpu_seconds() -> float:
    """Return the CPU time of this process so far."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def opened(browser: object, address: str, asks: bool) -> dict:
    """Return the seconds until a page is ready, its memory, and the seconds of a node's details."""
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    begin = time.perf_counter()
    page.goto(address)
    page.wait_for_selector("html[data-ready]", timeout=300_000)
    facts = {"seconds": time.perf_counter() - begin}
    facts["heap"] = page.evaluate("performance.memory.usedJSHeapSize")
    if asks:
        waits = page.evaluate(
            """async (count) => {
              const waits = [];
              for (let i = 0; i < count; i++) {
                const begin = performance.now();
                await fetch(`details?row=${i * 997}`).then((answer) => answer.json());
                waits.push((performance.now() - begin) / 1000);
              }
              return waits;
            }""",
            ASKED,
        )
        facts["details"] = sorted(waits)[len(waits) // 2]
    page.close()
    return facts


def measure(name: str) -> dict:
    """Return what making a page costs, and opening it, round by round."""
    from playwright.sync_api import sync_playwright

    n, served = PAGES[name]
    page, facts = made(n, served)
    print(name, facts, file=sys.stderr)
    with sync_playwright() as started, tempfile.TemporaryDirectory() as folder:
        path = next(filter(None, map(shutil.which, ("chromium", "google-chrome"))))
        browser = started.chromium.launch(executable_path=path, args=ARGUMENTS)
        facts["chromium"] = browser.version
        if served:
            with serve_page(page) as server:
                openings = [opened(browser, server.url, True) for _ in range(ROUNDS)]
        else:
            address = write_page(Path(folder) / "map.html", page).as_uri()
            openings = [opened(browser, address, False) for _ in range(ROUNDS)]
        browser.close()
    print(name, openings, file=sys.stderr)
    return facts | {"openings": openings}


def render(found: dict) -> str:
    """Return the page."""
    machine, results = found["machine"], found["results"]
    chromium = next(iter(results.values()))["chromium"]
    lines = [
        "# The explorer with many nodes",
        f"\nPlanted groups with {DEGREE} edges a node, {DIMENSIONS} dimensions and three columns; "
        f"{machine['processor']}, {machine['processors']} cores of a shared machine, "
        f"{machine['date']}. Chromium {chromium}, headless, "
        "without a GPU: SwiftShader draws on the CPU. Each page is opened three times (median, "
        "range); it is ready when all nodes are drawn and it can be used.\n",
        "| nodes | size, MB | ready after, s | JavaScript heap, MB | details of a node, ms |",
        "|---|---|---|---|---|",
    ]
    for name, one in results.items():
        seconds = sorted(each["seconds"] for each in one["openings"])
        heap = max(each["heap"] for each in one["openings"])
        asked = [1000 * each["details"] for each in one["openings"] if "details" in each]
        cells = [
            name,
            f"{one['bytes'] / 1e6:.1f}",
            f"{seconds[len(seconds) // 2]:.1f} ({seconds[0]:.1f} – {seconds[-1]:.1f})",
            f"{heap / 1e6:.0f}",
            f"{sorted(asked)[len(asked) // 2]:.0f}" if asked else "in the page",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    lines += [
        "\nMaking the page, by the neighbour layout:\n",
        "| nodes | time, s | CPU time, s | peak memory, GB |",
        "|---|---|---|---|",
    ]
    for name, one in results.items():
        cells = [name, f"{one['seconds']:.0f}", f"{one['cpu']:.0f}"]
        cells += [f"{one['peak'] / 1e9:.1f}"]
        lines.append(f"| {' | '.join(cells)} |")
    lines.append(
        "\nA page in a file holds the neighbours and likely links of every node, which takes most "
        "of the time; a page that is served works them out for the nodes that are selected."
    )
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=PAGES)
    parser.add_argument("--output", type=Path, default=HERE / "results" / "explorer.json")
    options = parser.parse_args()
    before = json.loads(options.output.read_text())["results"] if options.output.exists() else {}
    machine = describe()  # the commit that is measured, whatever is committed meanwhile
    wanted = [options.only] if options.only else list(PAGES)
    found = before | {name: measure(name) for name in wanted}
    results = {name: found[name] for name in PAGES if name in found}
    found = {"machine": machine, "results": results}
    publish(found, render, options.output)


if __name__ == "__main__":
    main()

"""Benchmark the explorer: making pages of many nodes, and opening them in headless Chromium.

The graphs have planted groups and ten edges a node, and the nodes three columns. A page in a file
holds everything; one that is served asks for details of nodes. There is no GPU: Chromium draws on
the CPU with SwiftShader. Needs playwright and chromium.

    python benchmarks/explorer.py                       # half an hour on two cores
    python benchmarks/explorer.py --only "1,000,000 served"    # keeps the other results
"""

from __future__ import annotations

import argparse
import resource
import shutil
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import numpy as np

import reinforce2vec as r2v
from measuring import measure_each, read_options, timed
from reinforce2vec.explorer import Page, make_page, serve_page, write_page
from reporting import column, spread, table

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
WAITS = """async () => {
  const waits = [];
  for (let i = 0; i < 20; i++) {
    const begin = performance.now();
    await fetch(`details?row=${i * 997}`).then((answer) => answer.json());
    waits.push((performance.now() - begin) / 1000);
  }
  return waits;
}"""


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
    days = np.datetime64("2000-01-01") + rng.integers(0, 9000, n)
    columns = {
        "group": [f"group {number}" for number in group.tolist()],
        "size": rng.lognormal(size=n).round(3).tolist(),
        "joined": days.astype(str).tolist(),
    }
    return r2v.Embedding(dataset.graph.ids, vectors), dataset.graph, columns


def page_of(n: int, served: bool) -> tuple[Page, dict]:
    """Return a page, and what it took."""
    embedding, graph, columns = nodes_of(n)
    options = {"method": "layout", "served": served}
    make_page(np.eye(20), [(0, 1), (1, 2)], **options)  # compiles
    times, page = timed(lambda: make_page(embedding, graph, columns=columns, **options))
    facts = {"seconds": times["seconds"], "cpu": times["cpu_seconds"]}
    facts["peak"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return page, facts | {"bytes": page.size}


def opened(browser: object, address: str, served: bool) -> dict:
    """Return the seconds until a page is ready, its memory, and the seconds of a node's details."""
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    begin = time.perf_counter()
    page.goto(address)
    page.wait_for_selector("html[data-ready]", timeout=300_000)
    facts = {"seconds": time.perf_counter() - begin}
    facts["heap"] = page.evaluate("performance.memory.usedJSHeapSize")
    if served:
        facts["details"] = median(page.evaluate(WAITS))
    page.close()
    return facts


def measure(name: str, _options: argparse.Namespace) -> dict:
    """Return what making a page costs, and opening it, round by round."""
    from playwright.sync_api import sync_playwright

    n, served = PAGES[name]
    page, facts = page_of(n, served)
    print(name, facts, file=sys.stderr)
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        path = next(filter(None, map(shutil.which, ("chromium", "google-chrome"))))
        browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        facts["chromium"] = browser.version
        if served:
            with serve_page(page) as server:
                openings = [opened(browser, server.url, True) for _ in range(ROUNDS)]
        else:
            address = write_page(Path(folder) / "map.html", page).as_uri()
            openings = [opened(browser, address, False) for _ in range(ROUNDS)]
        browser.close()
    return facts | {"openings": openings}


def render(report: dict) -> str:
    """Return the page."""
    machine, results = report["machine"], report["results"]
    opening, making = [], []
    for name, facts in results.items():
        openings = facts["openings"]
        details = column(openings, "details")
        opening.append(
            [
                *(name, f"{facts['bytes'] / 1e6:.1f}", spread(column(openings, "seconds"), ".1f")),
                f"{max(column(openings, 'heap')) / 1e6:.0f}",
                f"{1000 * median(details):.0f}" if details else "in the page",
            ]
        )
        seconds = [f"{facts[key]:.0f}" for key in ("seconds", "cpu")]
        making.append([name, *seconds, f"{facts['peak'] / 1e9:.1f}"])
    heads = ["nodes", "size, MB", "ready after, s", "JavaScript heap, MB"]
    lines = [
        "# The explorer with many nodes",
        f"\nPlanted groups with {DEGREE} edges a node, {DIMENSIONS} dimensions and three columns; "
        f"{machine['processor']}, {machine['processors']} cores of a shared machine, "
        f"{machine['date']}. Chromium {next(iter(results.values()))['chromium']}, headless, "
        "without a GPU: SwiftShader draws on the CPU. Each page is opened three times (median, "
        "range); it is ready when all nodes are drawn and it can be used.\n",
        *table([*heads, "details of a node, ms"], opening),
        "\nMaking the page, by the neighbour layout:\n",
        *table(["nodes", "time, s", "CPU time, s", "peak memory, GB"], making),
        "\nA page in a file holds the neighbours and likely links of every node, which takes most "
        "of the time; a page that is served works them out for the nodes that are selected.",
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    measure_each(read_options("explorer", __doc__, only=PAGES), PAGES, measure, render)

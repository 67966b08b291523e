"""What all benchmarks share: options, the machine, processes of their own, and pages of results.

python benchmarks/reporting.py walks training    # write these pages again, from their numbers
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from statistics import mean, median, stdev
from typing import Any

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"
TITLES = {
    "blogcatalog": "BlogCatalog",
    "ca-astroph": "ca-AstroPh",
    "dblp": "DBLP",
    "facebook": "Facebook",
    "ppi": "PPI",
}
REWARDS = {"vertex": "VRRW", "kl": "DRRW by KL", "js": "DRRW by JS"}
EXPLORATIONS = {"none": "no exploration", "epsilon": "ε-greedy", "ucb": "UCB"}
SOURCES = {"paper": "equations as printed", "released": "authors' code"}


# -- numbers and tables --------------------------------------------------------------------------


def select(rows: Iterable[dict], **where: object) -> list[dict]:
    """Return the rows that have these values."""
    return [row for row in rows if row.items() >= where.items()]


def column(rows: Iterable[dict], key: str, **where: object) -> list[Any]:
    """Return one value of each row that has it, and has these other values."""
    return [row[key] for row in select(rows, **where) if key in row]


def distinct(rows: Iterable[dict], *keys: str) -> list[tuple]:
    """Return the combinations of values that rows have, in their order."""
    return list(dict.fromkeys(tuple(row.get(key) for key in keys) for row in rows))


def spread(values: Iterable[float], form: str = ".2f", unit: float = 1.0, dash: str = " – ") -> str:
    """Format a median with its range."""
    numbers = [value / unit for value in values]
    if not numbers:
        return "–"
    middle, low, high = (format(f(numbers), form) for f in (median, min, max))
    return f"{middle} ({low}{dash}{high})"


def deviation(values: Iterable[float], form: str = ".1f") -> str:
    """Format a mean with the standard deviation of several values."""
    numbers = list(values)
    if not numbers:
        return ""
    return format(mean(numbers), form) + (
        f" ± {format(stdev(numbers), form)}" if len(numbers) > 1 else ""
    )


def ratios(above: Iterable[float], below: Iterable[float]) -> list[float]:
    """Return the ratios of values of the same rounds."""
    return [a / b for a, b in zip(above, below, strict=True)]


def table(heads: Iterable[str], lines: Iterable[Iterable[object]]) -> list[str]:
    """Return the lines of a table in Markdown."""
    heads = list(heads)
    rows = [f"| {' | '.join(map(str, line))} |" for line in (heads, *lines)]
    return [rows[0], "|---" * len(heads) + "|", *rows[1:]]


def publish(results: dict, render: Callable[[dict], str], path: Path) -> None:
    """Write results as JSON, and the page that `render` makes of them; print the page."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(results, indent=1) + "\n")
    page = render(results)
    path.with_suffix(".md").write_text(page)
    print(page)


# -- words ---------------------------------------------------------------------------------------


def title(graph: str) -> str:
    """Return the name of a graph as people write it."""
    return TITLES.get(graph, graph)


def size(graph: str) -> str:
    """Return the nodes and edges of a printed graph."""
    return " and ".join(re.search(r"([\d,]+ nodes), ([\d,]+ edges)", graph).groups())


def walk_in_words(name: str) -> str:
    """Return what a walk is: "paper js ucb, L = 400" is the name in the raw numbers."""
    walk, _, more = name.partition(", ")
    words = walk.split()
    if words[0] in SOURCES:
        source, reward, exploration = words
        walk = f"{REWARDS[reward]}, {EXPLORATIONS[exploration]}, {SOURCES[source]}"
    return walk + more.replace("L = ", ", walks of ") + " nodes" * bool(more)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        path = RESULTS / f"{name}.json"
        page = import_module(name).render(json.loads(path.read_text()))
        path.with_suffix(".md").write_text(page)

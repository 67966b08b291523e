"""Writing results: raw numbers, and a page made from them.

python benchmarks/reporting.py walks training    # write these pages again, from their numbers
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

RESULTS = Path(__file__).parent / "results"
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


def publish(found: dict, render: Callable[[dict], str], path: Path) -> None:
    """Write results as JSON, and the page that `render` makes of them; print the page."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(found, indent=1) + "\n")
    page = render(found)
    path.with_suffix(".md").write_text(page)
    print(page)


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

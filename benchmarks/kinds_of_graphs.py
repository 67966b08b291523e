"""Makes the page on kinds of graphs from the scores of the study of defaults.

    python benchmarks/kinds_of_graphs.py            # writes results/kinds_of_graphs.md

For links, the operator is chosen by the validation part and scored on the test part; a letter says
which it is.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from statistics import mean

RESULTS = Path(__file__).parent / "results"
SCORES, PAGE = RESULTS / "defaults_wider.jsonl", RESULTS / "kinds_of_graphs.md"

KINDS = {
    "facebook": "friends",
    "ca-astroph": "coauthors",
    "papers": "coauthors, sparse",
    "enron": "mail",
    "blogcatalog": "bloggers",
    "ppi": "proteins",
    "dblp": "coauthors",
    "grid": "like roads",
    "power": "power grid",
    "debian-tags": "bipartite",
    "debian-words": "dense, weighted",
    "pgp": "directed, strongly connected",
    "blogs": "directed",
    "debian-depends": "directed",
    "wordnet": "directed, a hierarchy",
}
SHORT_WALKS = ("blogs", "debian-depends", "wordnet")  # where the default walks both ways
FORWARD, BOTH = "1+10, 32/96", "both ways, 1+10, 32/96"
METHODS = {  # a name, the setting, and the one for directed graphs with short walks
    "default": (FORWARD, BOTH),
    "default, rate 0.025": ("1+10, 32/96, rate 0.025", None),
    "window 10, smoothed": ("smooth 10", None),
    "window 10, raw": ("raw 10, R20", "both ways, raw 10, R20"),
    "window 10, raw, rate 0.025": (
        "raw 10, R20, rate 0.025",
        "both ways, raw 10, R20, rate 0.025",
    ),
    "ProNE": ("ProNE", "ProNE"),
    "NetMF, raw": ("NetMF, raw", "NetMF, raw"),
    "NetMF, smoothed": ("NetMF, smooth", "NetMF, smooth"),
    "GraRep, raw": ("GraRep, raw", "GraRep, raw"),
    "GraRep, smoothed": ("GraRep, smooth", "GraRep, smooth"),
    "LINE, raw": ("LINE, raw", "LINE, raw"),
    "LINE, smoothed": ("LINE, smooth", "LINE, smooth"),
    "HOPE, smoothed": ("HOPE, smooth", "HOPE, smooth"),
}
WAYS = {
    "forward": FORWARD,
    "forward, eight times the walks": "1+10, 32/96, R160",
    "both ways": BOTH,
    "both ways, window 10, raw": "both ways, raw 10, R20",
}
LETTERS = {"hadamard": "h", "l2": "d"}


class Scores:
    """Scores by task, setting, graph and detail (an operator, or a share of the labels)."""

    def __init__(self, lines: list[str]) -> None:
        self._kept: dict[tuple, list[float]] = defaultdict(list)
        self.failures: dict[tuple[str, str], int] = defaultdict(int)
        for row in map(json.loads, lines):
            if "graph" not in row:
                continue
            where = (row["setting"], row["graph"])
            if "error" in row:
                self.failures[where] += 1
            elif row["task"] == "links":
                self._kept[("links", *where, row["operator"], row["part"])].append(row["auc"])
            elif row["c"] == "validation":
                few = "few" if row["share"] < 0.5 else "half"
                self._kept[("nodes", *where, few, row["part"])].append(row["micro"])

    def links(self, setting: str | None, graph: str) -> tuple[float, str] | None:
        """Return the AUC of the better operator, and its letter."""
        found = {
            operator: self._kept["links", setting, graph, operator, "validation"]
            for operator in LETTERS
            if self._kept.get(("links", setting, graph, operator, "validation"))
        }
        if not found:
            return None
        operator = max(found, key=lambda name: mean(found[name]))
        return mean(self._kept["links", setting, graph, operator, "test"]), LETTERS[operator]

    def labels(self, setting: str | None, graph: str, share: str = "half") -> float | None:
        """Return micro F1."""
        found = self._kept.get(("nodes", setting, graph, share, "test"))
        return mean(found) if found else None


def table(heads: list[str], lines: list[list[str]]) -> str:
    rows = [f"| {' | '.join(line)} |" for line in (heads, *lines)]
    return "\n".join([rows[0], "|---" * len(heads) + "|", *rows[1:]])


def by_graph(names: list[str], value: Callable, show: Callable) -> str:
    """Return a table with a line for each graph and a column for each method; the best is bold."""
    lines = []
    for name in names:
        cells = [value(setting[name in SHORT_WALKS], name) for setting in METHODS.values()]
        best = max(filter(None, cells))
        texts = ["" if cell is None else show(cell) for cell in cells]
        bold = [
            f"**{text}**" if cell == best else text for cell, text in zip(cells, texts, strict=True)
        ]
        lines.append([f"{name} ({KINDS[name]})", *bold])
    return table(["", *METHODS], lines)


def directions(scores: Scores, names: list[str]) -> list[list[str]]:
    lines = []
    for title, setting in WAYS.items():
        cells = []
        for graph in names:
            links, labels = scores.links(setting, graph), scores.labels(setting, graph)
            failed = scores.failures.get((setting, graph), 0)
            text = "" if links is None else f"{links[0]:.1f} {links[1]}"
            text += "" if labels is None else f", {labels:.1f}"
            cells.append(text + (f" ({failed} failed)" if failed else ""))
        lines.append([title, *cells])
    return lines


INTRODUCTION = """\
Which settings and methods suit which graphs: {count} graphs, vectors of 128 dimensions, 20 walks
per node, up to three seeds of our model and two of the others, on one {gpu}, {date}.
`python benchmarks/defaults.py run` computes the scores, `benchmarks/graphs.py` and
`benchmarks/packaged_graphs.py` make the graphs, and this page is
`python benchmarks/kinds_of_graphs.py` of `benchmarks/results/defaults_wider.jsonl`."""
LINKS = """\
AUC in percent, `shared`, on the test part, by the operator that is better on the validation part: h
is Hadamard, d is L2, the squared difference. On the directed graphs blogs, debian-depends and
wordnet our model walks both ways, as it does by default. The best of each graph is bold. An empty
cell was not run: NetMF and GraRep take all pairs of nodes."""
LABELS = """\
Micro F1 in percent with half of the labelled nodes for training, C chosen by validation, on the
test part."""
DIRECTIONS = """\
The default on directed graphs, by how walks follow the edges: AUC with its operator, then micro F1
with half of the labels. Eight times the walks stand for walks that start again at a dead end.
"Failed": trainings, of 3 for links and 3 for labels, that diverged on the GPU with every rate."""


def render(lines: list[str]) -> str:
    scores = Scores(lines)
    machine = next(row["machine"] for row in map(json.loads, lines) if "machine" in row)
    names = list(KINDS)
    labelled = [name for name in names if scores.labels(FORWARD, name) is not None]
    directed = ["pgp", *SHORT_WALKS]

    def few(setting: str | None, graph: str) -> float | None:
        return scores.labels(setting, graph, "few")

    parts = [
        "# Kinds of graphs",
        INTRODUCTION.format(count=len(names), gpu=machine["gpu"], date=machine["date"]),
        "## Links",
        LINKS,
        by_graph(names, scores.links, lambda cell: f"{cell[0]:.1f} {cell[1]}"),
        "## Labels",
        LABELS,
        by_graph(labelled, scores.labels, "{:.1f}".format),
        "With a tenth of the labels (DBLP 5%):",
        by_graph(labelled, few, "{:.1f}".format),
        "## Directions",
        DIRECTIONS,
        table(["walks", *directed], directions(scores, directed)),
    ]
    return "\n\n".join(parts) + "\n"


def main() -> None:
    PAGE.write_text(render(SCORES.read_text().splitlines()))
    print(PAGE)


if __name__ == "__main__":
    main()

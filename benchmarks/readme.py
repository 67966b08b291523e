"""Print the tables of the README, made from committed results."""

from __future__ import annotations

import json
from statistics import median

import race_page
import training
import walks
from reporting import ROOT, column
from reporting import table as lines_of_table

SMOOTHED = ", vectors smoothed"
GRAPH, DIMENSIONS = training.BLOGCATALOG, 128

# Column: experiment, table, column there.
FIGURES = {
    "Facebook, AUC": ("wide", "Facebook: AUC, `shared`", "Hadamard"),
    "ca-AstroPh, AUC": ("wide", "ca-AstroPh: AUC, `shared`", "Hadamard"),
    "BlogCatalog, F1": ("wide", "F1 of node classification", "BlogCatalog micro"),
    "PPI, F1": ("wide", "F1 of node classification", "PPI micro"),
    "DBLP, F1": ("wide", "F1 of node classification", "DBLP micro"),
}
CHOSEN = "he best setting, chosen by validation"
OURS = "reinforced walks, raw"
# The same columns where the paper's own numbers stand: the best operator it has for links.
PUBLISHED = [
    ("table-4", f"Facebook: t{CHOSEN}", OURS, "AUC, `shared`"),
    ("table-4", f"ca-AstroPh: t{CHOSEN}", OURS, "AUC, `shared`"),
    *(
        ("table-7", f"T{CHOSEN}", OURS, f"{graph} micro")
        for graph in ("BlogCatalog", "PPI", "DBLP")
    ),
]
METHODS = {"**reinforce2vec**": "reinforce2vec, default"}
METHODS["the paper's settings"] = "reinforce2vec, equations as printed"
METHODS |= {
    name: name for name in ["DeepWalk", "node2vec", "LINE", "HOPE", "GraRep", "ProNE", "NetMF"]
}


def read(path: str) -> dict:
    """Read a committed file of results."""
    return json.loads((ROOT / path).read_text(encoding="utf-8"))


def table(heads: list[str], rows: list[list[str]]) -> str:
    return "\n".join(lines_of_table(heads, rows))


def quality() -> str:
    """Return the table of scores: each method, raw and smoothed, in percent."""
    experiments = read("docs/results/results.json")
    rows = []
    for name, label in METHODS.items():
        rows.append([name])
        for experiment, title, score in FIGURES.values():
            digits = 2 if "AUC" in title else 1
            titles = [title, title + SMOOTHED]
            entries = [experiments[experiment][t].get(label, {}).get(score) for t in titles]
            rows[-1].append(" → ".join(f"{entry['mean']:.{digits}f}" for entry in entries if entry))
    published = [experiments[a][b][c][d]["paper"] for a, b, c, d in PUBLISHED]
    rows.append(["*as published*", *map(str, published)])
    return table(["raw → smoothed", *FIGURES], rows)


def race() -> str:
    """Return the table of the race: seconds of ours, how many times that of others, quality."""
    return race_page.readme_table(read("benchmarks/results/race.json"))


def speed() -> str:
    """Return the table of speeds: beside a peer in the same rounds, and on a GPU."""
    trained, walked, gpu = (
        read(f"benchmarks/results/{name}.json") for name in ("training", "walks", "gpu")
    )

    def tokens(what: str) -> list[float]:
        return list(training.speeds(trained["speed"], GRAPH, what, DIMENSIONS).values())

    def steps(what: str) -> list[float]:
        return walks.speeds(walked["speed"][GRAPH], what)

    def on_h200(part: str, walk: str, **where: int) -> list[float]:
        return column(gpu[part]["rows"], "per_second", graph=GRAPH, walk=walk, **where)

    whole = tokens(training.WHOLE), "GRAPE", tokens(training.GRAPE), []
    trains = on_h200("training", "first-order", dimensions=DIMENSIONS)
    second = steps("second-order p=0.5 q=2"), "PecanPy", steps(walks.PECANPY)
    lines = {
        "training, tokens": (tokens(training.OURS), "gensim", tokens(training.LISTS), trains),
        "walks and training, tokens": whole,
        "DeepWalk's walks, steps": (
            *(steps(walks.FIRST), "PecanPy", steps(walks.PECANPY_FIRST)),
            on_h200("walks", "first-order"),
        ),
        "node2vec's walks, steps": (*second, on_h200("walks", "second-order")),
        "reinforced walks, steps": (steps("paper js ucb"), "", [], on_h200("walks", "paper")),
    }
    rows = []
    for name, (ours, peer, theirs, on_gpu) in lines.items():
        pairs = zip(ours, theirs, strict=False)
        times = f"{median(a / b for a, b in pairs):.0f}" if theirs else "–"
        beside = f"{millions(theirs)} {peer}".strip()
        rows.append([name, millions(ours), beside, times, millions(on_gpu)])
    heads = ["million per second", "two CPU cores", "a peer on these", "times as fast", "one H200"]
    return table(heads, rows)


def millions(speeds: list[float]) -> str:
    """Format the median of speeds, in millions."""
    if not speeds:
        return "–"
    speed = median(speeds) / 1e6
    return f"{speed:.2g}" if speed < 10 else f"{speed:,.0f}"


if __name__ == "__main__":
    print(quality(), race(), speed(), sep="\n\n")

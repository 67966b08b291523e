"""Print the tables of the README, made from committed results."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import median

import race_page
import training
import walks

HERE = Path(__file__).parent
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
METHODS = {
    "**reinforce2vec**": "reinforce2vec, default",
    "the paper's settings": "reinforce2vec, equations as printed",
    "DeepWalk": "DeepWalk",
    "node2vec": "node2vec",
    "LINE": "LINE",
    "HOPE": "HOPE",
    "GraRep": "GraRep",
    "ProNE": "ProNE",
    "NetMF": "NetMF",
}


def read(*path: str) -> dict:
    """Read a committed file of results."""
    found: dict = json.loads(HERE.parent.joinpath(*path).read_text(encoding="utf-8"))
    return found


def table(head: list[str], rows: list[list[str]]) -> str:
    """Format a table as Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |".replace(" --- ", "---") for line in lines)


def quality() -> str:
    """Return the table of scores: each method, raw and smoothed, in percent."""
    experiments = read("docs", "results", "results.json")

    def found(experiment: str, title: str, label: str, column: str) -> dict | None:
        return experiments[experiment][title].get(label, {}).get(column)

    rows = []
    for name, label in METHODS.items():
        rows.append([name])
        for experiment, title, column in FIGURES.values():
            entries = [found(experiment, title + more, label, column) for more in ("", SMOOTHED)]
            digits = 2 if "AUC" in title else 1
            rows[-1].append(" → ".join(f"{one['mean']:.{digits}f}" for one in entries if one))
    published = [f"{found(*where)['paper']}" for where in PUBLISHED]
    rows.append(["*as published*", *published])
    return table(["raw → smoothed", *FIGURES], rows)


def race() -> str:
    """Return the table of the race: seconds of ours, how many times that of others, quality."""
    return race_page.readme_table(read("benchmarks", "results", "race.json"))


def speed() -> str:
    """Return the table of speeds: beside a peer in the same rounds, and on a GPU."""
    trained, walked = (read("benchmarks", "results", f"{n}.json") for n in ("training", "walks"))
    gpu = read("benchmarks", "results", "gpu.json")

    def tokens(what: str) -> dict[int, float]:
        return training.speeds(trained["speed"], GRAPH, what, DIMENSIONS)

    def steps(what: str) -> dict[int, float]:
        return dict(enumerate(walks.speeds(walked["speed"][GRAPH], what)))

    def on_h200(study: str, walk: str, **wanted: int) -> dict[int, float]:
        wanted = {"graph": GRAPH, "walk": walk, **wanted}
        rows = [row for row in gpu[study]["rows"] if row.items() >= wanted.items()]
        return {row["repeat"]: row["per_second"] for row in rows}

    second = "second-order p=0.5 q=2"
    lines = [
        ("training, tokens", tokens(training.OURS), "gensim", tokens(training.LISTS),
         on_h200("training", "first-order", dimensions=DIMENSIONS)),
        ("walks and training, tokens", tokens(training.WHOLE), "GRAPE", tokens(training.GRAPE),
         {}),
        ("DeepWalk's walks, steps", steps(walks.FIRST), "PecanPy", steps(walks.PECANPY_FIRST),
         on_h200("walks", "first-order")),
        ("node2vec's walks, steps", steps(second), "PecanPy", steps(walks.PECANPY),
         on_h200("walks", "second-order")),
        ("reinforced walks, steps", steps("paper js ucb"), "", {}, on_h200("walks", "paper")),
    ]  # fmt: skip
    rows = []
    for name, ours, peer, theirs, on_gpu in lines:
        times = f"{median(training.ratios(ours, theirs)):.0f}" if theirs else "–"
        rows.append([name, millions(ours), f"{millions(theirs)} {peer}".strip(), times])
        rows[-1].append(millions(on_gpu))
    head = ["million per second", "two CPU cores", "a peer on these", "times as fast", "one H200"]
    return table(head, rows)


def millions(speeds: dict[int, float]) -> str:
    """Format the median of speeds, in millions."""
    if not speeds:
        return "–"
    speed = median(speeds.values()) / 1e6
    return f"{speed:.2g}" if speed < 10 else f"{speed:,.0f}"


if __name__ == "__main__":
    print(quality(), race(), speed(), sep="\n\n")

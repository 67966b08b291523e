"""Benchmark the default fit beside the paper's settings, and two windows beside one.

All with 128 dimensions, in turns. On R-MAT 2^20, training is measured with one walk per node and
multiplied, since its time grows with the walks; smoothing is measured whole.

    python benchmarks/default_speed.py                    # a quarter of an hour on two cores
    python benchmarks/default_speed.py --only BlogCatalog --rounds 5
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from statistics import median

import reinforce2vec as r2v
from machine import describe
from reporting import publish

HERE = Path(__file__).parent
DATA = HERE.parent.parent / "shared" / "data"
DIMENSIONS = 128
GRAPHS = {
    "BlogCatalog": lambda: r2v.load_dataset("blogcatalog", DATA, progress=False).graph,
    "R-MAT 2^20": lambda: r2v.rmat(20),
}
SAMPLED = {"R-MAT 2^20": 1}  # walks per node that are trained; the others train all
PAPER, DEFAULT, ONE_WINDOW = "paper's settings", "default", "default, window 10"
MODELS = {
    PAPER: r2v.Reinforce2Vec.paper(dimensions=DIMENSIONS),
    DEFAULT: r2v.Reinforce2Vec(dimensions=DIMENSIONS),
    ONE_WINDOW: r2v.Reinforce2Vec(dimensions=DIMENSIONS, window=10),
}


def seconds_of(model: r2v.Reinforce2Vec, graph: r2v.Graph, walks: int | None, workers: int) -> dict:
    """Return the seconds that training and smoothing take with all walks of the model."""
    changes = {"smooth": False, "workers": workers} | ({"walks_per_node": walks} if walks else {})
    trained = r2v.Reinforce2Vec(**(model.get_params(deep=False) | changes))
    trained.fit(graph, progress=False)
    training = trained.seconds_ * model.walks_per_node / trained.walks_per_node
    begin = time.perf_counter()
    if model.smooth:
        first = 0
        for size in trained.embedding_.scales:
            part = trained.embedding_.vectors[:, first : first + size]
            r2v.smooth(part, graph, backend="cpu", workers=workers)
            first += size
    return {"training": training, "smoothing": time.perf_counter() - begin}


def measure(name: str, options: argparse.Namespace) -> list[dict]:
    """Return the seconds of each model, round by round."""
    graph, rows = GRAPHS[name](), []
    for model in MODELS.values():
        seconds_of(model, r2v.karate_club(), 1, options.workers)  # compiles
    for number in range(options.rounds):
        for title, model in MODELS.items():
            found = seconds_of(model, graph, SAMPLED.get(name), options.workers)
            rows.append({"round": number, "model": title, **found})
            print(name, rows[-1], file=sys.stderr)
    return rows


def ratios(rows: list[dict], slow: str, fast: str, *parts: str) -> list[float]:
    """Return how many times as long one model takes as another, in each round."""

    def spent(title: str) -> dict[int, float]:
        own = (row for row in rows if row["model"] == title)
        return {row["round"]: sum(row[part] for part in parts) for row in own}

    before, after = spent(slow), spent(fast)
    return [before[number] / after[number] for number in before]


def shown(values: list[float]) -> str:
    """Format a median with its range."""
    return f"{median(values):.2f} ({min(values):.2f} – {max(values):.2f})"


def render(found: dict) -> str:
    """Return the page."""
    machine, workers = found["machine"], found["options"]["workers"]
    lines = [
        "# The default beside the paper's settings",
        f"\n{DIMENSIONS} dimensions, {workers} threads, in turns; medians, and the range of ratios "
        "over the rounds. On R-MAT 2^20 training is measured with one walk per node and "
        f"multiplied. {machine['date']}.\n",
        "| graph | settings | training, s | smoothing, s |",
        "|---|---|---|---|",
    ]
    for name, rows in found["results"].items():
        for title in MODELS:
            own = [row for row in rows if row["model"] == title]
            cells = [
                f"{median(row[part] for row in own):.1f}" for part in ("training", "smoothing")
            ]
            lines.append(f"| {' | '.join([name, title, *cells])} |")
    lines += [
        "\n| graph | paper's / default, whole | one window / two, training |",
        "|---|---|---|",
    ]
    for name, rows in found["results"].items():
        whole = ratios(rows, PAPER, DEFAULT, "training", "smoothing")
        scales = ratios(rows, ONE_WINDOW, DEFAULT, "training")
        lines.append(f"| {name} | {shown(whole)} | {shown(scales)} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=GRAPHS)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--output", type=Path, default=HERE / "results" / "default_speed.json")
    options = parser.parse_args()
    found = {
        "machine": describe(),
        "options": {"workers": options.workers},
        "results": {
            name: measure(name, options) for name in ([options.only] if options.only else GRAPHS)
        },
    }
    publish(found, render, options.output)


if __name__ == "__main__":
    main()

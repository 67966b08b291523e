"""Figures 1 and 2: the toy example, how occupation vectors settle, where walks get stuck."""

from __future__ import annotations

from fractions import Fraction
from statistics import median
from typing import Any, NamedTuple

import numpy as np

import published
from cells import PATHS, TOY_EDGES, Cell
from methods import EXPLORATIONS, READING_LABELS
from tables import Page, Records, Run, frame_of

CAPTION_PATH = (1, 3, 4, 3)  # the path in the caption of figure 1
ON_TOY = ("paper-kl-none", "paper-kl-epsilon", "paper-kl-ucb")
ON_PPI = (
    "paper-vertex-none",
    "released-vertex-none",
    "paper-js-none",
    "paper-vertex-epsilon",
    "paper-js-ucb",
    "released-js-ucb",
)


class ToyStep(NamedTuple):
    """One step: the path so far, w(n) by node, divergences of the neighbours, the next node."""

    path: tuple[int, ...]
    occupation: np.ndarray
    divergences: dict[str, dict[int, float]]  # "kl" and "js", by neighbour
    following: int
    tied: bool


def toy_walk(steps: int = 8, seed: int = 0) -> list[ToyStep]:
    """Walk by DRRW with KL divergence, without exploration: first as in the caption, then on.

    Ties are decided as in the caption; later ones at random.
    """
    rng, path, taken = np.random.default_rng(seed), [CAPTION_PATH[0]], list[ToyStep]()
    while len(taken) < steps:
        here, before = path[-1], _occupation(path)
        moved: dict[str, dict[int, float]] = {"kl": {}, "js": {}}
        for node in sorted(a + b - here for a, b in TOY_EDGES if here in (a, b)):
            after = _occupation([*path, node])
            middle = (before + after) / 2
            moved["kl"][node] = _divergence(before, after)
            moved["js"][node] = (_divergence(before, middle) + _divergence(after, middle)) / 2
        least = min(moved["kl"].values())
        best = [node for node, value in moved["kl"].items() if value <= least + 1e-12]
        by_caption = len(path) < len(CAPTION_PATH)
        following = CAPTION_PATH[len(path)] if by_caption else int(rng.choice(best))
        taken.append(ToyStep(tuple(path), before, moved, following, len(best) > 1))
        path.append(following)
    return taken


def _occupation(path: list[int]) -> np.ndarray:
    """Return w(n): every node counts once, and once more for each visit at steps 1 to n."""
    visits = np.ones(5)
    np.add.at(visits, np.array(path[1:], int) - 1, 1)
    return visits / visits.sum()


def _divergence(p: np.ndarray, q: np.ndarray) -> float:
    """Return D_KL(p || q) in nats, term by term."""
    return float(np.sum(p * np.log(p / q)))


def path_cell(graph: str, walk: str) -> Cell:
    """Return the cell of one walk: one set of walks is enough."""
    return Cell(PATHS, graph, walk, 0)


def _label(walk: str) -> str:
    reading, reward, exploration = walk.split("-")
    kind = {"vertex": "VRRW", "kl": "DRRW-KL", "js": "DRRW-JS"}[reward]
    return f"{kind} {EXPLORATIONS[exploration]}, {READING_LABELS[reading]}"


def figure_1_cells(run: Run) -> list[Cell]:
    return [path_cell("toy", walk) for walk in ON_TOY] + figure_2_cells(run)


def figure_1(records: Records, run: Run) -> Page:
    """The toy example step by step, and the convergence of the occupation vector."""
    steps = toy_walk()
    rows = {}
    for number, step in enumerate(steps):
        shares = [Fraction(float(share)).limit_denominator(1000) for share in step.occupation]
        weighed = "; ".join(
            f"{node}: {moved:.5f} → {1 - moved:.5f} ({step.divergences['js'][node]:.5f})"
            for node, moved in step.divergences["kl"].items()
        )
        rows[str(number)] = {
            "path": "→".join(map(str, step.path)),
            "w(n) of nodes 1 to 5": ", ".join(map(str, shares)),
            "neighbours: D_KL → Q = 1 − D (D_JS)": weighed,
            "next": f"{step.following}, a tie" if step.tied else str(step.following),
        }
    settled, moving = {}, {}
    for graph, walks, name, curves in (
        ("toy", ON_TOY, "occupation", settled),
        ("ppi", ON_PPI, "moved", moving),
    ):
        for walk in walks:
            if (cell := path_cell(graph, walk)) in records:
                scores = records[cell]["scores"]
                curves[_label(walk)] = (scores["steps"], scores[name])
    converging = {
        label: {
            f"n = {step:,}": f"{value:.4f}"
            for step, value in zip(x, y, strict=True)
            if step == 10 ** (len(str(step)) - 1)
        }
        for label, (x, y) in moving.items()
    }
    tables = {
        "DRRW by KL divergence on the toy graph, without exploration": frame_of(rows, "n"),
        "PPI: median JS distance between w(n) and w(n+1), over the path": frame_of(
            converging, "walk"
        ),
    }
    notes = [
        "The paper's figure is not in its source. From the caption five edges are certain (1–3, "
        "1–5, 2–4, 3–4, 4–5) and are taken as the whole graph; it does not say whether 2–3, 2–5 or "
        "3–5 are joined. The moves 1→3→4→3 are the caption's; later ones take the best score.",
        "At node 3 the caption has a tie between going on to 4 and back to the start 1. The "
        "printed equations, which do not count the start, agree; by the released code, which "
        "counts it, the walk would turn back.",
    ]
    toy_caption = (
        "The toy example. Above: share of time w(n) of each node before each of the first moves, "
        "with the score Q above each neighbour, the chosen one bold. Below: w(n) of each node "
        "along a long walk."
    )
    caption = "Convergence of the occupation vector (over the path) on PPI, medians of 20 walks."
    pictures = {
        "figure-1": (toy_caption, "toy", (steps[: len(CAPTION_PATH)], settled)),
        "figure-1-convergence": (caption, "convergence", (moving,)),
    }
    return Page(tables, notes, pictures)


def figure_2_cells(run: Run) -> list[Cell]:
    return [path_cell("ppi", walk) for walk in ON_PPI]


def figure_2(records: Records, run: Run) -> Page:
    """Node frequencies in the last 100 steps."""
    rows: dict[str, dict[str, Any]] = {}
    frequencies = {}
    for walk in ON_PPI:
        if (cell := path_cell("ppi", walk)) not in records:
            continue
        scores = records[cell]["scores"]
        last = scores["frequencies"][-1]
        rows[_label(walk)] = {
            **{
                f"after {step:,} steps": f"{median(nodes):g}"
                for step, nodes in zip(scores["looked"], scores["nodes"], strict=True)
            },
            "share of three nodes at the end, first walk": f"{sum(last[:3]) / sum(last):.0%}",
        }
        pairs = zip(scores["looked"], scores["frequencies"], strict=True)
        frequencies[_label(walk)] = dict(pairs)
    title = "PPI: different nodes in the last 100 steps, medians of 20 walks"
    note = (
        f"The paper's walk (VRRW without exploration) visits {published.STUCK_NODES} nodes in the "
        "last 100 of 10,000 steps. The printed equation, which draws in proportion to visits, "
        "concentrates far more slowly; the released code, which takes the most visited neighbour, "
        "gets stuck between two nodes at once."
    )
    caption = "Visits of each node in the last 100 steps, and the number of distinct nodes."
    pictures = {"figure-2": (caption, "stuck", (frequencies,))}
    return Page({title: frame_of(rows, "walk")}, [note], pictures)

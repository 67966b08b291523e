"""Benchmark vectors of new nodes: without learning, by an update, and by a new fit.

A twentieth of the nodes is held out, and the default model is fitted on the rest. For each new node
half of its edges to the rest are given. Its vector should serve the classifier that was trained on
the vectors of the others (micro F1), and find the other half of its edges among as many pairs
without an edge (AUC, by cosine). For updates, the median cosine of an old node's vectors before and
after says how comparable they are.

    python benchmarks/new_nodes.py                      # some minutes
    python benchmarks/new_nodes.py --only ppi --seeds 1
"""

from __future__ import annotations

import argparse
import copy
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import mean, stdev

import numpy as np
import scipy.sparse

import reinforce2vec as r2v
from machine import describe
from reinforce2vec._util.logistic import fit_logistic, predict
from reinforce2vec.evaluation._metrics import auc
from reinforce2vec.models.smoothing import aligned
from reporting import publish

HERE = Path(__file__).parent
DATA = HERE.parent.parent / "shared" / "data"
GRAPHS = ("ppi", "blogcatalog")
SHARE = 20  # one node of so many is new
STEPS = 60  # of gradient ascent
MEASURES = {"f1": "micro F1", "auc": "AUC", "cosine": "cosine", "seconds": "seconds"}


class Task:
    """A graph without some nodes, a model of it, and half of the edges of these nodes."""

    def __init__(self, name: str, seed: int) -> None:
        dataset, rng = r2v.load_dataset(name, DATA), np.random.default_rng(seed)
        links, n = dataset.graph.to_scipy().tocsr(), dataset.graph.n_nodes
        new = np.sort(rng.choice(n, n // SHARE, replace=False))
        old = np.setdiff1d(np.arange(n), new)
        self.n_old, self.n_new, self.seed = len(old), len(new), seed
        between = links[new][:, old].tocsr()
        given, hidden = [], []
        for row, (begin, end) in enumerate(zip(between.indptr, between.indptr[1:], strict=False)):
            ends = rng.permutation(between.indices[begin:end])
            half = -(-len(ends) // 2)
            given += [(row, column) for column in ends[:half]]
            hidden += [(row, column) for column in ends[half:]]
        self.given, self.hidden = np.array(given), np.array(hidden)
        others = rng.integers(len(old), size=len(hidden))
        linked = np.asarray(between[self.hidden[:, 0], others]).ravel() > 0
        self.hidden, others = self.hidden[~linked], others[~linked]
        self.strangers = np.column_stack([self.hidden[:, 0], others])
        rest = np.column_stack(scipy.sparse.triu(links[old][:, old]).nonzero())
        self.edges = self.given[:, ::-1] + [0, len(old)]  # a new node has a number after the old
        self.rest = r2v.Graph.from_edges(rest, nodes=range(len(old)))
        self.whole = r2v.Graph.from_edges(np.vstack([rest, self.edges]), nodes=range(n))
        shape = (len(new), len(old))
        self.links = scipy.sparse.csr_array((np.ones(len(given)), self.given.T), shape=shape)
        labels = np.asarray(dataset.labels, bool)
        linked = np.isin(np.arange(len(new)), self.given[:, 0])
        self.old_labels, self.new_labels = labels[old], labels[new]
        self.asked = linked & self.new_labels.any(axis=1)
        self.model = r2v.Reinforce2Vec(seed=seed, backend="cpu").fit(self.rest, progress=False)

    @property
    def old(self) -> np.ndarray:
        """The vectors of the model."""
        return self.model.embedding_.vectors

    def means(self, vectors: np.ndarray) -> np.ndarray:
        """Return the mean over the given neighbours of each new node."""
        degrees = np.asarray(self.links.sum(axis=1)).clip(1)
        return (self.links @ vectors) / degrees.reshape(-1, 1)

    def placed(self, embedding: r2v.Embedding) -> np.ndarray:
        """Return vectors of the new nodes; zeros for those without any edge."""
        vectors = np.zeros((self.n_new, embedding.dimensions), np.float32)
        for row in np.flatnonzero(self.links.sum(axis=1)):
            vectors[row] = embedding[int(row) + self.n_old]
        return vectors

    def scores(self, old: np.ndarray, new: np.ndarray) -> dict[str, float]:
        """Return F1 of classified new nodes, and AUC of their hidden edges."""
        known = self.old_labels.any(axis=1)
        fitted = fit_logistic(np.ascontiguousarray(old[known]), self.old_labels[known], 1.0)
        found = predict(np.ascontiguousarray(new[self.asked]), *fitted)
        truth = self.new_labels[self.asked]
        ranks = np.argsort(np.argsort(-found, axis=1), axis=1)
        answers = ranks < truth.sum(axis=1, keepdims=True)
        a, b = (one / np.linalg.norm(one, axis=1, keepdims=True).clip(1e-9) for one in (new, old))
        pairs = np.concatenate([self.hidden, self.strangers])
        cosines = np.einsum("ij,ij->i", a[pairs[:, 0]], b[pairs[:, 1]])
        edges = np.arange(len(pairs)) < len(self.hidden)
        return {
            "f1": 100 * float((answers & truth).sum() / truth.sum()),
            "auc": auc(edges, cosines),
        }


# -- ways to get the vectors of new nodes --------------------------------------------------------


def mean_of_neighbours(task: Task) -> tuple[np.ndarray, np.ndarray]:
    """Take the plain mean of the neighbours' vectors, of length 1."""
    vectors = task.means(task.old)
    return task.old, vectors / np.linalg.norm(vectors, axis=1, keepdims=True).clip(1e-9)


def transformed(task: Task) -> tuple[np.ndarray, np.ndarray]:
    """Call transform_nodes: neighbours with many edges count less."""
    return task.old, task.placed(task.model.transform_nodes(task.edges))


def smoothed_again(task: Task, raw: list[np.ndarray] | None = None) -> tuple:
    """Put raw vectors of new nodes, by default means, beside the others and smooth all again."""
    parts, first = [], 0
    trained = [one.vectors for one in task.model._state.scales]
    for number, vectors in enumerate(trained):
        new = task.means(vectors) if raw is None else raw[number]
        width = vectors.shape[1]
        columns = slice(first, first + width)
        first += width
        both = np.vstack([vectors, new]).astype(np.float32)
        found = r2v.smooth(both, task.whole, backend="cpu")
        before = np.ascontiguousarray(task.old[:, columns])
        found = aligned(found, np.arange(task.n_old), before)
        parts.append(found[task.n_old :] * np.sqrt(width / task.old.shape[1]))
    return task.old, np.hstack(parts).astype(np.float32)


def skip_gram(task: Task) -> tuple:
    """Train new nodes alone on expected pairs, all else being fixed, and smooth."""
    degrees = np.maximum(task.rest.degrees, 1)[:, None]
    step = scipy.sparse.csr_array(task.rest.to_scipy() / degrees)
    state, raw = task.model._state, []
    noise = state.visits**0.75 / (state.visits**0.75).sum()
    for weights, window in zip(state.scales, task.model.window, strict=True):
        reached = (task.links / np.asarray(task.links.sum(axis=1)).clip(1)[:, None]).toarray()
        near = np.zeros_like(reached)
        for distance in range(window):
            near += reached * (window - distance)
            reached = (step.T @ reached.T).T
        near /= near.sum(axis=1, keepdims=True).clip(1e-9)
        outputs = weights.outputs[:, : weights.dimensions].astype(np.float64)
        vectors = task.means(weights.vectors).astype(np.float64)
        for _ in range(STEPS):
            chances = 1 / (1 + np.exp(-(vectors @ outputs.T)))
            vectors += (near * (1 - chances)) @ outputs - 5 * (noise * chances) @ outputs
        raw.append(vectors)
    return smoothed_again(task, raw)


def updated(task: Task, rate: float | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Call partial_fit, by default at its own rate."""
    model = copy.deepcopy(task.model).set_params(learning_rate=rate)
    found = model.partial_fit(task.edges, progress=False).embedding_
    return found[list(range(task.n_old))], task.placed(found)


def fitted_again(task: Task) -> tuple[np.ndarray, np.ndarray]:
    """Fit on the graph with the given edges."""
    model = r2v.Reinforce2Vec(seed=task.seed, backend="cpu").fit(task.whole, progress=False)
    return model.embedding_.vectors[: task.n_old], task.placed(model.embedding_)


WAYS: dict[str, Callable[[Task], tuple[np.ndarray, np.ndarray]]] = {
    "mean of the neighbours": mean_of_neighbours,
    "`transform_nodes`": transformed,
    "mean of raw vectors, all smoothed again": smoothed_again,
    "skip-gram for the new alone, all smoothed again": skip_gram,
    "`partial_fit`": updated,
    "`partial_fit` at the rate of `fit`": lambda task: updated(task, task.model.learning_rate_),
    "`fit` again": fitted_again,
}
MOVED = [way for way in WAYS if "partial_fit" in way]  # these move the old vectors


# -- measuring -----------------------------------------------------------------------------------


def measured(name: str, seed: int) -> Iterator[dict]:
    """Yield a row of results for each way."""
    task = Task(name, seed)
    for way, place in WAYS.items():
        began = time.perf_counter()
        old, new = place(task)
        seconds = time.perf_counter() - began
        row = {"graph": name, "seed": seed, "way": way, "seconds": seconds}
        if way in MOVED:
            row["cosine"] = float(np.median(np.einsum("ij,ij->i", old, task.old)))
        yield row | task.scores(old, new)


def page(found: dict) -> str:
    """Format the results as a table for each graph."""
    lines = ["# Vectors of new nodes", "", "Made by `python benchmarks/new_nodes.py`.", ""]
    for name in dict.fromkeys(row["graph"] for row in found["rows"]):
        head = [name, *MEASURES.values()]
        lines += ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
        for way in WAYS:
            rows = [row for row in found["rows"] if (row["graph"], row["way"]) == (name, way)]
            cells = [_spread([row[one] for row in rows if one in row], one) for one in MEASURES]
            lines.append(f"| {way} | {' | '.join(cells)} |")
        lines.append("")
    about = found["machine"]
    lines.append(f"{about['processor']}, commit {about['commit']}, {about['date']}.")
    return "\n".join(lines) + "\n"


def _spread(values: list[float], measure: str) -> str:
    if not values:
        return ""
    if measure in ("cosine", "seconds"):
        return f"{mean(values):.3f}" if measure == "cosine" else f"{mean(values):.2f}"
    return f"{mean(values):.1f}" + (f" ± {stdev(values):.1f}" if len(values) > 1 else "")


def main() -> None:
    """Measure, and write results/new_nodes.json."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", choices=GRAPHS)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--out", type=Path, default=HERE / "results" / "new_nodes.json")
    given = parser.parse_args()
    rows = [
        row
        for name in GRAPHS
        if given.only in (None, name)
        for seed in range(given.seeds)
        for row in measured(name, seed)
    ]
    publish({"machine": describe(), "rows": rows}, page, given.out)


if __name__ == "__main__":
    main()

"""Cells: units of computation, each kept in a file, from which tables and figures are made."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from .. import __version__
from ..files.writing import whole
from .methods import EmbeddingMethod
from .scale import Scale

LINK_PREDICTION, NODE_CLASSIFICATION, PATHS = "link-prediction", "node-classification", "paths"
FULL, HEADLINE, VALIDATION_ONLY = "full", "headline", "validation"

# Training fractions of the labelled nodes; the first is that of the paper's tables.
FRACTIONS: dict[str, tuple[float, ...]] = {
    "blogcatalog": (0.5, 0.1, 0.2, 0.3, 0.4, 0.6, 0.7, 0.8, 0.9),
    "ppi": (0.5, 0.1, 0.2, 0.3, 0.4, 0.6, 0.7, 0.8, 0.9),
    "dblp": (0.05, 0.01, 0.02, 0.03, 0.04, 0.06, 0.07, 0.08, 0.09),
}
LINK_GRAPHS = ("facebook", "ca-astroph")
CLASSIFICATION_GRAPHS = tuple(FRACTIONS)
_NODES = {"facebook": 4039, "ca-astroph": 17903, "blogcatalog": 10312, "ppi": 3890, "dblp": 51264}
TITLES = {
    "facebook": "Facebook",
    "ca-astroph": "ca-AstroPh",
    "blogcatalog": "BlogCatalog",
    "ppi": "PPI",
    "dblp": "DBLP",
}

CellScores = dict[str, Any]


@dataclass(frozen=True)
class Cell:
    """One method on one graph with one seed.

    Parameters
    ----------
    task : {"link-prediction", "node-classification", "paths"}
        What the vectors, or walks, are evaluated on.
    graph : str
        Name of a data set, or "toy".
    method : Method
        The method that makes the vectors.
    seed : int
        Seed of splits, shuffles, walks and training: the same cell always gives the same result.
    scale : Scale
        Sizes and amounts.
    scope : {"full", "headline", "validation"}
        How much is scored: everything; only the `shared` protocol, or the one training fraction of
        the tables; or only validation scores, which choose hyperparameters.
    """

    task: str
    graph: str
    method: EmbeddingMethod
    seed: int
    scale: Scale
    scope: str = FULL

    @property
    def name(self) -> str:
        """The name of its file."""
        size = f"d{self.scale.dimensions}"
        words = [self.task, self.graph, self.method.name, size, f"seed{self.seed}"]
        if self.scope != FULL:
            words.append(self.scope)
        return "-".join(words)

    @property
    def fractions(self) -> tuple[float, ...]:
        """Training fractions, for node classification."""
        if self.task != NODE_CLASSIFICATION:
            return ()
        return FRACTIONS[self.graph] if self.scope == FULL else FRACTIONS[self.graph][:1]

    def description(self) -> dict[str, Any]:
        """Return everything that its scores depend on."""
        described: dict[str, Any] = {
            "task": self.task,
            "graph": self.graph,
            "method": self.method.settings(),
            "seed": self.seed,
            "scope": self.scope,
            "version": __version__,
        }
        if self.task == PATHS:
            described["steps"] = self.scale.steps
        else:
            described["dimensions"] = self.scale.dimensions
        if self.task == NODE_CLASSIFICATION:
            described["fractions"] = list(self.fractions)
            described["shuffles"] = [self.scale.shuffles, self.scale.more_shuffles]
        if self.scale.planted:
            described["planted"] = self.scale.planted
        return described

    def needs(self) -> list[Cell]:
        """Return the cells that choose its method's parameters: once per graph, with seed 0."""
        return [
            replace(self, method=pilot, scope=VALIDATION_ONLY, seed=0)
            for pilot in self.method.pilots()
        ]

    def cost(self) -> float:
        """Return an estimate of its seconds on one core."""
        if self.task == PATHS:
            return 2.0
        nodes = self.scale.planted or _NODES[self.graph]
        walks = self.method.parameters.get("walks_per_node", self.scale.walks_per_node)
        embedding = nodes * walks * self.scale.walk_length / 1.7e6 * self.scale.dimensions / 64
        if self.task == LINK_PREDICTION:
            scoring = nodes / 250.0
            parts = {FULL: (2.0, 1.0), HEADLINE: (1.0, 0.5), VALIDATION_ONLY: (1.0, 0.1)}
        else:
            scoring = 5.0 + nodes / 1000.0
            parts = {FULL: (1.0, 5.0), HEADLINE: (1.0, 1.0), VALIDATION_ONLY: (1.0, 0.3)}
        times, share = parts[self.scope]
        return float(0.5 + times * embedding + share * scoring)


def all_needed(cells: list[Cell]) -> list[Cell]:
    """Return the cells and those they need, each once."""
    found: dict[str, Cell] = {}
    for cell in cells:
        for one in (*cell.needs(), cell):
            found.setdefault(one.name, one)
    return list(found.values())


# -- files ---------------------------------------------------------------------------------------


def cell_path(folder: Path, cell: Cell) -> Path:
    """Return the file of a cell."""
    return folder / (re.sub(r"[^\w.,-]+", "_", cell.name) + ".json")


def write_cell(folder: Path, cell: Cell, result: dict[str, Any]) -> None:
    """Write a finished cell to its file: whole or not at all."""
    content = {"description": cell.description(), "label": cell.method.label} | result
    with whole(cell_path(folder, cell)) as stream:
        stream.write((json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode())


def read_cell(folder: Path, cell: Cell) -> dict[str, Any] | None:
    """Read a cell; None if there is no file, or if it holds a cell of other settings.

    Raises ValueError if the file is damaged.
    """
    try:
        text = cell_path(folder, cell).read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    kept = json.loads(text)
    if not isinstance(kept, dict) or not {"description", "scores"} <= kept.keys():
        raise ValueError("no description, or no scores")
    return kept if kept["description"] == json.loads(json.dumps(cell.description())) else None

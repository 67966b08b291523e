"""Cells: units of computation, each kept in a file, from which tables and figures are made."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from .. import __version__
from ..files.writing import whole
from .graphs import fractions_of, table_fractions
from .methods import EmbeddingMethod
from .scale import Scale

LINK_PREDICTION, NODE_CLASSIFICATION, PATHS = "link-prediction", "node-classification", "paths"
# Seconds of the embedding that is evaluated by link prediction, or by node classification.
LINK_TIMING, NODE_TIMING = "link-timing", "node-timing"
FULL, TABLES, HEADLINE, VALIDATION_ONLY = "full", "tables", "headline", "validation"

CellScores = dict[str, Any]


@dataclass(frozen=True)
class Cell:
    """One method on one graph with one seed.

    Parameters
    ----------
    task : {"link-prediction", "node-classification", "paths", "link-timing", "node-timing"}
        What the vectors, or walks, are evaluated on; or that their embedding is timed.
    graph : str
        Name of a data set or of the scale's own graph, or "toy".
    method : Method
        The method that makes the vectors.
    seed : int
        Seed of splits, shuffles, walks and training: the same cell always gives the same result.
    scale : Scale
        Sizes and amounts.
    scope : {"full", "tables", "headline", "validation"}
        How much is scored: everything; for node classification, only the three training fractions
        of our tables; only the `shared` protocol, or the one training fraction of the paper's
        tables; or only validation scores, which choose hyperparameters.
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
        if self.scale.threads:
            words.append(f"{self.scale.threads}threads")
        if self.task != PATHS and self.scale.backend != "cpu":
            words.append(self.scale.backend)
        return "-".join(words)

    @property
    def fractions(self) -> tuple[float, ...]:
        """Training fractions, for node classification."""
        if self.task != NODE_CLASSIFICATION:
            return ()
        if self.scope == FULL:
            return fractions_of(self.graph)
        shown = table_fractions(self.graph)
        return shown if self.scope == TABLES else shown[:1]

    @property
    def tuned_fractions(self) -> tuple[float, ...]:
        """Those of them where the classifier's C is chosen by validation, too."""
        more = self.task == NODE_CLASSIFICATION and self.scope in (FULL, TABLES)
        return table_fractions(self.graph) if more else ()

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
            described["tuned_fractions"] = list(self.tuned_fractions)
            described["shuffles"] = [self.scale.shuffles, self.scale.more_shuffles]
        own = self.scale.own_graph
        if own is not None and self.graph == own.name:
            described["fingerprint"] = own.fingerprint
        elif self.scale.planted:
            described["planted"] = self.scale.planted
        if self.task != PATHS:
            described["backend"] = self.scale.backend
        if self.scale.threads:
            described["threads"] = self.scale.threads
        return described

    def needs(self) -> list[Cell]:
        """Return the cells that choose its method's parameters: once per graph, with seed 0."""
        return [
            replace(self, method=pilot, scope=VALIDATION_ONLY, seed=0)
            for pilot in self.method.pilots()
        ]


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
        kept = json.loads(text)
    except FileNotFoundError:
        return None
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if not isinstance(kept, dict) or not {"description", "scores"} <= kept.keys():
        raise ValueError("no description, or no scores")
    return kept if kept["description"] == json.loads(json.dumps(cell.description())) else None

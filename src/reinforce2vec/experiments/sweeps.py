"""Sweeps: many settings of Reinforce2Vec on several graphs, as a table and as curves.

A sweep is a list of settings. Each belongs to a row (or curve), may have a position along it, and
may be one of several choices there, such as learning rates: validation takes the best per seed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from .cells import HEADLINE, LINK_PREDICTION, NODE_CLASSIFICATION, Cell
from .choosing import VECTOR_KINDS
from .comparisons import KIND_NOTES, legend
from .figures import Curve, Panel, colours, curve_plot
from .graphs import CLASSIFICATION_GRAPHS, LINK_GRAPHS, TITLES
from .methods import EmbeddingMethod
from .scale import Scale
from .tables import Table, TableEntry
from .views import Choice, Picture, Results, View, best_groups, best_links


@dataclass(frozen=True)
class SweepSetting:
    """One training.

    Parameters
    ----------
    row : str
        The row of the table, or the curve, it belongs to.
    parameters : dict
        Parameters that differ from the paper's training.
    place : float, optional
        Its position on the curve: the column of the table.
    choice : str
        Its name among others of the same row and position.
    """

    row: str
    parameters: dict[str, Any]
    place: float | None = None
    choice: str = ""

    def method(self, scale: Scale) -> EmbeddingMethod:
        """Return the method, with a unique name."""
        words = [self.row, "" if self.place is None else f"{self.place:g}", self.choice]
        name = re.sub(r"[^a-z0-9.]+", "-", " ".join(words).lower()).strip("-")
        label = self.choice or self.row
        return EmbeddingMethod(
            name, label, "Reinforce2Vec", scale.training() | self.parameters, group="ours"
        )


@dataclass(frozen=True)
class Sweep:
    """Settings, and the graphs to try them on."""

    name: str
    title: str
    settings: tuple[SweepSetting, ...]
    graphs: tuple[str, ...] = (*LINK_GRAPHS, *CLASSIFICATION_GRAPHS)
    place_label: str = ""
    notes: tuple[str, ...] = field(default=())

    def cells(self, seeds: Sequence[int], scale: Scale) -> list[Cell]:
        """Return cells of every setting on every graph."""
        return [
            cell
            for graph in self.graphs
            for setting in self.settings
            for cell in _setting_cells(setting, graph, seeds, scale)
        ]

    def view(self, results: Results, seeds: Sequence[int], scale: Scale) -> View:
        """Show a table and curves for each graph; validation takes the best choice."""
        rows = list(dict.fromkeys(setting.row for setting in self.settings))
        places = sorted({one.place for one in self.settings if one.place is not None})
        view = View(notes=[legend(seeds, paper=False), *self.notes])
        if not places:
            view.tables = self._flat_tables(rows, results, seeds, scale)
            return view
        panels, tint = [], colours(rows)
        chosen: dict[str, Any] = {}
        for graph in self.graphs:
            curves = []
            for kind in VECTOR_KINDS:
                for measure in _measures(graph):
                    title = f"{TITLES[graph]}: {_measure_label(graph, measure)}{KIND_NOTES[kind]}"
                    columns = [f"walk, by {self.place_label}", *(f"{one:g}" for one in places)]
                    table = Table(title, columns)
                    for row in rows:
                        picks = [
                            self._choice(graph, row, place, kind, results, seeds, scale)
                            for place in places
                        ]
                        entries: list[TableEntry | None] = [pick.values[measure] for pick in picks]
                        table.add(row, entries)
                        if measure == _measures(graph)[0]:
                            label = f"{row}{KIND_NOTES[kind]}"
                            curves.append(Curve(label, places, entries, tint[row], kind != "raw"))
                            chosen[f"{graph}, {label}"] = dict(
                                zip(
                                    map(str, places),
                                    (pick.summary() for pick in picks),
                                    strict=True,
                                )
                            )
                    view.tables.append(table)
            y_label = "AUC, best operator, %" if graph in LINK_GRAPHS else "micro F1, %"
            panels.append(Panel(TITLES[graph], self.place_label, y_label, curves, logarithmic=True))
        view.more = {"chosen": chosen}
        view.pictures.append(Picture(self.name, self.title, partial(curve_plot, panels)))
        return view

    def _flat_tables(
        self, rows: list[str], results: Results, seeds: Sequence[int], scale: Scale
    ) -> list[Table]:
        """Return tables with a row for each setting and a column for each graph."""
        columns = [
            f"{TITLES[graph]} {_measure_label(graph, measure)}"
            for graph in self.graphs
            for measure in _measures(graph)
        ]
        tables = []
        for kind in VECTOR_KINDS:
            table = Table(f"{self.title}{KIND_NOTES[kind]}", ["walk", *columns])
            for row in rows:
                entries: list[TableEntry | None] = []
                for graph in self.graphs:
                    pick = self._choice(graph, row, None, kind, results, seeds, scale)
                    entries += [pick.values[measure] for measure in _measures(graph)]
                table.add(row, entries)
            entries = []
            for graph in self.graphs:
                pick = self._best(graph, self.settings, kind, results, seeds, scale)
                entries += [pick.values[measure] for measure in _measures(graph)]
            table.add("the best by validation", entries)
            tables.append(table)
        return tables

    def _choice(
        self,
        graph: str,
        row: str,
        place: float | None,
        kind: str,
        results: Results,
        seeds: Sequence[int],
        scale: Scale,
    ) -> Choice:
        """Return the best choice at one position of a row, by validation."""
        there = [one for one in self.settings if (one.row, one.place) == (row, place)]
        return self._best(graph, there, kind, results, seeds, scale)

    def _best(
        self,
        graph: str,
        settings: Sequence[SweepSetting],
        kind: str,
        results: Results,
        seeds: Sequence[int],
        scale: Scale,
    ) -> Choice:
        """Return the best of some settings, by validation."""
        found = {
            f"{setting.row}, {setting.choice}": results.by_seed(
                _setting_cells(setting, graph, seeds, scale)
            )
            for setting in settings
        }
        if graph in LINK_GRAPHS:
            return best_links(found, "shared", (kind,))
        return best_groups(found, (kind,))


def _setting_cells(
    setting: SweepSetting, graph: str, seeds: Sequence[int], scale: Scale
) -> list[Cell]:
    """Return a cell for each seed."""
    task = LINK_PREDICTION if graph in LINK_GRAPHS else NODE_CLASSIFICATION
    method = setting.method(scale)
    return [Cell(task, graph, method, seed, scale, HEADLINE) for seed in seeds]


def _measures(graph: str) -> tuple[str, ...]:
    """Return the metrics of a graph; the first is drawn."""
    return ("auc",) if graph in LINK_GRAPHS else ("micro", "macro")


def _measure_label(graph: str, measure: str) -> str:
    """Return the label of a metric."""
    return "AUC, best operator" if graph in LINK_GRAPHS else f"{measure} F1"

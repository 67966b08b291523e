"""Views: from the scores of cells to the numbers of tables and figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

from .cells import Cell, CellScores
from .choosing import VECTOR_KINDS, Candidate, best_candidate, group_candidates, link_candidates
from .methods import EmbeddingMethod
from .tables import Table, TableEntry, table_entry

_Draw = Callable[[], Any]  # a matplotlib figure


@dataclass(frozen=True)
class Picture:
    """A figure to draw, if matplotlib is installed."""

    name: str
    caption: str
    draw: _Draw


@dataclass
class View:
    """Tables, figures and notes of an experiment."""

    tables: list[Table] = field(default_factory=list)
    pictures: list[Picture] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    more: dict[str, Any] = field(default_factory=dict)  # further data, only for the JSON file


class Results:
    """Results of cells, looked up by cell."""

    def __init__(self, results: Mapping[str, Mapping[str, Any]]) -> None:
        self._results = results

    def scores(self, cell: Cell) -> CellScores | None:
        """Return the scores of a cell; None if it failed."""
        found = self._results.get(cell.name)
        return None if found is None else found["scores"]

    def fact(self, cell: Cell, name: str) -> Any:
        """Return a fact of a cell beside its scores, such as its seconds; None if it has none."""
        return self._results.get(cell.name, {}).get(name)

    def commits(self, cells: Iterable[Cell]) -> list[str]:
        """Return the commits of the source, or versions, that computed some cells."""
        found = {self.fact(cell, "commit") for cell in cells}
        return sorted(commit for commit in found if commit)

    def chosen(self, cell: Cell) -> str | None:
        """Return what the pilots of a cell chose."""
        chosen: str | None = self.fact(cell, "chosen")
        return chosen

    def all(self, cells: Iterable[Cell]) -> list[CellScores]:
        """Return the scores of those cells that did not fail."""
        return [found for cell in cells if (found := self.scores(cell)) is not None]

    def by_seed(self, cells: Iterable[Cell]) -> dict[int, CellScores]:
        """Return the same by seed."""
        return {cell.seed: found for cell in cells if (found := self.scores(cell)) is not None}


# -- link prediction -----------------------------------------------------------------------------


def link_entry(
    found: Sequence[CellScores],
    kind: str,
    protocol: str,
    operator: str,
    paper: float | None = None,
) -> TableEntry | None:
    """Return one operator's AUC over the seeds."""
    values = [scores[kind][protocol][operator]["auc"] for scores in found if kind in scores]
    return table_entry(values, paper)


# -- node classification -------------------------------------------------------------------------


def group_entry(
    found: Sequence[CellScores],
    kind: str,
    measure: str,
    paper: float | None = None,
    fraction: str | None = None,
) -> TableEntry | None:
    """Return F1 over the seeds, means of shuffles, by default at the paper's fraction.

    The measure is "micro" or "macro", or, with C by validation, "tuned_micro" or "tuned_macro".
    """
    values = []
    for scores in (one for one in found if kind in one):
        shuffles = scores[kind][fraction or next(iter(scores[kind]))]
        values.append(fmean(one[measure] for one in shuffles))
    return table_entry(values, paper)


# -- the best by validation ----------------------------------------------------------------------


@dataclass(frozen=True)
class Choice:
    """For each seed the scores of the setting that validation chose, and how often each was."""

    values: dict[str, TableEntry | None]
    settings: Counter[str]

    def summary(self) -> str:
        """Return the settings, the most frequent first."""
        times = self.settings.total()
        return "; ".join(
            f"{setting} ({count} of {times})" if len(self.settings) > 1 else setting
            for setting, count in self.settings.most_common()
        )


def best_links(
    found: Mapping[str, Mapping[int, CellScores]],
    protocol: str,
    kinds: Iterable[str] = VECTOR_KINDS,
    paper: float | None = None,
) -> Choice:
    """Choose for each seed the best of all methods, raw or smoothed, and operators.

    `found` has the scores by method and seed.
    """
    kinds = tuple(kinds)
    picks: list[Candidate] = []
    for seed in sorted({seed for scores in found.values() for seed in scores}):
        candidates = [
            candidate
            for label, scores in found.items()
            if seed in scores
            for candidate in link_candidates(label, scores[seed], protocol, kinds)
        ]
        if (pick := best_candidate(candidates)) is not None:
            picks.append(pick)
    values = {
        "auc": table_entry([pick.test["auc"] for pick in picks], paper),
        "ap": table_entry([pick.test["ap"] for pick in picks]),
    }
    return Choice(values, Counter(pick.setting for pick in picks))


def best_groups(
    found: Mapping[str, Mapping[int, CellScores]],
    kinds: Iterable[str] = VECTOR_KINDS,
    paper: Mapping[str, float] | None = None,
) -> Choice:
    """Choose for each seed and shuffle the best of all methods, raw or smoothed."""
    kinds, paper = tuple(kinds), paper or {}
    settings: Counter[str] = Counter()
    values: dict[str, list[float]] = {"micro": [], "macro": []}
    for seed in sorted({seed for scores in found.values() for seed in scores}):
        there = {label: scores[seed] for label, scores in found.items() if seed in scores}
        shuffles = min(
            len(next(iter(fractions.values())))
            for scores in there.values()
            for fractions in scores.values()
        )
        picks = []
        for shuffle in range(shuffles):
            candidates = [
                candidate
                for label, scores in there.items()
                for candidate in group_candidates(label, scores, shuffle, kinds)
            ]
            if (pick := best_candidate(candidates)) is not None:
                picks.append(pick)
        settings.update(pick.setting for pick in picks)
        for name in values if picks else ():
            values[name].append(fmean(pick.test[name] for pick in picks))
    return Choice(
        {name: table_entry(listed, paper.get(name)) for name, listed in values.items()}, settings
    )


def by_method(
    results: Results,
    methods: Iterable[EmbeddingMethod],
    cells: Callable[[EmbeddingMethod], Iterable[Cell]],
) -> dict[str, dict[int, CellScores]]:
    """Return scores by label and seed, of cells that did not fail."""
    return {method.label: results.by_seed(cells(method)) for method in methods}

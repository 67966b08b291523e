"""Tables of scores, with the paper's numbers and the differences."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class TableEntry:
    """A table entry: our score for each seed, and the paper's, if it has one."""

    values: tuple[float, ...]
    paper: float | None = None

    @property
    def mean(self) -> float:
        """Mean over the seeds."""
        return statistics.fmean(self.values)

    @property
    def spread(self) -> float | None:
        """Sample standard deviation over the seeds; None for a single seed."""
        return statistics.stdev(self.values) if len(self.values) > 1 else None

    @property
    def difference(self) -> float | None:
        """Our mean minus the paper's number; None where it has none."""
        return None if self.paper is None else self.mean - self.paper

    def __str__(self) -> str:
        text = f"{self.mean:.1f}" + ("" if self.spread is None else f" ± {self.spread:.1f}")
        if self.difference is not None:
            text += f" ({self.paper:.1f}, {self.difference:+.1f})"
        return text

    def data(self) -> dict[str, Any]:
        """Return it as data for a JSON file."""
        return {
            "mean": self.mean,
            "spread": self.spread,
            "values": list(self.values),
            "paper": self.paper,
            "difference": self.difference,
        }


def table_entry(values: Sequence[float], paper: float | None = None) -> TableEntry | None:
    """Return an entry of some values; None if there are none."""
    return TableEntry(tuple(map(float, values)), paper) if values else None


@dataclass
class Table:
    """Rows of entries, or of text, under named columns; the first column labels the row."""

    title: str
    columns: list[str]
    rows: list[tuple[str, list[Any]]] = field(default_factory=list)
    note: str = ""

    def add(self, label: str, entries: Sequence[Any]) -> None:
        """Add a row."""
        self.rows.append((label, list(entries)))

    def markdown(self) -> str:
        """Return the table as Markdown, without empty columns.

        The best means of a column of percentages, by the digits shown, are bold.
        """
        places = [
            place
            for place in range(len(self.columns) - 1)
            if not self.rows or any(entries[place] is not None for _, entries in self.rows)
        ]
        heads = [self.columns[0], *(self.columns[1 + place] for place in places)]
        lines = [f"## {self.title.replace('`', '')}", "", _line(heads)]
        lines.append(_line(["---"] * len(heads)))
        best = {place: self._best(place) for place in places}
        for label, entries in self.rows:
            texts = [
                f"**{entries[place]}**"
                if _shown(entries[place]) == best[place]
                else _text(entries[place])
                for place in places
            ]
            lines.append(_line([label, *texts]))
        if self.note:
            lines += ["", self.note]
        return "\n".join(lines) + "\n"

    def data(self) -> dict[str, Any]:
        """Return it as data for a JSON file."""
        rows = [
            {"label": label} | dict(zip(self.columns[1:], map(_data, entries), strict=True))
            for label, entries in self.rows
        ]
        return {"title": self.title, "note": self.note, "rows": rows}

    def _best(self, place: int) -> str:
        """Return the best mean of a column as it is shown; "none" if all are shown alike."""
        found = [entries[place] for _, entries in self.rows]
        entries = [one for one in found if isinstance(one, TableEntry)]
        if len({_shown(one) for one in entries}) < 2:
            return "none"
        return _shown(max(entries, key=lambda one: one.mean))


def _line(texts: Sequence[str]) -> str:
    return "| " + " | ".join(texts) + " |"


def _shown(one: Any) -> str:
    return f"{one.mean:.1f}" if isinstance(one, TableEntry) else ""


def _text(one: Any) -> str:
    return "–" if one is None else str(one)


def _data(one: Any) -> Any:
    return one.data() if isinstance(one, TableEntry) else one

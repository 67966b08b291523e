"""Results of evaluations: scores by seed, their mean and spread, as a table or for JSON."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import mean, stdev
from typing import Any

from .._util.checks import check_choice, check_count
from .._util.errors import InputError
from .._util.html import html_table
from .._util.progress import counted, part_of, terminal_progress

_PARTS = ("test", "validation")

MetricValues = dict[Any, dict[str, float]]  # for each row of the table, the value of each metric


@dataclass(frozen=True, repr=False)
class Evaluation:
    """Scores of several seeds, in percent.

    Attributes
    ----------
    seeds : tuple of int
        The seed of each run.
    scores : tuple of dict
        For each seed and each row of the table, the value of every metric; also "c" where it was
        chosen.
    """

    seeds: tuple[int, ...]
    scores: tuple[MetricValues, ...]

    @property
    def mean(self) -> MetricValues:
        """Mean over the seeds."""
        return self._over_seeds(mean)

    @property
    def spread(self) -> MetricValues:
        """Sample standard deviation over the seeds; NaN if there is only one."""
        return self._over_seeds(lambda values: stdev(values) if len(values) > 1 else float("nan"))

    def _over_seeds(self, fold: Callable[[Sequence[float]], float]) -> MetricValues:
        return {
            way: {
                metric: fold([run[way][metric] for run in self.scores])
                for metric in metrics
                if metric in HEADS  # not what was chosen for a run, such as C
            }
            for way, metrics in self.scores[0].items()
        }

    @property
    def title(self) -> str:
        """What was evaluated; the table begins with it."""
        raise NotImplementedError

    def table(self) -> tuple[str, list[list[str]]]:
        """Return the title and the rows of the table as text, its head first."""
        over = "" if len(self.seeds) == 1 else "mean ± standard deviation of "
        title = f"{self.title}: {over}{counted(len(self.seeds), 'seed')}, in percent"
        mean, spread = self.mean, self.spread
        rows = [["", *(HEADS[metric] for metric in next(iter(mean.values())))]]
        for way, metrics in mean.items():
            cells = [
                f"{value:.2f}" + (f" ± {spread[way][metric]:.2f}" if len(self.seeds) > 1 else "")
                for metric, value in metrics.items()
            ]
            rows.append([self.row_name(way), *cells])
        return title, rows

    def __repr__(self) -> str:
        title, rows = self.table()
        lines = [title]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        for first, *others in rows:
            cells = [cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True)]
            lines.append("  ".join([first.ljust(widths[0]), *cells]))
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        title, (head, *rows) = self.table()
        return html_table(head, rows, title)

    def row_name(self, way: Hashable) -> str:
        """Return the label of a row of the table."""
        return str(way)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as a dict that `json.dumps` accepts."""
        spread = self.spread if len(self.seeds) > 1 else None
        facts = asdict(self) | {"mean": self.mean, "spread": spread}
        return {name: _with_text_keys(value) for name, value in facts.items()}


HEADS = {"auc": "AUC", "ap": "AP", "micro": "micro-F1", "macro": "macro-F1"}


def _with_text_keys(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _with_text_keys(inner) for key, inner in value.items()}
    if isinstance(value, (tuple, list)):
        return [_with_text_keys(inner) for inner in value]
    return value


def run_seeds(
    what: str, seeds: int | Iterable[int], progress: bool, run: Callable[[int], MetricValues]
) -> tuple[tuple[int, ...], tuple[MetricValues, ...]]:
    """Run once for each seed: 0, 1, ... if a number of seeds is given."""
    listed = range(check_count("seeds", seeds, 1)) if not isinstance(seeds, Iterable) else seeds
    chosen = tuple(check_count("seeds", seed, 0) for seed in listed)
    if not chosen:
        raise InputError("seeds must name at least one seed", parameter="seeds")
    report = terminal_progress(what, "seeds", progress)
    scores = []
    for done, seed in enumerate(chosen):
        report(done, len(chosen))
        with part_of(f"seed {done + 1} of {len(chosen)}"):
            scores.append(run(seed))
    report(len(chosen), len(chosen))
    return chosen, tuple(scores)


def check_part(part: str) -> None:
    """Raise InputError unless `part` names what to score."""
    check_choice("part", part, _PARTS)

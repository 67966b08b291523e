"""The list of experiments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from .._util.errors import InputError
from . import ablations, comparisons, walk_figures
from .cells import Cell
from .scale import Scale
from .speed import speed, speed_cells
from .studies import STUDIES
from .views import Results, View

_ALL = "all"


class Experiment(NamedTuple):
    """A table, a figure or a study: the cells it needs, and the view made from them."""

    name: str
    title: str
    cells: Callable[[Sequence[int], Scale], list[Cell]]
    view: Callable[[Results, Sequence[int], Scale], View]
    beyond: bool = False  # not in the paper; `all` leaves it out


EXPERIMENTS = {
    one.name: one
    for one in (
        Experiment(
            "table-4",
            "Table 4. Link prediction: methods and operators",
            comparisons.table_4_cells,
            comparisons.table_4,
        ),
        Experiment(
            "table-5",
            "Table 5. Link prediction on Facebook: rewards and explorations",
            ablations.table_5_cells,
            ablations.table_5,
        ),
        Experiment(
            "table-7",
            "Table 7. Node classification: methods",
            comparisons.table_7_cells,
            comparisons.table_7,
        ),
        Experiment(
            "wide",
            "Tables 4 and 7 with 128 dimensions, as in most other publications",
            comparisons.wide_cells,
            comparisons.wide,
            beyond=True,
        ),
        Experiment(
            "table-8",
            "Table 8. Node classification on PPI: rewards and explorations",
            ablations.table_8_cells,
            ablations.table_8,
        ),
        Experiment(
            "figure-1",
            "Figure 1. The toy example step by step, and how occupation vectors settle",
            walk_figures.figure_1_cells,
            walk_figures.figure_1,
        ),
        Experiment(
            "figure-2",
            "Figure 2. Where walks get stuck on PPI",
            walk_figures.figure_2_cells,
            walk_figures.figure_2,
        ),
        Experiment(
            "figure-3",
            "Figure 3. Node classification over the share of nodes that train",
            comparisons.table_7_cells,
            comparisons.figure_3,
        ),
        Experiment(
            "figure-4",
            "Figure 4. ε-greedy exploration from ε = 0 to 1",
            ablations.figure_4_cells,
            ablations.figure_4,
        ),
        Experiment(
            "speed",
            "Quality against seconds of embedding",
            speed_cells,
            speed,
            beyond=True,
        ),
    )
} | {
    study.name: Experiment(study.name, study.title, study.cells, study.view, beyond=True)
    for study in STUDIES
}


def experiments_named(names: Sequence[str]) -> list[Experiment]:
    """Return the named experiments, each once; `all` is every table and figure of the paper."""
    wanted: dict[str, Experiment] = {}
    for name in names or (_ALL,):
        if name == _ALL:
            wanted |= {key: one for key, one in EXPERIMENTS.items() if not one.beyond}
        elif name in EXPERIMENTS:
            wanted[name] = EXPERIMENTS[name]
        else:
            known = ", ".join([*EXPERIMENTS, _ALL])
            raise InputError(f"there is no experiment {name!r}: choose from {known}")
    return list(wanted.values())

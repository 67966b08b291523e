"""The classifier of both tasks: logistic regression, its C given or chosen, on the CPU or a GPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._util import backend_choice
from .._util.checks import check_number
from .._util.cuda import device
from .._util.errors import InputError
from .._util.logistic import fit_logistic, predict

C_GRID = (0.1, 1.0, 10.0, 100.0, 1000.0)
"""What c="validation" chooses from."""

CHOOSE = "validation"
_Matrix = Any  # of NumPy, or of CuPy on a GPU
_Scores = NDArray[Any]


def check_c(c: Any) -> float | str:
    """Return how much the rows count beside the penalty, or "validation" if that is chosen."""
    if isinstance(c, str) and c == CHOOSE:
        return CHOOSE
    try:
        return check_number("c", c, above=0.0)
    except InputError as error:
        raise InputError(
            f'c must be a number above 0, or "{CHOOSE}" to choose it, not {c!r}', **error.data()
        ) from None


def placed(matrix: NDArray[Any], backend: Any, rows: int, classes: int = 1) -> _Matrix:
    """Return the matrix where the backend works: itself, or a copy on the GPU.

    `rows` are the rows that the regression works on at a time, with so many classes.
    """
    dimensions = matrix.shape[1]
    work = rows * dimensions * classes
    if backend_choice.choose(backend, "regression", work) == "cuda":
        what = f"logistic regression on {rows:,} rows of {dimensions:,} dimensions"
        needed = matrix.nbytes + rows * (3 * matrix.itemsize * dimensions + 24 * classes)
        if backend_choice.has_room(needed, what, backend):
            return device.cupy().asarray(matrix)
    return matrix


def rows_of(matrix: _Matrix, rows: NDArray[np.int64]) -> _Matrix:
    """Return rows of a matrix, wherever it is."""
    return matrix[rows if isinstance(matrix, np.ndarray) else device.cupy().asarray(rows)]


def predicted(
    known: _Matrix,
    truth: NDArray[np.bool_],
    asked: _Matrix,
    c: float | str,
    score: Callable[[_Scores, slice], float],
    *,
    standardise: bool = False,
) -> tuple[_Scores, dict[str, float]]:
    """Train on some rows, and return the scores (rows, classes) of others.

    Parameters
    ----------
    known, truth
        The rows that train, in random order, and the classes that they are in.
    asked
        The rows to score.
    c
        Of the regression. If it is to be chosen, the first half of the rows train and the second
        half are scored for each number of `C_GRID`; the best one, the smallest of equals, is used
        to train on all.
    score
        How good the scores of a slice of the known rows are: the more, the better.
    standardise
        Penalise the weights as if the columns had variance 1.

    Returns
    -------
    scores, and the c that was chosen, as {"c": c}; {} if it was given
    """
    chosen = {}
    if isinstance(c, str):
        c = _best_c(known, truth, score, standardise)
        chosen = {"c": c}
    return predict(asked, *fit_logistic(known, truth, c, standardise=standardise)), chosen


def _best_c(
    known: _Matrix,
    truth: NDArray[np.bool_],
    score: Callable[[_Scores, slice], float],
    standardise: bool,
) -> float:
    """Return the best c of the grid. On a GPU all are fitted together, which is faster there."""
    middle, classes = len(known) // 2, truth.shape[1]
    at_once = 1 if isinstance(known, np.ndarray) else len(C_GRID)
    values = []
    for first in range(0, len(C_GRID), at_once):
        these = C_GRID[first : first + at_once]
        answers = np.tile(truth[:middle], (1, len(these)))
        rates = np.repeat(these, classes)
        fitted = fit_logistic(known[:middle], answers, rates, standardise=standardise)
        scores = predict(known[middle:], *fitted)
        for number in range(len(these)):
            own = scores[:, number * classes : (number + 1) * classes]
            values.append(score(own, slice(middle, None)))
    return C_GRID[int(np.argmax(values))]

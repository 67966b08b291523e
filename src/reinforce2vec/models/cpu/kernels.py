"""Loops over rows that threads share: a step of the series, products of columns, a rotation."""

from __future__ import annotations

import numpy as np

from ..._util.compiled import inner, kernel
from .._filter import ROWS, WIDE
from .simd import TALL, add_tile, next_term


@kernel
def take_step(begin, end, indptr, indices, weights, unit, inverse, twice, step):
    """Compute some rows of the next term of the series, from `begin` to `end`.

    `inverse` has 1 / degree for each row. `step` has signal, coefficient, term and before.
    """
    signal, coefficient, term, before = step
    for row in range(begin, end):
        scale = twice * inverse[row]
        next_term(
            indices, weights, unit, row, indptr[row], indptr[row + 1], signal, coefficient, scale,
            term, before,
        )  # fmt: skip


@inner
def _widen(matrix, first, last, room):
    """Copy rows into float64, with zeros in columns that the matrix does not have."""
    dimensions = matrix.shape[1]
    for row in range(first, last):
        for column in range(dimensions):
            room[row - first, column] = matrix[row, column]
        for column in range(dimensions, room.shape[1]):
            room[row - first, column] = 0.0


@kernel
def add_products(left, right, same, begin, end, rooms, products):
    """Add leftᵗ right of some rows to the products, in the order of the rows.

    If both are the `same` matrix, the lower triangle of the products is not complete. `rooms`
    are two float64 arrays (ROWS, padded dimensions).
    """
    room, other = rooms
    padded = room.shape[1]
    for first in range(begin, end, ROWS):
        last = min(first + ROWS, end)
        _widen(left, first, last, room)
        if not same:
            _widen(right, first, last, other)
        for i in range(0, padded, TALL):
            for j in range(i // WIDE * WIDE if same else 0, padded, WIDE):
                add_tile(
                    room, i, 1, padded, room if same else other, j, padded, last - first,
                    products, i * padded + j, padded,
                )  # fmt: skip


@kernel
def turn_rows(matrix, begin, end, turn, rooms):
    """Multiply some rows by a square matrix, and scale them to length 1, in place."""
    room, turned = rooms
    padded = room.shape[1]
    for first in range(begin, end, ROWS):
        last = min(first + ROWS, end)
        _widen(matrix, first, last, room)
        for row in range(last - first):
            for column in range(padded):
                turned[row, column] = 0.0
        for i in range(0, last - first, TALL):
            for j in range(0, padded, WIDE):
                add_tile(
                    room, i * padded, padded, 1, turn, j, padded, padded,
                    turned, i * padded + j, padded,
                )  # fmt: skip
        for row in range(first, last):
            square = 0.0
            for column in range(matrix.shape[1]):
                square += turned[row - first, column] ** 2
            scale = 1 / np.sqrt(square) if square > 0 else 0.0
            for column in range(matrix.shape[1]):
                matrix[row, column] = turned[row - first, column] * scale

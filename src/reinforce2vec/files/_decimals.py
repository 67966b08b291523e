"""Matrices of float32 as text: lines of numbers that are read back as the same numbers."""

from __future__ import annotations

from contextlib import suppress
from math import copysign, floor, inf, log10
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._util.arrays import row_blocks
from .._util.compiled import compiled
from .._util.errors import InputError
from .._util.progress import counted
from ._fields import DOT, LOWER_E, MINUS, NEWLINE, ZERO
from ._lines import NUMBER, excerpt
from .id_texts import EncodedIds

Vectors = NDArray[np.float32]

_NAN, _INF = np.frombuffer(b"nan", np.uint8), np.frombuffer(b"inf", np.uint8)
_LOWEST, _HIGHEST = -4, 8  # powers of ten of numbers that are written without an exponent
_FEWEST, _MOST = 6, 9  # figures: 9 tell every float32 from all others
_TEN = np.uint64(10)
_TENS = np.array([float(f"1e{power}") for power in range(56)])
_EXACT = 22  # the largest power of ten that a float64 holds exactly
_WIDEST = 16  # bytes of the longest number and a separator


@compiled
def _spell_word(word, out, at):  # type: ignore[no-untyped-def]
    """Put a word into `out` from `at` on; returns the place after it, as all of these do."""
    for letter in word:
        out[at] = letter
        at += 1
    return at


@compiled
def _spell_decimal(figures, count, decimals, out, at):  # type: ignore[no-untyped-def]
    """Put figures / 10^decimals into `out`, without zeros at its end; there are `count` figures."""
    figures = np.uint64(figures)  # the remainder of a signed one takes twice the time
    while decimals > 0 and figures % _TEN == 0:
        figures //= _TEN
        count -= 1
        decimals -= 1
    end = at + max(count, decimals + 1) + (decimals > 0)
    place = end
    while place > at:
        place -= 1
        if end - place == decimals + 1 and decimals > 0:
            out[place] = DOT
            place -= 1
        out[place] = ZERO + np.uint8(figures % _TEN)
        figures //= _TEN
    return end


@compiled
def _spell_number(number, out, at):  # type: ignore[no-untyped-def]
    """Put a float32 into `out` with as few figures as let it be read back as the same float32.

    Of numbers so small or large that a float64 cannot try that exactly, with 9 figures.
    """
    if number != number:
        return _spell_word(_NAN, out, at)
    value = np.float64(number)
    if copysign(1.0, value) < 0:
        out[at] = MINUS
        at += 1
        value = -value
    if value == inf:
        return _spell_word(_INF, out, at)
    if value == 0:
        return _spell_decimal(0, 1, 0, out, at)
    power = np.int64(floor(log10(value)))
    for count in range(_FEWEST, _MOST + 1):
        decimals = count - 1 - power
        scale = _TENS[abs(decimals)]
        figures = np.int64((value * scale if decimals >= 0 else value / scale) + 0.5)
        read = figures / scale if decimals >= 0 else figures * scale
        if abs(decimals) <= _EXACT and np.float32(read) == np.float32(value):
            break
    if figures == _TENS[count]:  # rounded up to one figure more
        figures //= 10
        power += 1
    decimals = count - 1 - power
    if _LOWEST <= power <= _HIGHEST:
        if decimals < 0:
            return _spell_decimal(figures * np.int64(_TENS[-decimals]), power + 1, 0, out, at)
        return _spell_decimal(figures, count, decimals, out, at)
    at = _spell_decimal(figures, count, count - 1, out, at)
    out[at] = LOWER_E
    at += 1
    if power < 0:
        out[at] = MINUS
        at += 1
    return _spell_decimal(abs(power), 1 + (abs(power) >= 10), 0, out, at)


@compiled
def _spell_rows(letters, begins, vectors, separator, out):  # type: ignore[no-untyped-def]
    """Put an id, if it has letters, and its vector on each line of `out`; returns bytes used."""
    at = 0
    for row in range(len(vectors)):
        at = _spell_word(letters[begins[row] : begins[row + 1]], out, at)
        for column in range(vectors.shape[1]):
            if column > 0 or begins[row] < begins[row + 1]:
                out[at] = separator
                at += 1
            at = _spell_number(vectors[row, column], out, at)
        out[at] = NEWLINE
        at += 1
    return at


def write_rows(stream: Any, words: EncodedIds, vectors: Vectors, separator: int) -> None:
    """Write a line for each vector: its id, unless that is empty, and its numbers."""
    for rows in row_blocks(vectors):
        numbers = np.array(vectors[rows], np.float32, order="C")  # one kind of array to compile for
        begins = words.begins[rows.start : rows.start + len(numbers) + 1]
        room = int(begins[-1] - begins[0]) + _WIDEST * numbers.size + 2 * len(numbers)
        out = np.empty(room, np.uint8)
        used = _spell_rows(words.letters, begins, numbers, separator, out)
        stream.write(out[:used].data)


def parse_rows(texts: list[bytes], dimensions: int, path: Path, line: int) -> Vectors:
    """The numbers on lines, the first of which has this number in the file."""
    lines = [text.decode("latin-1") for text in texts]  # what is not ASCII is no number anyway
    if all(map(str.strip, lines)):  # loadtxt would pass over blank lines
        with suppress(ValueError):
            matrix = np.loadtxt(lines, np.float32, comments=None, ndmin=2)
            if matrix.shape == (len(texts), dimensions):
                return matrix
    rows = [
        _parse_row(text, dimensions, f"{path}, line {line + i}") for i, text in enumerate(texts)
    ]
    with np.errstate(over="ignore"):
        return np.array(rows, np.float32)


def _parse_row(text: bytes, dimensions: int, where: str) -> list[float]:
    """The numbers on a line; InputError if they are too few, too many or something else."""
    fields = text.split()
    if len(fields) != dimensions:
        expected = counted(dimensions, "number")
        raise InputError(f"{where}: expected {expected}, found {len(fields):,}")
    for field in fields:
        if not NUMBER.fullmatch(field):
            raise InputError(f'{where}: expected a number, found "{excerpt(field)}"')
    return [float(field) for field in fields]

"""Numba kernels that find fields and tokens in lines, and parse integers and weights."""

from __future__ import annotations

import numpy as np

from .._util.compiled import inner, kernel
from .._util.ids import ONE

# What kind of byte each is in a line; the last two only as the first byte of a line that is not
# blank. A MARK begins a comment in many files: with a blank after it, it is not taken for an id.
ORDINARY, BLANK, DELIMITER, LINE_END, COMMENT, MARK = 0, 1, 2, 3, 4, 5

# Problems of a line's fields.
FINE, MISSING, EMPTY, BAD_QUOTE, OPEN_QUOTE, LIKE_COMMENT, TOO_WIDE = 0, 1, 2, 3, 4, 5, 6

TAB, NEWLINE, RETURN, SPACE, _QUOTE = 9, 10, 13, 32, 34
_PLUS, MINUS, DOT, ZERO, _NINE, _UPPER_E, LOWER_E = 43, 45, 46, 48, 57, 69, 101

_LARGEST = 2**63 - 1
_EXACT = 2**53  # whole numbers up to this one are exact in a float64
_MANTISSA_LIMIT = 9 * 10**17  # one more digit still leaves it below 2^63
_SPLITTER = float(2**27 + 1)  # separates a float64 into two halves
_DOUBT = 2.0**-50  # the relative error of a correction is smaller
_POWERS_OF_TEN = np.array([float(10**power) for power in range(23)])  # exact in a float64


# The data end with a newline, so a scan for one needs no check of the size. Places are unsigned:
# numba would test whether a signed index is negative, which doubles the time.


@inner
def _past_blanks(data, kinds, i):
    """Return the first place from `i` on that holds no blank."""
    while kinds[data[i]] == BLANK:
        i += ONE
    return i


@inner
def _past_ordinary(data, kinds, stop, i):
    """Return the first place from `i` on where a field without quotes would end."""
    while kinds[data[i]] < stop:
        i += ONE
    return i


@inner
def _before_blanks(data, kinds, begin, end):
    """Return where a field ends, without the blanks after it."""
    while end > begin and kinds[data[end - ONE]] == BLANK:
        end -= ONE
    return end


@inner
def _closing_quote(data, i):
    """Return where the quotes that open at `i` close; the size of the data if they do not.

    Doubled quotes and newlines are part of the field.
    """
    size = np.uint64(data.size)
    i += ONE
    while i < size and (data[i] != _QUOTE or data[i + ONE] == _QUOTE):
        i += ONE if data[i] != _QUOTE else np.uint64(2)
    return i


@inner
def _past_line(data, kinds, stop, i):
    """Return where the line ends that begins, or has the end of a field, at `i`.

    The size of the data if they end inside quotes. What follows closing quotes, up to the end of
    the field, is part of it, so that a field that is not wanted is never refused.
    """
    size = np.uint64(data.size)
    while True:
        if kinds[data[i]] == DELIMITER:
            i += ONE
        i = _past_blanks(data, kinds, i)
        if data[i] == _QUOTE:
            i = _closing_quote(data, i) + ONE
            if i >= size:
                return size
        i = _past_ordinary(data, kinds, stop, i)
        if kinds[data[i]] == LINE_END:
            return i


@inner
def _past_further_fields(data, kinds, remarks, stop, quotes, i, count, most):
    """Return where a line ends, after `count` fields, the last of which ends at `i`.

    The size of the data if they end inside quotes. Also returns whether there is a field after the
    first `most`, unless that is 0, and whether there is a comment; empty fields do not count, and
    neither do those from a comment on.
    """
    size = np.uint64(data.size)
    delimited = stop == DELIMITER
    wide, remark = False, False
    while kinds[data[i]] != LINE_END:
        if delimited:
            i += ONE
        i = _past_blanks(data, kinds, i)
        count += 1
        if kinds[data[i]] < DELIMITER:
            if remarks is not None and 0 < most < count:
                remark |= _begins_comment(data, kinds, remarks, i)
            wide |= 0 < most < count and not remark
            if quotes is not None and data[i] == _QUOTE:
                i = _closing_quote(data, i) + ONE
                if i >= size:
                    return size, wide, remark
            i = _past_ordinary(data, kinds, stop, i)
    return i, wide, remark


@inner
def _is_blank(kind):
    """Return whether a byte of this kind is a blank or ends a line."""
    return kind in (BLANK, LINE_END)


@inner
def _begins_comment(data, kinds, starts, i):
    """Return whether the field at `i` begins a comment: a mark does if a blank follows."""
    start = starts[data[i]]
    return start == COMMENT or (start == MARK and _is_blank(kinds[data[i + ONE]]))


@kernel
def find_fields(data, kinds, starts, remarks, stop, quotes, slots, most, bounds):
    """Find where the wanted fields of every line begin and end.

    `kinds` gives the kind of each byte, `starts` that of the first byte of a line, and a field ends
    at a byte of the kind `stop` or above. Blank lines and comments are skipped. `bounds` gets a row
    for every line that holds data: the field k of the line begins at bounds[row, 2 * slots[k]] and
    ends at the number after it; a field whose slot is negative is skipped, and so are those after
    the last slot. Where a delimiter separates fields, they may be in quotes, and then hold
    delimiters, newlines and doubled quotes; `quotes` is None if the data have no quote, which
    leaves out the code for them, and else 0. A line with more than `most` fields has a problem,
    unless that is 0; empty ones at its end do not count, and neither does a comment, if `remarks`
    is `starts` and not None.

    Returns how many rows were filled, the problem of the line after them (FINE if there is none),
    where that line begins, which field has the problem, and how many comments were skipped. One
    pass over the bytes.
    """
    delimited = stop == DELIMITER
    rows, comments = 0, 0
    i = np.uint64(0)
    while i < np.uint64(data.size):
        line = i
        while kinds[data[i]] == BLANK or data[i] == TAB:
            i += ONE
        start = starts[data[i]]
        if start == MARK and _is_blank(kinds[data[i + ONE]]):
            return rows, LIKE_COMMENT, line, 0, comments
        if start == COMMENT:
            comments += 1
        elif start != LINE_END:
            if delimited:
                i = line  # a tab at the start of the line may be a delimiter
            for field in range(len(slots)):
                if field > 0:
                    if not delimited:
                        i = _past_blanks(data, kinds, i)
                    if data[i] == NEWLINE:
                        return rows, MISSING, line, field, comments
                    if delimited:
                        i += ONE
                i = _past_blanks(data, kinds, i)
                begin, end = i, i
                if quotes is not None and data[i] == _QUOTE:
                    begin += ONE
                    end = _closing_quote(data, i)
                    if end >= np.uint64(data.size):
                        return rows, OPEN_QUOTE, line, field, comments
                    i = _past_blanks(data, kinds, end + ONE)
                    if kinds[data[i]] < stop:
                        if slots[field] >= 0:
                            return rows, BAD_QUOTE, line, field, comments
                        i = _past_ordinary(data, kinds, stop, i)
                else:
                    i = _past_ordinary(data, kinds, stop, i)
                    end = _before_blanks(data, kinds, begin, i)
                slot = slots[field]
                if slot >= 0:
                    if end == begin:
                        return rows, EMPTY, line, field, comments
                    bounds[rows, 2 * slot] = begin
                    bounds[rows, 2 * slot + 1] = end
            rows += 1
            if data[i] != NEWLINE and (quotes is not None or most > 0):
                i, wide, remark = _past_further_fields(
                    data, kinds, remarks, stop, quotes, i, len(slots), most
                )
                comments += remark
                if i == np.uint64(data.size):
                    return rows - 1, OPEN_QUOTE, line, len(slots), comments
                if wide:
                    return rows - 1, TOO_WIDE, line, most, comments
        while data[i] != NEWLINE:
            i += ONE
        i += ONE
    return rows, FINE, i, 0, comments


@kernel
def find_open_line(data, kinds, starts, stop):
    """Return where the line begins whose quotes are open at the end of the data; else its size."""
    i = np.uint64(0)
    while i < np.uint64(data.size):
        line = i
        while kinds[data[i]] == BLANK or data[i] == TAB:
            i += ONE
        start = starts[data[i]]
        if start in (COMMENT, LINE_END):
            while data[i] != NEWLINE:
                i += ONE
        else:
            i = _past_line(data, kinds, stop, line)
            if i == np.uint64(data.size):
                return line
        i += ONE
    return i


@kernel
def unescape(data, tokens):
    """Make the fields in quotes what they stand for, in place, and shorten their places.

    Of two quotes one is left, and a newline of two bytes becomes one of one.
    """
    for row in range(len(tokens)):
        begin, end = np.uint64(tokens[row, 0]), np.uint64(tokens[row, 1])
        if begin > np.uint64(0) and data[begin - ONE] == _QUOTE:
            i, place = begin, begin
            while i < end:
                follower = data[i + ONE]
                if (data[i] == _QUOTE and follower == _QUOTE and i + ONE < end) or (
                    data[i] == RETURN and follower == NEWLINE
                ):
                    i += ONE
                data[place] = data[i]
                i += ONE
                place += ONE
            tokens[row, 1] = place


@kernel
def find_tokens(data, kinds, tokens, ends):
    """Find where all tokens of every line begin and end.

    A run of bytes of the kind BLANK separates tokens, and so does each DELIMITER. `ends` gets, for
    every line that has tokens, how many there are up to its end. Returns how many lines have
    tokens, and the place between two delimiters where a token is missing, or -1. One pass over the
    bytes.
    """
    lines, found, before = 0, 0, 0
    after_delimiter = False
    i = np.uint64(0)
    while i < np.uint64(data.size):
        i = _past_blanks(data, kinds, i)
        begin = i
        while kinds[data[i]] == ORDINARY:
            i += ONE
        delimited = kinds[data[i]] == DELIMITER
        if begin < i:
            tokens[found, 0] = begin
            tokens[found, 1] = i
            found += 1
        elif delimited or after_delimiter:
            return lines, np.int64(i)
        after_delimiter = delimited
        if kinds[data[i]] == LINE_END:
            if found > before:
                ends[lines] = found
                lines += 1
                before = found
            i += ONE
        elif delimited:
            i += ONE
    return lines, np.int64(-1)


@kernel
def parse_integers(data, tokens, values):
    """Parse each data[tokens[i, 0]:tokens[i, 1]] as an integer; return whether all are integers.

    Stops at the first that is not written as str(int) writes it, or does not fit in 64 bits: the
    ids then are strings.
    """
    for row in range(len(tokens)):
        i, end = np.uint64(tokens[row, 0]), np.uint64(tokens[row, 1])
        negative = data[i] == MINUS
        if negative:
            i += ONE
        digits = end - i
        if digits < ONE or digits > np.uint64(19):
            return False
        if data[i] == ZERO and (digits > ONE or negative):
            return False
        value = np.uint64(0)  # holds any 19 digits
        while i < end:
            if data[i] < ZERO or data[i] > _NINE:
                return False
            value = value * np.uint64(10) + np.uint64(data[i] - ZERO)
            i += ONE
        if value > np.uint64(_LARGEST) + np.uint64(negative):
            return False
        values[row] = -np.int64(value) if negative else np.int64(value)
    return True


@inner
def _halves(number):
    """Return two numbers of 26 bits whose sum is a float64 (Dekker)."""
    scaled = number * _SPLITTER
    upper = scaled - (scaled - number)
    return upper, number - upper


@inner
def _long_quotient(mantissa, power):
    """Return a whole number below 2^63, divided by a power of ten and rounded once, or NaN.

    The quotient of the rounded number is corrected by the remainder, which is exact. If numbers a
    little above and below that correction lead to the same float64, so does the exact one.
    """
    rounded = np.float64(mantissa)
    quotient = rounded / power
    product = quotient * power
    a, b = _halves(quotient)
    c, d = _halves(power)
    error = ((a * c - product) + a * d + b * c) + b * d  # of this product
    remainder = (rounded - product) - error
    correction = (remainder + np.float64(mantissa - np.int64(rounded))) / power
    doubt = abs(correction) * _DOUBT
    number = quotient + (correction + doubt)
    return number if number == quotient + (correction - doubt) else np.nan


@kernel
def parse_weights(data, bounds, weights):
    """Parse the third field of every row as a decimal number, correctly rounded.

    A mantissa up to 2^53 and a power of ten up to 10^22 are exact in a float64, so their product
    or quotient is rounded once. A quotient of 18 digits is found in two steps. Any other field
    becomes NaN, and the caller parses it in Python.
    """
    for row in range(len(bounds)):
        i, end = np.uint64(bounds[row, 4]), np.uint64(bounds[row, 5])
        weights[row] = np.nan
        mantissa, exponent, digits, after_dot = np.int64(0), np.int64(0), 0, 0
        while i < end and mantissa < _MANTISSA_LIMIT:
            if ZERO <= data[i] <= _NINE:
                mantissa = mantissa * 10 + np.int64(data[i] - ZERO)
                digits += 1
                exponent -= after_dot
            elif data[i] == DOT and after_dot == 0:
                after_dot = 1
            else:
                break
            i += ONE
        if i + ONE < end and (data[i] == LOWER_E or data[i] == _UPPER_E):
            i += ONE
            sign = -1 if data[i] == MINUS else 1
            if (data[i] == MINUS or data[i] == _PLUS) and i + ONE < end:
                i += ONE
            power = np.int64(0)
            while i < end and ZERO <= data[i] <= _NINE and power < 1000:
                power = power * 10 + np.int64(data[i] - ZERO)
                i += ONE
            exponent += sign * power
        if i == end and digits > 0 and -22 <= exponent <= 22:
            if mantissa > _EXACT:
                if exponent < 0:
                    weights[row] = _long_quotient(mantissa, _POWERS_OF_TEN[-exponent])
            elif exponent < 0:
                weights[row] = mantissa / _POWERS_OF_TEN[-exponent]
            else:
                weights[row] = mantissa * _POWERS_OF_TEN[exponent]

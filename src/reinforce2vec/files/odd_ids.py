"""Ids that are most likely no names of nodes, or a second spelling of one: refused, or reported."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from .._util.errors import InputError, excerpt
from .._util.ids import Ids
from .._util.progress import counted

MISSING_IDS = ("nan", "na", "n/a", "<na>", "nat", "null", "none", "\\n")  # as programs write them
MISSING_SPELLINGS = {
    spelled for word in MISSING_IDS for spelled in (word, word.upper(), word.capitalize(), "NaN")
}
_WHOLE_DECIMAL = re.compile(r"-?\d+\.0+")
_COMMENTED = re.compile(r"[#%]-?\d+")
# soft hyphens, joiners, directions, byte order marks and variations of a glyph
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufe00-\ufe0f\ufeff]")


def odd_among_integers(words: Iterable[str]) -> tuple[int, str, str] | None:
    """Return an id that makes strings of integers: its number, itself, and one of the integers.

    It is a missing value, a whole decimal or an integer after the mark of a comment. None if there
    is no such id, or if there are other words.
    """
    odd: tuple[int, str] | None = None
    integer: str | None = None
    for number, word in enumerate(words):
        if word.removeprefix("-").isdecimal():
            integer = integer or word
        elif (
            word.lower() in MISSING_IDS
            or _WHOLE_DECIMAL.fullmatch(word)
            or _COMMENTED.fullmatch(word)
        ):
            odd = odd or (number, word)
        else:  # most files of words end here, at the first
            return None
    return None if odd is None or integer is None else (*odd, integer)


def odd_id_error(found: str, word: str, integer: str, what: str = "edges") -> InputError:
    """Return the error for an id of :func:`odd_among_integers`; `found` says where it is."""
    if word.lower() in MISSING_IDS:
        return InputError(
            f'{found}: a node id is missing ("{word}"), as all other ids are numbers: leave such '
            f"{what} out"
        )
    if _COMMENTED.fullmatch(word) and what != "edges":
        return InputError(
            f'{found}: "{excerpt(word)}" may begin a comment, as other ids are integers, such as '
            f'"{excerpt(integer)}": leave such {what} out'
        )
    if _COMMENTED.fullmatch(word):
        mark = word[0]
        return InputError(
            f'{found}: "{excerpt(word)}" may begin a comment, as other ids are integers, such as '
            f'"{excerpt(integer)}": comments="{mark}" skips such lines, and comments="" takes them '
            "for data",
            settings=[("comments", mark), ("comments", "")],
        )
    return InputError(
        f'{found}: the id "{excerpt(word)}" is a decimal, but others are integers, such as '
        f'"{excerpt(integer)}": write both alike (pandas makes decimals of integers where some '
        "are missing)"
    )


def notes_of_ids(ends: NDArray[np.int32], ids: Ids) -> list[str]:
    """Return what is to be reported of ids: missing values, and those that look like others."""
    listed = ids.tolist() if ids.dtype == object else []
    notes = []
    for word in sorted({"", *MISSING_SPELLINGS}.intersection(listed)):
        times = counted(int(np.any(ends == listed.index(word), axis=1).sum()), "edge")
        notes.append(f'the id "{word}", of {times}, may be a missing value')
    if pairs := _lookalikes(listed):
        one, other = map(ascii, pairs[0])
        look = "id looks" if len(pairs) == 1 else "ids look"
        notes.append(f"{len(pairs):,} {look} like another, such as {one} like {other}")
    return notes


def _lookalikes(ids: list[object]) -> list[tuple[str, str]]:
    """Return ids that look like another one, and that one.

    They differ in blanks around them, in invisible characters, or in how Unicode composes letters.
    """
    plain_ids: dict[object, str] = {}  # ids that are not plain, by their plain spellings
    pairs = []
    for node in ids:
        if isinstance(node, str) and not (node.isascii() and node == node.strip()):
            plain = " ".join(unicodedata.normalize("NFC", _INVISIBLE.sub("", node)).split())
            if plain in plain_ids:
                pairs.append((node, plain_ids[plain]))
            elif plain != node:
                plain_ids[plain] = node
    pairs += [(plain_ids[node], str(node)) for node in ids if plain_ids and node in plain_ids]
    return pairs

"""Node ids as text: how they are written and read back, and which are most likely none."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._util.errors import InputError, excerpt, short_repr
from .._util.ids import Ids, as_ids
from .._util.progress import counted
from ._lines import SHORT_INTEGER

MISSING_IDS = ("nan", "na", "n/a", "<na>", "nat", "null", "none", "\\n")  # as programs write them
MISSING_SPELLINGS = {
    spelled for word in MISSING_IDS for spelled in (word, word.upper(), word.capitalize(), "NaN")
}
WHOLE_DECIMAL = r"-?\d+\.0+"  # pandas makes them of integers where some are missing
COMMENTED = r"[#%]-?\d+"
# what readers of delimited text might take for something else than a part of a field
_UNSAFE = re.compile(r'[,;|\t"\r\n]|^[#%\ufeff\s]|\s$|^$')


class EncodedIds(NamedTuple):
    """Encoded node ids, one after another: all bytes, where each id begins and the last ends."""

    letters: NDArray[np.uint8]
    begins: NDArray[np.int64]

    @classmethod
    def of(cls, encode_texts: list[bytes]) -> EncodedIds:
        """Join encoded ids."""
        begins = np.zeros(len(encode_texts) + 1, np.int64)
        np.cumsum([len(word) for word in encode_texts], out=begins[1:])
        return cls(np.frombuffer(b"".join(encode_texts), np.uint8), begins)

    @property
    def longest(self) -> int:
        """Length of the longest id in bytes."""
        return int(np.diff(self.begins).max(initial=0))


def ids_as_text(ids: Ids, path: Path) -> list[str]:
    """Return node ids as strings; InputError if two of them become the same string."""
    texts = [str(node) for node in ids.tolist()]
    known: set[str] = set()
    for text in texts if len(set(texts)) < len(texts) else ():
        if text in known:
            raise InputError(
                f"{path}: two node ids read {short_repr(text)} as text, so they could not be "
                "distinguished: give every node a name of its own"
            )
        known.add(text)
    return texts


def encode_texts(texts: list[str], path: Path, surrogates: str = "surrogateescape") -> list[bytes]:
    """Encode strings in UTF-8; bytes that Python could not decode become what they were."""
    try:
        return [text.encode(errors=surrogates) for text in texts]
    except UnicodeEncodeError as error:
        raise InputError(
            f"{path}: the node id {short_repr(error.object)} holds "
            f"{short_repr(error.object[error.start])}, which UTF-8 cannot express: name the node "
            "without it"
        ) from None


def arrow_ids(ids: Ids, path: Path) -> Any:
    """Return ids for pyarrow: integers, or else all as strings of valid UTF-8."""
    if ids.dtype != object:
        return ids
    texts = ids_as_text(ids, path)
    encode_texts(texts, path, "strict")
    return texts


def quoted(text: str) -> str:
    """Return a field of delimited text, in the quotes of RFC 4180 if it needs them.

    Examples
    --------
    >>> [quoted(text) for text in ("ann", "a,b", "#tag", 'the "x" one')]
    ['ann', '"a,b"', '"#tag"', '"the ""x"" one"']
    """
    if not _UNSAFE.search(text):
        return text
    doubled = text.replace('"', '""')
    return f'"{doubled}"'


def marks_begin_ids(ids: Ids) -> bool:
    """Return whether an id begins as comments do, so that lines beside it that do are data."""
    return ids.dtype == object and any(str(node).startswith(("#", "%")) for node in ids.tolist())


def parse_ids(words: list[str]) -> Ids:
    """Return node ids by the rule for edge lists: integers if all of them are, else strings."""
    if all(SHORT_INTEGER.fullmatch(word.encode()) for word in words):
        with contextlib.suppress(OverflowError):
            return np.array([int(word) for word in words], np.int64)
    return as_ids(words)


def ids_as_arrays(ids: Ids, path: Path) -> dict[str, NDArray[Any]]:
    """Return ids as arrays: integers as they are, strings as their bytes and where each begins."""
    if ids.dtype != object:
        return {"ids": ids}
    for node in ids.tolist():
        if not isinstance(node, str):
            raise InputError(
                f"{path}: a {path.suffix} file holds node ids that are all strings or all 64-bit "
                f"integers, but here is {short_repr(node)}: name every node by a string"
            )
    words = EncodedIds.of(encode_texts(ids.tolist(), path, "surrogatepass"))
    return {"ids": words.letters, "begins": words.begins}


def ids_from_arrays(letters: NDArray[Any], begins: NDArray[Any]) -> Ids:
    """Return the strings that :func:`ids_as_arrays` wrote; ValueError if they are no such."""
    if letters.dtype != np.uint8 or begins.dtype.kind not in "iu" or begins.ndim != 1:
        raise ValueError("its ids do not fit together")
    if not begins.size or begins[0] != 0 or (begins[1:] < begins[:-1]).any():
        raise ValueError("its ids do not fit together")
    raw = letters.tobytes()
    if begins[-1] != len(raw):
        raise ValueError("its ids do not fit together")
    words = [raw[a:b] for a, b in pairwise(begins.tolist())]
    ids = np.empty(len(words), object)
    ids[:] = [word.decode(errors="surrogatepass") for word in words]
    return ids


def refuse_odd_id(words: Iterable[str], where: Callable[[int], str], *patterns: str) -> None:
    """Raise InputError if ids are strings, not integers, because of some that are most likely none.

    These are missing values, and what one of the patterns matches; `where` says where the id with a
    number is. There is no error if there are other words.
    """
    pattern = re.compile("|".join(patterns))
    odd: tuple[int, str] | None = None
    integer = ""
    for number, word in enumerate(words):
        if word.removeprefix("-").isdecimal():
            integer = integer or word
        elif word.lower() in MISSING_IDS or pattern.fullmatch(word):
            odd = odd or (number, word)
        else:  # most files of words end here, at the first
            return
    if odd is not None and integer:
        raise InputError(
            f'{where(odd[0])}: the id "{excerpt(odd[1])}" may be a missing value, a decimal or a '
            f'comment, as others are integers, such as "{excerpt(integer)}": write all ids alike, '
            "and leave others out"
        )


def notes_of_ids(ends: NDArray[np.int32], ids: Ids) -> list[str]:
    """Return what is to be reported of ids: those that may be missing values."""
    listed = ids.tolist() if ids.dtype == object else []
    notes = []
    for word in sorted({"", *MISSING_SPELLINGS}.intersection(listed)):
        times = counted(int(np.any(ends == listed.index(word), axis=1).sum()), "edge")
        notes.append(f'the id "{word}", of {times}, may be a missing value')
    return notes

"""Colours and shapes of groups of nodes: in pictures, in the explorer and in the documentation.

Groups are ranked by size, largest first, ties by name; the group of rank r has the look
`LOOKS[r]`. The table was computed: the first eight colours stay close to those of Okabe and Ito
(2008), and the smallest distance between colours is as large as possible, for normal and for
colour-blind readers (simulated after Machado et al., 2009). Looks of one shape differ most, as do
the first few. Every colour has a contrast of 3:1 or more with the background.
`tests/plotting/test_palette.py` has the numbers.
"""

from __future__ import annotations

from typing import NamedTuple


class GroupLook(NamedTuple):
    """The colour of a group on a light and on a dark background, and its shape."""

    light: str
    dark: str
    shape: str


SHAPES = ("circle", "triangle", "square", "diamond", "cross")
_OF_ONE_SHAPE = 8  # more colours of one shape are hard to tell apart
_COLOURS = (  # on a light background, on a dark one
    ("#086fcc", "#0fa5fd"),  # blue
    ("#ab7002", "#f5b303"),  # orange
    ("#037152", "#15a260"),  # green
    ("#d9689d", "#f07baa"),  # purple
    ("#0d9cc6", "#88cdff"),  # sky
    ("#b2421b", "#f75a09"),  # red
    ("#18141d", "#fdfffe"),  # black
    ("#9d9311", "#e2f416"),  # yellow
    ("#a2439d", "#954797"),
    ("#92000e", "#fac0b2"),
    ("#494779", "#7e71f0"),
    ("#4740ba", "#395cd1"),
    ("#054d00", "#2d724c"),
    ("#0b9765", "#b0feb1"),
    ("#591178", "#afa1d4"),
    ("#63243d", "#c4345e"),
    ("#c56c57", "#a54d01"),
    ("#8a1761", "#9f7495"),
    ("#0f2fa0", "#457ec3"),
    ("#945f80", "#ffd5fe"),
)
LOOKS = tuple(
    GroupLook(*_COLOURS[rank % len(_COLOURS)], SHAPES[rank // _OF_ONE_SHAPE])
    for rank in range(_OF_ONE_SHAPE * len(SHAPES))
)
OTHERS = GroupLook("#80868b", "#6b7177", "circle")  # of all further groups; drawn hollow, or small

# From low to high numbers: viridis, at equal steps.
SCALE = (
    *("#440154", "#482878", "#3e4989", "#31688e", "#26828e"),
    *("#1f9e89", "#35b779", "#6ece58", "#b5de2b", "#fde725"),
)

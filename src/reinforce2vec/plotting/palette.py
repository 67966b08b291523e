"""Colours and shapes of groups of nodes: in pictures, in the explorer and in the documentation.

Groups are ranked by size, largest first, ties by name; the group of rank r has the look
`LOOKS[r]`. The table was found by simulated annealing: the first eight colours stay close to those
of Okabe and Ito (2008), and the smallest distance between colours is as large as possible, for
normal and for colour-blind readers (simulated after Machado et al., 2009). Looks of one shape
differ most, as do the first few. Every colour has a contrast of 3:1 or more with the background.
`tests/plotting/test_palette.py` has the numbers.
"""

from __future__ import annotations

from typing import NamedTuple


class _GroupLook(NamedTuple):
    """The colour of a group on a light and on a dark background, and its shape."""

    light: str
    dark: str
    shape: str


SHAPES = ("circle", "triangle", "square", "diamond", "cross")
_OF_ONE_SHAPE = 8  # more colours of one shape are hard to tell apart
_COLOURS = (  # on a light background, on a dark one
    ("#015aab", "#0c93d2"),  # blue
    ("#a96c07", "#ffc831"),  # orange
    ("#11966b", "#4ac588"),  # green
    ("#8e4d73", "#bb728d"),  # purple
    ("#0398e0", "#67d3ff"),  # sky
    ("#a83201", "#fe810d"),  # red
    ("#1c131a", "#fefffe"),  # black
    ("#9d9202", "#fefa0b"),  # yellow
    ("#790003", "#d55401"),
    ("#e95670", "#bc2d52"),
    ("#d362c5", "#963fb1"),
    ("#7957d5", "#6c6fec"),
    ("#8f268f", "#c44ca7"),
    ("#6e024d", "#c697c0"),
    ("#723a46", "#ffa7b8"),
    ("#307c9b", "#aaeeff"),
    ("#667bf7", "#92adff"),
    ("#016703", "#caf8a8"),
    ("#4a0e90", "#ac7fff"),
    ("#1d3d6a", "#1962d1"),
)
LOOKS = tuple(
    _GroupLook(*_COLOURS[rank % len(_COLOURS)], SHAPES[rank // _OF_ONE_SHAPE])
    for rank in range(_OF_ONE_SHAPE * len(SHAPES))
)
OTHERS = _GroupLook("#80868b", "#6b7177", "circle")  # of all further groups; drawn hollow, or small

# From low to high numbers: viridis, at equal steps.
SCALE = (
    *("#440154", "#482878", "#3e4989", "#31688e", "#26828e"),
    *("#1f9e89", "#35b779", "#6ece58", "#b5de2b", "#fde725"),
)

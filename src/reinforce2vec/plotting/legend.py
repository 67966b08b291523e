"""The legend of a map: all classes, beside the map or below it, whichever leaves more room."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

from .classes import Look
from .palette import OTHERS
from .style import FAINT, MARKS

SMALL_TEXT = 7.0  # points; of legends and captions
_NARROW = 4.5  # inches: the legend of a narrower map is below it
_LONGEST = (28, 22, 18, 12)  # characters of a name, the first that fits
_ROW, _HANDLE, _BETWEEN = 1.5, 1.4, 1.0  # height of a row, width of a marker and a gap, in ems
_ENOUGH = 0.68  # of the smaller side of the figure: what a legend leaves to the map


_LOOK: dict[str, Any] = {"alignment": "left", "fontsize": SMALL_TEXT, "title_fontsize": SMALL_TEXT}
_LOOK |= {"handlelength": 1.0, "handletextpad": 0.4, "columnspacing": _BETWEEN}
_LOOK |= {"borderaxespad": 0.0, "borderpad": 0.0, "labelspacing": 0.3}
_Arrangement = tuple[list[str], int, bool]  # lines, in how many columns, whether beside the map


def add_legend(axes: Any, looks: Sequence[Look], title: str, below: float) -> None:
    """Add a legend of classes to a map, beside it or `below` points under its axes."""
    from matplotlib.transforms import ScaledTranslation

    figure = axes.figure.figure
    texts, columns, beside = _arrange(looks, *(figure.get_size_inches() * 72).tolist())
    handles = [
        marker(look.shape, look.colour, 5.5, text, hollow=look.colour == OTHERS.light)
        for text, look in zip(texts, looks, strict=False)  # fewer texts if some do not fit
    ]
    if len(texts) < len(looks):
        handles[-1] = marker("circle", "none", 5.5, texts[-1])
    down = ScaledTranslation(0, -below / 72, figure.dpi_scale_trans)
    legend = axes.legend(
        handles=handles,
        title=title,
        ncols=columns,
        loc="upper left",
        bbox_to_anchor=(1.0, 1.0) if beside else (0.0, 0.0),
        bbox_transform=axes.transAxes if beside else axes.transAxes + down,
        **_LOOK,
    )
    legend.get_title().set_color(FAINT)
    for text in legend.get_texts():
        text.set_parse_math(False)


def _arrange(looks: Sequence[Look], width: float, height: float) -> _Arrangement:
    """Return the arrangement that leaves the most room to a map in a figure of this size.

    Beside the map in one column, a legend has the number of nodes of each class. Long names are
    cut until the map has enough room; what does not fit even then is counted in the last line.
    """
    enough = _ENOUGH * min(width, height)

    def room(choice: _Arrangement) -> float:
        texts, columns, beside = choice
        tall = (-(-len(texts) // columns) + 1) * _ROW * SMALL_TEXT
        if not beside:
            return min(width, height - tall)
        wide = columns * _column_width(texts)
        return min(width - wide, height) if tall < 0.9 * height else 0.0

    for longest in _LONGEST:
        names = _short_names([look.name for look in looks], longest)
        columns = min(len(names), max(1, int(0.97 * width / _column_width(names))))
        choices = [(names, columns, False)]
        if width >= _NARROW * 72:
            sizes = [
                f"{name}  ({len(look.rows):,})" for name, look in zip(names, looks, strict=True)
            ]
            choices += [(sizes, 1, True), (names, 2, True)]
        best = max(choices, key=room)
        if room(best) >= enough:
            return best
    lines = columns * max(1, int((height - enough) / (_ROW * SMALL_TEXT)) - 1)
    if lines < len(names):
        names = [*names[: lines - 1], f"and {len(names) - lines + 1:,} more"]
    return names, columns, False


def _column_width(texts: Sequence[str]) -> float:
    """Return the width of a column of a legend, with the gap to the next, in points."""
    widest = max(_text_width(text, SMALL_TEXT) for text in texts)
    return widest + (_HANDLE + _BETWEEN) * SMALL_TEXT


def marker(shape: str, colour: str, size: float, label: str, hollow: bool = False) -> Any:
    """Return what a legend shows for nodes of this look."""
    from matplotlib.lines import Line2D

    mark, share = MARKS[shape]
    look: dict[str, Any] = {"marker": mark, "markersize": size * share**0.5, "linestyle": ""}
    look |= {"markerfacecolor": "none" if hollow else colour, "markeredgecolor": colour}
    return Line2D([], [], label=label, markeredgewidth=0.8 if hollow else 0, **look)


# -- text ----------------------------------------------------------------------------------------


def _text_width(text: str, size: float) -> float:
    """Return the width of a line of text, in points."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(size=size)
    return float(text_to_path.get_text_width_height_descent(text, font, ismath=False)[0])


def wrapped(text: str, size: float, room: float) -> str:
    """Return text in lines that are no wider than this, in points."""
    width = max(_text_width(text, size), 1)  # signs without width have none
    return textwrap.fill(text, max(8, int(len(text) * room / width)))


def _short_names(names: Sequence[str], longest: int) -> list[str]:
    """Return names of at most this many characters; those that differ stay different if possible.

    The end is cut, or the middle where names begin with the same characters.
    """
    cut = [name if len(name) <= longest else name[: longest - 1] + "…" for name in names]
    half = longest // 2
    for place, name in enumerate(names):
        if cut.count(cut[place]) > 1 and cut[place] != name:
            cut[place] = name[: longest - half - 1] + "…" + name[-half:]
    return cut

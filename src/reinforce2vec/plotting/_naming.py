"""Names of classes on a map: all of them at their own nodes if they fit, else all in a legend."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from ._places import middle_of
from .classes import Look
from .palette import OTHERS
from .style import FAINT, MARKS, halo

SMALL_TEXT = 7.0  # points; of legends and captions
_NARROW = 4.5  # inches: the legend of a narrower map is below it
_ON_NARROW, _ON_WIDE = 7.0, 8.5  # font sizes of names on maps
_LINE = 1.3  # height of a line of a name, in ems
_ONE_LINE = 12  # characters; longer names have two lines
_LONGEST = (28, 22, 18, 12)  # characters of a name in the legend, the first that fits
_ROW, _HANDLE, _BETWEEN = 1.5, 1.4, 1.0  # height of a row, width of a marker and a gap, in ems
_ENOUGH = 0.68  # of the smaller side of the figure: what a legend leaves to the map
_LARGE, _HIDDEN = 50, 0.12  # nodes of a class that its name may cover, and which share of them
_DIRECTIONS = ((0, 1), (0, -1), (1, 0), (-1, 0), (0.7, 0.7), (-0.7, 0.7), (0.7, -0.7), (-0.7, -0.7))
_TOGETHER = 2 / 3  # of as many nodes as a class has, around its middle: its own
_SAMPLE = 20_000  # nodes that are compared with the names

_Points = NDArray[np.float64]


def name_classes(
    axes: Any,
    points: _Points,
    areas: NDArray[np.float64],
    looks: Sequence[Look],
    rest: Look | None,
    kind: str,
    below: float,
) -> None:
    """Write the name of each class at its nodes; if one does not fit, list all in a legend instead.

    Nodes have areas in square points. The legend begins `below` points under the axes, unless it is
    beside them.
    """
    sample = np.random.default_rng(0).permutation(len(points))[:_SAMPLE]
    class_of = np.full(len(points), -1)
    for number, look in enumerate(looks):
        class_of[look.rows] = number
    radii = np.sqrt(areas[sample] / np.pi)
    nodes = _Nodes(cKDTree(points[sample]), class_of[sample], radii)
    names = _short_names([look.name for look in looks], _LONGEST[0])
    groups = [
        _Group(number, _two_lines(names[number]), *found)
        for number, look in enumerate(looks)
        if (found := _together(points, nodes, number, look)) is not None
    ]
    places: dict[int, _Points] = {}
    if len(groups) == len(looks):
        note = _add_legend(axes, [] if rest is None else [rest], "", below)
        axes.figure.figure.draw_without_rendering()  # the note has its room: the scale is final
        places = _places_of_names(axes, nodes, groups)
        if len(places) < len(looks) and note is not None:
            note.remove()
    if len(places) < len(looks):
        _add_legend(axes, [*looks] if rest is None else [*looks, rest], kind, below)
        return
    for group in groups:
        axes.text(
            *places[group.number], group.name, ha="center", va="center", fontsize=_name_size(axes),
            weight="bold", color=_darker(looks[group.number].colour), path_effects=halo(),
            zorder=4, parse_math=False, linespacing=_LINE - 0.2,
        )  # fmt: skip


# -- names on the map ----------------------------------------------------------------------------


class _Nodes(NamedTuple):
    """Nodes of the map, or a sample of very many: places, numbers of their classes, and sizes."""

    tree: Any
    class_of: NDArray[np.int64]
    radii: NDArray[np.float64]  # in points


class _Group(NamedTuple):
    """A class whose nodes are together: its name can be on the map."""

    number: int
    name: str  # in one or two lines
    middle: _Points
    radius: float  # most nodes are this close to the middle


def _together(
    points: _Points, nodes: _Nodes, number: int, look: Look
) -> tuple[_Points, float] | None:
    """Return the middle and radius of a class, if most nodes around there are its own."""
    middle = middle_of(points[look.rows])
    own = np.count_nonzero(nodes.class_of == number)
    around = nodes.tree.query(middle, range(1, 1 + min(max(3, own), nodes.tree.n)))[1]
    if (nodes.class_of[around] == number).mean() < _TOGETHER:
        return None
    apart = np.linalg.norm(points[look.rows] - middle, axis=1)
    return middle, float(np.quantile(apart, 0.8))


def _places_of_names(axes: Any, nodes: _Nodes, groups: Sequence[_Group]) -> dict[int, _Points]:
    """Return where names are, in data coordinates, of the classes whose names fit.

    A name fits where there is no other one, most nodes near it are of its class, and it covers few
    of a large class and none of a small one. The largest classes choose first.
    """
    dots = axes.figure.dpi / 72  # pixels per typographic point
    frame = axes.get_window_extent()
    low, high = np.array([[frame.x0, frame.y0], [frame.x1, frame.y1]])
    scale = np.ptp(axes.transData.transform([(0, 0), (1, 0)])[:, 0])
    to_data = axes.transData.inverted()
    size = _name_size(axes)
    found: dict[int, _Points] = {}
    taken: list[_Points] = []
    for group in groups:
        lines = group.name.split("\n")
        width = max(_text_width(line, size, bold=True) for line in lines) + 4
        half = np.array([width, size * _LINE * len(lines)]) / 2 * dots
        middle = axes.transData.transform(group.middle)
        for shift in _shifts(half, group.radius * scale):
            place = np.clip(middle + shift, low + half, high - half)
            box = np.concatenate([place - half, place + half])
            if (place - half < low).any() or any(
                (box[:2] < other[2:]).all() and (other[:2] < box[2:]).all() for other in taken
            ):
                continue
            spot = to_data.transform(place)
            if _fits(nodes, group.number, spot, half / scale, dots / scale):
                taken.append(box)
                found[group.number] = spot
                break
    return found


def _fits(nodes: _Nodes, number: int, spot: _Points, half: _Points, point: float) -> bool:
    """Whether a class has the most nodes near a place, and a box there covers few nodes.

    The box is `half` as wide and high in data coordinates, where a typographic point is `point`.
    """
    own = np.count_nonzero(nodes.class_of == number)
    near = nodes.tree.query(spot, range(1, 1 + min(5, nodes.tree.n, 2 * own)))[1]
    reach = float(np.hypot(*half) + nodes.radii.max() * point)
    around = np.array(nodes.tree.query_ball_point(spot, reach), np.int64)
    apart = np.abs(nodes.tree.data[around] - spot) - nodes.radii[around, None] * point
    covered = nodes.class_of[around[(apart < half).all(axis=1)]]
    if len(covered) > (_HIDDEN * own if own >= _LARGE else 0):
        return False
    return _most_are(nodes.class_of[near], number) and _most_are(covered, number)


def _most_are(classes: NDArray[np.int64], number: int) -> bool:
    """Whether no class is more frequent than this one."""
    counts = np.bincount(classes + 1, minlength=number + 2)  # nodes of no class are -1
    return bool(counts[number + 1] == counts.max())


def _shifts(half: _Points, radius: float) -> list[tuple[float, float]]:
    """Return where a name may be, from the middle of its class: in it, or else around it."""
    width, height = half
    inside = [
        (aside, up)
        for aside in (0, width / 2, -width / 2)
        for up in np.array([0, 1, -1, 2, -2]) * height
        if abs(up) < radius
    ]
    around = [
        (right * (out + width), up * (out + height))
        for out in np.array([1.0, 1.25, 1.6, 2.0]) * radius
        for right, up in _DIRECTIONS
    ]
    return [*inside, *around]


def _two_lines(name: str) -> str:
    """Return a name in two lines of similar length, if it is long and has words."""
    spaces = [place for place, sign in enumerate(name) if sign == " "]
    if len(name) <= _ONE_LINE or not spaces:
        return name
    middle = min(spaces, key=lambda place: abs(place - len(name) / 2))
    return name[:middle] + "\n" + name[middle + 1 :]


def _name_size(axes: Any) -> float:
    narrow = axes.figure.figure.get_size_inches()[0] < _NARROW
    return _ON_NARROW if narrow else _ON_WIDE


def _darker(colour: str) -> tuple[float, ...]:
    """Return the colour of a text that names nodes of this colour."""
    from matplotlib.colors import to_rgb

    return tuple(0.7 * part for part in to_rgb(colour))


# -- the legend ----------------------------------------------------------------------------------


class _Arrangement(NamedTuple):
    """A legend: its lines, in how many columns, whether beside the map, and the room that leaves.

    The map is about square: its room is the smaller of width and height, in points.
    """

    texts: list[str]
    columns: int
    beside: bool
    room: float


def _add_legend(axes: Any, looks: Sequence[Look], kind: str, below: float) -> Any:
    """Add a legend, beside or below the map; None if there is nothing to list.

    Without a title it is a note, always below.
    """
    from matplotlib.transforms import ScaledTranslation

    if not looks:
        return None
    figure = axes.figure.figure
    width, height = figure.get_size_inches() * 72
    if kind:
        texts, columns, beside, _ = _arrange(looks, width, height)
    else:
        texts, columns, beside = [_with_size(look.name, look) for look in looks], len(looks), False
    handles = [
        marker(look.shape, look.colour, 5.5, text, hollow=look.colour == OTHERS.light)
        for text, look in zip(texts, looks, strict=False)  # fewer texts if some do not fit
    ]
    if len(texts) < len(looks):
        handles[-1] = marker("circle", "none", 5.5, texts[-1])
    down = ScaledTranslation(0, -below / 72, figure.dpi_scale_trans)
    legend = axes.legend(
        handles=handles, title=kind or None, ncols=columns, loc="upper left", alignment="left",
        bbox_to_anchor=(1.0, 1.0) if beside else (0.0, 0.0),
        bbox_transform=axes.transAxes if beside else axes.transAxes + down,
        fontsize=SMALL_TEXT, title_fontsize=SMALL_TEXT, handlelength=1.0, handletextpad=0.4,
        columnspacing=_BETWEEN, borderaxespad=0.0, borderpad=0.0, labelspacing=0.3,
    )  # fmt: skip
    legend.get_title().set_color(FAINT)
    for text in legend.get_texts():
        text.set_parse_math(False)
    return legend


def _arrange(looks: Sequence[Look], width: float, height: float) -> _Arrangement:
    """Return the arrangement of a legend that leaves enough room for a map of this size.

    It is beside a wide map or below, whichever leaves more room; beside, in one column, with the
    number of nodes of each class. Long names are cut. What does not fit even then is counted in
    the last line.
    """
    enough = _ENOUGH * min(width, height)
    for longest in _LONGEST:
        names = _short_names([look.name for look in looks], longest)
        sizes = [_with_size(name, look) for name, look in zip(names, looks, strict=True)]
        choices = [_below(names, width, height)]
        if width >= _NARROW * 72:
            choices = [_beside(sizes, 1, width, height), _beside(names, 2, width, height), *choices]
        best = max(choices, key=lambda one: one.room)
        if best.room >= enough:
            return best
    columns = choices[-1].columns
    lines = columns * max(1, int((height - enough) / (_ROW * SMALL_TEXT)) - 1)
    if lines < len(names):
        names = [*names[: lines - 1], f"and {len(names) - lines + 1:,} more"]
    return _below(names, width, height)


def _with_size(name: str, look: Look) -> str:
    """Return a name with the number of nodes."""
    return f"{name}  ({len(look.rows):,})"


def _below(texts: list[str], width: float, height: float) -> _Arrangement:
    """Return a legend below the map, in as many columns as there is room for."""
    columns = min(len(texts), max(1, int(0.97 * width / _column_width(texts))))
    left = height - _legend_height(texts, columns)
    return _Arrangement(texts, columns, False, min(width, left))


def _beside(texts: list[str], columns: int, width: float, height: float) -> _Arrangement:
    """Return a legend beside the map; there is no room if it is higher than the map."""
    fits = _legend_height(texts, columns) < 0.9 * height
    left = width - columns * _column_width(texts)
    return _Arrangement(texts, columns, True, min(left, height) if fits else 0.0)


def _legend_height(texts: list[str], columns: int) -> float:
    """Return the height of a legend with a title, in points."""
    return (-(-len(texts) // columns) + 1) * _ROW * SMALL_TEXT


def _column_width(texts: Sequence[str]) -> float:
    """Return the width of a column of a legend, with the gap to the next, in points."""
    widest = max(_text_width(text, SMALL_TEXT) for text in texts)
    return widest + (_HANDLE + _BETWEEN) * SMALL_TEXT


def marker(shape: str, colour: str, size: float, label: str, hollow: bool = False) -> Any:
    """Return what a legend shows for nodes of this look."""
    from matplotlib.lines import Line2D

    mark, share = MARKS[shape]
    return Line2D(
        [], [], linestyle="", marker=mark, markersize=size * share**0.5, label=label,
        markerfacecolor="none" if hollow else colour, markeredgecolor=colour,
        markeredgewidth=0.8 if hollow else 0,
    )  # fmt: skip


# -- text ----------------------------------------------------------------------------------------


def _text_width(text: str, size: float, bold: bool = False) -> float:
    """Return the width of a line of text, in points."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(size=size, weight="bold" if bold else "normal")
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
    return [
        name[: longest - half - 1] + "…" + name[-half:] if cut.count(short) > 1 and short != name
        else short
        for name, short in zip(names, cut, strict=True)
    ]  # fmt: skip

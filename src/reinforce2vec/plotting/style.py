"""Style of figures, and saving them. matplotlib is imported when one is drawn."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

from .._util import errors
from .._util.terminal import printable
from ..files.targets import known_suffix, resolve_target
from ..files.writing import check_target, whole
from .palette import LOOKS, OTHERS

BLUE, ORANGE, GREEN, PURPLE, SKY, RED, BLACK, YELLOW = (look.light for look in LOOKS[:8])
GREY = OTHERS.light
COLOURS = (BLUE, ORANGE, GREEN, PURPLE, SKY, RED, BLACK, YELLOW)  # of lines and areas
PALE = "#D4D4D4"  # of the background: edges, and nodes that were not visited
INK, FAINT = "#333333", "#666666"  # of text
MARKERS = "osD^vP*X"
MARKS = {  # shapes of the palette: marker, and area that looks as large as that of a circle
    "circle": ("o", 1.0),
    "triangle": ("^", 1.2),
    "square": ("s", 0.8),
    "diamond": ("D", 0.7),
    "cross": ("P", 1.2),
}
TIME = "viridis"  # for time and amounts: perceptually uniform, also for colour-blind readers

TITLE_SIZE = 9.5  # points
_STYLE: dict[str, Any] = {
    "font.size": 9,
    "axes.labelsize": 9,
    "axes.titlesize": TITLE_SIZE,
    "axes.titlelocation": "left",
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.7,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "text.color": INK,
    "axes.grid": True,
    "grid.color": "#E6E6E6",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "svg.hashsalt": "reinforce2vec",  # the same figure gives the same file
    "pdf.fonttype": 42,  # text stays text, as publishers require
    "text.parse_math": False,  # names with dollar signs are no formulas
}
_LONGEST_TEXT = 200  # characters that are drawn of a text
_WRITTEN_TO = "pictures are written to"
_METADATA: dict[str, dict[str, Any]] = {  # no date: the same figure gives the same file
    ".png": {"Software": None},
    ".svg": {"Date": None},
    ".pdf": {"CreationDate": None},
}


def matplotlib() -> Any:
    """Import matplotlib; InputError, with what to install, if it is missing."""
    for module in ("matplotlib", "matplotlib.figure", "matplotlib.style"):
        errors.import_package(module, "drawing pictures", "plots")
    import matplotlib

    return matplotlib


@contextmanager
def styled() -> Iterator[Any]:
    """Apply our style to matplotlib, within the block only; return the package.

    Characters that the font lacks are drawn as boxes, without a warning for each.
    """
    package = matplotlib()
    with warnings.catch_warnings(), package.style.context(["default", _STYLE]):
        warnings.filterwarnings("ignore", "Glyph .* missing from", UserWarning)
        yield package


@cache
def _figure_class() -> Any:
    """Return our class of figures, which Jupyter displays without matplotlib's integration."""

    class Picture(matplotlib().figure.Figure):  # type: ignore[misc]
        def _repr_png_(self) -> bytes:
            return _render(self, ".png", 144)

    return Picture


def new_figure(width: float, height: float, layout: str | None = "constrained") -> Any:
    """Return an empty figure of a size in inches, without changing the state of pyplot."""
    return _figure_class()(figsize=(width, height), layout=layout)


def save(figure: Any, path: str | os.PathLike[str], *, dpi: int = 300) -> None:
    """Write a figure to a file: .png, .svg or .pdf.

    The file appears when it is complete. The same figure always gives the same bytes.

    Parameters
    ----------
    figure : matplotlib Figure
        Any figure of matplotlib.
    path : path
        The file to write; its suffix names the format.
    dpi : int, default 300
        Dots per inch of a PNG, and of bitmaps of many points in SVG and PDF, where everything else
        is vector graphics.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import reinforce2vec as r2v
    >>> figure = r2v.plotting.walk_path(r2v.karate_club(), [0, 1, 2, 0])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "walk.svg")
    ...     r2v.plotting.save(figure, file)
    ...     print(file.read_bytes()[:5])
    b'<?xml'
    """
    suffix = known_suffix(Path(path), _METADATA, _WRITTEN_TO)
    target = resolve_target(path)
    picture = _render(figure, suffix, dpi)
    with whole(target) as stream:
        stream.write(picture)


def check_picture_path(path: str | os.PathLike[str]) -> Path:
    """Return where a picture will be written, links followed; InputError if that cannot work.

    The suffix must be known and the folder writable, which is tried out.
    """
    known_suffix(Path(path), _METADATA, _WRITTEN_TO)
    return check_target(path)


def _render(figure: Any, suffix: str, dpi: int) -> bytes:
    """Return a figure as the bytes of a file."""
    stream = BytesIO()
    with styled() as package, package.rc_context({"text.parse_math": True}):  # of other figures
        for axes in figure.axes:  # powers at logarithmic axes are formulas of matplotlib
            for label in (*axes.get_xticklabels(which="both"), *axes.get_yticklabels(which="both")):
                if label.get_text().startswith(r"$\mathdefault{"):
                    label.set_parse_math(True)
        figure.savefig(stream, format=suffix[1:], dpi=dpi, metadata=_METADATA[suffix])
    return stream.getvalue()


def clear_axes(axes: Any, title: str | None = None) -> None:
    """Remove frame, ticks and grid from axes whose coordinates mean nothing."""
    axes.set_xticks([])
    axes.set_yticks([])
    axes.grid(visible=False)
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.set_aspect("equal", adjustable="datalim")
    axes.margins(0.06)
    if title:
        axes.set_title(title, parse_math=False)  # the axes may have been made elsewhere


def drawable(text: object) -> str:
    """Return a text of users as it is drawn: in one line, cut if it is very long.

    Control characters are spelled out: an SVG file may not hold them.
    """
    plain = printable(" ".join(str(text)[: 2 * _LONGEST_TEXT].split()))
    plain = plain.replace("\ufffe", "\ufffd").replace("\uffff", "\ufffd")
    if len(plain) > _LONGEST_TEXT:
        plain = plain[: _LONGEST_TEXT - 1] + "…"
    # matplotlib leaves names with an underscore out of legends: a space of no width hides it
    return f"\u200b{plain}" if plain.startswith("_") else plain


def draw_lines(axes: Any, lines: Any, **look: Any) -> Any:
    """Draw many lines at once; return them."""
    from matplotlib.collections import LineCollection

    collection = LineCollection(list(lines), **look)
    axes.add_collection(collection)
    return collection

"""The page in a notebook: shown in place, and its selection in Python."""

from __future__ import annotations

import html
import sys
from collections.abc import Callable, Iterable
from functools import cache
from importlib import import_module
from importlib.resources import files
from typing import Any

import numpy as np

from .._util import errors
from .._util.errors import InputError
from .._util.ids import Ids, Lookup

_HEIGHT = 600  # of the page, in pixels


class MapView:
    """The map of an embedding in a notebook; a cell whose last line it is shows it.

    With anywidget (`pip install 'reinforce2vec[notebook]'`) the selection on the map is the one in
    Python. Without it the map is shown as well, but has no `selection`.

    Parameters
    ----------
    page : bytes
        The page, in HTML.
    ids : array
        The ids of the nodes on the map, in the order of its rows.
    height : int
        Height of the page in the notebook, in pixels.
    """

    def __init__(self, page: bytes, ids: Ids, *, height: int = _HEIGHT) -> None:
        self._page, self._ids, self._height = page, ids, height
        self._lookup = Lookup(ids, "the map")
        widget = _widget_class()
        self._widget = None if widget is None else widget(page=page, height=height)

    @property
    def selection(self) -> list[Any]:
        """The ids of the selected nodes; assign ids to select nodes on the map.

        Selected nodes are in the order in which the page or the assignment has them.
        """
        selected: list[Any] = self._ids[np.array(self._known_widget().rows, np.int64)].tolist()
        return selected

    @selection.setter
    def selection(self, nodes: Iterable[Any]) -> None:
        if isinstance(nodes, (str, bytes)) or not hasattr(nodes, "__iter__"):
            raise InputError(f"the selection is a list of node ids, not {nodes!r}")
        rows = list(dict.fromkeys(self._lookup.rows(nodes).tolist()))
        self._known_widget().rows = rows

    def observe(self, handler: Callable[[list[Any]], None]) -> Callable[[], None]:
        """Call a function with the ids whenever other nodes are selected.

        Returns
        -------
        callable
            Call it to end that.
        """
        widget = self._known_widget()

        def changed(change: Any) -> None:
            handler(self.selection)

        widget.observe(changed, "rows")
        return lambda: widget.unobserve(changed, "rows")

    def _known_widget(self) -> Any:
        if self._widget is None:
            raise errors.missing("anywidget", "notebook", "the selection of a map in a notebook")
        return self._widget

    def __repr__(self) -> str:
        return f"MapView({len(self._ids):,} nodes)"

    def _repr_mimebundle_(self, **options: Any) -> Any:
        """Return what a notebook shows: the widget, or a frame that holds the page."""
        if self._widget is not None:
            return self._widget._repr_mimebundle_(**options)
        frame = (
            f'<iframe title="Map of an embedding" sandbox="allow-scripts allow-downloads" '
            f'allow="fullscreen; clipboard-write" '
            f'style="width: 100%; height: {self._height}px; border: 0" '
            f'srcdoc="{html.escape(self._page.decode())}"></iframe>'
        )
        return {"text/html": frame, "text/plain": repr(self)}


def in_notebook() -> bool:
    """Return whether Python runs as the kernel of a notebook, and not on a terminal."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return shell is not None and hasattr(shell, "kernel")


@cache
def _widget_class() -> Any:
    """Return the class of the widget; None without anywidget."""
    try:
        anywidget, traitlets = import_module("anywidget"), import_module("traitlets")
    except ImportError:
        return None
    front_end = (files(__package__) / "static" / "widget.js").read_text(encoding="utf-8")

    class MapWidget(anywidget.AnyWidget):  # type: ignore[misc,name-defined]
        """The page and the selected rows, the same in Python and in the browser."""

        _esm = front_end
        page = traitlets.Bytes().tag(sync=True)
        rows = traitlets.List(traitlets.Int()).tag(sync=True)
        height = traitlets.Int(_HEIGHT).tag(sync=True)

    return MapWidget

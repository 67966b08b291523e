"""What a page costs: about how long it takes, said before the work."""

from __future__ import annotations

from .._util.machine import available_cpus
from .._util.progress import counted
from ..embedding.projection import projection_seconds
from ..plotting.maps import METHOD_NAMES

_LONG = 10  # seconds that are worth a word
# CPU time for each pair of nodes, measured with 20,000 nodes, 64 dimensions and 10 edges a node
_NEIGHBOURS, _LINKS = 7e-9, 3.4e-8


def cost_note(method: str | None, n_nodes: int, *, held: bool, linked: bool) -> str:
    """Return a text that says how long a page takes on this machine; an empty one if not long.

    Parameters
    ----------
    method : str or None
        The projection; None if positions are known.
    n_nodes : int
        The nodes on the map.
    held : bool
        Whether the page holds the neighbours of every node.
    linked : bool
        Whether there is a graph, and so likely links.
    """
    placing = 0.0 if method is None else projection_seconds(method, n_nodes)
    listing = 0.0
    if held:
        listing = (_NEIGHBOURS + linked * _LINKS) * n_nodes**2 / available_cpus()
    seconds = placing + listing
    if seconds < _LONG:
        return ""
    about = f"{seconds:.0f} seconds" if seconds < 100 else f"{seconds / 60:.0f} minutes"
    by = "" if method is None else f" by {METHOD_NAMES[method]}"
    note = f"a map of {counted(n_nodes, 'node')}{by} takes about {about}"
    if listing > placing:
        lists = "neighbours and likely links" if linked else "neighbours"
        return f"{note}, most of it for the {lists} of every node"
    return f'{note}; the method "layout" is faster' if method in ("tsne", "umap") else note

"""Files and objects of other packages, read into and written from plain arrays.

Edges (`graph_readers`, `edge_lists`, `converters`), walks (`walk_readers`, `walk_writers`), vectors
(`vector_files`) and labels (`label_files`). A graph in an edge list is read like this; other
formats go through `converters` or `_graphml` to `edges.Edges`, too:

    graph_readers ──▶ edge_lists ──▶ delimited, _lines, _fields, _tokens ──▶ edges.Edges

`columns` says which columns of a file or table are the edges, `sides` separates the nodes of
bipartite graphs, `node_lists` adds nodes, and `graph_writers` writes graphs. `opening` opens files,
with errors that name the file; `writing` writes them atomically; `id_texts` converts node ids to
text and back. It may import `_util`.
"""

from .label_files import NamedLabels, read_labels
from .stored_walks import StoredWalks
from .walk_readers import read_walks
from .walk_writers import write_walks

__all__ = [
    "NamedLabels",
    "StoredWalks",
    "read_labels",
    "read_walks",
    "write_walks",
]

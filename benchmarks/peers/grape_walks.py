"""First-order walks by GRAPE, from every node with a neighbour (it starts none elsewhere).

We know no option of this version that makes them faster.
"""

from __future__ import annotations

from collections.abc import Callable

from grape_model import graph_of
from serving import load_graph, options, serve

graph = graph_of(*load_graph()[:2])


def make_walks(seed: int) -> Callable[[], dict]:
    walks = graph.complete_walks(
        walk_length=options.length, iterations=options.walks, random_state=seed
    )
    assert walks.shape[1] == options.length
    return lambda: {"steps": walks.shape[0] * (walks.shape[1] - 1)}


serve(make_walks)

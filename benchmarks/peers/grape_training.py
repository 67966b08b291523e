"""DeepWalk with skip-gram by GRAPE, one request at a time; the whole fit is timed."""

from __future__ import annotations

from collections.abc import Callable

from grape_model import deepwalk, graph_of
from serving import load_graph, options, serve

graph = graph_of(*load_graph()[:2])


def fit(seed: int, dimensions: int) -> Callable[[], dict]:
    deepwalk(graph, options, dimensions, seed)
    tokens = graph.get_number_of_nodes() * options.walks * options.length
    return lambda: {"tokens": tokens}


serve(fit)

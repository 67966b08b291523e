"""Evaluation of vectors: link prediction and node classification.

It may import `_util`, `files`, `graph`, `walks`, `skipgram`, `embedding` and `models`.
"""

from .link_prediction import evaluate_link_prediction, score_links, transfer_links
from .node_classification import classify_nodes, evaluate_node_classification
from .splits import EdgeSplit, hold_out_edges, shuffle_seed, split_seeds

__all__ = [
    "EdgeSplit",
    "classify_nodes",
    "evaluate_link_prediction",
    "evaluate_node_classification",
    "hold_out_edges",
    "score_links",
    "shuffle_seed",
    "split_seeds",
    "transfer_links",
]

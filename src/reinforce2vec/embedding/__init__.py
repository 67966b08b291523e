"""Embedding: vectors with the ids of their nodes, and what is computed from them.

Nearest neighbours, link recommendation, projection to two dimensions, rotation towards other
vectors, export to other packages, and
matching an embedding with a graph (`matching`). It may import `_util`, `files`, `graph`, `walks`
and `skipgram`.
"""

from .embedding import Embedding
from .links import RecommendedLinks, recommend_links
from .matching import align
from .nearest import Neighbors, nearest_neighbors
from .projection import project

__all__ = [
    "Embedding",
    "Neighbors",
    "RecommendedLinks",
    "align",
    "nearest_neighbors",
    "project",
    "recommend_links",
]

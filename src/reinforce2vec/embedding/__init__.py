"""Embedding: vectors with the ids of their nodes, and what is computed from them.

Nearest neighbours, link recommendation, projection to two dimensions, export to other packages, and
matching an embedding with a graph (`matching`). It may import `_util`, `files`, `graph`, `walks`
and `skipgram`.
"""

from .embedding import Embedding
from .links import RecommendedLinks, recommend_links
from .nearest import Neighbors, nearest_neighbors
from .projection import project

__all__ = [
    "Embedding",
    "Neighbors",
    "RecommendedLinks",
    "nearest_neighbors",
    "project",
    "recommend_links",
]

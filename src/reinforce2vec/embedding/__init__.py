"""Embedding: vectors with the ids of their nodes, and what is done with them.

Nearest neighbors, links that may be missing, projections to two dimensions, export to other
packages. It imports `_util`, `files` and `graph`.
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

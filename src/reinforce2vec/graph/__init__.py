"""The graph: adjacency arrays with the users' node ids, how it is made, what is computed on it.

Reading, generators, communities, matrices, growing. It imports `_util` and `files`.
"""

from .communities import find_communities
from .dataset import Dataset
from .generators import karate_club, planted_groups, rmat
from .graph import Graph, edges_of
from .reading import read_graph

__all__ = [
    "Dataset",
    "Graph",
    "edges_of",
    "find_communities",
    "karate_club",
    "planted_groups",
    "read_graph",
    "rmat",
]

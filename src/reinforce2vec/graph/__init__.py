"""The graph: adjacency arrays (CSR) with the users' node ids.

Reading a file (`reading`), generators, communities, matrices, adding edges (`growing`), and the
fingerprint that identifies a graph in files. It may import `_util` and `files`.
"""

from .communities import find_communities
from .dataset import Dataset
from .generators import karate_club, planted_groups, rmat
from .graph import Graph, edges_of, induced_graph
from .reading import read_graph

__all__ = [
    "Dataset",
    "Graph",
    "edges_of",
    "find_communities",
    "induced_graph",
    "karate_club",
    "planted_groups",
    "read_graph",
    "rmat",
]

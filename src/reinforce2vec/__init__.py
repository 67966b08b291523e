"""Node embeddings from random walks that remember."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# Imported at first use, so that `reinforce2vec --help` waits for no compiler.
_HOMES = {
    "Graph": "graph.graph",
    "InputError": "_util.errors",
    "read_graph": "graph.reading",
    "FirstOrderWalk": "walks.policy",
    "ReinforcedWalk": "walks.policy",
    "SecondOrderWalk": "walks.policy",
    "WalkSampler": "walks.sampler",
    "sample_walks": "walks.sampler",
    "write_walks": "files.walk_writers",
    "read_walks": "files.walk_readers",
    "Reinforce2Vec": "models.reinforce2vec",
    "NodeFeatures": "models.features",
    "LINE": "models.baselines.line",
    "HOPE": "models.baselines.hope",
    "GraRep": "models.baselines.grarep",
    "NetMF": "models.baselines.netmf",
    "ProNE": "models.baselines.prone",
    "smooth": "models.smoothing",
    "Embedding": "embedding.embedding",
    "nearest_neighbors": "embedding.nearest",
    "recommend_links": "embedding.links",
    "evaluate_link_prediction": "evaluation.link_prediction",
    "evaluate_node_classification": "evaluation.node_classification",
    "hold_out_edges": "evaluation.splits",
    "tune": "tuning.search",
    "Tuning": "tuning.results",
    "score_links": "evaluation.link_prediction",
    "transfer_links": "evaluation.link_prediction",
    "classify_nodes": "evaluation.node_classification",
    "occupation": "walks.trace",
    "divergences": "walks.trace",
    "stuck_set": "walks.trace",
    "find_communities": "graph.communities",
    "project": "embedding.projection",
    "explore": "explorer",
    "Dataset": "graph.dataset",
    "load_dataset": "datasets",
    "karate_club": "graph.generators",
    "planted_groups": "graph.generators",
    "rmat": "graph.generators",
}

_MODULES = ("plotting",)

__all__ = sorted([*_HOMES, *_MODULES, "__version__"])


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f".{name}", __name__)
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)


def __dir__() -> list[str]:
    return __all__


if TYPE_CHECKING:
    from . import plotting as plotting
    from ._util.errors import InputError as InputError
    from .datasets import load_dataset as load_dataset
    from .embedding.embedding import Embedding as Embedding
    from .embedding.links import recommend_links as recommend_links
    from .embedding.nearest import nearest_neighbors as nearest_neighbors
    from .embedding.projection import project as project
    from .evaluation.link_prediction import evaluate_link_prediction as evaluate_link_prediction
    from .evaluation.link_prediction import score_links as score_links
    from .evaluation.link_prediction import transfer_links as transfer_links
    from .evaluation.node_classification import classify_nodes as classify_nodes
    from .evaluation.node_classification import (
        evaluate_node_classification as evaluate_node_classification,
    )
    from .evaluation.splits import hold_out_edges as hold_out_edges
    from .explorer import explore as explore
    from .files.walk_readers import read_walks as read_walks
    from .files.walk_writers import write_walks as write_walks
    from .graph.communities import find_communities as find_communities
    from .graph.dataset import Dataset as Dataset
    from .graph.generators import karate_club as karate_club
    from .graph.generators import planted_groups as planted_groups
    from .graph.generators import rmat as rmat
    from .graph.graph import Graph as Graph
    from .graph.reading import read_graph as read_graph
    from .models.baselines.grarep import GraRep as GraRep
    from .models.baselines.hope import HOPE as HOPE
    from .models.baselines.line import LINE as LINE
    from .models.baselines.netmf import NetMF as NetMF
    from .models.baselines.prone import ProNE as ProNE
    from .models.features import NodeFeatures as NodeFeatures
    from .models.reinforce2vec import Reinforce2Vec as Reinforce2Vec
    from .models.smoothing import smooth as smooth
    from .tuning.results import Tuning as Tuning
    from .tuning.search import tune as tune
    from .walks.policy import FirstOrderWalk as FirstOrderWalk
    from .walks.policy import ReinforcedWalk as ReinforcedWalk
    from .walks.policy import SecondOrderWalk as SecondOrderWalk
    from .walks.sampler import WalkSampler as WalkSampler
    from .walks.sampler import sample_walks as sample_walks
    from .walks.trace import divergences as divergences
    from .walks.trace import occupation as occupation
    from .walks.trace import stuck_set as stuck_set

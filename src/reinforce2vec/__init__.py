"""Node embeddings from reinforced random walks."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# Imported at first use, so that `reinforce2vec --help` waits for no compiler.
_HOMES = {
    "Graph": "graph",
    "InputError": "_util.errors",
    "read_graph": "graph",
    "FirstOrderWalk": "walks",
    "ReinforcedWalk": "walks",
    "SecondOrderWalk": "walks",
    "WalkSampler": "walks",
    "sample_walks": "walks",
    "write_walks": "files",
    "read_walks": "files",
    "read_labels": "files",
    "Reinforce2Vec": "models",
    "NodeFeatures": "models",
    "LINE": "models",
    "HOPE": "models",
    "GraRep": "models",
    "NetMF": "models",
    "ProNE": "models",
    "Spectral": "models",
    "smooth": "models",
    "Embedding": "embedding",
    "align": "embedding",
    "nearest_neighbors": "embedding",
    "recommend_links": "embedding",
    "evaluate_link_prediction": "evaluation",
    "evaluate_node_classification": "evaluation",
    "hold_out_edges": "evaluation",
    "tune": "tuning",
    "Tuning": "tuning",
    "score_links": "evaluation",
    "transfer_links": "evaluation",
    "classify_nodes": "evaluation",
    "split_seeds": "evaluation",
    "shuffle_seed": "evaluation",
    "occupation": "walks",
    "divergences": "walks",
    "stuck_set": "walks",
    "find_communities": "graph",
    "project": "embedding",
    "explore": "explorer",
    "Dataset": "graph",
    "load_dataset": "datasets",
    "karate_club": "graph",
    "planted_groups": "graph",
    "rmat": "graph",
}

_MODULES = ("plotting",)

__all__ = sorted([*_HOMES, *_MODULES, "__version__"])


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f".{name}", __name__)
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name != "InputError":
        from ._util.machine import check_address_space

        check_address_space()  # before libraries are loaded that would abort
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)


def __dir__() -> list[str]:
    return __all__


if TYPE_CHECKING:
    from . import plotting as plotting
    from ._util.errors import InputError as InputError
    from .datasets import load_dataset as load_dataset
    from .embedding import Embedding as Embedding
    from .embedding import align as align
    from .embedding import nearest_neighbors as nearest_neighbors
    from .embedding import project as project
    from .embedding import recommend_links as recommend_links
    from .evaluation import classify_nodes as classify_nodes
    from .evaluation import evaluate_link_prediction as evaluate_link_prediction
    from .evaluation import evaluate_node_classification as evaluate_node_classification
    from .evaluation import hold_out_edges as hold_out_edges
    from .evaluation import score_links as score_links
    from .evaluation import shuffle_seed as shuffle_seed
    from .evaluation import split_seeds as split_seeds
    from .evaluation import transfer_links as transfer_links
    from .explorer import explore as explore
    from .files import read_labels as read_labels
    from .files import read_walks as read_walks
    from .files import write_walks as write_walks
    from .graph import Dataset as Dataset
    from .graph import Graph as Graph
    from .graph import find_communities as find_communities
    from .graph import karate_club as karate_club
    from .graph import planted_groups as planted_groups
    from .graph import read_graph as read_graph
    from .graph import rmat as rmat
    from .models import HOPE as HOPE
    from .models import LINE as LINE
    from .models import GraRep as GraRep
    from .models import NetMF as NetMF
    from .models import NodeFeatures as NodeFeatures
    from .models import ProNE as ProNE
    from .models import Reinforce2Vec as Reinforce2Vec
    from .models import Spectral as Spectral
    from .models import smooth as smooth
    from .tuning import Tuning as Tuning
    from .tuning import tune as tune
    from .walks import FirstOrderWalk as FirstOrderWalk
    from .walks import ReinforcedWalk as ReinforcedWalk
    from .walks import SecondOrderWalk as SecondOrderWalk
    from .walks import WalkSampler as WalkSampler
    from .walks import divergences as divergences
    from .walks import occupation as occupation
    from .walks import sample_walks as sample_walks
    from .walks import stuck_set as stuck_set

"""Estimators that turn a graph into vectors, by scikit-learn's conventions.

Reinforce2Vec, smoothing, the baselines, and features for pipelines. It may import `_util`, `files`,
`graph`, `walks`, `skipgram` and `embedding`.
"""

from .baselines import HOPE, LINE, GraRep, NetMF, ProNE, Spectral
from .features import NodeFeatures
from .reinforce2vec import Reinforce2Vec
from .smoothing import smooth

__all__ = [
    "HOPE",
    "LINE",
    "GraRep",
    "NetMF",
    "NodeFeatures",
    "ProNE",
    "Reinforce2Vec",
    "Spectral",
    "smooth",
]

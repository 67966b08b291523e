"""Methods to compare with: LINE, HOPE, GraRep, NetMF, ProNE and Spectral, by name for `--method`.

The names themselves are in the table of hyperparameters, which needs no import of numpy.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...graph import Graph
from ..estimator import Estimator
from ..smoothing import smooth
from .grarep import GraRep
from .hope import HOPE
from .line import LINE
from .netmf import NetMF
from .prone import ProNE
from .spectral import Spectral

__all__ = ["BASELINES", "HOPE", "LINE", "GraRep", "NetMF", "ProNE", "Smoothed", "Spectral"]

BASELINES: dict[str, type[Any]] = {
    "line": LINE,
    "hope": HOPE,
    "grarep": GraRep,
    "prone": ProNE,
    "netmf": NetMF,
    "spectral": Spectral,
}
"""Methods that are estimators of their own; all others are settings of Reinforce2Vec."""


class Smoothed(Estimator):
    """A baseline whose vectors are smoothed along the graph, as :func:`smooth` does.

    Parameters
    ----------
    method : str
        The name of the baseline.
    parameters : dict
        Its parameters, without the seed.
    seed : int, default 0
        Seed of its random numbers.
    backend, workers
        Of smoothing.
    """

    def __init__(
        self,
        method: str,
        parameters: Mapping[str, Any],
        seed: int = 0,
        backend: str = "auto",
        workers: int | None = None,
    ) -> None:
        self.method = method
        self.parameters = parameters
        self.seed = seed
        self.backend = backend
        self.workers = workers

    def fit(self, graph: Any, y: Any = None, *, progress: bool = True) -> Smoothed:
        """Compute vectors for the nodes of a graph, and smooth them."""
        graph = graph if isinstance(graph, Graph) else Graph.from_any(graph)
        model = BASELINES[self.method](**self.parameters, seed=self.seed)
        raw = model.fit(graph, progress=progress).embedding_
        self.embedding_ = smooth(
            raw, graph, backend=self.backend, workers=self.workers, progress=progress
        )
        return self

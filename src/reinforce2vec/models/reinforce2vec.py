"""Reinforce2Vec: the estimator that turns a graph into vectors."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._util import backend_choice
from .._util.checks import check_number
from .._util.cluster import connection, resources
from .._util.cluster.waiting import WorkersLost
from .._util.errors import InputError, python_setting, short_repr
from .._util.hyperparameters import PARAMETERS, PRESETS
from .._util.machine import Advice, available_cpus, check_memory, largest_below
from .._util.progress import counted, readable, terminal_progress
from .._util.scratch import check_free_space, large_arrays_in, large_zeros
from ..embedding import Embedding
from ..files import StoredWalks
from ..files.walk_readers import walks_from
from ..files.writing import check_target, claimed
from ..graph import Graph
from ..graph.growing import digest_of_edges, grown
from ..skipgram import Moment
from ..skipgram.backends import begin, bytes_for
from ..skipgram.checkpoint import (
    Origin,
    check_new,
    check_room,
    read_checkpoint,
    remove_checkpoint,
)
from ..skipgram.corpus import Corpus, GivenWalks, SampledWalks
from ..skipgram.rules import usual_rate
from ..skipgram.state import POINTS, Matrix, Settings, State, carry_over, row_size, split
from ..skipgram.trainer import Divergence, Trainer
from ..walks import ReinforcedWalk, WalkSampler
from ..walks.directions import likely_direction
from ..walks.policy import Walk, check_walk
from . import smoothing
from ._memory import bytes_on_disk, bytes_on_gpu, bytes_on_host
from ._steps import graph_of_steps
from .estimator import Estimator
from .model_file import Kept

_Callback = Callable[[Moment], object]
PathLike = str | os.PathLike[str]

_FEWEST = 2  # dimensions of a window that is smoothed
_FARTHEST = 2**31 - 1  # a window that is wider than any walk is long
_MOST_HALVINGS = 7  # of the default learning rate
_MOST_LOSSES = 5  # of workers, without a new checkpoint
_SHARE_OF_THE_RATE = (
    1 / 4
)  # of the default learning rate, for an update: see benchmarks/new_nodes.py
# what a model file keeps beside the state, the graph and the vectors
_LEARNED: dict[str, tuple[type, ...]] = {
    "backend_": (str,),
    "direction_": (str, type(None)),
    "learning_rate_": (int, float),
    "_was_smooth": (bool,),
    "_updates": (int,),
    "_added": (list, tuple),
}


class Reinforce2Vec(Estimator):
    """Node embeddings from reinforced random walks.

    Walks start at every node. Skip-gram with negative sampling (word2vec's algorithm) then learns
    vectors that predict which nodes occur near each other in the walks. Nodes that often occur
    together get similar vectors.

    The defaults are the best that we know over many kinds of graphs (see the page Results);
    :meth:`paper` has those of the paper.

    In a scikit-learn pipeline, the input of this step is a graph. Where samples are nodes, as in
    cross-validation, use :class:`NodeFeatures` instead.

    Parameters
    ----------
    dimensions : int, default 128
        Dimensions of a vector, over all windows.
    walk : ReinforcedWalk, FirstOrderWalk or SecondOrderWalk, optional
        The kind of walk; by default the paper's DRRW with JS divergence and UCB.
    walk_length : int, default 40
        Nodes in a walk, the start included.
    walks_per_node : int, default 20
        Walks that start at each node in an epoch.
    window : int or tuple of int, default (1, 10)
        Largest distance between two nodes of a walk that are trained as a pair. For each node the
        distance is drawn from 1 to this one, so that near nodes count more. Several windows, in
        ascending order, are trained on the same walks, each with dimensions of its own, which are
        set side by side: the widest window has three quarters of the dimensions, the others share
        the rest. A narrow window sees direct neighbours, a wide one neighbourhoods. If a window
        would have a single dimension, and vectors are smoothed, only the widest is trained.
    negatives : int, default 5
        Negative samples for each node of a walk, shared by all pairs with it. A node is drawn in
        proportion to its visits ^ 0.75.
    epochs : int, default 1
        Passes of training; each samples new walks.
    learning_rate : float, optional
        The initial learning rate; it decays linearly to almost 0. The default depends on the number
        of tokens (nodes in walks) for each node: 0.05 with up to 800 of them, such as 20 walks of
        40 nodes, and less with more, down to 0.025 from 3,200 on. It is that of the widest window;
        narrower ones, which have fewer pairs to learn from, have up to twice as much. Where the
        default is too large for a graph, training notices, warns and begins again with half of it.
    subsample : float, default 0
        Skip visits of nodes that make up more than about this share of all visits: the more
        frequent the node, the more of them (word2vec's `sample`; 1e-3 is mild, 1e-5 strong).
        0 skips none.
    smooth : bool, default True
        Smooth the trained vectors along the graph, as :func:`smooth` does, those of each window by
        themselves. It usually improves the vectors, above all with few walks. Vectors then have
        length 1: the squares of a window's numbers add up to its share of the dimensions.
    seed : int, default 0
        Seed of all random numbers. On the CPU one seed gives one result, to the last bit, with any
        number of threads. On a GPU the walks are the same, but vectors are updated in another order
        each time, and results differ a little.
    workers : int, optional
        Threads; by default one for each CPU that this process may use. With Ray, processes; by
        default one for each CPU of the cluster. Up to 32 train at once.
    backend : {"auto", "cpu", "cuda", "ray"}, default "auto"
        Where to work. "cuda" samples the same walks on a GPU and trains on them there; vectors are
        as good, but do not repeat exactly. It needs CuPy. "ray" works in processes of this machine
        or of a Ray cluster, with the result of "cpu", to the last bit: of the cluster that
        `ray.init` has connected to, or that the environment variable RAY_ADDRESS names; else a Ray
        is started on this machine, and ended after the work. "auto" uses a GPU if there is one, the
        work is large enough, it fits into the GPU's memory, and `workers` is not given.
    direction : {"auto", "forward", "both"}, default "auto"
        On a directed graph, whether walks follow edges in their direction or both ways. "auto"
        takes both ways where walks would soon end in nodes without out-edges, on average before
        half of `walk_length`; :meth:`partial_fit` keeps to what :meth:`fit` has chosen. Vectors are
        smoothed along edges both ways in any case.
    scratch : path, optional
        A folder on a disk for the matrices of training and smoothing and for the vectors, as files
        that are mapped into memory: for graphs whose matrices do not fit. They have no names, and
        end with the last array that shows them, at the latest with the process. On the CPU alone,
        which "auto" then takes; the vectors are the same, bit for bit. By default the matrices are
        in memory. Saved models do not keep it.

    Attributes
    ----------
    backend_ : str
        Where the vectors were trained: "cpu", "cuda" or "ray".
    direction_ : str or None
        How walks followed the edges of a directed graph: "forward" or "both"; None after
        :meth:`fit_walks`.
    embedding_ : Embedding
        The vectors, with the ids of their nodes.
    learning_rate_ : float
        The initial learning rate of the widest window.
    loss_curve_ : float array
        Mean loss of a pair and its negatives, over each hundredth of the training; with several
        windows, a column for each. Random guessing has (negatives + 1) log 2, except on tiny
        graphs.
    graph_ : Graph or None
        The training graph; None after :meth:`fit_walks`.
    n_tokens_ : int
        Nodes in all walks of the latest training.
    seconds_ : float
        Time of the latest training, excluding compilation, allocation of the matrices and the
        pilot walks that count visits.

    Examples
    --------
    >>> from reinforce2vec import Reinforce2Vec, karate_club
    >>> model = Reinforce2Vec(dimensions=16, workers=1)
    >>> model.fit_transform(karate_club()).shape
    (34, 16)
    >>> model.embedding_
    Embedding(34 nodes, 16 dimensions, 2.2 kB)
    """

    backend_: str
    direction_: str | None
    learning_rate_: float
    loss_curve_: NDArray[np.float64]
    graph_: Graph | None
    n_tokens_: int
    seconds_: float
    _state: State
    _was_smooth: bool  # whether the vectors are smoothed
    _updates = 0  # since the last call of fit
    _added: tuple[str, ...] = ()  # digests of edges whose weights were added, see `Growth`

    def __init__(
        self,
        dimensions: int = 128,
        walk: Walk | None = None,
        walk_length: int = 40,
        walks_per_node: int = 20,
        window: int | tuple[int, ...] = (1, 10),
        negatives: int = 5,
        epochs: int = 1,
        learning_rate: float | None = None,
        subsample: float = 0.0,
        smooth: bool = True,
        seed: int = 0,
        workers: int | None = None,
        backend: str = "auto",
        direction: str = "auto",
        scratch: PathLike | None = None,
    ) -> None:
        self.dimensions = dimensions
        self.walk = walk
        self.walk_length = walk_length
        self.walks_per_node = walks_per_node
        self.window = window
        self.negatives = negatives
        self.epochs = epochs
        self.learning_rate = learning_rate
        self.subsample = subsample
        self.smooth = smooth
        self.seed = seed
        self.workers = workers
        self.backend = backend
        self.direction = direction
        self.scratch = scratch

    @classmethod
    def paper(cls, **changes: Any) -> Reinforce2Vec:
        """Return a model with the settings of the paper, with some of them changed.

        80 walks of 40 nodes from every node, a window of 10, 64 dimensions, a learning rate of
        0.025, vectors as they were trained.

        Examples
        --------
        >>> Reinforce2Vec.paper(dimensions=128, seed=1).window
        10
        """
        return cls(**(PRESETS["paper"] | changes))

    # -- learning ------------------------------------------------------------------------------

    def fit(
        self,
        graph: Any,
        y: Any = None,
        *,
        progress: bool = True,
        callbacks: Iterable[_Callback] = (),
        checkpoint: PathLike | None = None,
        checkpoint_every: float = 300.0,
        resume: bool = False,
    ) -> Reinforce2Vec:
        """Train vectors for the nodes of a graph.

        Parameters
        ----------
        graph : Graph
            The graph; anything else that :meth:`Graph.from_any` accepts is converted.
        y : None
            Ignored; scikit-learn compatibility.
        progress : bool, default True
            Show a progress line if the output is a terminal.
        callbacks : iterable of callables
            Called about a hundred times with a :class:`Moment`: walks and tokens so far, loss,
            learning rate, seconds, and the current vectors. Where training begins again with a
            smaller rate, walks begin at 0 again; where workers of a cluster were lost, at those of
            the last checkpoint.
        checkpoint : path, optional
            A file that the state of the training is saved to: regularly, on an interrupt (Ctrl-C)
            and at the end.
        checkpoint_every : float, default 300
            Seconds between two checkpoints.
        resume : bool, default False
            Resume from the checkpoint, if it exists. On the CPU the result is the same, bit for
            bit, as without the interruption, also with another number of threads.

        Returns
        -------
        self
        """
        graph = graph if isinstance(graph, Graph) else Graph.from_any(graph)
        return self._learn(
            graph,
            progress=progress,
            callbacks=callbacks,
            checkpoint=checkpoint,
            checkpoint_every=checkpoint_every,
            resume=resume,
        )

    def fit_walks(self, walks: Any, ids: Any = None, **options: Any) -> Reinforce2Vec:
        """Train vectors on given walks.

        `walk`, `walk_length` and `walks_per_node` have no effect; an epoch is one pass over the
        walks, in their order. Vectors are smoothed along the steps of the walks.

        Parameters
        ----------
        walks : array, list or path
            An integer array (walks, length) of row numbers, with -1 after the end of a walk, as
            :func:`sample_walks` returns; a list of lists of node ids; or a file or folder written
            by :func:`write_walks` or `reinforce2vec walk`.
        ids : sequence or Graph, optional
            The ids of the nodes, for walks of row numbers; by default the numbers themselves.
        **options
            As for :meth:`fit`: `progress`, `callbacks`, `checkpoint`, `checkpoint_every`,
            `resume`.

        Examples
        --------
        >>> from reinforce2vec import karate_club, sample_walks
        >>> club = karate_club()
        >>> walks = sample_walks(club, per_node=10)
        >>> model = Reinforce2Vec(dimensions=8, workers=1).fit_walks(walks, ids=club)
        >>> len(model.embedding_)
        34
        """
        if isinstance(walks, WalkSampler):
            raise InputError("expected walks, not a WalkSampler: pass sampler.sample()")
        return self._learn(walks_from(walks, ids), **options)

    def partial_fit(
        self,
        edges: Any,
        y: Any = None,
        *,
        progress: bool = True,
        callbacks: Iterable[_Callback] = (),
        again: bool = False,
    ) -> Reinforce2Vec:
        """Update the vectors for a graph that has grown, without starting over.

        The edges are added to the graph. In a weighted graph, the weight of an existing edge
        grows, and edges without a weight have the weight 1. If the edges include all edges of
        the graph, they are taken as the grown graph itself: only the new ones are learned, with the
        weights that are given. Vectors of new nodes begin at the mean of their neighbours. Then
        walks from every node with a new edge train it and the nodes around it, by default with a
        quarter of the learning rate of :meth:`fit`. All other vectors stay comparable, smoothed
        ones too: they are rotated back to where they were, as far as possible. Rows of new nodes
        follow those of old ones.

        Without new edges nothing changes, not a bit. So an update may be repeated: the same edges a
        second time have no effect. In a weighted graph, this holds if they come together and with
        the same weights as before; there is a warning, since their weights could also be meant
        to grow again.

        Parameters
        ----------
        edges : iterable of pairs, or anything that :meth:`Graph.from_any` accepts
            The new edges, between new and old nodes in any combination.
        y : None
            Ignored; scikit-learn compatibility.
        progress, callbacks
            As for :meth:`fit`.
        again : bool, default False
            Add the weights of edges also if the very same edges were added before.

        Examples
        --------
        >>> from reinforce2vec import karate_club
        >>> model = Reinforce2Vec(dimensions=8, walks_per_node=10, workers=1).fit(karate_club())
        >>> model.partial_fit([("new member", 34), ("new member", 33)]).embedding_
        Embedding(35 nodes, 8 dimensions, 1.1 kB)
        """
        if not hasattr(self, "_state"):
            return self.fit(edges, y, progress=progress, callbacks=callbacks)
        if self.graph_ is None:
            raise InputError("partial_fit needs a graph, but this model was trained by fit_walks")
        before, count = self.graph_.n_nodes, self._updates + 1
        graph, touched, added = grown(self.graph_, edges)
        known = self._added or ((digest_of_edges(self.graph_),) if added else ())
        if added in known and not again:
            warnings.warn(
                "these edges, with these weights, were added before, so nothing changes: "
                "again=True (--again) adds their weights once more",
                stacklevel=2,
            )
            return self
        if graph is self.graph_:
            return self
        settings = self._settings()._replace(seed=(self.seed + count) % 2**64)
        if self.learning_rate is None:
            if len(self._state.rates) == len(settings.windows):
                settings = settings._replace(rates=self._state.rates)
            settings = settings.scaled(_SHARE_OF_THE_RATE)
        trained = [weights.dimensions for weights in self._state.scales]
        if [one.dimensions for one in settings.scales()] != trained:
            raise InputError(
                f"the vectors have {sum(trained)} dimensions of {counted(len(trained), 'window')}, "
                f"not {settings.dimensions} of {len(settings.windows)}: reset dimensions and "
                "window, or call fit again"
            )
        sampler = self._sampler(graph, self.direction_, seed=settings.seed)
        sampler.starts = touched
        corpus = SampledWalks(sampler)
        backend = self._backend(corpus, settings)
        self._check_memory(corpus, backend)

        def start(settings: Settings, lost: bool = False) -> State:
            state = begin(corpus, settings, self._workers())
            carry_over(self._state, state, graph, before)
            return state

        with self._connected(backend), large_arrays_in(self._folder()):
            state, last = self._train(corpus, settings, backend, start, progress, callbacks)
            if last is settings:  # the next update begins with the rates of this one
                state.rates = self._state.rates
            else:
                state.rates = last.scaled(1 / _SHARE_OF_THE_RATE).rates
            self._keep(state, graph, backend, progress, grown=True)
        self.direction_, self._updates = sampler.direction, count
        self._added = (*known, added) if added else known
        return self

    def estimate_memory(self, graph: Any, *, backend: str = "cpu") -> int:
        """Estimate the bytes of memory that :meth:`fit` takes beside the graph.

        With "cuda", those of GPU memory; with "ray", those of one worker, beside the copy of the
        graph that all workers of a machine share. Files in the folder `scratch` are not counted.

        For :meth:`fit_walks`, pass the result of :func:`read_walks`.

        Examples
        --------
        >>> from reinforce2vec import rmat
        >>> Reinforce2Vec(dimensions=128, workers=2).estimate_memory(rmat(10)) // 10**6
        6
        """
        if not isinstance(graph, (Graph, StoredWalks)):
            graph = Graph.from_any(graph)
        corpus, chosen = self._corpus(graph), backend_choice.choose(backend, "training")
        if chosen == "cuda":
            return self._bytes_on_gpu(corpus, self._settings(corpus))
        if chosen == "ray":
            return bytes_for(corpus, self._settings(), self._workers("ray"), "ray")
        needed = self._bytes_here(corpus, bool(self.smooth))
        if isinstance(corpus, SampledWalks):  # perhaps of a graph without directions
            needed = max(corpus.copying_bytes, corpus.copied_bytes + needed)
        return needed

    def _bytes_here(self, corpus: Corpus, smoothed: bool) -> int:
        """Estimate the memory that training takes on the host, and perhaps smoothing."""
        return bytes_on_host(
            corpus, self._settings(), self._workers(), self._folder(), self.smooth, smoothed
        )

    def _corpus(self, source: Graph | StoredWalks) -> Corpus:
        """Return the corpus to train on."""
        if isinstance(source, Graph):
            return SampledWalks(self._sampler(source))
        return GivenWalks(source)

    def _check_memory(self, corpus: Corpus, backend: str) -> None:
        """Raise InputError if training, and smoothing on the CPU, take too much memory."""
        if backend == "ray":
            self._check_workers(corpus)
            return
        what = f"training {corpus.n_nodes:,} nodes with dimensions={self.dimensions}"
        folder = self._folder()
        if folder is not None:
            needed = bytes_on_disk(corpus, self._settings(), self.smooth)
            check_free_space(folder, needed, what)
        smoothed = bool(self.smooth) and backend == "cpu"
        needed = self._bytes_here(corpus, smoothed)

        def advise(missing: int) -> Advice:
            free, step = needed - missing, row_size(1)  # rows have a multiple of so many numbers
            given = ("dimensions", self.dimensions)
            cheaper = self._cheaper_parameters(corpus)
            sizes = {name: bytes_with(name, value) for name, value in cheaper.items()}
            least = min(sizes, key=lambda name: sizes[name], default=None)
            # what takes more than half is to blame; else fewer dimensions will do, if any
            if least is not None and 2 * sizes[least] < needed and sizes[least] <= free:
                return replacing(least, cheaper[least])
            rows = row_size(self.dimensions) // step
            fewer = largest_below(rows, lambda some: bytes_with("dimensions", some * step) <= free)
            if fewer:
                return Advice(
                    f"dimensions={fewer * step} would fit", (given, (given[0], fewer * step))
                )
            fitting = next((name for name, size in sizes.items() if size <= free), None)
            if fitting is not None:
                return replacing(fitting, cheaper[fitting])
            return Advice("use a larger machine", (given,))

        def replacing(name: str, value: Any) -> Advice:
            named = ((name, getattr(self, name)), (name, value))
            before, after = (python_setting(*one) for one in named)
            return Advice(f"{before} takes most of it; {after} would fit", named)

        def bytes_with(name: str, value: Any) -> int:
            other, walks = type(self)(**(self.get_params(deep=False) | {name: value})), corpus
            if name == "walk_length" and isinstance(corpus, SampledWalks):
                walks = SampledWalks(other._sampler(corpus.graph, corpus.direction))
            return other._bytes_here(walks, smoothed and bool(other.smooth))

        check_memory(needed, what, advise)

    def _cheaper_parameters(self, corpus: Corpus) -> dict[str, Any]:
        """Return values of other parameters that take less memory than those of this model."""
        defaults, cheaper = type(self)._parameters(), dict[str, Any]()
        if self.smooth:
            cheaper["smooth"] = False
        if isinstance(self.window, (tuple, list)) and len(self.window) > 1:
            cheaper["window"] = self.window[-1]
        elif isinstance(self.window, int) and self.window > corpus.longest // 2 > 10:
            cheaper["window"] = 10
        if isinstance(corpus, SampledWalks) and self.walk_length > defaults["walk_length"]:
            cheaper["walk_length"] = defaults["walk_length"]
        if self.negatives > defaults["negatives"]:
            cheaper["negatives"] = defaults["negatives"]
        if self._workers() > 1:
            cheaper["workers"] = 1
        return cheaper

    def _check_workers(self, corpus: Corpus) -> None:
        """Raise InputError if workers on this machine would take too much memory.

        On a cluster, training checks every machine before it begins.
        """
        settings, given = self._settings(), self._checked("workers")
        what = f"training {corpus.n_nodes:,} nodes with dimensions={self.dimensions}"
        vectors = 4 * settings.dimensions * corpus.n_nodes  # the result, which comes here
        if not connection.is_local():
            check_memory(vectors, what)
            return
        workers = given or available_cpus()
        workers_bytes = workers * bytes_for(corpus, settings, workers, "ray")
        check_memory(corpus.nbytes + vectors + workers_bytes, f"{what} by {workers} workers")

    def _learn(
        self, source: Graph | StoredWalks, *, checkpoint: PathLike | None = None, **options: Any
    ) -> Reinforce2Vec:
        """Train; no other training may use the checkpoint in the meantime."""
        files = [] if checkpoint is None else [checkpoint]
        with claimed(*files), large_arrays_in(self._folder()):
            return self._learn_alone(source, checkpoint=checkpoint, **options)

    def _learn_alone(
        self,
        source: Graph | StoredWalks,
        *,
        progress: bool = True,
        callbacks: Iterable[_Callback] = (),
        checkpoint: PathLike | None = None,
        checkpoint_every: float = 300.0,
        resume: bool = False,
    ) -> Reinforce2Vec:
        corpus = self._corpus(source)
        settings = self._settings(corpus)
        if corpus.n_nodes == 0:
            raise InputError("the graph has no nodes, so there is nothing to learn")
        backend = self._backend(corpus, settings)
        self._check_memory(corpus, backend)
        every = check_number("checkpoint_every", checkpoint_every, least=0.0)
        path, origin, state = None, Origin(), None
        if checkpoint is not None:
            path, origin = check_target(checkpoint), self._origin(corpus, settings)
            check_new(checkpoint, resume)
            if not path.exists():
                remove_checkpoint(path)  # rows without their checkpoint
            check_room(path, corpus.n_nodes, [one.dimensions for one in settings.scales()])
            if path.exists():
                state = self._read_checkpoint(path, origin, settings, corpus.n_nodes, backend)
                settings = settings._replace(rates=state.rates)
        elif resume:
            raise InputError(
                "resume=True needs checkpoint=...: the file to resume from",
                settings=[("resume", True), ("checkpoint", ...)],
            )

        def start(settings: Settings, lost: bool = False) -> State:
            nonlocal state
            if lost and path is not None and path.exists():
                state = self._read_checkpoint(path, origin, settings, corpus.n_nodes, backend)
                if state.rates != settings.rates:  # saved before the rate was halved
                    state = None
            begun = state or begin(corpus, settings, self._workers(backend), backend)
            state = None  # another start is from the beginning
            return begun

        with self._connected(backend) as ray:
            if backend == "ray" and self.smooth and isinstance(source, Graph):
                widest = max(one.dimensions for one in settings.scales())
                smoothing.check_on_ray(ray, source, widest)
            checkpoint_to = None if path is None else (path, origin)
            learned, settings = self._train(
                *(corpus, settings, backend, start, progress, callbacks, checkpoint_to, every),
                stacklevel=5,
            )
            self._keep(learned, source, backend, progress)
        self.direction_ = corpus.direction if isinstance(corpus, SampledWalks) else None
        self.learning_rate_ = settings.scales()[-1].learning_rate
        self._updates, self._added = 0, ()
        return self

    def _train(
        self,
        corpus: Corpus,
        settings: Settings,
        backend: str,
        start: Callable[..., State],
        progress: bool,
        callbacks: Iterable[_Callback],
        checkpoint: tuple[Path, Origin] | None = None,
        every: float = 0.0,
        stacklevel: int = 3,
    ) -> tuple[State, Settings]:
        """Train to the end; return the state and the settings that led to it.

        If a window diverges with the default learning rate, training begins again with half of it.
        If workers of a cluster are lost, it goes on from the last checkpoint. Warnings of both name
        the line `stacklevel` calls up: that of the user.
        """
        callbacks = _checked_callbacks(callbacks)
        halvings = 0
        begins: list[int] = []  # where trainings began whose workers were lost
        while True:
            began = begins[-1] if begins else 0
            try:
                state = start(settings, lost=bool(begins))
                state.rates, began = settings.rates, state.walks
                trainer = Trainer(corpus, settings, state, self._workers(backend), backend)
                self._run(trainer, progress, callbacks, checkpoint, every)
                return state, settings
            except WorkersLost as loss:
                begins.append(began)
                if begins[-_MOST_LOSSES:].count(began) == _MOST_LOSSES:
                    since = "since the last checkpoint" if checkpoint else "in a row"
                    raise InputError(
                        f"workers of the Ray cluster were lost {_MOST_LOSSES} times {since} "
                        f"({loss}); Ray's logs on its nodes may say why"
                    ) from None
                goes_on = "goes on from the last checkpoint" if checkpoint else "begins again"
                warnings.warn(
                    f"workers of the Ray cluster were lost ({loss}): training {goes_on}",
                    stacklevel=stacklevel,
                )
                continue
            except Divergence as failure:
                if self.learning_rate is not None or halvings == _MOST_HALVINGS:
                    raise
                scale = failure.scale
            failed = settings.scales()[scale]
            warnings.warn(
                f"training began again, since the learning rate {failed.learning_rate:g} of window "
                f"{failed.window} was too large for this graph: half of it is used",
                stacklevel=stacklevel,
            )
            settings, halvings = settings.slower(scale), halvings + 1
            del state, trainer  # before the next ones take memory

    def _run(
        self,
        trainer: Trainer,
        progress: bool,
        callbacks: list[_Callback],
        checkpoint: tuple[Path, Origin] | None,
        every: float,
    ) -> None:
        """Train to the end; report progress to the terminal and to the callbacks."""
        state, before = trainer.state, trainer.state.tokens
        last: Moment | None = None
        began = state.seconds

        def details() -> str:
            seconds = max(state.seconds - began, 1e-9)
            loss = ""
            if last is not None and not np.isnan(last.loss):
                loss = f"  loss {' '.join(f'{one:.3f}' for one in last.losses)}"
            return f"{readable((state.tokens - before) / seconds)} tokens/s{loss}"

        report = terminal_progress("training", "", progress, more=details)
        reported = state.walks * POINTS // max(trainer.n_walks, 1)

        def watch(moment: Moment) -> None:
            nonlocal last, reported
            last = moment
            report(moment.walks, moment.n_walks)
            point = moment.walks * POINTS // moment.n_walks
            if point > reported:
                reported = point
                for callback in callbacks:
                    callback(moment)

        trainer.run(watch, checkpoint, every, often=bool(callbacks))

    def _keep(
        self,
        state: State,
        source: Graph | StoredWalks,
        backend: str,
        progress: bool,
        grown: bool = False,
    ) -> None:
        if self.smooth:
            vectors = self._smoothed(state, source, backend, progress, grown and self._was_smooth)
        else:
            vectors = state.vectors
        self._was_smooth = bool(self.smooth)
        self.backend_ = backend
        graph = source if isinstance(source, Graph) else None
        self._take_over(state, graph)
        scales = tuple(weights.dimensions for weights in state.scales)
        self.embedding_ = self._embedding(source.ids, vectors, graph, scales)

    def _take_over(self, state: State, graph: Graph | None) -> None:
        """Make the state of a training that of the model."""
        self._state, self.graph_ = state, graph
        self.loss_curve_ = state.loss_curve
        self.n_tokens_, self.seconds_ = state.tokens, state.seconds

    def _smoothed(
        self, state: State, source: Graph | StoredWalks, backend: str, progress: bool, grown: bool
    ) -> Matrix:
        """Return smoothed vectors of all windows, side by side, each row of length 1.

        If the graph has grown, they are rotated towards the vectors that the model has.
        """
        graph = source if isinstance(source, Graph) else graph_of_steps(source)
        workers = self._workers()
        if backend == "cuda" and (self.backend == "auto" or source is not graph):
            backend = "auto"  # on the CPU, if it does not fit into the GPU's memory
        vectors = large_zeros((len(source.ids), state.dimensions))
        first = 0
        for weights in state.scales:
            columns = slice(first, first + weights.dimensions)
            first += weights.dimensions
            smoothed = smoothing.smooth_learned(
                weights.vectors,
                graph,
                backend=backend,
                workers={"cpu": workers, "ray": self.workers}.get(backend),
                progress=progress,
            )
            if grown:
                old = self.embedding_.vectors[:, columns]
                smoothed = smoothing.aligned(smoothed, np.arange(len(old)), old, workers)
            np.multiply(
                smoothed,
                np.float32(math.sqrt(weights.dimensions / state.dimensions)),
                out=vectors[:, columns],
            )
            del smoothed  # before the next one is made
        return vectors

    # -- parameters ----------------------------------------------------------------------------

    def check(self) -> None:
        """Raise InputError if a parameter is invalid."""
        self._settings()
        self._workers()
        self._walk()
        backend_choice.choose(self._allowed_backend(), "training", workers=self.workers)
        self._checked("walk_length")
        self._checked("walks_per_node")
        self._checked("direction")

    def _checked(self, name: str) -> Any:
        """Return a parameter; InputError if it is out of its range."""
        return PARAMETERS[name].check(getattr(self, name))

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        if "embedding_" in state and self._shows_weights():
            # the vectors are kept anyway
            state["embedding_"] = self.embedding_.ids, dict(self.embedding_.info)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if isinstance(state.get("embedding_"), tuple):
            ids, info = state["embedding_"]
            self.embedding_ = Embedding(ids, self._state.vectors, info=info)

    def _kept(self) -> Kept:
        vectors = self.embedding_.vectors if self._was_smooth else None
        kept = super()._kept()
        facts = kept.facts | {name: getattr(self, name) for name in _LEARNED}
        parameters = kept.parameters | {"scratch": None}  # a folder of this machine
        return kept._replace(
            parameters=parameters,
            vectors=vectors,
            facts=facts,
            graph=self.graph_,
            state=self._state,
        )

    def _restore(self, kept: Kept) -> None:
        assert kept.state is not None
        for name, kinds in _LEARNED.items():
            value = kept.facts[name]
            if type(value) not in kinds:
                raise ValueError(name)
            setattr(self, name, tuple(value) if isinstance(value, list) else value)
        vectors = kept.state.vectors if kept.vectors is None else kept.vectors
        self._take_over(kept.state, kept.graph)
        scales = tuple(weights.dimensions for weights in kept.state.scales)
        self.embedding_ = Embedding(kept.ids, vectors, scales=scales, info=kept.facts["info"])

    def _shows_weights(self) -> bool:
        """Return whether the embedding is a view of the trained matrix."""
        return np.may_share_memory(self.embedding_.vectors, self._state.scales[0].inputs)

    def _settings(self, corpus: Corpus | None = None) -> Settings:
        """Return checked settings; a learning rate of None depends on the corpus."""
        self._checked("smooth")
        given, dimensions = self._checked("window"), self._checked("dimensions")
        windows = given if isinstance(given, tuple) else (given,)
        # smoothed vectors have the length 1: those of one dimension would be 1 or -1
        if self.smooth and dimensions < _FEWEST:
            raise InputError(
                "dimensions=1 is too few for smooth=True: pass smooth=False, or more dimensions",
                settings=[("dimensions", 1), ("smooth", True), ("smooth", False)],
            )
        if self.smooth and min(split(dimensions, len(windows))) < _FEWEST:
            windows = windows[-1:]
        return Settings(
            dimensions,
            tuple(min(window, _FARTHEST) for window in windows),
            self._checked("negatives"),
            self._checked("epochs"),
            self._rate(corpus),
            self._checked("subsample"),
            self._checked("seed") % 2**64,
        )

    def _rate(self, corpus: Corpus | None) -> float:
        given: float | None = self._checked("learning_rate")
        if given is not None:
            return given
        tokens = self._checked("epochs")
        if isinstance(corpus, GivenWalks):
            return usual_rate(tokens * corpus.n_tokens / max(corpus.n_nodes, 1))
        length = self._checked("walk_length")
        return usual_rate(tokens * length * self._checked("walks_per_node"))

    def _workers(self, backend: str = "cpu") -> int:
        """Return the number of threads; or of processes, on a cluster."""
        given: int | None = self._checked("workers")
        if backend != "ray" or not connection.is_connected():
            return available_cpus() if given is None else given
        return resources.usable_cpus(given)

    def _connected(self, backend: str) -> AbstractContextManager[Any]:
        """Return a context in which the backend can be used."""
        if backend == "ray":
            return connection.connected(workers=self._checked("workers"))
        return nullcontext()

    def _read_checkpoint(
        self, path: Path, origin: Origin, settings: Settings, n_nodes: int, backend: str
    ) -> State:
        return read_checkpoint(path, origin, settings, n_nodes, matrices=backend != "ray")

    def _folder(self) -> Path | None:
        """Return the folder for large arrays, if they are to be files."""
        folder: Path | None = self._checked("scratch")
        return folder

    def _allowed_backend(self) -> str:
        """Return the given backend; the CPU where large arrays are files."""
        if self._folder() is None:
            return self.backend
        if self.backend in ("cuda", "ray"):
            raise InputError(
                f'scratch=... keeps the matrices of backend="cpu" in files, not of backend='
                f'"{self.backend}": leave out one of the two',
                settings=[("scratch", ...), ("backend", "cpu"), ("backend", self.backend)],
            )
        return "cpu" if self.backend == "auto" else self.backend

    def _backend(self, corpus: Corpus, settings: Settings) -> str:
        """Where to work."""
        tokens = settings.epochs * corpus.n_walks * corpus.mean_length
        work = tokens * settings.dimensions
        given = self._allowed_backend()
        backend = backend_choice.choose(given, "training", work, workers=self.workers)
        if backend == "cuda":
            what = f"training {corpus.n_nodes:,} nodes with {settings.dimensions} dimensions"
            if not backend_choice.has_room(
                self._bytes_on_gpu(corpus, settings), what, self.backend
            ):
                return "cpu"
        return backend

    def _bytes_on_gpu(self, corpus: Corpus, settings: Settings) -> int:
        """Estimate the memory that training takes on a GPU."""
        return bytes_on_gpu(corpus, settings, self._workers(), self.smooth)

    def _walk(self) -> Walk:
        walk: Walk = self._effective("walk")
        check_walk(walk)
        return walk

    def _effective(self, name: str) -> Any:
        """Return the value of a parameter; the default walk for None."""
        value = getattr(self, name)
        return ReinforcedWalk() if name == "walk" and value is None else value

    def _sampler(
        self, graph: Graph, direction_before: str | None = None, **changes: Any
    ) -> WalkSampler:
        options: dict[str, Any] = {
            "length": self._checked("walk_length"),
            "per_node": self._checked("walks_per_node"),
            "seed": self.seed,
            "workers": self.workers,
            "backend": "cpu",  # on a GPU, training samples the walks itself
            "direction": self._direction(graph, direction_before),
        }
        return WalkSampler(graph, self._walk(), **(options | changes))

    def _direction(self, graph: Graph, before: str | None = None) -> str:
        """In which direction walks follow edges; "auto" keeps to what was chosen `before`."""
        given: str = self._checked("direction")
        if given != "auto":
            return given
        return before or likely_direction(graph, self._checked("walk_length"))

    def _origin(self, corpus: Corpus, settings: Settings) -> Origin:
        """Return all that the result depends on, for the checkpoint."""
        origin: Origin = {}
        if isinstance(corpus, SampledWalks):
            origin = {
                "walk": repr(self._walk()),
                "walk_length": int(self.walk_length),
                "walks_per_node": int(self.walks_per_node),
            }
        origin |= settings._asdict()  # last, since the rate may depend on how many walks there are
        if self.learning_rate is None:
            origin["learning_rate"] = None  # it follows from the rest, unless training diverges
        del origin["rates"]
        origin["window"] = settings.widest if len(settings.windows) == 1 else [*settings.windows]
        return origin | {"fingerprint": corpus.fingerprint()}


def _checked_callbacks(given: Any) -> list[_Callback]:
    """Return callbacks as a list; InputError if they are none."""
    callbacks: list[Any] = list(given) if isinstance(given, Iterable) else [None]
    if not all(map(callable, callbacks)):
        raise InputError(f"callbacks must be a list of functions, not {short_repr(given)}")
    return callbacks

"""Reinforce2Vec: the estimator that turns a graph into vectors."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._util import backend_choice
from .._util.checks import check_number
from .._util.cluster import connection, resources
from .._util.errors import InputError, line_of_user, short_repr
from .._util.hyperparameters import PARAMETERS, PRESETS
from .._util.machine import available_cpus, check_memory
from .._util.progress import counted
from .._util.scratch import large_arrays_in, large_zeros
from ..embedding import Embedding
from ..files import StoredWalks
from ..files.walk_readers import walks_from
from ..files.writing import check_target, claimed
from ..graph import Graph
from ..graph.growing import digest_of_edges, grown
from ..skipgram.backends import bytes_for
from ..skipgram.checkpoint import Origin, check_new, check_room, remove_checkpoint
from ..skipgram.corpus import Corpus, GivenWalks, SampledWalks
from ..skipgram.rules import usual_rate
from ..skipgram.state import Matrix, Settings, State, split
from ..walks import ReinforcedWalk, WalkSampler
from ..walks.directions import likely_direction
from ..walks.policy import Walk, check_walk
from ._memory import TrainingMemory
from ._steps import graph_of_steps
from .estimator import Estimator
from .model_file import Kept
from .smoothing import aligned, smooth_learned
from .training import Callback, Checkpoint, RunOptions, Training

PathLike = str | os.PathLike[str]

_FEWEST = 2  # dimensions of a window that is smoothed
_FARTHEST = 2**31 - 1  # a window that is wider than any walk is long
# of the default learning rate, for an update: see benchmarks/results/new_nodes.md
_SHARE_OF_RATE = 1 / 4
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
        callbacks: Iterable[Callback] = (),
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
        options = RunOptions(progress, callbacks, checkpoint, checkpoint_every, resume)
        return self._learn(graph, options)

    def fit_walks(
        self,
        walks: Any,
        ids: Any = None,
        *,
        progress: bool = True,
        callbacks: Iterable[Callback] = (),
        checkpoint: PathLike | None = None,
        checkpoint_every: float = 300.0,
        resume: bool = False,
    ) -> Reinforce2Vec:
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
        progress, callbacks, checkpoint, checkpoint_every, resume
            As for :meth:`fit`.

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
        options = RunOptions(progress, callbacks, checkpoint, checkpoint_every, resume)
        return self._learn(walks_from(walks, ids), options)

    def partial_fit(
        self,
        edges: Any,
        y: Any = None,
        *,
        progress: bool = True,
        callbacks: Iterable[Callback] = (),
        again: bool = False,
    ) -> Reinforce2Vec:
        """Update the vectors for a graph that has grown, without starting over.

        In a weighted graph, the weight of an existing edge grows, and edges without a weight have
        the weight 1. Edges that include all edges of the graph are taken as the grown graph itself.
        Vectors of new nodes, whose rows come last, begin at the mean of their neighbours. Then
        walks from every node with a new edge train it and the nodes around it, by default with a
        quarter of the learning rate of :meth:`fit`. All other vectors stay comparable, smoothed
        ones too: they are rotated back to where they were, as far as possible.

        Without new edges nothing changes, not a bit. In a weighted graph, the same edges a second
        time have no effect if they come together and with the same weights; there is a warning.

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
        graph, touched, added = grown(self.graph_, edges)
        known = self._added or ((digest_of_edges(self.graph_),) if added else ())
        repeated = added in known and not again
        if repeated:
            warnings.warn(
                "these edges, with these weights, were added before, so nothing changes: "
                "again=True (--again) adds their weights once more",
                stacklevel=line_of_user(),
            )
        if repeated or graph is self.graph_:
            return self
        self._update(graph, touched, progress, callbacks)
        self._added = (*known, added) if added else known
        return self

    def _update(self, graph: Graph, touched: Any, progress: bool, callbacks: Any) -> None:
        """Train on walks from the nodes that new edges touch."""
        count = self._updates + 1
        settings = self._settings_of_update(count)
        sampler = self._sampler(graph, settings.seed, self.direction_)
        sampler.starts = touched
        corpus = SampledWalks(sampler)
        backend = self._backend(corpus, settings)
        self._check_memory(corpus, settings, backend)
        by_default = self.learning_rate is None
        training = Training(corpus, settings, backend, may_slow_down=by_default, before=self._state)
        with self._connected(backend), large_arrays_in(self._checked("scratch")):
            state = training.run(self._workers(backend), progress, _checked_callbacks(callbacks))
            if training.settings is settings:  # the next update begins with the rates of this one
                state.rates = self._state.rates
            else:
                state.rates = training.settings.scaled(1 / _SHARE_OF_RATE).rates
            self._keep(state, graph, backend, progress, grown=True)
        self.direction_, self._updates = sampler.direction, count

    def _settings_of_update(self, count: int) -> Settings:
        """Return how to train when the graph has grown for this time."""
        settings = self._settings()._replace(seed=(self.seed + count) % 2**64)
        if self.learning_rate is None:
            if len(self._state.rates) == len(settings.windows):
                settings = settings._replace(rates=self._state.rates)
            settings = settings.scaled(_SHARE_OF_RATE)
        trained = [weights.dimensions for weights in self._state.scales]
        if [scale.dimensions for scale in settings.scales()] != trained:
            raise InputError(
                f"the vectors have {sum(trained)} dimensions of {counted(len(trained), 'window')}, "
                f"not {settings.dimensions} of {len(settings.windows)}: reset dimensions and "
                "window, or call fit again"
            )
        return settings

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
        settings = self._settings(corpus)
        if chosen == "ray":
            return bytes_for(corpus, settings, self._workers("ray"), "ray")
        memory = self._memory(corpus, settings, chosen)
        if chosen == "cuda":
            return memory.on_gpu()
        needed = memory.on_host()
        if isinstance(corpus, SampledWalks):  # perhaps of a graph without directions
            needed = max(corpus.copying_bytes, corpus.copied_bytes + needed)
        return needed

    def _corpus(self, source: Graph | StoredWalks) -> Corpus:
        """Return the corpus to train on."""
        if isinstance(source, Graph):
            return SampledWalks(self._sampler(source))
        return GivenWalks(source)

    def _memory(self, corpus: Corpus, settings: Settings, backend: str = "cpu") -> TrainingMemory:
        """Return how much memory training takes."""
        smooth = bool(self.smooth)
        return TrainingMemory(
            corpus,
            settings,
            self._workers(),
            self._checked("scratch"),
            smooth,
            smooth and backend == "cpu",
        )

    def _check_memory(self, corpus: Corpus, settings: Settings, backend: str) -> None:
        """Raise InputError if training, and smoothing on the CPU, take too much memory."""
        if backend != "ray":
            self._memory(corpus, settings, backend).check()
            return
        what = f"training {corpus.n_nodes:,} nodes with dimensions={settings.dimensions}"
        vectors = 4 * settings.dimensions * corpus.n_nodes  # the result, which comes here
        smoothing = self._memory(corpus, settings).of_smoothing()
        if not connection.is_local():  # on a cluster, training checks every machine
            check_memory(vectors + smoothing, what)
            return
        workers = self._checked("workers") or available_cpus()
        training = corpus.nbytes + workers * bytes_for(corpus, settings, workers, "ray")
        check_memory(vectors + max(training, smoothing), f"{what} by {workers} workers")

    def _learn(self, source: Graph | StoredWalks, options: RunOptions) -> Reinforce2Vec:
        """Train; no other training may use the checkpoint in the meantime."""
        files = [] if options.checkpoint is None else [options.checkpoint]
        with claimed(*files), large_arrays_in(self._checked("scratch")):
            corpus = self._corpus(source)
            settings = self._settings(corpus)
            if corpus.n_nodes == 0:
                raise InputError("the graph has no nodes, so there is nothing to learn")
            backend = self._backend(corpus, settings)
            self._check_memory(corpus, settings, backend)
            checkpoint = self._checkpoint(corpus, settings, options)
            by_default = self.learning_rate is None
            training = Training(
                corpus, settings, backend, checkpoint=checkpoint, may_slow_down=by_default
            )
            with self._connected(backend):
                callbacks = _checked_callbacks(options.callbacks)
                state = training.run(self._workers(backend), options.progress, callbacks)
                self._keep(state, source, backend, options.progress)
        self.direction_ = corpus.direction if isinstance(corpus, SampledWalks) else None
        self.learning_rate_ = training.settings.scales()[-1].learning_rate
        self._updates, self._added = 0, ()
        return self

    def _checkpoint(
        self, corpus: Corpus, settings: Settings, options: RunOptions
    ) -> Checkpoint | None:
        """Return where the training is saved; InputError if that cannot work."""
        every = check_number("checkpoint_every", options.checkpoint_every, least=0.0)
        path, resume = options.checkpoint, options.resume
        if path is None:
            if resume:
                raise InputError(
                    "resume=True needs checkpoint=...: the file to resume from",
                    settings=[("resume", True), ("checkpoint", ...)],
                )
            return None
        target, origin = check_target(path), self._origin(corpus, settings)
        check_new(path, resume)
        if not target.exists():
            remove_checkpoint(target)  # rows without their checkpoint
        check_room(target, corpus.n_nodes, [scale.dimensions for scale in settings.scales()])
        return Checkpoint(target, origin, every)

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
        if backend == "ray":  # the vectors are here
            backend, workers = "cpu", min(workers, available_cpus())
        if backend == "cuda" and (self.backend == "auto" or source is not graph):
            backend = "auto"  # on the CPU, if it does not fit into the GPU's memory
        vectors = large_zeros((len(source.ids), state.dimensions))
        first = 0
        for weights in state.scales:
            columns = slice(first, first + weights.dimensions)
            first += weights.dimensions
            smoothed = smooth_learned(
                weights.vectors,
                graph,
                backend=backend,
                workers=workers if backend == "cpu" else None,
                progress=progress,
            )
            if grown:
                old = self.embedding_.vectors[:, columns]
                smoothed = aligned(smoothed, np.arange(len(old)), old, workers)
            share = np.float32(math.sqrt(weights.dimensions / state.dimensions))
            np.multiply(smoothed, share, out=vectors[:, columns])
            del smoothed  # before the next one is made
        return vectors

    # -- parameters ----------------------------------------------------------------------------

    def check(self) -> None:
        """Raise InputError if a parameter is invalid."""
        self._settings()
        self._workers()
        self._walk()
        backend_choice.choose(self._allowed_backend(), "training", workers=self.workers)
        for name in ("walk_length", "walks_per_node", "direction"):
            self._checked(name)

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

    def _allowed_backend(self) -> str:
        """Return the given backend; the CPU where large arrays are files."""
        if self._checked("scratch") is None:
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
            needed = self._memory(corpus, settings).on_gpu()
            if not backend_choice.has_room(needed, what, self.backend):
                return "cpu"
        return backend

    def _walk(self) -> Walk:
        walk: Walk = self._effective("walk")
        check_walk(walk)
        return walk

    def _effective(self, name: str) -> Any:
        """Return the value of a parameter; the default walk for None."""
        value = getattr(self, name)
        return ReinforcedWalk() if name == "walk" and value is None else value

    def _sampler(
        self, graph: Graph, seed: int | None = None, direction_before: str | None = None
    ) -> WalkSampler:
        return WalkSampler(
            graph,
            self._walk(),
            length=self._checked("walk_length"),
            per_node=self._checked("walks_per_node"),
            seed=self.seed if seed is None else seed,
            workers=self.workers,
            backend="cpu",  # on a GPU, training samples the walks itself
            direction=self._direction(graph, direction_before),
        )

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


def _checked_callbacks(given: Any) -> list[Callback]:
    """Return callbacks as a list; InputError if they are none."""
    callbacks: list[Any] = list(given) if isinstance(given, Iterable) else [None]
    if not all(map(callable, callbacks)):
        raise InputError(f"callbacks must be a list of functions, not {short_repr(given)}")
    return callbacks

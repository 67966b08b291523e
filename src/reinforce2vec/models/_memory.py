"""Estimates of the memory and the disk space that a training of Reinforce2Vec takes."""

from __future__ import annotations

from pathlib import Path

from .._util.scratch import is_in_memory
from ..graph.fingerprint import digest_bytes
from ..skipgram import host
from ..skipgram.backends import bytes_for
from ..skipgram.corpus import Corpus, GivenWalks, SampledWalks
from ..skipgram.state import Settings
from . import smoothing
from ._steps import bytes_for_steps, likely_edges

_ALLOWANCE = 1.02  # for what the allocator adds to arrays
_OBJECTS = 1 << 18  # bytes of all that is no array


def bytes_on_host(
    corpus: Corpus,
    settings: Settings,
    workers: int,
    folder: Path | None,
    smooth: bool | str,
    smoothed_here: bool,
) -> int:
    """Estimate the memory of training, and of smoothing unless a GPU does that.

    Parameters
    ----------
    corpus, settings, workers
        What is trained on, how, and by how many threads.
    folder : path, optional
        Where large arrays are files.
    smooth : bool or str
        Whether vectors are smoothed.
    smoothed_here : bool
        Whether that is done on the CPU.
    """
    on_disk = folder is not None and not is_in_memory(folder)
    training = host.bytes_for(corpus, settings, workers, on_disk)
    ending = _bytes_at_the_end(corpus, settings, workers, on_disk, smooth, smoothed_here)
    return _OBJECTS + int(_ALLOWANCE * max(training, ending))


def _bytes_at_the_end(
    corpus: Corpus,
    settings: Settings,
    workers: int,
    on_disk: bool,
    smooth: bool | str,
    smoothed_here: bool,
) -> int:
    """Estimate the memory when all is trained: matrices, vectors, and what smoothing takes."""
    scales = [one.dimensions for one in settings.scales()]
    weights, vectors = host.table_bytes(corpus) + 12 * corpus.n_nodes, 0
    if not on_disk:
        weights += host.matrices_bytes(corpus, settings)
        vectors = 4 * settings.dimensions * corpus.n_nodes
    digest = digest_bytes(corpus.graph) if isinstance(corpus, SampledWalks) else 0
    if not smooth:  # the vectors of a single window are part of its matrices
        return weights + digest + (vectors if len(scales) > 1 else 0)
    widest, more = max(scales), 0
    if not smoothed_here:
        more = 4 * widest * corpus.n_nodes
    elif isinstance(corpus, SampledWalks):
        more = smoothing.bytes_for(corpus.graph, widest, workers, on_disk)
    elif isinstance(corpus, GivenWalks):
        if corpus.n_edges is None:
            corpus.n_edges = likely_edges(corpus.stored)
        steps = bytes_for_steps(corpus.stored, corpus.n_edges)
        signals = smoothing.bytes_for_signals(corpus.n_nodes, widest, workers, on_disk)
        more = max(steps.making, steps.kept + signals)
    return weights + vectors + max(more, digest)


def bytes_on_disk(corpus: Corpus, settings: Settings, smooth: bool | str) -> int:
    """Estimate the size of the files that large arrays are in."""
    scales = [one.dimensions for one in settings.scales()]
    vectors = 4 * settings.dimensions * corpus.n_nodes
    ending = host.matrices_bytes(corpus, settings)
    if smooth:
        ending += vectors + smoothing.bytes_on_disk(corpus.n_nodes, max(scales))
    elif len(scales) > 1:
        ending += vectors
    return max(host.bytes_on_disk(corpus, settings), ending)


def bytes_on_gpu(corpus: Corpus, settings: Settings, workers: int, smooth: bool | str) -> int:
    """Estimate the GPU memory of training and smoothing."""
    needed = bytes_for(corpus, settings, workers, "cuda")
    if smooth and isinstance(corpus, SampledWalks):
        widest = max(one.dimensions for one in settings.scales())
        needed = max(needed, smoothing.bytes_on_gpu(corpus.graph, widest))
    return needed

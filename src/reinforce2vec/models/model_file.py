"""Model files: all that a fitted estimator has learned, to go on with in another process.

A file is an .npz archive of arrays and a description in JSON; nothing in it is pickled, so reading
one runs no code. It holds no time, so that one seed gives one file, byte for byte.
"""

from __future__ import annotations

import os
import zipfile
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .. import __version__
from .._util.arrays import Vectors
from .._util.errors import InputError, excerpt
from .._util.ids import Ids
from ..files.array_files import array_names, open_archive, read_about, read_array, write_arrays
from ..files.edges import checked_weights
from ..files.id_texts import ids_as_arrays, ids_from_arrays
from ..files.matrix_files import check_rows
from ..files.opening import naming, opened
from ..files.targets import check_space, known_suffix, resolve_target
from ..files.writing import check_target
from ..graph import Graph
from ..graph.fingerprint import fingerprint
from ..skipgram.checkpoint import arrays_of, counts_of, read_state
from ..skipgram.state import State
from ..walks import FirstOrderWalk, ReinforcedWalk, SecondOrderWalk
from ..walks.policy import Walk

_KIND = "reinforce2vec model"
_FORMAT = 1
_SUFFIXES = (".r2v",)
_WRITTEN = "models are written to"


class Kept(NamedTuple):
    """What a model file keeps of a fitted estimator.

    Attributes
    ----------
    estimator : str
        The name of its class.
    parameters : dict
        Its parameters.
    ids : int64 or object array
        The ids of the nodes.
    vectors : float32 array (n_nodes, dimensions), optional
        The vectors, unless they are those of the state.
    facts : dict
        More that it has learned, as JSON holds it.
    graph : Graph, optional
        The graph that it was trained on, with these ids.
    state : State, optional
        The state of the training.
    """

    estimator: str
    parameters: dict[str, Any]
    ids: Ids
    vectors: Vectors | None = None
    facts: dict[str, Any] = {}  # noqa: RUF012
    graph: Graph | None = None
    state: State | None = None


def check_model_path(path: str | os.PathLike[str]) -> Path:
    """Return where a model will be written, links followed; InputError if that cannot work."""
    known_suffix(Path(path), _SUFFIXES, _WRITTEN)
    return check_target(path)


def write_model(path: str | os.PathLike[str], kept: Kept) -> None:
    """Write a model to a file, whole or not at all."""
    known_suffix(Path(path), _SUFFIXES, _WRITTEN)
    _check_restorable(kept.parameters)
    target = resolve_target(path)
    arrays = dict(ids_as_arrays(kept.ids, Path(path)))
    about: dict[str, Any] = {
        "kind": _KIND,
        "format": _FORMAT,
        "version": __version__,
        "estimator": kept.estimator,
        "settings": settings_of(kept.parameters),
        "facts": kept.facts,
    }
    if kept.vectors is not None:
        arrays["vectors"] = np.ascontiguousarray(kept.vectors)
    if kept.graph is not None:
        graph = kept.graph
        arrays |= {"indptr": graph.indptr, "indices": graph.indices}
        if graph.weights is not None:
            arrays["weights"] = graph.weights
        about["graph"] = {
            "directed": graph.directed,
            "dropped_self_loops": graph.dropped_self_loops,
            "merged_edges": graph.merged_edges,
            "notes": graph.notes,
            "sides": graph.sides,
            "fingerprint": fingerprint(graph),
        }
    if kept.state is not None:
        arrays |= arrays_of(kept.state)
        about["state"] = counts_of(kept.state) | {"seconds": 0.0}
    check_space(target, sum(array.nbytes for array in arrays.values()) + (1 << 16))
    write_arrays(target, about, arrays)


def read_model(path: str | os.PathLike[str]) -> Kept:
    """Read a model from a file; InputError if it is no such file, damaged, or of a later version.

    A file is refused as a whole: sizes, checksums and the graph's fingerprint must be right.
    """
    path = Path(path)
    with opened(path, compressed=False) as stream:
        try:
            with naming(str(path)), open_archive(stream) as archive:
                return _read(archive, path)
        except (InputError, MemoryError):
            raise
        except Exception:  # a damaged archive may raise anything
            raise damaged_model(path) from None


def damaged_model(path: str | os.PathLike[str]) -> InputError:
    """Return the error for a file that is no model."""
    return InputError(
        f"{path}: expected a model, as `save` or `reinforce2vec embed --model` write it: this is "
        "another file, or a damaged one"
    )


def _read(archive: zipfile.ZipFile, path: Path) -> Kept:
    about = read_about(archive)
    if about["kind"] != _KIND:
        raise ValueError(about["kind"])
    if about["format"] > _FORMAT:
        raise InputError(
            f"{path}: this model was written by a later version of reinforce2vec, "
            f"{excerpt(str(about['version']))}, and this is {__version__}: install that one, or "
            "fit again"
        )
    names = array_names(archive)
    ids = read_array(archive, "ids")
    if "begins" in names:
        ids = ids_from_arrays(ids, read_array(archive, "begins"))
    elif ids.dtype != np.int64 or ids.ndim != 1:
        raise ValueError(ids.dtype)
    vectors = graph = state = None
    if "vectors" in names:
        vectors = read_array(archive, "vectors")
        if vectors.dtype != np.float32 or vectors.ndim != 2 or len(vectors) != len(ids):
            raise ValueError(vectors.shape)
    if "graph" in about:
        graph = _read_graph(archive, about["graph"], ids, "weights" in names)
    if "state" in about:
        state = read_state(archive, about["state"], len(ids))
    parameters = _parameters_from(about["settings"])
    facts = about["facts"]
    if not isinstance(facts, dict) or not isinstance(facts["info"], dict):
        raise ValueError(facts)
    return Kept(str(about["estimator"]), parameters, ids, vectors, facts, graph, state)


def _read_graph(archive: zipfile.ZipFile, about: dict[str, Any], ids: Ids, weighted: bool) -> Graph:
    """Read the graph; ValueError unless it is the one that was written."""
    indptr, indices = (read_array(archive, name) for name in ("indptr", "indices"))
    weights = read_array(archive, "weights") if weighted else None
    check_rows(indptr, indices, len(ids), len(ids))
    if indptr.dtype != np.int64 or indices.dtype != np.int32:
        raise ValueError("not a graph")
    if weights is not None:
        weights = checked_weights(weights, len(indices))
    graph = Graph(
        *(indptr, indices, weights, ids),
        directed=about["directed"],
        dropped_self_loops=about["dropped_self_loops"],
        merged_edges=about["merged_edges"],
        notes=tuple(about["notes"]),
        sides=None if about["sides"] is None else tuple(about["sides"]),
    )
    if fingerprint(graph) != about["fingerprint"]:
        raise ValueError("another graph")
    return graph


# -- parameters as JSON holds them -------------------------------------------------------------

_WALKS: dict[str, type[Walk]] = {
    "reinforced": ReinforcedWalk,
    "first-order": FirstOrderWalk,
    "second-order": SecondOrderWalk,
}


def walk_facts(walk: Walk) -> dict[str, Any]:
    """Return a walk for JSON: its kind, and its parameters by their names in Python."""
    kind = next(name for name, made in _WALKS.items() if isinstance(walk, made))
    return {"kind": kind} | asdict(walk)


def _check_restorable(parameters: Mapping[str, Any]) -> None:
    """Raise InputError if a parameter is a walk of the user's own class, which no file can hold."""
    for value in parameters.values():
        if isinstance(value, Walk) and type(value) not in _WALKS.values():
            raise InputError(
                f"a model file holds no code, so it cannot hold a {type(value).__name__}, a walk "
                "of a class of your own: save the vectors, with embedding_.save"
            )


def settings_of(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of an estimator for JSON."""
    return {name: _plain(value) for name, value in parameters.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, Walk):
        return {name: _plain(part) for name, part in walk_facts(value).items()}
    if isinstance(value, (tuple, list)):
        return [_plain(one) for one in value]
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    return value.item() if isinstance(value, np.generic) else value


def _parameters_from(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters that :func:`settings_of` described; any exception if it is not so."""
    return {name: _restored(value) for name, value in settings.items()}


def _restored(value: Any) -> Any:
    if isinstance(value, dict):
        kind = _WALKS[value["kind"]]
        return kind(**{name: part for name, part in value.items() if name != "kind"})
    return tuple(value) if isinstance(value, list) else value

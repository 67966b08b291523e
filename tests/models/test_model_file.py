"""Model files: a loaded model goes on as if never saved; what is no model is refused."""

from __future__ import annotations

import json
import os
import shutil
import warnings
import zipfile

import numpy as np
import pytest

from helpers.models import vectors_of
from helpers.toy_graphs import TOY_GRAPHS
from reinforce2vec import (
    Embedding,
    FirstOrderWalk,
    InputError,
    Reinforce2Vec,
    ReinforcedWalk,
    SecondOrderWalk,
    karate_club,
)
from reinforce2vec.models import reinforce2vec

CLUB = karate_club()
FEW = {"dimensions": 24, "walks_per_node": 3, "workers": 1}


def everything(model):
    """All that a model has learned."""
    state = model._state
    matrices = [matrix.tobytes() for one in state.scales for matrix in one[:2]]
    counts = (state.walks, state.tokens, state.rates, model.learning_rate_, model.backend_)
    arrays = (state.visits, state.losses, state.pairs, vectors_of(model), model.loss_curve_)
    return matrices, [array.tobytes() for array in arrays], counts, model.embedding_.scales


@pytest.fixture
def file(tmp_path):
    return tmp_path / "model.r2v"


def reloaded(model, file):
    model.save(file)
    return Reinforce2Vec.load(file)


# -- there and back ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"smooth": False},
        {"smooth": False, "window": 5},
        {"window": (1, 3, 10), "dimensions": 33, "learning_rate": 0.03, "seed": 7},
        {"walk": FirstOrderWalk(), "subsample": 1e-2},
        {"walk": SecondOrderWalk(0.5, 2.0)},
        {"walk": ReinforcedWalk.released("vertex", "epsilon", weight=0.7)},
    ],
    ids=str,
)
def test_a_loaded_model_goes_on_as_if_it_had_never_been_saved(file, changes):
    model = Reinforce2Vec(**(FEW | changes)).fit(CLUB)
    copy = reloaded(model, file)
    assert copy.get_params() == model.get_params()
    assert everything(copy) == everything(model)
    assert copy.embedding_.ids.tolist() == model.embedding_.ids.tolist()
    for member in (101, 102):
        for one in (model, copy):
            one.partial_fit([(member, 1), (member, 2), (member, 3)])
        assert everything(copy) == everything(model)
        copy = reloaded(copy, file)


@pytest.mark.parametrize("name", TOY_GRAPHS)
def test_every_graph_comes_back_as_it_was(file, name):
    graph = TOY_GRAPHS[name]()
    if graph.n_nodes == 0:
        return
    model = Reinforce2Vec(**FEW, smooth=False).fit(graph)
    found = reloaded(model, file).graph_
    for part in ("indptr", "indices", "weights", "ids"):
        before, after = getattr(graph, part), getattr(found, part)
        assert (before is None) == (after is None)
        assert before is None or (before.tolist() == after.tolist() and before.dtype == after.dtype)
    assert (found.directed, repr(found)) == (graph.directed, repr(graph))


def test_edges_that_were_added_are_known_after_loading(file):
    model = Reinforce2Vec(**FEW).fit([("a", "b", 2.0), ("b", "c", 3.0), ("c", "d", 1.0)])
    model.partial_fit([("a", "b", 1.0), ("e", "a", 1.0)])
    copy = reloaded(model, file)
    before = file.read_bytes()
    with pytest.warns(UserWarning, match="were added before"):
        copy.partial_fit([("e", "a", 1.0), ("b", "a", 1.0)])
    copy.save(file)
    assert file.read_bytes() == before


def test_one_seed_gives_one_file(file, tmp_path):
    other = tmp_path / "other.r2v"
    for path, workers in ((file, 1), (other, 1)):
        Reinforce2Vec(**(FEW | {"workers": workers})).fit(CLUB).save(path)
    assert file.read_bytes() == other.read_bytes()
    Reinforce2Vec.load(file).save(other)
    assert file.read_bytes() == other.read_bytes()


def test_a_halved_learning_rate_is_kept(file, monkeypatch):
    monkeypatch.setattr(reinforce2vec, "usual_rate", lambda tokens: 0.6)
    with pytest.warns(UserWarning, match="began again"):
        model = Reinforce2Vec(**FEW).fit(CLUB)
    (narrow, wide) = model._state.rates
    assert (narrow, wide) < (1.2, 0.6)
    copy = reloaded(model, file)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        copy.partial_fit([(34, 99)])
    assert copy._state.rates == (narrow, wide)


def test_walks_of_a_class_of_ones_own_are_fitted_but_not_saved(file):
    class OwnWalk(FirstOrderWalk):
        pass

    model, plain = (
        Reinforce2Vec(**FEW, walk=walk()).fit(CLUB) for walk in (OwnWalk, FirstOrderWalk)
    )
    assert np.array_equal(vectors_of(model), vectors_of(plain))
    with pytest.raises(InputError, match="cannot hold a OwnWalk, a walk of a class of your own"):
        model.save(file)
    assert not file.exists()


# -- comparable from day to day ------------------------------------------------------------------


# -- what is no model ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """A model file, and what it holds."""
    path = tmp_path_factory.mktemp("sound") / "model.r2v"
    model = Reinforce2Vec(dimensions=4, walks_per_node=1, workers=1).fit(CLUB)
    model.save(path)
    return path, everything(model)


def test_files_that_are_no_models_are_refused(file, tmp_path):
    Embedding([1, 2], [[1.0], [2.0]]).save(tmp_path / "vectors.npz")
    Reinforce2Vec(**FEW).fit(CLUB, checkpoint=tmp_path / "checkpoint.npz")
    (tmp_path / "text.txt").write_text("1 2\n")
    (tmp_path / "empty").touch()
    for name in ("vectors.npz", "checkpoint.npz", "text.txt", "empty"):
        shutil.copy(tmp_path / name, file)
        with pytest.raises(InputError, match=r"model\.r2v: expected a model, .* another file, or"):
            Reinforce2Vec.load(file)
    with pytest.raises(InputError, match="there is no such file"):
        Reinforce2Vec.load(tmp_path / "missing.r2v")
    with pytest.raises(InputError, match="this is a folder"):
        Reinforce2Vec.load(tmp_path)


def test_a_file_that_is_cut_off_is_refused(file, sound):
    content = sound[0].read_bytes()
    for size in range(0, len(content), 97):
        file.write_bytes(content[:size])
        with pytest.raises(InputError, match="damaged"):
            Reinforce2Vec.load(file)


def test_a_damaged_file_is_refused_or_gives_the_same_model(file, sound):
    """Some bytes of an archive have no meaning, such as time stamps."""
    content, expected = sound[0].read_bytes(), sound[1]
    refused = 0
    places = range(0, len(content), 61)
    for place in places:
        damaged = bytearray(content)
        damaged[place] ^= 1 << place % 8
        file.write_bytes(damaged)
        try:
            assert everything(Reinforce2Vec.load(file)) == expected
        except InputError:
            refused += 1
    assert refused > 0.9 * len(places)


def changed(source, target, change):
    """Copy a model file with another description, and other arrays."""
    with np.load(source) as archive:
        arrays = dict(archive)
    about = json.loads(arrays.pop("about").tobytes())
    change(about, arrays)
    with target.open("wb") as stream:
        np.savez(stream, about=np.frombuffer(json.dumps(about).encode(), np.uint8), **arrays)


def test_a_later_version_is_named(file, sound):
    changed(sound[0], file, lambda about, _: about.update(format=2, version="9.1"))
    with pytest.raises(InputError, match=r"later version of reinforce2vec, 9\.1, and this is"):
        Reinforce2Vec.load(file)
    changed(sound[0], file, lambda about, _: about["settings"].update(charm=3))
    with pytest.raises(InputError, match="has no parameter charm"):
        Reinforce2Vec.load(file)


@pytest.mark.parametrize(
    "change",
    [
        lambda about, arrays: arrays["indices"].__setitem__(0, 99),
        lambda about, arrays: arrays["indices"].__setitem__(0, -1),
        lambda about, arrays: arrays["indptr"].__setitem__(1, 10**9),
        lambda about, arrays: arrays["ids"].__setitem__(0, 77),
        lambda about, arrays: arrays.update(vectors=arrays["vectors"][:-1]),
        lambda about, arrays: arrays.update(inputs0=arrays["inputs0"][:-1]),
        lambda about, arrays: arrays.update(visits=arrays["visits"][:-1]),
        lambda about, arrays: arrays.pop("outputs0"),
        lambda about, arrays: about["facts"].update(_updates="x"),
        lambda about, arrays: about["facts"].update(_added=5),
        lambda about, arrays: about["state"].update(dimensions=[1, 30]),
        lambda about, arrays: about.update(kind="another"),
        lambda about, arrays: about["settings"].update(walk={"kind": "another"}),
    ],
)
def test_parts_that_do_not_fit_together_are_refused(file, sound, change):
    changed(sound[0], file, change)
    with pytest.raises(InputError, match="damaged"):
        Reinforce2Vec.load(file)


class Trap:
    def __reduce__(self):
        return os.mkdir, ("trapped",)


@pytest.mark.filterwarnings("ignore")
def test_nothing_is_unpickled(file, sound, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    trap = np.array([Trap()] * 34, object)
    for name in ("ids", "vectors", "about"):
        with zipfile.ZipFile(sound[0]) as source, zipfile.ZipFile(file, "w") as target:
            for one in source.namelist():
                with target.open(one, "w") as stream:
                    if one == f"{name}.npy":
                        np.lib.format.write_array(stream, trap, allow_pickle=True)
                    else:
                        stream.write(source.read(one))
        with pytest.raises(InputError, match="damaged"):
            Reinforce2Vec.load(file)
    assert not (tmp_path / "trapped").exists()


# -- what cannot be saved ------------------------------------------------------------------------


def test_what_cannot_be_saved_leaves_the_old_file(file, monkeypatch):
    model = Reinforce2Vec(**FEW)
    with pytest.raises(InputError, match="not fitted yet"):
        model.save(file)
    model.fit(CLUB).save(file)
    before = file.read_bytes()
    with pytest.raises(InputError, match=r"files that end in one of \.r2v"):
        model.save(file.with_suffix(".pickle"))
    with pytest.raises(InputError, match=r"a \.r2v file holds .* all strings or all .* here is 1"):
        model.partial_fit([(1, "new")]).save(file)
    free = shutil.disk_usage(file.parent)._replace(free=1000)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: free)
    with pytest.raises(InputError, match="make room"):
        model.fit(CLUB).save(file)
    assert file.read_bytes() == before
    assert os.listdir(file.parent) == ["model.r2v"]

"""Errors carry the parameters that they are about, and can be sent to other processes."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import reinforce2vec as r2v
from helpers.refusals import refusal
from reinforce2vec import Embedding, InputError, Reinforce2Vec, ReinforcedWalk, karate_club
from reinforce2vec._util.errors import UnknownNode, python_setting


@pytest.mark.parametrize(
    ("model", "parameter", "value"),
    [
        (Reinforce2Vec(walks_per_node=0), "walks_per_node", 0),
        (Reinforce2Vec(backend="tpu"), "backend", "tpu"),
        (Reinforce2Vec(walk=ReinforcedWalk(weight=2.0, exploration="epsilon")), "weight", 2.0),
    ],
)
def test_a_model_names_the_parameter_that_is_wrong(model, parameter, value):
    with pytest.raises(InputError, match=parameter) as caught:
        model.fit(karate_club())
    assert (caught.value.parameter, caught.value.value) == (parameter, value)


def test_a_setting_is_spelled_as_python_spells_it():
    spelled = {
        "weighted=False": ("weighted", False),
        'backend="cpu"': ("backend", "cpu"),
        "key=...": ("key", ...),
        "fraction=0.5": ("fraction", 0.5),
        "rate=0.1234567890123": ("rate", 0.1234567890123),
        "seed=3": ("seed", np.int64(3)),
    }
    assert [python_setting(*setting) for setting in spelled.values()] == list(spelled)


ERROR = InputError("seed=3 is odd", parameter="seed", value=3, settings=[("seed", 3)])


def carried(error):
    return type(error), str(error), error.parameter, error.value, error.settings


@pytest.mark.parametrize("error", [ERROR, UnknownNode("no node 'x'", parameter="node", value="x")])
def test_pickled_and_copied_errors_carry_the_same(error):
    for other in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
        assert carried(other) == carried(error)


def test_an_unknown_node_is_a_key_error_with_a_readable_message():
    with pytest.raises(KeyError) as caught:
        Embedding(["ann"], [[1.0]])["bob"]
    assert isinstance(caught.value, InputError)
    assert not str(caught.value).startswith('"')


# -- numbers of numpy ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (np.int64(3), "3"),
        (np.float32(0.1), "0.1"),
        (np.float64("nan"), "nan"),
        (np.True_, "True"),
        (np.str_("it's"), '"it\'s"'),
        (np.bytes_(b"a"), "b'a'"),
        ((np.int64(1), [np.uint8(2)]), "(1, [2])"),
        ("np.int64 of a file", "'np.int64 of a file'"),
    ],
)
def test_messages_show_plain_numbers(value, shown):
    assert str(InputError(f"expected 5, not {value!r}: see")) == f"expected 5, not {shown}: see"
    assert InputError(f"not {value!r}", value=value).value is value


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: r2v.Reinforce2Vec(window=(np.int64(3), np.int64(1))).fit(karate_club()),
        lambda: r2v.sample_walks(karate_club(), length=np.int32(0)),
        lambda: Embedding(["a", "b"], np.eye(2))[np.str_("c")],
        lambda: r2v.Embedding(np.array([7, 7]), np.eye(2)),
    ],
)
def test_no_function_shows_numbers_as_numpy_does(wrong):
    assert "np." not in refusal(wrong)

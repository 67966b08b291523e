"""The table of hyperparameters, and all that repeats what is in it."""

from __future__ import annotations

import inspect
import re
import sys
from pathlib import Path

import pytest
import typer

import reinforce2vec as r2v
from helpers.commands_of import COMMANDS, options_of
from helpers.paths import ROOT
from reinforce2vec import InputError, Reinforce2Vec, ReinforcedWalk, SecondOrderWalk
from reinforce2vec._util.hyperparameters import (
    DUPLICATES,
    ID_TYPES,
    PARAMETERS,
    PRESETS,
    REINFORCED,
    RUNNING,
    SECOND_ORDER,
    TRAINING,
)
from reinforce2vec.tuning import space

HOLDERS = {
    Reinforce2Vec: (*TRAINING, *RUNNING),
    ReinforcedWalk: REINFORCED,
    SecondOrderWalk: SECOND_ORDER,
}
CASES = [(holder, name) for holder, names in HOLDERS.items() for name in names]
EACH = pytest.mark.parametrize(
    ("holder", "name"), CASES, ids=[f"{holder.__name__}-{name}" for holder, name in CASES]
)


def test_the_table_has_every_parameter_of_the_constructors():
    for holder, names in HOLDERS.items():
        assert set(inspect.signature(holder).parameters) - {"walk"} == set(names)
    assert {name for _, name in CASES} == set(PARAMETERS)


@EACH
def test_defaults_in_signatures_are_those_of_the_table(holder, name):
    default = inspect.signature(holder).parameters[name].default
    assert default == PARAMETERS[name].default
    assert type(default) is type(PARAMETERS[name].default)


@EACH
def test_docstrings_name_the_defaults_and_choices_of_the_table(holder, name):
    one = PARAMETERS[name]
    described = re.search(rf"^ +{name} : (.*)$", inspect.getdoc(holder), re.M) or re.search(
        rf"^{name} : (.*)$", inspect.getdoc(holder), re.M
    )
    if one.choices:
        assert set(re.findall(r'"(\w+)"', described[1])) == set(one.choices)
    elif one.default is None:
        assert described[1].endswith(", optional")
    else:
        shown = f"{one.default:g}" if one.type is float else str(one.default)
        kind = "int or tuple of int" if one.type is tuple else one.type.__name__
        assert described[1] == f"{kind}, default {shown}"


@pytest.mark.parametrize(("name", "choices"), [("duplicates", DUPLICATES), ("id_type", ID_TYPES)])
def test_choices_of_read_graph_are_those_of_the_table(name, choices):
    listed = re.search(rf"^{name} : {{(.*)}}", inspect.getdoc(r2v.read_graph), re.M)[1]
    assert listed == ", ".join(f'"{choice}"' for choice in choices)
    options = [option for command in COMMANDS.values() for option in options_of(command)]
    shown = [option.metavar for option in options if option.name == name]
    assert set(shown) == {"|".join(choices)}


@EACH
def test_every_parameter_is_checked_by_the_table(holder, name):
    one = PARAMETERS[name]
    assert one.check(one.default) == one.default
    below = (one.least or 0) - 1
    kinds = {
        bool: "yes",
        int: below,
        float: -1.0,
        str: "unheard-of",
        Path: "unheard-of",
        tuple: (below, 7),
    }
    outside = kinds[one.type]
    for wrong in (outside, "text", [], float("nan")):
        with pytest.raises(InputError, match=f"^{name} must be ") as caught:
            holder(**{name: wrong}).check()
        assert caught.value.parameter == name


BAD_WINDOWS = [(10, 1), (1, 1), (), (0, 5), (1, 2.5), 1.5, 0, True, "1,10", None, {1, 10}]


@pytest.mark.parametrize("value", BAD_WINDOWS, ids=repr)
def test_windows_that_make_no_sense_are_named(value):
    with pytest.raises(InputError, match=r"^window must be an integer\b") as caught:
        Reinforce2Vec(window=value).check()
    assert caught.value.parameter == "window"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("10", 10),
        (" 1, 5,10 ", (1, 5, 10)),
        ("1,", "1,"),  # which the check refuses
        ("", ""),
        ((1, 10), (1, 10)),
    ],
)
def test_what_is_typed_for_windows_is_read_or_left_to_the_check(text, value):
    assert PARAMETERS["window"].typed(text) == value
    assert PARAMETERS["dimensions"].typed(text) is text


# -- presets -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PRESETS)
def test_presets_change_parameters_of_training_to_valid_values(name):
    for parameter, value in PRESETS[name].items():
        assert parameter in TRAINING
        assert PARAMETERS[parameter].check(value) == value
        assert value != PARAMETERS[parameter].default, f"{parameter} is the default"


def test_the_preset_of_the_paper_has_what_the_paper_states():
    paper = Reinforce2Vec.paper()
    assert type(paper) is Reinforce2Vec
    stated = {"dimensions": 64, "walk_length": 40, "walks_per_node": 80, "window": 10}
    stated |= {"negatives": 5, "epochs": 1, "learning_rate": 0.025, "smooth": False}
    assert paper.get_params() | stated == paper.get_params()


@pytest.mark.parametrize("name", PARAMETERS)
def test_options_have_the_range_default_and_help_of_the_table(name):
    one = PARAMETERS[name]
    (option,) = (
        param for param in options_of(COMMANDS["embed"]) if param.name == (one.flag or name)
    )
    assert one.option in option.opts
    assert option.help.startswith(one.help)
    if name in (*REINFORCED, *SECOND_ORDER):
        assert option.default is None
        assert f"Default: {one.default_text}." in option.help
    else:
        assert option.default == (one.default_text if one.type is tuple else one.default)
    if one.choices:
        assert option.metavar.split("|") == list(one.choices)
    if one.type is int:
        words = ["edges.txt", "-o", "vectors.npz", one.option]
        COMMANDS["embed"].make_context("embed", [*words, str(one.least)])
        with pytest.raises(typer.BadParameter):
            COMMANDS["embed"].make_context("embed", [*words, str(one.least - 1)])


# -- the tuner ---------------------------------------------------------------------------------


def test_the_tuner_searches_values_that_the_table_allows():
    for one in space.SPACE:
        if one.name not in ("walk", "rate"):
            known = PARAMETERS[one.hyperparameter or one.name]
            values = [known.typed(value) for value in one.values]
            assert [known.check(value) for value in values] == values
            assert one.label == known.title


def test_the_tuner_begins_with_the_defaults_of_the_table():
    parameters = space.parameters_of(space.DEFAULT_SETTING, PARAMETERS["dimensions"].default)
    model, default = Reinforce2Vec(**parameters), Reinforce2Vec()
    assert model.get_params() | {"walk": None} == default.get_params()
    assert model.walk == r2v.ReinforcedWalk()


# -- the documentation ---------------------------------------------------------------------------


def test_the_settings_page_shows_the_table():
    sys.path.insert(0, str(ROOT / "docs" / "making"))
    try:
        from hyperparameters import markdown_tables
    finally:
        sys.path.pop(0)
    page = (ROOT / "docs" / "howto" / "settings.md").read_text(encoding="utf-8")
    tables = markdown_tables()
    assert all(f"`{name}`" in tables for name in PARAMETERS)
    assert tables in page, "run docs/making/hyperparameters.py"

"""Help: at once, in groups, with examples that work and the defaults of the library."""

from __future__ import annotations

import inspect
import os
import re
import shlex
import subprocess
import sys
from pkgutil import resolve_name

import pytest

import reinforce2vec as r2v
from helpers.command_line import run, run_python
from helpers.commands_of import COMMANDS, flag_of, options_of
from reinforce2vec import InputError
from reinforce2vec._util.hyperparameters import DATASETS
from reinforce2vec.cli._app import with_options
from reinforce2vec.cli._run import READING_NAMES
from reinforce2vec.datasets.registry import REGISTRY

EVERY = pytest.mark.parametrize("name", COMMANDS)


def help_of(name, **settings):
    result = run(*name.split(), "--help", **settings)
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    return result.stdout


def examples_of(name):
    """The lines of a command's help that may be typed."""
    told = help_of(name).partition("Examples:")[2].replace(" \\\n", " ")
    return re.findall(r"^ +(reinforce2vec .*)$", told, re.M)


# -- what it shows -----------------------------------------------------------------------------


def test_the_commands_stand_in_the_order_of_work():
    told = help_of("")
    commands = told.partition("Commands:")[2].partition("Examples:")[0]
    names = re.findall(r"^  ([a-z-]+) {2,}", commands, re.M)
    assert {name.split()[0] for name in COMMANDS} == set(names)
    assert names[:4] == ["demo", "embed", "update", "evaluate"]
    assert "reinforce2vec embed edges.txt -o vectors.npz" in told
    assert "..." not in commands  # no sentence is cut off


def test_options_stand_in_groups():
    headings = re.findall(r"^(?:  )?(\w[\w ]*):$", help_of("embed"), re.M)
    assert headings == [
        *("Arguments", "Output", "Training", "The walk", "Reading the graph", "Running"),
        *("Other options", "Examples"),
    ]


@EVERY
def test_every_option_is_told_once_and_with_words(name):
    told = help_of(name, terminal_width=1000, max_content_width=1000)
    heads = [line.split("  ")[1] for line in told.splitlines() if line.startswith("  -")]
    flags = [word for head in heads for word in re.split(r"[ ,/]+", head)]
    options = options_of(COMMANDS[name])
    assert options
    for param in options:
        assert flags.count(flag_of(param)) == 1
        assert param.help
        assert param.help in told


@EVERY
def test_examples_are_commands_that_can_be_typed(name):
    examples = examples_of(name)
    assert examples
    for example in examples:
        words = shlex.split(example)[1:]
        own = name.split()
        assert words[: len(own)] == own
        COMMANDS[name].make_context(name, words[len(own) :])  # raises what makes no sense


# -- the same in Python ------------------------------------------------------------------------

# The functions and classes that a command stands for, and the methods of what they return.
GRAPH = ("Reinforce2Vec", "read_graph")
PYTHON = {
    "demo": ("load_dataset",),
    "embed": ("Reinforce2Vec", "Reinforce2Vec.fit", "read_graph"),
    "update": ("Reinforce2Vec.partial_fit", *GRAPH),
    "evaluate link-prediction": (*GRAPH, "evaluate_link_prediction", "load_dataset"),
    "evaluate node-classification": (
        *(*GRAPH, "evaluate_node_classification", "load_dataset", "read_labels"),
    ),
    "tune": ("tune", "read_graph", "load_dataset", "read_labels"),
    "neighbors": ("nearest_neighbors",),
    "recommend": ("recommend_links", "read_graph"),
    "plot": ("reinforce2vec.plotting:embedding_map", "read_graph", "read_labels"),
    "explore": ("explore", "read_graph", "read_labels"),
    "walk": ("WalkSampler", "write_walks", "read_graph"),
    "datasets": ("load_dataset",),
    "warm-up": (),
}
# What only a command line needs.
OWN = {
    *("output", "as_json", "quiet", "walks", "download", "best", "plot", "preset", "estimator"),
    *("model", "method", "to", "ids"),  # tune has a parameter "method", too
    "address",  # Python uses the connection of `ray.init`
}
WALK = (
    {"kind", "reading"}
    | {
        name
        for kind in (r2v.ReinforcedWalk, r2v.SecondOrderWalk)
        for name in inspect.signature(kind).parameters
    }
    | {"exploration_weight"}
)


def arguments_in_python(name):
    """The arguments of the functions that a command stands for; the first one counts."""
    found = {}
    for path in reversed(PYTHON[name]):
        found |= inspect.signature(
            resolve_name(path if ":" in path else f"reinforce2vec:{path}")
        ).parameters
    return found


@EVERY
def test_names_and_defaults_are_those_of_the_library(name):
    python = arguments_in_python(name)
    shared = [param for param in options_of(COMMANDS[name]) if param.name not in OWN | WALK]
    assert shared or not PYTHON[name]
    for param in shared:
        called = READING_NAMES.get(param.name, param.name)
        assert called in python, f"{flag_of(param)} has another name in Python"
        default = python[called].default
        if isinstance(default, tuple):  # shares of nodes or windows, which are typed 0.1,0.5
            default = ",".join(map(str, default))
        if default is not inspect.Parameter.empty:
            assert param.default == default, flag_of(param)


# -- at once, and in the shell -----------------------------------------------------------------


@pytest.mark.slow
def test_help_computes_nothing():
    """Neither numpy nor numba is imported, so that help comes at once."""
    code = (
        "import sys\n"
        "from reinforce2vec.cli.main import app\n"
        f"for name in {['', *COMMANDS]!r}:\n"
        "    try: app([*name.split(), '--help'])\n"
        "    except SystemExit as end: assert not end.code\n"
        "assert not {'numpy', 'numba', 'scipy', 'rich', 'matplotlib'} & set(sys.modules)\n"
    )
    run_python(code)


@pytest.mark.slow
def test_a_shell_completes_commands_options_and_values():
    def completed(words):
        asked = {"_REINFORCE2VEC_COMPLETE": "complete_bash", "_TYPER_COMPLETE_ARGS": words}
        asked |= {"COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
        done = subprocess.run(
            [sys.executable, "-m", "reinforce2vec"],
            capture_output=True,
            text=True,
            env=os.environ | asked,
            check=False,
        )
        return done.stdout.split()

    assert completed("reinforce2vec emb") == ["embed"]
    assert completed("reinforce2vec evaluate link-prediction fa") == ["facebook"]
    assert completed("reinforce2vec datasets ") == list(DATASETS) == list(REGISTRY)
    assert completed("reinforce2vec tune b") == ["blogcatalog"]
    assert completed("reinforce2vec embed --walk ") == ["reinforced", "first-order", "second-order"]


# -- parameters become options, by the data that errors carry -----------------------------------


@pytest.mark.parametrize(
    ("message", "parameter", "settings", "typed"),
    [
        ("learning_rate must be", "learning_rate", {}, "--learning-rate must be"),
        ("NaN; weighted=False skips it", None, {"weighted": False}, "NaN; --unweighted skips it"),
        ('use backend="cpu", or fewer', None, {"backend": "cpu"}, "use --backend cpu, or fewer"),
        ("(name one with key=...)", "key", {"key": ...}, "(name one with --key ...)"),
        ("fraction=0.5", None, {"fraction": 0.5}, "fraction=0.5"),  # no option of embed
        ("window must be odd", None, {}, "window must be odd"),  # only data means something
        ("window/seed.txt: seed is 1", "seed", {}, "window/seed.txt: --seed is 1"),
    ],
)
def test_options_stand_in_place_of_the_parameters_of_an_error(message, parameter, settings, typed):
    error = InputError(message, parameter=parameter, settings=settings.items())
    assert str(with_options(error, COMMANDS["embed"].params)) == typed

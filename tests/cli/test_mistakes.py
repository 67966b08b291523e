"""Whatever a user does wrong, every command ends in a sentence and a code, without a traceback.

A new command is not tested before it has a line in SOUND; a test says so.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from helpers.command_line import MAIN, interrupted, run_python, started
from helpers.commands_of import ALL, COMMANDS, flag_of, options_of
from reinforce2vec import Embedding, Reinforce2Vec
from reinforce2vec._util.errors import InputError
from reinforce2vec.cli._app import App

# How each command is used; old-* is there, and new* will be written.
SOUND = {
    "demo": "--output new-folder",
    "embed": "old-edges.txt --output new-vectors.npz",
    "update": "old-model.r2v old-news.txt --model new-model.r2v --output new-vectors.npz",
    "evaluate link-prediction": "old-edges.txt",
    "evaluate node-classification": "old-vectors.npz --labels old-labels.txt",
    "tune": "old-edges.txt --trials 2 --output new-trials.json",
    "neighbors": "old-vectors.npz 1",
    "recommend": "old-vectors.npz old-edges.txt --output new-links.tsv",
    "plot": "old-vectors.npz --labels old-labels.txt --output new-map.png",
    "explore": "old-vectors.npz old-edges.txt --labels old-labels.txt --output new.html",
    "walk": "old-edges.txt --output new-walks.txt",
    "datasets": "",
    "warm-up": "",
}
# Data that is not there: files, folders of data sets, and data sets that are not in a folder.
MISSING = {
    "demo": ["--output new-folder --data-dir nowhere"],
    "embed": [
        "missing.txt --output new-vectors.npz",
        "--walks missing.txt --output new-vectors.npz",
    ],
    "update": ["missing.r2v old-news.txt", "old-model.r2v missing"],
    "evaluate link-prediction": ["missing.txt", "missing", "facebook --data-dir nowhere"],
    "evaluate node-classification": [
        "old-vectors.npz --labels missing",
        "old-vectors.npz --labels ppi --data-dir nowhere",
        "ppi --data-dir .",
    ],
    "tune": [
        "missing --trials 2",
        "old-edges.txt --trials 2 --task node-classification --labels missing.txt",
        "facebook --trials 2 --data-dir .",
    ],
    "neighbors": ["missing.npz 1"],
    "recommend": ["missing.npz old-edges.txt", "old-vectors.npz missing"],
    "plot": ["old-vectors.npz missing.txt --output new-map.png"],
    "explore": ["old-vectors.npz --labels missing.txt --output new.html"],
    "walk": ["missing --output new-walks.txt"],
    "datasets": ["missing", "facebook --data-dir nowhere"],
    "warm-up": [],  # it reads no data
}
BAD_INPUTS = ("missing{}", "folder{}", "empty{}", "binary{}", "nowhere/edges{}", "file.txt/edges{}")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with sound files, and with all kinds of unsound ones."""
    place = tmp_path_factory.mktemp("mistakes")
    circle = [(node, (node + step) % 30) for node in range(30) for step in (1, 2)]
    (place / "old-edges.txt").write_text("".join(f"{a} {b}\n" for a, b in circle))
    labels = [f"{node} {'odd' if node % 2 else 'even'}\n" for node in range(30)]
    (place / "old-labels.txt").write_text("".join(labels))
    vectors = np.random.default_rng(0).normal(size=(30, 4))
    Embedding(range(30), vectors).save(place / "old-vectors.npz")
    model = Reinforce2Vec(dimensions=4, walks_per_node=1, workers=1)
    model.fit(circle, progress=False).save(place / "old-model.r2v")
    (place / "old-news.txt").write_text("30 1\n")
    for suffix in (".txt", ".npz", ".json", ".png", ".tsv", ".html", ".r2v"):
        (place / f"folder{suffix}").mkdir()
        (place / f"empty{suffix}").touch()
        (place / f"binary{suffix}").write_bytes(b"PK\x03\x04\xff\x00" * 99)
    (place / "file.txt").write_text("a file\n")
    return place


@pytest.fixture
def folder(place, monkeypatch):
    """That folder, which no mistake may change."""
    monkeypatch.chdir(place)
    before = sorted(place.rglob("*"))
    yield place
    assert sorted(place.rglob("*")) == before


@pytest.fixture
def fail(capsys):
    """Makes a mistake, and sees how it ends."""

    def run(name, words, code, *mentioned):
        with pytest.raises(SystemExit) as end:
            ALL.main([*name.split(), *words], prog_name="reinforce2vec")
        out, err = capsys.readouterr()
        told = f"{name} {' '.join(words)}: {out}{err}"
        assert (end.value.code, out) == (code, ""), told
        assert "Traceback" not in err
        _, error, sentence = err.rpartition("error: ")
        assert error, told
        assert len(sentence.splitlines()) <= 2, told
        for part in mentioned:
            assert part in sentence, told

    return run


def commands_with(word):
    """A mark: one case for every command that is used with a file or folder of such a name."""
    names = [
        name for name in COMMANDS if any(part.startswith(word) for part in SOUND[name].split())
    ]
    return pytest.mark.parametrize("name", names)


EVERY = pytest.mark.parametrize("name", COMMANDS)


def test_every_command_is_tested():
    assert COMMANDS.keys() == SOUND.keys() == MISSING.keys()


@EVERY
def test_missing_data_has_one_exit_code(folder, fail, name):
    assert MISSING[name] or not SOUND[name]
    for words in MISSING[name]:
        fail(name, words.split(), 1)


@commands_with("old-")
def test_files_that_cannot_be_read(folder, fail, name):
    words = SOUND[name].split()
    for number, word in enumerate(words):
        if word.startswith("old-"):
            for bad in BAD_INPUTS:
                file = bad.format(Path(word).suffix)
                if (word, file) == ("old-news.txt", "empty.txt"):
                    continue  # a day without new edges is no mistake
                fail(name, [*words[:number], file, *words[number + 1 :]], 1, file)


@pytest.mark.parametrize(
    ("file", "other"), [("old-edges.txt", "old-vectors.npz"), ("old-vectors.npz", "old-edges.txt")]
)
def test_the_wrong_file(folder, fail, file, other):
    """A graph in place of vectors, and vectors in place of a graph."""
    names = [name for name in COMMANDS if file in SOUND[name].split()]
    assert len(names) >= 5
    for name in names:
        words = [other if word == file else word for word in SOUND[name].split()]
        fail(name, words, 1, other, "expected")


@commands_with("new")
def test_files_that_cannot_be_written(folder, fail, name):
    words = SOUND[name].split()
    for number, word in enumerate(words):
        if word.startswith("new"):
            bad = ["file.txt/new"]
            if word == "new-folder":
                bad += ["file.txt"]
            else:
                bad += [f"nowhere/{word}", f"folder{Path(word).suffix}", "new.doc", words[0]]
            for path in bad:
                others = [*words[:number], path, *words[number + 1 :]]
                fail(name, others, 2, path.partition("/")[0])


@EVERY
def test_options_that_do_not_exist_suggest_the_close_one(fail, name):
    flag = max(map(flag_of, options_of(COMMANDS[name])), key=len)
    mistyped = flag[:3] + flag[4] + flag[3] + flag[5:]
    fail(name, [mistyped], 2, f"there is no option {mistyped}: did you mean {flag}?", "--help")
    fail(name, ["--zzzzzzzz"], 2, "there is no option --zzzzzzzz\n")


@pytest.mark.parametrize(
    ("words", "instead"),
    [
        ("embed --dim 64", "did you mean --dimensions?"),
        ("embed --num-walks 10", "did you mean --walks-per-node?"),
        ("embed --walks_per_node 10", "did you mean --walks-per-node?"),
        ("embed --walks-per-nodes 10", "did you mean --walks-per-node?"),
        ("embed --workes 5", "did you mean --workers?"),
        ("embed --lr 0.1", "did you mean --learning-rate?"),
        ("evaluate link-prediction --random-state 1", "did you mean --seeds?"),
        ("recommend --walk first-order", "it is an option of embed, evaluate link-prediction"),
    ],
)
def test_options_of_other_packages_and_commands(fail, words, instead):
    name, _, rest = words.partition(" --")
    flag = f"--{rest.split()[0]}"
    fail(name, [flag, rest.split()[1]], 2, f"there is no option {flag}: {instead}")


def wrong_values(param):
    """Values that an option cannot have; none for a name or a file, which may be anything."""
    metavar = param.metavar or ""
    if metavar in ("N", "NUMBER", "SHARE", "RATE", "SECONDS"):
        return ["many", "-1"]
    return ["strange"] if "|" in metavar and metavar.islower() else []


WRONG = {
    name: [
        (flag_of(param), value) for param in options_of(command) for value in wrong_values(param)
    ]
    for name, command in COMMANDS.items()
}


@pytest.mark.parametrize("name", [name for name, values in WRONG.items() if values])
def test_values_that_are_none(folder, fail, name):
    for flag, value in WRONG[name]:
        fail(name, [*SOUND[name].split(), flag, value], 2, flag)


def test_most_commands_have_values_to_get_wrong():
    assert [name for name, values in WRONG.items() if not values] == ["demo", "datasets", "warm-up"]


def test_a_missing_file_is_told_before_the_library_is_imported(tmp_path):
    code = (
        "import sys\n"
        "from reinforce2vec.cli.main import app\n"
        "try: app(['embed', 'absent.csv', '-o', 'v.npz'], prog_name='reinforce2vec')\n"
        "except SystemExit as end: print(end.code, 'numpy' in sys.modules)\n"
    )
    assert run_python(code, cwd=tmp_path) == "1 False\n"


@pytest.mark.parametrize(
    ("name", "words", "told"),
    [
        ("evaluate link-prediction", "a.txt --method deepwalk --method netmf", "--method"),
        ("embed", "a.txt -o v.npz -d 8 --dimensions 16", "--dimensions"),
        ("plot", "v.npz --color-by degree --colour-by label", "--colour-by"),
        ("embed", "a.txt -o v.npz --directed --undirected", "--directed or --undirected"),
    ],
)
def test_an_option_that_is_given_twice_is_refused(fail, name, words, told):
    fail(name, words.split(), 2, f"give {told} once, not 2 times")


def test_commands_that_do_not_exist_suggest_the_close_one(fail):
    fail("", ["embd"], 2, "'embd'. Did you mean 'embed'?")
    fail("evaluate", ["link-predicton"], 2, "Did you mean 'link-prediction'?")


# -- what no command says itself ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("raised", "code", "sentence"),
    [
        (InputError("window must be odd", parameter="window"), 1, "error: --window must be odd"),
        (OSError(28, "No space left on device"), 1, "error: No space left on device"),
        (MemoryError("std::bad_alloc"), 1, "error: memory ran out; use fewer dimensions"),
        (
            MemoryError("Unable to allocate 7.5 GiB for an array with shape (1000000, 1000)"),
            1,
            "error: memory ran out while 7.5 GiB were allocated; use fewer dimensions",
        ),
        (RuntimeError("can't start new thread"), 1, "error: the system refuses to start a thread"),
        (KeyboardInterrupt(), 130, "interrupted: no unfinished file is left"),
        (ZeroDivisionError(), 1, ""),  # a mistake of ours is not hidden
    ],
    ids=repr,
)
def test_a_command_that_forgets_to_catch_ends_in_a_sentence(raised, code, sentence):
    some = App()

    @some.callback()
    def every():
        pass

    @some.command()
    def careless(window: int = 3):
        raise raised

    result = CliRunner().invoke(some, ["careless"])
    assert (result.exit_code, result.stdout) == (code, "")
    assert result.stderr.startswith(sentence)
    assert len(result.stderr.splitlines()) == bool(sentence)
    assert isinstance(result.exception, SystemExit) == bool(sentence)


# -- Ctrl-C ------------------------------------------------------------------------------------

PAUSED = """
import sys
import {module} as home

def wait(*args, **options):
    print("there", flush=True)
    sys.stdin.readline()
    raise AssertionError("it went on")

home.{name} = wait
{main}
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent otherwise there")
@pytest.mark.parametrize(
    ("module", "name", "command"),
    [
        ("reinforce2vec.graph", "read_graph", "embed"),
        (
            *("reinforce2vec.evaluation", "evaluate_link_prediction"),
            "evaluate link-prediction",
        ),
    ],
    ids=["reading", "evaluating"],
)
def test_ctrl_c_ends_everything_with_a_sentence(folder, module, name, command):
    words = [*command.split(), *SOUND[command].split()]
    with started(*words, code=PAUSED.format(module=module, name=name, main=MAIN)) as process:
        assert process.stdout.readline() == "there\n"
        assert interrupted(process) == "interrupted: no unfinished file is left"


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent otherwise there")
def test_ctrl_c_ends_the_compiler_too(folder, tmp_path):
    words = ["embed", *SOUND["embed"].split()]
    with started(*words, env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}) as process:
        deadline = time.monotonic() + 120
        while process.poll() is None and not list(tmp_path.rglob("*.nbi")):
            assert time.monotonic() < deadline, "nothing was compiled"
            time.sleep(0.05)
        assert interrupted(process) == "interrupted: no unfinished file is left"


# As Python 3.11 does, where an import is interrupted while a class is made.
WRAPPED = """
import signal
from reinforce2vec.cli import main as home

def app(**options):
    try:
        signal.raise_signal(signal.SIGTERM)
    except KeyboardInterrupt as interrupt:
        {ending}

home.app = app
home.main()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent otherwise there")
@pytest.mark.parametrize("ending", ["raise", "raise RuntimeError from interrupt"])
def test_a_signal_before_a_command_begins_ends_it_with_a_sentence(ending):
    command = [sys.executable, "-c", WRAPPED.format(ending=ending)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, "interrupted: no unfinished file is left\n")


DROPPED = """
import signal, time
from reinforce2vec.cli import main as home

class Fleeting:
    def __del__(self):  # Python drops errors here
        signal.raise_signal(signal.SIGTERM)

def app(**options):
    Fleeting()
    time.sleep(30)

home.app = app
home.main()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent otherwise there")
def test_a_signal_that_python_drops_ends_the_command_too():
    command = [sys.executable, "-c", DROPPED]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, "interrupted: no unfinished file is left\n")


COMPILING = """
import signal, threading, time
import numpy as np
from reinforce2vec.walks import _backends
from reinforce2vec._util.compiled import compiled

started = threading.Event()

@compiled
def slow(x):
    return x

def compiler(*args):  # it cannot be interrupted, as a long call of a library
    print("there", flush=True)
    time.sleep(1000)

slow._compile_for_args.args[0].__self__._compiler.compile = compiler

def make_walker(*args, **settings):
    slow(1)

_backends.make_walker = make_walker
from reinforce2vec.walks import sampler
sampler.make_walker = make_walker
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent otherwise there")
@pytest.mark.parametrize("command", ["embed", "walk"])
def test_ctrl_c_does_not_wait_for_the_compiler(folder, command):
    """Not even where another thread waits for it."""
    words = [command, *SOUND[command].split()]
    with started(*words, code=COMPILING + MAIN) as process:
        assert process.stdout.readline() == "there\n"
        assert interrupted(process) == "interrupted: no unfinished file is left"

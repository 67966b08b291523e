"""What commands show on a terminal, at several widths, and in pipes."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import numpy as np
import pytest

from helpers.command_line import checked, started
from helpers.commands_of import COMMANDS, options_of
from helpers.terminals import run_on_terminal, screen_lines, without_styles
from reinforce2vec import Embedding
from reinforce2vec.cli._options import OUTPUT

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
WIDTHS = (40, 80, 120)
TABLES = {
    "neighbors v.npz n1 n2 -k 2": ("node", "neighbor", "cosine"),
    "recommend v.npz edges.txt --best 3 --score cosine": ("source", "target", "score"),
    "evaluate node-classification v.npz --labels labels.txt": ("micro-F1", "macro-F1"),
    "datasets --data-dir .": ("name", "nodes", "edges", "classes", "what it is"),
}
SHOWN = [
    *TABLES,
    "embed edges.txt -o v2.npz --method hope --dimensions 4",
    "embed edges.txt --dim 3",
]


def make_files(folder):
    """Write vectors, a graph and labels; ids are words, so that cut ones can be recognised."""
    circle = [(f"n{node}", f"n{(node + step) % 30}") for node in range(30) for step in (1, 2)]
    (folder / "edges.txt").write_text("".join(f"{a} {b}\n" for a, b in circle))
    labels = [f"n{node} {'odd' if node % 2 else 'even'}\n" for node in range(30)]
    (folder / "labels.txt").write_text("".join(labels))
    vectors = np.random.default_rng(0).normal(size=(30, 4))
    Embedding([f"n{node}" for node in range(30)], vectors).save(folder / "v.npz")
    return folder


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return make_files(tmp_path)


@pytest.fixture(scope="module")
def screens(tmp_path_factory):
    """What a terminal shows of every command line, by width; one process for all."""
    place = make_files(tmp_path_factory.mktemp("screens"))
    cases = [(width, words) for width in (*WIDTHS, 1000) for words in SHOWN]
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        found = run_on_terminal(*cases)
    return dict(zip(cases, found, strict=True))


# -- on a terminal -----------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("width", WIDTHS)
def test_no_line_is_wider_than_the_terminal(screens, width):
    for words in SHOWN:
        text, _ = screens[width, words]
        assert max(map(len, screen_lines(text))) <= width, text
        for line in without_styles(text).split("\n"):  # nor is a line of progress
            assert all(len(part) < width for part in line.split("\r\033[K")[1:-1])


@pytest.mark.slow
@pytest.mark.parametrize("words", TABLES)
def test_tables_have_heads_and_rules_and_colours(screens, words):
    text, code = screens[80, words]
    assert code == 0, text
    assert "\033[1m" in text
    lines = screen_lines(text)
    (rule,) = [number for number, line in enumerate(lines) if re.fullmatch(r"[ ─]*─[ ─]*", line)]
    for name in TABLES[words]:
        assert name in lines[rule - 1]


@pytest.mark.slow
def test_errors_begin_with_a_red_word(screens):
    text, code = screens[80, "embed edges.txt --dim 3"]
    assert code == 2
    assert "\033[1;31merror:\033[0m there is no option" in text


@pytest.mark.slow
@pytest.mark.parametrize(
    ("variables", "allowed"),
    [
        ({"NO_COLOR": "1"}, r"\033\[K"),  # a line is still replaced
        ({"TERM": "dumb"}, r"(?!)"),
    ],
)
def test_colours_are_turned_off(folder, variables, allowed):
    cases = [(80, words) for words in [*TABLES, "embed edges.txt -o v.xyz", "plot --help"]]
    for text, _ in run_on_terminal(*cases, **variables):
        assert "\033" not in re.sub(allowed, "", text)


@pytest.mark.slow
def test_quiet_leaves_a_terminal_as_it_is(folder):
    import pty  # there is none on Windows

    ours, theirs = pty.openpty()
    words = ("embed", "edges.txt", "-o", "v.csv", "--method", "hope", "-d", "4", "--quiet")
    with started(*words, stdout=theirs, stderr=theirs) as process:
        assert process.wait() == 0
    os.write(theirs, b"end")
    assert os.read(ours, 1000) == b"end"


# -- in pipes ----------------------------------------------------------------------------------


@pytest.mark.parametrize("words", TABLES)
def test_a_pipe_gets_plain_text(folder, words):
    told = checked(*words.split()).output
    assert "\033" not in told
    assert "─" not in told


@pytest.mark.slow
@pytest.mark.parametrize("forced", [False, True])
def test_only_what_is_shown_to_people_needs_rich(folder, forced):
    code = (
        "import sys\n"
        "from reinforce2vec.cli.main import app\n"
        "try: app(['datasets'], prog_name='reinforce2vec')\n"
        "except SystemExit: pass\n"
        "sys.exit('rich' in sys.modules)\n"
    )
    env = {name: value for name, value in os.environ.items() if name != "FORCE_COLOR"}
    env |= {"FORCE_COLOR": "1"} if forced else {}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, env=env, check=False)
    assert done.returncode == forced, done.stderr
    assert (b"\033[" in done.stdout) == forced


# -- one grammar, both spellings ---------------------------------------------------------------


def test_files_that_are_arguments_of_one_command_are_options_of_none():
    files = {"emb", "vectors", "graph", "model", "edges", "dataset"}
    arguments = {
        word
        for command in COMMANDS.values()
        for param in command.params
        if param.param_type_name == "argument"
        for word in re.findall(r"[a-z]+", param.metavar.lower())
    }
    assert {"emb", "graph", "model", "edges", "dataset"} <= arguments
    for name, command in COMMANDS.items():
        for option in options_of(command):
            if option.rich_help_panel != OUTPUT.title:
                assert not files & {flag.lstrip("-") for flag in option.opts}, name


def test_files_are_written_by_options_of_the_same_names():
    for name, command in COMMANDS.items():
        flags = {flag for option in options_of(command) for flag in option.opts}
        assert ("--output" in flags) == ("-o" in flags), name
        assert not {"--out", "--export", "--to", "--save"} & flags, name


def test_both_spellings_of_neighbours_and_colours(folder):
    told = [checked(name, "v.npz", "n1", "--quiet").stdout for name in ("neighbors", "neighbours")]
    assert told[0] == told[1] != ""
    assert "neighbours" not in checked("--help").stdout.partition("Commands:")[2].split()
    pictures = []
    for option in ("--colour-by", "--color-by"):
        checked(*f"plot v.npz edges.txt -o {option}.svg --method pca {option} degree".split())
        pictures.append((folder / f"{option}.svg").read_bytes())
    assert pictures[0] == pictures[1]

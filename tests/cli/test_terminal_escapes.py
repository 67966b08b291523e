"""What files hold cannot change the terminal: control characters are spelled out."""

from __future__ import annotations

import io
import re

import numpy as np
import pytest

from helpers.command_line import run
from reinforce2vec import Embedding, InputError
from reinforce2vec._util.progress import ProgressLine
from reinforce2vec._util.terminal import printable
from reinforce2vec.cli._messages import for_people, print_line, print_table, print_text

HOSTILE = "\x1b]0;owned\a\x1b[2Jann\r\b\x9b31m\u202e\u2066\ud800"
OBEYED = re.compile("[\0-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self):
        return True


def test_text_of_all_scripts_stays_as_it_is():
    text = "Zoë Łódź 漢字 עברית العربية 🦜 naïve\n½ – “quoted”"
    assert printable(text) == text


def test_errors_spell_out_what_a_terminal_would_obey():
    assert printable("\x1b[31m") == r"\x1b[31m"
    assert not OBEYED.search(str(InputError(f"x.txt: bad {HOSTILE}")))


@pytest.mark.parametrize("stream", [Terminal(), io.StringIO(), None])
def test_messages_are_harmless(stream):
    assert not OBEYED.search(for_people(f"file {HOSTILE}: 3 nodes", stream))


@pytest.mark.parametrize("terminal", [True, False])
def test_tables_and_texts_are_harmless(terminal, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    place = Terminal() if terminal else io.StringIO()
    print_table(("node", "score"), [(HOSTILE, "1"), (f"a\n{HOSTILE}" * 30, "2")], stream=place)
    print_text(HOSTILE, place)
    assert not OBEYED.search(place.getvalue())
    assert "ann" in place.getvalue()


def test_a_line_of_progress_is_harmless():
    place = Terminal()
    ProgressLine(stream=place).show(f"reading {HOSTILE}\nmore")
    assert not OBEYED.search(place.getvalue().replace("\r\033[K", ""))
    assert "\n" not in place.getvalue()


def test_reports_of_commands_are_harmless(capsys):
    print_line(f"{HOSTILE}: 1 node")
    assert not OBEYED.search(capsys.readouterr().err)


def test_a_command_prints_hostile_ids_and_errors_without_escapes(tmp_path):
    names = ["\x1b[31mred", "bell\a", "plain"]
    Embedding(names, np.eye(3)).save(tmp_path / "v.npz")
    found = run("neighbors", tmp_path / "v.npz", names[0], "-k", "2")
    assert found.exit_code == 0
    unknown = run("neighbors", tmp_path / "v.npz", "\x1b[31mnobody")
    refused = run("embed", tmp_path / "\x1b[31mno.txt", "-o", tmp_path / "new.npz")
    assert (unknown.exit_code, refused.exit_code) == (1, 1)
    for each in (found, unknown, refused):
        assert not OBEYED.search(each.output)
        assert r"\x1b[31m" in each.output

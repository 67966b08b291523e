"""What commands print while functions are compiled at their first use."""

from __future__ import annotations

import sys
from contextlib import suppress

import pytest

from helpers.terminals import Terminal, until
from reinforce2vec._util import progress
from reinforce2vec._util.first_use import first_use
from reinforce2vec.cli._compiling import compiling_shown


@pytest.fixture
def compiling(monkeypatch):
    """A function that pretends to compile for so many seconds, and returns what was printed."""

    def run(seconds, *words, stream, code=0):
        monkeypatch.setattr(sys, "argv", ["reinforce2vec", *words])
        monkeypatch.setattr(sys, "stderr", stream)
        for name in ("functions", "seconds", "show", "hide"):
            monkeypatch.setattr(first_use, name, getattr(type(first_use)(), name))
        with suppress(SystemExit), compiling_shown():
            with first_use.call():
                first_use.begin("reinforce2vec.walks.cpu.open")
            first_use.seconds = seconds
            sys.exit(code)
        return stream.getvalue()

    return run


def test_a_terminal_shows_the_stage_and_at_the_end_that_it_was_the_first_run(compiling):
    shown = compiling(7.2, "embed", "edges.txt", stream=Terminal())
    assert "compiling: walks (first run only; kept for later runs) ..." in shown
    last = " ".join(shown.split("\r\033[K")[-1].split())
    assert last == (
        "compiled 1 function in 7 s; later runs start at once. "
        "`reinforce2vec warm-up` compiles for all commands"
    )


def test_what_is_short_needs_no_line_at_the_end(compiling):
    assert "warm-up" not in compiling(0.5, "embed", "edges.txt", stream=Terminal())


def test_an_interrupt_promises_nothing(compiling):
    shown = compiling(7.2, "embed", "edges.txt", stream=Terminal(), code=130)
    assert "later runs start" not in shown


def test_warm_up_does_not_advertise_itself(compiling):
    assert "later runs start" not in compiling(60.0, "warm-up", stream=Terminal())


@pytest.mark.parametrize("words", [("embed", "edges.txt", "--quiet"), ("embed", "edges.txt")])
def test_nothing_is_printed_with_quiet_or_to_a_file(compiling, words):
    class File(Terminal):
        def isatty(self):
            return False

    stream = Terminal() if "--quiet" in words else File()
    assert compiling(7.2, *words, stream=stream).replace("\r\033[K", "") == ""


def test_compiling_interrupts_a_progress_line_and_gives_it_back(monkeypatch):
    monkeypatch.setattr(progress, "_LEAST_SECONDS", 0.0)
    stream = Terminal()
    monkeypatch.setattr(sys, "argv", ["reinforce2vec", "embed"])
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(first_use, "seconds", 0.0)
    with compiling_shown(), progress.waiting("reading edges"):
        with first_use.call():
            first_use.begin("reinforce2vec.files.delimited")
            first_use.begin("reinforce2vec.files.other")  # which the first one calls
            during = stream.getvalue()
        after = len(stream.getvalue())
        until(lambda: "reading edges ... 0:00" in stream.getvalue()[after:])
    assert during.endswith("compiling: reading (first run only; kept for later runs) ...")

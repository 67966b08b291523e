"""Progress on the terminal: the time left is measured, and not shown before."""

from __future__ import annotations

import re
import sys

import pytest

from helpers.terminals import Terminal
from reinforce2vec._util import progress


@pytest.fixture
def clock(monkeypatch):
    """Seconds that pass only where a test says so."""

    class Clock:
        now = 100.0

    monkeypatch.setattr(progress.time, "perf_counter", lambda: Clock.now)
    return Clock


def shown(terminal):
    """The line as it is now, without styles."""
    return re.sub(r"\033\[\d+m", "", terminal.getvalue().rpartition("\r\033[K")[2])


def test_the_time_left_does_not_count_what_is_compiled_first(monkeypatch, clock):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    report = progress.terminal_progress("walking", "walks")
    clock.now += 20  # compiling
    report(1, 1000)
    assert shown(terminal) == f"{20 * '─'} walking   0%"
    clock.now += 0.5
    report(11, 1000)  # 1% in half a second: too little to tell
    assert shown(terminal) == f"{20 * '─'} walking   1%"
    clock.now += 0.5
    report(101, 1000)
    assert shown(terminal) == f"{2 * '━'}{18 * '─'} walking  10%  100 walks/s  0:09 left"
    report(1000, 1000)
    assert shown(terminal) == ""


def test_a_slow_job_shows_it_after_a_second(monkeypatch, clock):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    report = progress.terminal_progress("walking", "walks", more=lambda: "loss 1  ")
    report(0, 10_000)
    assert shown(terminal) == f"{20 * '─'} walking   0%  loss 1"
    clock.now += 1
    report(1, 10_000)
    assert shown(terminal) == f"{20 * '─'} walking   0%  1 walks/s  loss 1  2:46:39 left"

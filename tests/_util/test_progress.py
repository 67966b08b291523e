"""Progress on the terminal: the time left is measured, and not shown before."""

from __future__ import annotations

import gzip
import re
import sys
import threading
from io import StringIO

import numpy as np
import pytest

import reinforce2vec as r2v
from helpers.terminals import Terminal, until
from reinforce2vec._util import progress
from reinforce2vec.files.opening import opened


@pytest.fixture
def clock(monkeypatch):
    """Seconds that pass only where a test says so."""

    class Clock:
        now = 100.0

    monkeypatch.setattr(progress.time, "perf_counter", lambda: Clock.now)
    return Clock


def as_terminal(monkeypatch):
    """Make standard error a terminal that remembers what was written, and return it."""
    monkeypatch.setattr(sys, "stderr", Terminal())
    return sys.stderr


def shown(terminal):
    """The line as it is now, without styles."""
    return re.sub(r"\033\[\d+m", "", terminal.getvalue().rpartition("\r\033[K")[2])


def test_the_time_left_does_not_count_what_is_compiled_first(monkeypatch, clock):
    terminal = as_terminal(monkeypatch)
    report = progress.terminal_progress("walking", "walks", more=lambda: "loss 1")
    clock.now += 20  # compiling
    report(1, 1000)
    assert shown(terminal) == f"{16 * '-'} walking   0%  loss 1"
    clock.now += 0.5
    report(11, 1000)  # 1% in half a second: too little to tell
    assert shown(terminal) == f"{16 * '-'} walking   1%  loss 1"
    clock.now += 0.5
    report(101, 1000)
    assert shown(terminal) == f"{2 * '#'}{14 * '-'} walking  10%  100 walks/s  0:09 left  loss 1"
    report(1000, 1000)
    assert shown(terminal) == ""


@pytest.mark.parametrize(("width", "bar"), [("120", 16), ("40", 0)])
def test_a_line_fits_the_terminal(monkeypatch, width, bar):
    terminal = as_terminal(monkeypatch)
    monkeypatch.setenv("COLUMNS", width)
    line = progress.ProgressLine()
    line.show("walking  50%", 0.5)
    assert shown(terminal).count("#") == shown(terminal).count("-") == bar / 2
    line.show("walking  50% " + 200 * "x", 0.5)
    assert len(shown(terminal)) == int(width) - 1  # a full line would wrap


@pytest.mark.parametrize(
    ("seconds", "rate"), [(0.5, "2 seeds/s"), (16, "16 s per seed"), (200, "3:20 per seed")]
)
def test_what_takes_over_a_second_has_a_time_in_place_of_a_rate(monkeypatch, clock, seconds, rate):
    terminal = as_terminal(monkeypatch)
    report = progress.terminal_progress("links", "seeds")
    for done in range(3):
        report(done, 10)
        clock.now += seconds
    assert f"links  20%  {rate}  " in shown(terminal)


@pytest.mark.parametrize(
    ("name", "value", "written"),
    [
        ("NO_COLOR", "1", f"\r\033[K{8 * '#'}{8 * '-'} walking"),
        ("TERM", "dumb", ""),
        ("TERM", "xterm", f"\r\033[K\033[32m{8 * '#'}\033[0m\033[2m{8 * '-'}\033[0m walking"),
    ],
)
def test_what_the_environment_says_of_terminals(monkeypatch, name, value, written):
    terminal = as_terminal(monkeypatch)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv(name, value)
    progress.ProgressLine().show("walking", 0.5)
    assert terminal.getvalue() == written


def test_a_log_gets_a_line_every_half_minute(monkeypatch, clock):
    log = StringIO()
    monkeypatch.setattr(sys, "stderr", log)
    report = progress.terminal_progress("walking", "walks")
    for second in range(70):
        report(second, 1000)
        clock.now += 1
    lines = log.getvalue().splitlines()
    assert lines == [
        "walking   3%  1 walks/s  16:10 left",
        "walking   6%  1 walks/s  15:40 left",
    ]


def test_parts_of_a_job_name_it(monkeypatch):
    terminal = as_terminal(monkeypatch)
    with progress.part_of("seed 2 of 3"):
        progress.terminal_progress("training", "walks")(0, 10)
    assert shown(terminal).endswith(" seed 2 of 3: training   0%")
    progress.terminal_progress("training", "walks")(0, 10)
    assert shown(terminal).endswith("- training   0%")


# -- jobs that report nothing ------------------------------------------------------------------


@pytest.mark.parametrize("compressed", [False, True])
def test_reading_shows_how_much_of_the_file_is_read(monkeypatch, tmp_path, compressed):
    terminal = as_terminal(monkeypatch)
    path = tmp_path / "edges"
    content = np.random.default_rng(0).bytes(1 << 22)
    path.write_bytes(gzip.compress(content, 1) if compressed else content)
    with progress.waiting("reading edges"), opened(path, compressed) as stream:
        assert shown(terminal) == "reading edges ..."
        stream.read(1 << 20)
        until(lambda: re.search(r"^#{4,5}-{11,12} reading edges  (2[5-9]|3[01])%", shown(terminal)))
        stream.read(1 << 20)
        until(lambda: re.search(r"reading edges  5\d%", shown(terminal)))
    assert shown(terminal) == ""


def test_a_job_that_reports_takes_over(monkeypatch):
    terminal = as_terminal(monkeypatch)
    before = threading.active_count()
    with progress.waiting("preparing"):
        until(lambda: shown(terminal).startswith("preparing ... 0:"))
        progress.terminal_progress("training", "walks")(1, 10)
        until(lambda: threading.active_count() == before)  # what kept the first line up to date
        assert shown(terminal).endswith("training  10%")
    with pytest.raises(ValueError, match="broken"), progress.waiting("preparing"):
        raise ValueError("broken")
    assert threading.active_count() == before


# -- every stage that may take long ------------------------------------------------------------

GROUPS = r2v.planted_groups(340, 4)
CIRCLE = r2v.Graph.from_edges([(node, (node + 1) % 5000) for node in range(5000)])
VECTORS = r2v.Embedding(CIRCLE.ids, np.random.default_rng(0).normal(size=(5000, 4)))
STAGES = {
    "walking": lambda: r2v.WalkSampler(
        *(GROUPS.graph, r2v.FirstOrderWalk()), length=5, per_node=2, progress=True
    ).sample(),
    "training": lambda: r2v.Reinforce2Vec(
        dimensions=4, walks_per_node=2, walk_length=10, workers=1
    ).fit(GROUPS.graph),
    "smoothing": lambda: r2v.smooth(VECTORS, CIRCLE, progress=True),
    "finding eigenvectors": lambda: r2v.HOPE(4).fit(GROUPS.graph),
    "1 of 2 steps: finding eigenvectors": lambda: r2v.GraRep(4, 2).fit(GROUPS.graph),
    "LINE, first order": lambda: r2v.LINE(4, samples=10**6, workers=1).fit(GROUPS.graph),
    "neighbours": lambda: r2v.nearest_neighbors(VECTORS, k=2),
    "links": lambda: r2v.recommend_links(VECTORS, CIRCLE, 2, score="cosine"),
    "node classification": lambda: r2v.evaluate_node_classification(
        *(VECTORS, np.arange(5000) % 2), seeds=1
    ),
    "seed 1 of 1: finding eigenvectors": lambda: r2v.evaluate_link_prediction(
        *(GROUPS.graph, r2v.ProNE(4)), seeds=1
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("stage", STAGES)
def test_every_stage_that_may_take_long_has_a_bar(monkeypatch, stage):
    terminal = as_terminal(monkeypatch)
    STAGES[stage]()
    written = re.sub(r"\033\[\d+m", "", terminal.getvalue()).split("\r\033[K")
    assert any(re.match(rf"[#-]{{16}} .*{stage.strip()}.* \d+%", line) for line in written), written
    assert written[-1] == ""

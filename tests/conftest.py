"""What all tests share: graphs, a card, Ctrl-C, and a compiler cache that is not stale."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

import numpy as np
import pytest

import reinforce2vec
from helpers import emulator, toy_graphs
from reinforce2vec._util.cuda import device

SOURCE = Path(reinforce2vec.__file__).parent


def pytest_sessionstart(session):
    forget_stale_machine_code(SOURCE)


def forget_stale_machine_code(source):
    """Delete numba's cached functions that are older than the newest source file.

    Numba compiles a function again when its own file has changed, but not when a function that
    it calls, in another file, has: without this a test could run yesterday's code.
    """
    newest = max(path.stat().st_mtime for path in source.rglob("*.py"))
    for pattern in ("*.nbi", "*.nbc"):
        for cached in source.rglob(pattern):
            if cached.stat().st_mtime < newest:
                cached.unlink(missing_ok=True)


@pytest.fixture
def folder(tmp_path):
    """A folder with the graph that README and documentation speak of, and its labels."""
    club = reinforce2vec.karate_club()
    rows = np.repeat(np.arange(34), club.degrees)
    pairs = np.column_stack([club.ids[rows], club.ids[club.indices]])
    np.savetxt(tmp_path / "edges.txt", pairs[pairs[:, 0] < pairs[:, 1]], "%d")
    stayed = {*range(1, 10), 11, 12, 13, 14, 17, 18, 20, 22}  # when the club split
    sides = ["instructor" if node in stayed else "administrator" for node in club.ids.tolist()]
    np.savetxt(tmp_path / "labels.txt", np.column_stack([club.ids, sides]), "%s")
    return tmp_path


@pytest.fixture(params=toy_graphs.TOY_GRAPHS)
def toy_graph(request):
    """Every toy graph in turn."""
    return toy_graphs.TOY_GRAPHS[request.param]()


@pytest.fixture
def interrupts():
    """Ctrl-C as it usually is; a shell may have told the tests to ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def cuda(monkeypatch):
    """A card that backend="cuda" works on: "device", a real one, or "emulated"."""
    device.why_not.cache_clear()
    if device.why_not() is None:
        yield "device"
        return
    if emulator.COMPILER is None:
        pytest.skip(f"there is neither a device nor g++ to emulate one: {device.why_not()}")
    monkeypatch.setitem(sys.modules, "cupy", emulator)
    device.why_not.cache_clear()
    yield "emulated"
    monkeypatch.undo()
    device.why_not.cache_clear()

"""What all tests share: files, graphs, a GPU and Ctrl-C."""

from __future__ import annotations

import os
import shutil
import signal
import sys

import pytest
from hypothesis import settings

from helpers import emulator, toy_graphs
from helpers.files import write_club, write_sides
from reinforce2vec._util.cuda import device

# no test depends on timing; make test-all tries more examples
settings.register_profile("usual", deadline=None, max_examples=30)
settings.register_profile("thorough", deadline=None, max_examples=100)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "usual"))

# one of each for all tests: those that share one run in the same process
_SHARED = {"ray_cluster": "ray", "browser": "browser"}

_CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "google-chrome"))), None)
_CHROMIUM_ARGUMENTS = [
    *("--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
    *("--use-angle=swiftshader", "--enable-unsafe-swiftshader"),  # WebGL without a graphics card
]


@pytest.hookimpl(tryfirst=True)  # before xdist, which reads the groups
def pytest_collection_modifyitems(items):
    for item in items:
        fixtures = getattr(item, "fixturenames", ())
        if "cuda" in fixtures:
            item.add_marker(pytest.mark.gpu)
        for fixture, group in _SHARED.items():
            if fixture in fixtures:
                item.add_marker(pytest.mark.xdist_group(group))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The working directory, with the karate club in edges.txt."""
    write_club(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def labelled(folder):
    """That folder, with the two sides of the club in labels.txt: what the documentation reads."""
    write_sides(folder)
    return folder


@pytest.fixture
def unreadable(folder):
    """That folder; edges.txt cannot be read, which a command reports with exit status 1."""
    (folder / "edges.txt").write_bytes(b"\xff\x00")
    return folder


@pytest.fixture
def write(tmp_path):
    """A function that writes a file and returns its path."""

    def _write(content, name="input.txt"):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return _write


@pytest.fixture(params=toy_graphs.TOY_GRAPHS)
def toy_graph(request):
    """Every toy graph in turn."""
    return toy_graphs.TOY_GRAPHS[request.param]()


@pytest.fixture
def interrupts():
    """Ctrl-C as it usually is: a shell may run the tests with interrupts ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def cuda(monkeypatch):
    """A GPU that backend="cuda" works on: "device", a real one, or "emulated"."""
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


@pytest.fixture(scope="session")
def ray_cluster():
    """A Ray cluster of two nodes with two CPUs each, which the process is connected to."""
    pytest.importorskip("ray", reason="Ray is not installed, or not made for this Python")
    from helpers.clusters import SimulatedCluster

    cluster = SimulatedCluster()
    yield cluster
    cluster.close()


@pytest.fixture(scope="session")
def browser():
    """Chromium, for all tests of pages."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if _CHROMIUM is None:
        pytest.skip("there is no chromium to open pages in")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=_CHROMIUM, args=_CHROMIUM_ARGUMENTS)
        yield browser
        browser.close()

"""A Ray of our own: nobody else can reach it, nothing of it is left, and it cannot hang."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from helpers.clusters import descendants
from reinforce2vec import InputError
from reinforce2vec._util import cluster

pytest.importorskip("ray", reason="Ray is not installed, or not made for this Python")

ENDING = 30  # seconds in which all processes of a Ray end


def children_left(folder: Path) -> list[int]:
    """Processes that have been started with this folder for temporary files."""
    mark = f"TMPDIR={folder}".encode()
    found = []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            if mark in Path(f"/proc/{entry}/environ").read_bytes().split(b"\0"):
                found.append(int(entry))
        except OSError:  # it has ended, or is another user's
            continue
    return found


def command_of(process: int) -> str:
    """The command of a process; empty if it has ended."""
    try:
        return Path(f"/proc/{process}/cmdline").read_text().replace("\0", " ").strip()
    except OSError:
        return ""


@pytest.fixture
def started():
    """A function that runs a program in a session of its own; its processes are ended."""
    with tempfile.TemporaryDirectory(prefix="r", dir="/tmp") as name:
        folder, running = Path(name), []

        def start(program, *arguments, **variables):
            environment = os.environ | {"TMPDIR": name, "RAY_TMPDIR": name}
            for variable in ("RAY_ADDRESS", "RAY_AUTH_TOKEN", "RAY_AUTH_MODE"):
                environment.pop(variable, None)
            process = subprocess.Popen(
                [sys.executable, "-c", program, *arguments],
                env=environment | variables,
                cwd=folder,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                start_new_session=True,
            )
            running.append(process)
            process.folder = folder
            return process

        yield start
        for process in running:
            process.kill()
            process.communicate()
        for left in children_left(folder):
            with suppress(ProcessLookupError):
                os.kill(left, signal.SIGKILL)


def check_nothing_left(process, files=()):
    """Wait until all processes that a program has started have ended, and look at its files."""
    deadline = time.monotonic() + ENDING
    while left := children_left(process.folder):
        assert time.monotonic() < deadline, left
        time.sleep(0.1)
    assert sorted(path.name for path in process.folder.iterdir()) == sorted(files)


# -- a session ---------------------------------------------------------------------------------

SESSION = """
import json, os, signal, sys, time
import ray  # the user may have imported it before
from ray._private import utils, worker
sys.path.insert(0, sys.argv[1])
from helpers.clusters import descendants, listening_addresses
from helpers.clusters import descendants
from reinforce2vec._util import cluster

utils.get_shared_memory_bytes = lambda: 64 << 20  # as in a container of Docker
handlers = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
environment = dict(os.environ)
found = {}
try:
    with cluster.connected(workers=3) as ray:
        assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == handlers
        seen = ray.remote(lambda: dict(os.environ))
        there = ray.get(seen.remote())
        processes = descendants(os.getpid())
        found["commands"] = list(processes.values())
        found["listening"] = listening_addresses([os.getpid(), *processes])
        found["settings"] = {name: there.get(name) for name in json.loads(sys.argv[2])}
        utils.publish_error_to_driver("lost", "a node is lost", worker.global_worker.gcs_client)
        time.sleep(1)
        found["cpus"] = cluster.cluster_cpus(ray)
        try:
            os.killpg(0, signal.SIGINT)  # as a terminal does for Ctrl-C
            time.sleep(10)
        except KeyboardInterrupt:
            found["answered"] = ray.get(seen.remote()) is not None
        raise RuntimeError("an error in the work")
except RuntimeError:
    pass
found["handlers"] = handlers == [signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)]
found["changed"] = sorted(set(os.environ.items()) ^ set(environment.items()))
found["left"] = list(descendants(os.getpid()).values())
print(json.dumps(found))
"""
SETTINGS = {"RAY_AUTH_MODE": "token", "RAY_USAGE_STATS_ENABLED": "0"}


@pytest.mark.slow
def test_a_session_is_private_survives_ctrl_c_and_leaves_nothing(started):
    tests = str(Path(__file__).parents[1])
    process = started(SESSION, tests, json.dumps(list(SETTINGS)), HOME="/proc")
    output, errors = process.communicate(timeout=120)
    assert (process.returncode, errors) == (0, "")
    found = json.loads(output)
    commands = " ".join(found["commands"])
    assert "gcs_server" in commands
    assert "raylet" in commands
    served = [one for one in found["commands"] if "dashboard.py" in one]
    assert all("--disable-frontend" in one for one in served)  # it still reads usage statistics
    assert len(found["listening"]) >= 4  # Ray's own, its workers, and this program
    assert set(found["listening"]) <= {"127.0.0.1", "::1", "::ffff:127.0.0.1"}
    assert found["settings"] == SETTINGS
    assert found["cpus"] >= 3
    assert found["answered"]
    assert found["handlers"]
    assert found["changed"] == []
    assert found["left"] == []
    check_nothing_left(process)


# -- its end -----------------------------------------------------------------------------------

COMMAND = """
import sys
import numpy as np
from reinforce2vec import karate_club
from reinforce2vec._util import cluster
from reinforce2vec.cli.main import main
from reinforce2vec.models import smoothing

smoothing.series = lambda *how: np.ones(10**7)  # of a filter that takes long
cluster._SILENT = 2.0
cluster._LOOK = 0.2
karate_club().save("edges.txt")
sys.argv[1:] = ["embed", "edges.txt", "-o", "out.npz", "--method", "hope", "--smooth", "--quiet"]
sys.argv += ["--backend", "ray"]
main()
"""


def wait_for(process, name):
    """Wait until a program has a process of this name below it, and return its id."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        for one, command in descendants(process.pid).items():
            if name in command:
                return one
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    raise AssertionError(f"there is no process {name}")


@pytest.fixture
def working(started):
    """A command that smooths on a Ray of its own, and does not come to an end."""
    process = started(COMMAND)
    wait_for(process, "ray::_filter_columns")
    return process


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_command_that_is_stopped_leaves_nothing(working, number):
    if number == signal.SIGINT:
        os.killpg(working.pid, number)  # as a terminal does for Ctrl-C
    else:
        working.send_signal(number)
    _, errors = working.communicate(timeout=60)
    assert (working.returncode, errors) == (130, "interrupted: no unfinished file is left\n")
    check_nothing_left(working, ["edges.txt"])


@pytest.mark.slow
def test_processes_end_by_themselves_if_the_program_is_killed(working):
    """Two small agents may ask the lost head node first, for the minute that Ray gives them."""
    working.kill()
    working.communicate(timeout=60)
    deadline = time.monotonic() + ENDING
    while left := [one for one in map(command_of, children_left(working.folder)) if one]:
        if all("Agent" in command for command in left):
            break
        assert time.monotonic() < deadline, left
        time.sleep(0.1)


@pytest.mark.slow
def test_a_lost_cluster_ends_a_command_with_one_sentence(working):
    os.kill(wait_for(working, "gcs_server"), signal.SIGKILL)
    _, errors = working.communicate(timeout=60)
    assert working.returncode == 1
    assert errors == (
        "error: the Ray cluster does not answer any more: its head node has ended, or the network "
        "is down\n"
    )
    assert [path.name for path in working.folder.iterdir()] == ["edges.txt"]


# -- a cluster ---------------------------------------------------------------------------------

JOIN = """
import sys
from reinforce2vec import karate_club
from reinforce2vec.cli.main import main

karate_club().save("edges.txt")
for backend in (["cpu"], ["ray", "--address", sys.argv[1]]):
    sys.argv[1:] = ["embed", "edges.txt", "-o", f"{backend[0]}.txt", "--method", "hope", "--smooth"]
    sys.argv += ["--quiet", "--backend", *backend]
    try:
        main()
    except SystemExit as end:
        assert end.code == 0
"""


@pytest.mark.slow
def test_a_command_joins_a_cluster(started, ray_cluster):
    process = started(JOIN, ray_cluster.address, **ray_cluster.token)
    _, errors = process.communicate(timeout=120)
    assert (process.returncode, errors) == (0, "")
    assert (process.folder / "ray.txt").read_bytes() == (process.folder / "cpu.txt").read_bytes()
    assert ray_cluster.ray.cluster_resources()["CPU"] == 4  # it goes on


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "version"), [("reinforce2vec", "9.9"), ("numpy", "9.9.0"), ("numba", "9.9.0")]
)
def test_a_node_with_another_version_is_refused(ray_cluster, monkeypatch, name, version):
    monkeypatch.setattr(f"{name}.__version__", version)
    with pytest.raises(InputError, match=rf"^{name} is {version} here, but .* on the node 127"):
        cluster.check_versions(ray_cluster.ray)


@pytest.mark.slow
def test_versions_of_other_packages_may_differ_in_the_last_number(ray_cluster, monkeypatch):
    monkeypatch.setattr("numpy.__version__", ".".join([*np.__version__.split(".")[:2], "99"]))
    cluster.check_versions(ray_cluster.ray)


def test_a_program_that_is_not_ray_is_refused_soon(monkeypatch):
    monkeypatch.setattr(cluster, "_is_connected", lambda: False)
    monkeypatch.setattr(cluster, "_ANSWERING", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as server:  # which never says anything
        address = f"127.0.0.1:{server.getsockname()[1]}"
        words = rf"no Ray cluster .* '{address}' \(timed out\)"
        with pytest.raises(InputError, match=words), cluster.connected(address):
            pass


@pytest.mark.slow
def test_calls_that_do_not_end_are_noticed(ray_cluster):
    ref = ray_cluster.ray.remote(lambda: time.sleep(60)).remote()
    with pytest.raises(cluster.WorkersLost, match="no worker has answered for 1 s"):
        cluster.results(ray_cluster.ray, [ref], 1.0)
    ray_cluster.ray.cancel(ref, force=True)
    with pytest.raises(cluster.WorkersLost):
        cluster.results(ray_cluster.ray, [ref], 30.0)


def test_a_head_node_that_does_not_answer_is_noticed(monkeypatch):
    class Context:
        gcs_address = "127.0.0.1:1"

    class Ray:
        get_runtime_context = Context

    monkeypatch.setattr(cluster, "_LOOK", 0.0)
    monkeypatch.setattr(cluster, "_SILENT", 0.2)
    head = cluster._Head(Ray)
    head.check()
    time.sleep(0.3)
    with pytest.raises(cluster.ClusterLost, match="the Ray cluster does not answer any more"):
        head.check()

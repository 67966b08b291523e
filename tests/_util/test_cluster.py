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
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from helpers.clusters import descendants
from reinforce2vec import InputError
from reinforce2vec._util.cluster import connection, waiting
from reinforce2vec._util.cluster.connection import session_folder
from reinforce2vec._util.cluster.isolation import handlers_kept
from reinforce2vec._util.cluster.resources import check_versions

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


@pytest.fixture(scope="module")
def started():
    """A function that starts a program, in a session and a folder of its own.

    After all tests, what still runs of these programs is ended.
    """
    with tempfile.TemporaryDirectory(prefix="r", dir="/tmp") as name:
        running = []

        def start(program, *arguments, **variables):
            folder = Path(name, str(len(running)))
            folder.mkdir()
            environment = os.environ | {"TMPDIR": str(folder), "RAY_TMPDIR": str(folder)}
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
            for left in children_left(process.folder):
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
import json, os, signal, sys, time, warnings
import ray  # the user may have imported it before
from ray._private import utils, worker
sys.path.insert(0, sys.argv[1])
from helpers.clusters import descendants, listening_addresses
from reinforce2vec._util.cluster.connection import connected
from reinforce2vec._util.cluster.resources import cluster_cpus

utils.get_shared_memory_bytes = lambda: 64 << 20  # as in a container of Docker
handlers = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
environment = dict(os.environ)
found = {}
warnings.simplefilter("ignore", RuntimeWarning)  # the machine may have fewer than 3 CPUs
try:
    with connected(workers=3) as ray:
        (folder,) = os.scandir(os.environ["RAY_TMPDIR"])
        found["mode"] = oct(folder.stat().st_mode & 0o777)
        assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == handlers
        seen = ray.remote(lambda: dict(os.environ))
        there = ray.get(seen.remote())
        processes = descendants(os.getpid())
        found["commands"] = list(processes.values())
        found["listening"] = listening_addresses([os.getpid(), *processes])
        found["settings"] = {name: there.get(name) for name in json.loads(sys.argv[2])}
        utils.publish_error_to_driver("lost", "a node is lost", worker.global_worker.gcs_client)
        time.sleep(1)
        found["cpus"] = cluster_cpus(ray)
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
    assert found["mode"] == "0o700"
    assert found["answered"]
    assert found["handlers"]
    assert found["changed"] == []
    assert found["left"] == []
    check_nothing_left(process)


# -- its users ---------------------------------------------------------------------------------


@pytest.fixture
def made(monkeypatch):
    """What is done with connections, none of which is real."""
    events = []

    @contextmanager
    def fake(address, workers):
        events.append(f"begin {address}")
        yield
        events.append("end")

    monkeypatch.setattr(connection, "_connection", fake)
    monkeypatch.setattr(connection, "is_connected", lambda: bool(events) and events[-1] != "end")
    monkeypatch.setattr(connection, "import_module", lambda name: name)
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    return events


def test_a_connection_ends_with_its_last_user(made):
    first, second = connection.connected(), connection.connected()
    assert first.__enter__() == second.__enter__() == "ray"
    first.__exit__(None, None, None)  # which had begun it
    assert made == ["begin local"]
    second.__exit__(None, None, None)
    assert made == ["begin local", "end"]


def test_an_interrupt_waits_until_ray_is_connected(monkeypatch, interrupts):
    from ray._private import worker

    done = []

    def connect():
        signal.raise_signal(signal.SIGINT)
        done.append("connected")

    monkeypatch.setattr(worker, "connect", connect)
    with pytest.raises(KeyboardInterrupt), handlers_kept():
        worker.connect()
    assert done == ["connected"]
    assert worker.connect is connect


SESSION_FOLDER = """
import time
from reinforce2vec._util.cluster.connection import session_folder

with session_folder() as folder:
    print(folder, flush=True)
    time.sleep(60)
"""


def test_folders_of_killed_programs_are_removed(started, tmp_path, monkeypatch):
    program = started(SESSION_FOLDER)
    other = Path(program.stdout.readline().strip()).parent
    monkeypatch.setenv("RAY_TMPDIR", str(program.folder))
    with session_folder() as folder:
        own = Path(folder).parent
        assert own.stat().st_mode & 0o777 == 0o700  # Ray makes its own folder 777
        assert set(program.folder.iterdir()) == {own, other}
    program.kill()
    program.wait()
    (program.folder / "r2v.link").symlink_to(tmp_path)
    with session_folder() as folder:
        own = Path(folder).parent
        assert {path.name for path in program.folder.iterdir()} == {own.name, "r2v.link"}
    assert [path.name for path in program.folder.iterdir()] == ["r2v.link"]


# -- its end -----------------------------------------------------------------------------------

COMMAND = """
import signal, sys
from reinforce2vec import karate_club
from reinforce2vec._util.cluster import waiting
from reinforce2vec.cli.main import main

signal.signal(signal.SIGINT, signal.default_int_handler)  # nohup may have silenced it
waiting._SILENT = 2.0
waiting._LOOK = 0.2
karate_club().save("edges.txt")
sys.argv[1:] = ["embed", "edges.txt", "-o", "out.npz", "--backend", "ray", "--workers", "1"]
sys.argv += ["--quiet", "--walks-per-node", "300000"]
main()
"""


def wait_for(process, name):
    """Wait until a program has a process of this name below it, and return its id."""
    deadline = time.monotonic() + 180  # it may have to compile
    while time.monotonic() < deadline:
        for one, command in descendants(process.pid).items():
            if name in command:
                return one
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    raise AssertionError(f"there is no process {name}")


def kill_head(command):
    os.kill(wait_for(command, "gcs_server"), signal.SIGKILL)


ENDINGS = {  # what is done to a command
    "Ctrl-C": lambda command: os.killpg(command.pid, signal.SIGINT),  # of a terminal
    "SIGTERM": lambda command: command.terminate(),
    "SIGKILL": lambda command: command.kill(),
    "lost head node": kill_head,
}


@pytest.fixture(scope="module")
def ended(started):
    """Commands by the way in which each was ended while it worked on a Ray of its own.

    They start at the same time, which takes less time than one after the other.
    """
    commands = {ending: started(COMMAND) for ending in ENDINGS}
    for ending, command in commands.items():
        wait_for(command, "ray::Worker.train")
        ENDINGS[ending](command)
    return commands


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["Ctrl-C", "SIGTERM"])
def test_a_command_that_is_stopped_leaves_nothing(ended, ending):
    _, errors = ended[ending].communicate(timeout=60)
    assert (ended[ending].returncode, errors) == (130, "interrupted: no unfinished file is left\n")
    check_nothing_left(ended[ending], ["edges.txt"])


@pytest.mark.slow
def test_processes_end_by_themselves_if_the_program_is_killed(ended):
    """Two small agents may ask the lost head node first, for the minute that Ray gives them."""
    killed = ended["SIGKILL"]
    killed.communicate(timeout=60)
    assert killed.returncode == -signal.SIGKILL
    deadline = time.monotonic() + ENDING
    while left := [one for one in map(command_of, children_left(killed.folder)) if one]:
        if all("Agent" in command for command in left):
            break
        assert time.monotonic() < deadline, left
        time.sleep(0.1)


# -- a cluster ---------------------------------------------------------------------------------

JOIN = """
import sys
from reinforce2vec import karate_club
from reinforce2vec.cli.main import main

karate_club().save("edges.txt")
for backend in (["cpu"], ["ray", "--address", sys.argv[1]]):
    sys.argv[1:] = ["embed", "edges.txt", "-o", f"{backend[0]}.txt", "--no-smooth"]
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
        check_versions(ray_cluster.ray)


def test_a_program_that_is_not_ray_is_refused_soon(monkeypatch):
    monkeypatch.setattr(connection, "is_connected", lambda: False)
    monkeypatch.setattr(connection, "_ANSWERING", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as server:  # which never says anything
        address = f"127.0.0.1:{server.getsockname()[1]}"
        words = rf"no Ray cluster .* '{address}' \(timed out\)"
        with pytest.raises(InputError, match=words), connection.connected(address):
            pass


@pytest.fixture
def services(monkeypatch):
    """Where Ray looks for clusters of this machine; this process seems not to be connected."""
    from ray._private import services, utils

    monkeypatch.setattr(connection, "is_connected", lambda: False)
    monkeypatch.setattr(utils, "read_ray_address", lambda folder: None)
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    return services


def processes(*addresses):
    """What stands for the list of head nodes that run on this machine."""

    def find():
        return {*addresses}

    find.cache_clear = lambda: None
    return find


def refused(address):
    """The error for an address without a cluster."""
    with pytest.raises(InputError) as caught, connection.connected(address):
        pass
    return str(caught.value)


def test_auto_without_a_cluster_is_refused_soon(services, monkeypatch):
    monkeypatch.setattr(services, "find_gcs_addresses", processes())
    assert refused("auto").startswith("no Ray cluster runs on this machine: ")
    monkeypatch.setattr(services, "find_gcs_addresses", processes("127.0.0.1:1"))
    assert refused("auto").startswith("no Ray cluster answers at the address '127.0.0.1:1' (")


@pytest.mark.parametrize("address", [None, "auto"])
def test_the_variable_is_named_if_the_address_is_from_it(services, monkeypatch, address):
    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.1:1")
    words = "no Ray cluster answers at the RAY_ADDRESS '127.0.0.1:1' ("
    assert refused(address).startswith(words)


@pytest.mark.slow
def test_calls_that_do_not_end_are_noticed(ray_cluster):
    ref = ray_cluster.ray.remote(lambda: time.sleep(60)).remote()
    with pytest.raises(waiting.WorkersLost, match="no worker has answered for 1 s"):
        waiting.results(ray_cluster.ray, [ref], 1.0)
    ray_cluster.ray.cancel(ref, force=True)
    with pytest.raises(waiting.WorkersLost):
        waiting.results(ray_cluster.ray, [ref], 30.0)


def test_a_head_node_that_does_not_answer_is_noticed(monkeypatch):
    monkeypatch.setattr(waiting, "_LOOK", 0.0)
    monkeypatch.setattr(waiting, "_SILENT", 0.2)
    head = waiting._Head("127.0.0.1:1")
    head.check()
    time.sleep(0.3)
    with pytest.raises(waiting.ClusterLost, match="the Ray cluster does not answer any more"):
        head.check()


@pytest.mark.slow
def test_a_lost_cluster_ends_a_command_with_one_sentence(ended):
    """The last test: Ray takes some seconds to end without its head node, in which others run."""
    lost = ended["lost head node"]
    _, errors = lost.communicate(timeout=60)
    assert lost.returncode == 1
    assert errors == (
        "error: the Ray cluster does not answer any more: its head node has ended, or the network "
        "is down\n"
    )
    assert [path.name for path in lost.folder.iterdir()] == ["edges.txt"]

"""Kill commands at random moments, and see what is left.

Each run of a command is a process of its own: a fork of this one, which has imported the package
and compiled its functions, so that kills meet the work and not the start of Python. Half of the
kills come at a random time of the run. The other half are aimed: at a random one of the moments at
which the command opens, renames, removes or locks a file of the trial.

After each kill:

- every file under a final name has the bytes of a complete older or a complete newer result, and
  two files that belong together are both old or both new, as our readers find them
- no process of the run is left
- after SIGINT, SIGTERM and SIGHUP the exit status is 130 (or that of a run that had just ended, or
  not yet begun), without a traceback
- the same command, run again to its end, gives the same result as a run without a kill, to the byte
  where the file holds no times, and leaves no other files

The same is checked with a disk that becomes full or read-only, or has no quota left, at some of
the moments at which the command opens, locks, completes or renames an unfinished file: the run must
end with an error of one sentence. A small ext4 file system is mounted for it, which needs root; an
error makes it read-only, as one of a disk does; RLIMIT_FSIZE stands for a quota. And a second run
into an output that another run is writing to must be refused.

    python reliability/kills.py                  # 200 kills: about 10 minutes on 2 idle cores
    python reliability/kills.py --kills 20 --no-record
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # no threads at the time of a fork

import numpy as np
import pooch
from typer.testing import CliRunner

import reinforce2vec as r2v
from recording import record
from reinforce2vec.cli.main import app
from reinforce2vec.cli.main import main as run_main
from reinforce2vec.datasets import _reading
from reinforce2vec.datasets.registry import REGISTRY, DatasetEntry, PublishedFile
from reinforce2vec.graph import edges_of
from reinforce2vec.graph.fingerprint import GraphFingerprint

PARTS = ("kills", "second-runs", "disks")
SIGNALS = ("SIGKILL", "SIGTERM", "SIGHUP", "SIGINT")
EVENTS = {"open", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.chmod", "fcntl.flock"}
PATIENCE = 300  # seconds until a run counts as one that hangs
COMMON = ("--dimensions", "16", "--walks-per-node", "20", "--walk-length", "20", "--workers", "2")
DISK = 1 << 25  # bytes of the file system that becomes full


# -- runs --------------------------------------------------------------------------------------


class Ended(NamedTuple):
    """How a run ended: its exit status, its messages, and the number of its file events."""

    status: int
    err: str
    events: int


class Moment(NamedTuple):
    """The file event at which something happens to a run; nothing does at None."""

    at: int | None = None
    plan: Callable[[], None] = lambda: None
    path_in: str = ""  # only events with files whose names hold this
    events: AbstractSet[str] = EVENTS


NEVER = Moment()


class Run:
    """A command in a process and a session of its own."""

    def __init__(
        self, words: tuple[str, ...], folder: Path, moment: Moment = NEVER, out: str = os.devnull
    ) -> None:
        os.environ["XDG_CACHE_HOME"] = str(folder)
        self.events = Path(tempfile.mkstemp(prefix="kills-")[1])
        self.err, err = os.pipe()  # which has no quota
        os.set_blocking(self.err, False)
        self.began = time.monotonic()
        self.pid = os.fork()
        if not self.pid:
            self._work(words, folder, moment, out, err)
        os.close(err)

    def _work(
        self, words: tuple[str, ...], folder: Path, moment: Moment, out: str, err: int
    ) -> None:
        """Run the command; never returns."""
        status = 99
        try:
            os.setsid()
            os.chdir(folder)
            os.dup2(os.open(out, os.O_WRONLY | os.O_CREAT), 1)
            os.dup2(err, 2)
            sys.stdout, sys.stderr = (os.fdopen(stream, "w", closefd=False) for stream in (1, 2))
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            signal.signal(signal.SIGINT, signal.default_int_handler)
            for number in (signal.SIGTERM, signal.SIGHUP):
                signal.signal(number, signal.SIG_DFL)
            self._watch(moment, str(folder))
            sys.argv = ["reinforce2vec", *words]
            try:
                save_graph(*words[1:]) if words[0] == "save" else run_main()
                sys.stdout.flush()
                status = 0
            except SystemExit as end:
                status = end.code if isinstance(end.code, int) else int(end.code is not None)
            sys.stderr.flush()
        except KeyboardInterrupt:
            status = 130  # before or after the command itself
        except BaseException:
            traceback.print_exc()
            sys.stderr.flush()
        finally:
            os._exit(status)

    def _watch(self, moment: Moment, root: str) -> None:
        """Count file events below a folder, and carry out the plan at one of them."""
        count, counter = 0, os.open(self.events, os.O_WRONLY)

        def notice(event: str, arguments: tuple[Any, ...]) -> None:
            nonlocal count
            if event not in moment.events or (moment.at is not None and count > moment.at):
                return
            name = _path_of(arguments[0])
            if os.path.join(root, name).startswith(root) and moment.path_in in name:
                count += 1
                os.pwrite(counter, str(count).encode(), 0)
                if moment.at is not None and count > moment.at:
                    moment.plan()

        sys.addaudithook(notice)

    def kill(self, number: int, times: int = 1) -> None:
        """Send a signal, as to a process that runs alone; a terminal that is closed sends two."""
        for _ in range(times):
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)
            time.sleep(0.002)

    def wait(self) -> Ended:
        """Wait for the end; a run that hangs is killed, with the status 98."""
        status, err = None, b""
        while status is None:
            with suppress(BlockingIOError):
                err += os.read(self.err, 1 << 16)
            pid, code = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                status = os.waitstatus_to_exitcode(code)
            elif time.monotonic() - self.began > PATIENCE:
                os.kill(self.pid, signal.SIGKILL)
                os.waitpid(self.pid, 0)
                status = 98
            else:
                time.sleep(0.005)
        with suppress(BlockingIOError):
            err += os.read(self.err, 1 << 16)
        os.close(self.err)
        events = int(self.events.read_text() or 0)
        self.events.unlink()
        return Ended(status, err.decode(errors="replace"), events)

    def orphans(self) -> list[str]:
        """Return processes of the run that outlive it by more than a while."""
        for _ in range(400):
            pids = [name for name in os.listdir("/proc") if _session(name) == self.pid]
            if not pids:
                return []
            time.sleep(0.05)
        return [f"process {pid} is left" for pid in pids]


def _path_of(name: Any) -> str:
    """Return the path that a file event is about; files may be open ones."""
    if isinstance(name, int):
        with suppress(OSError):
            return os.readlink(f"/proc/self/fd/{name}")
    return os.fsdecode(name) if isinstance(name, (str, bytes, os.PathLike)) else ""


def save_graph(source: str, target: str) -> None:
    """Write a graph, as no command does; errors end as those of commands."""
    try:
        r2v.read_graph(source).save(target)
    except (OSError, r2v.InputError) as error:
        print(f"error: {error}", file=sys.stderr)
        raise SystemExit(1) from None


def _session(name: str) -> int:
    """Return the session of a process, if the name is that of a living one."""
    try:
        fields = Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()
        return 0 if fields[0] == "Z" or not name.isdigit() else int(fields[3])
    except (OSError, IndexError, ValueError):
        return 0


# -- what is tried -----------------------------------------------------------------------------


class Trial:
    """A command, and what its files must hold."""

    name: str
    words: tuple[str, ...]
    before: tuple[str, ...] | None = None  # a command for older files in the same places
    inputs: tuple[str, ...] = ("edges.txt",)
    unfinished = ".part"  # in the names of unfinished files
    moments = 6  # of a run at which its disk fails, beside those of its last file

    def files(self, folder: Path) -> dict[str, bytes]:
        """Return the contents of all files but the inputs, by their names."""
        return {
            str(path.relative_to(folder)): path.read_bytes()
            for path in sorted(folder.rglob("*"))
            if path.is_file() and path.name not in self.inputs
        }

    def content(self, name: str, data: bytes) -> Any:
        """Return what two files that are the same have in common."""
        return hashlib.sha256(data).hexdigest()

    def wrong(self, folder: Path, old: dict[str, Any], new: dict[str, Any]) -> list[str]:
        """Return what is wrong with the files after a kill."""
        problems = []
        for name, data in self.files(folder).items():
            if _is_hidden(name):
                continue  # not a final name
            try:
                if not self.may_be(name, self.content(name, data), old, new):
                    problems.append(f"{name} is neither old nor new")
            except Exception as error:
                problems.append(f"{name} cannot be read: {error!r}")
        return problems + self.mixed(folder, old, new)

    def may_be(self, name: str, content: Any, old: dict[str, Any], new: dict[str, Any]) -> bool:
        """Return whether a file may have this content after a kill."""
        return content in (old.get(name), new.get(name))

    def mixed(self, folder: Path, old: dict[str, Any], new: dict[str, Any]) -> list[str]:
        """Return what is wrong with files that belong together."""
        return []


def _is_hidden(name: str) -> bool:
    return any(part.startswith(".") for part in Path(name).parts)


class Walk(Trial):
    """A matrix of walks and their ids."""

    name = "walk"
    words = ("walk", "edges.txt", "-o", "walks.npz", "--walk-length", "20", "--seed", "2")
    before = ("walk", "old.txt", "-o", "walks.npz", "--walk-length", "10", "--walks-per-node", "3")
    inputs = ("edges.txt", "old.txt")

    def mixed(self, folder: Path, old: dict[str, Any], new: dict[str, Any]) -> list[str]:
        if not (folder / "walks.npz").exists():
            return []
        walks = r2v.read_walks(folder / "walks.npz")
        facts = isinstance(walks.ids[0], str), len(walks.begins) - 1
        belong = facts in ((True, 3 * 200), (False, 80 * 200))  # old walks are fewer, of names
        return [] if belong else [f"mixed walks: {facts}"]


class WalkFolder(Trial):
    """Walks in a folder with a manifest."""

    name = "walk to a folder"
    words = ("walk", "edges.txt", "-o", "walks/", "--walk-length", "20", "--seed", "2")
    before = ("walk", "edges.txt", "-o", "walks/", "--walk-length", "10", "--walks-per-node", "3")

    def may_be(self, name: str, content: Any, old: dict[str, Any], new: dict[str, Any]) -> bool:
        return True  # files of a new set are there before the manifest names them

    def mixed(self, folder: Path, old: dict[str, Any], new: dict[str, Any]) -> list[str]:
        manifest = folder / "walks" / "manifest.json"
        if not manifest.exists():
            return [] if not old else ["the older set is gone"]
        count = len(r2v.read_walks(folder / "walks").begins) - 1
        return [] if count in (3 * 200, 80 * 200) else [f"{count} walks"]


class Embed(Trial):
    """Vectors, a model, and a checkpoint to resume from."""

    name = "embed"
    words = (
        *("embed", "edges.txt", "-o", "vectors.csv", "--model", "model.r2v", *COMMON),
        *("--checkpoint", "run.npz", "--checkpoint-every", "0", "--resume", "--seed", "2"),
    )
    before = ("embed", "old.txt", "-o", "vectors.csv", "--model", "model.r2v", *COMMON)
    inputs = ("edges.txt", "old.txt")

    def may_be(self, name: str, content: Any, old: dict[str, Any], new: dict[str, Any]) -> bool:
        return name == "run.npz" or super().may_be(name, content, old, new)

    def content(self, name: str, data: bytes) -> Any:
        if name == "run.npz":
            with np.load(io.BytesIO(data), allow_pickle=False) as archive:
                return [archive[member].shape for member in archive]  # reads all of it
        return super().content(name, data)

    def mixed(self, folder: Path, old: dict[str, Any], new: dict[str, Any]) -> list[str]:
        if not (folder / "vectors.csv").exists():
            return []
        [first, *_] = r2v.Embedding.load(folder / "vectors.csv").ids
        digest = hashlib.sha256((folder / "vectors.csv").read_bytes()).hexdigest()
        expected = {old.get("vectors.csv"): str, new["vectors.csv"]: np.int64}[digest]
        return [] if isinstance(first, expected) else ["ids of other vectors"]


class Evaluate(Trial):
    """Writes no file, but its output may go to one."""

    name = "evaluate"
    words = ("evaluate", "link-prediction", "edges.txt", *COMMON, "--seeds", "1", "--quiet")
    unfinished = "edges.txt"  # the disk fails before the first line of output
    moments = 1


class Explore(Trial):
    """A page of the explorer."""

    name = "explore"
    words = ("explore", "vectors.npz", "edges.txt", "-o", "page.html", "--seed", "2")
    before = (*words, "--title", "old")
    inputs = ("edges.txt", "vectors.npz")
    moments = 1


class Tune(Trial):
    """A study, rewritten after every trial; it holds times."""

    name = "tune"
    words = (
        *("tune", "edges.txt", "--trials", "2", "--dimensions", "8", "--method", "none"),
        *("-o", "study.json", "--resume", "--quiet", "--workers", "2"),
    )
    moments = 1

    def content(self, name: str, data: bytes) -> Any:
        return [(trial["setting"], trial["score"]) for trial in json.loads(data)["trials"]]

    def may_be(self, name: str, content: Any, old: dict[str, Any], new: dict[str, Any]) -> bool:
        return content == new[name][: len(content)]


class Download(Trial):
    """A data set, from a server that sends it slowly."""

    name = "download"
    words = ("datasets", "toy", "--download")
    unfinished = ".unchecked-"
    downloaded = "reinforce2vec/toy.ungraph"  # the next run downloads it again

    def files(self, folder: Path) -> dict[str, bytes]:
        empty = [path for path in folder.rglob(".*") if path.is_dir()]
        return super().files(folder) | {str(path.relative_to(folder)): b"" for path in empty}


class Other(Trial):
    """A command that writes one file, or two that do not belong together."""

    inputs = ("edges.txt", "old.txt", "more.txt", "vectors.npz", "model.r2v")
    moments = 1

    def __init__(self, name: str, words: str, new: str = "edges.txt", old: str = "old.txt") -> None:
        """Take the command, and the word that makes the files newer or older ones."""
        self.name = name
        self.words, self.before = (tuple(words.format(word).split()) for word in (new, old))


WRITERS = {
    "embed": ("embed {} --preset fast -o v", ".npz .csv .csv.gz .txt .txt.gz .bin .parquet"),
    "walk": ("walk {} -o w", ".txt .txt.gz"),
    "save": ("save {} g", ".txt .csv.gz .npz .parquet"),
}
OTHERS = [
    Other(f"{name} to {suffix}", words + suffix)
    for name, (words, suffixes) in WRITERS.items()
    for suffix in suffixes.split()
]
PLOT = "plot vectors.npz --method pca --title {} -o map"
OTHERS += [Other(f"plot to {end}", PLOT + end, "new", "old") for end in (".png", ".svg", ".pdf")]
OTHERS += [
    Other("update", "update model.r2v {} --model m.r2v -o v.csv", "more.txt", "edges.txt"),
    Other("neighbors", "neighbors vectors.npz -o near.csv -k {}", "5", "3"),
    Other("recommend", "recommend vectors.npz edges.txt -o links.parquet -k {}", "5", "3"),
]

TRIALS: dict[type[Trial], int] = {  # how often each of them is killed, in two hundred
    Walk: 44,
    WalkFolder: 24,
    Embed: 56,
    Evaluate: 24,
    Explore: 12,
    Tune: 8,
    Download: 24,
}


def prepare(folder: Path) -> None:
    """Write the inputs of all commands, and what stands for servers and large experiments."""
    graph = r2v.planted_groups(200, 4, degree=8).graph
    pairs = sorted(map(tuple, edges_of(graph)[0].tolist()))
    (folder / "edges.txt").write_text("".join(f"{a}\t{b}\n" for a, b in pairs))
    (folder / "old.txt").write_text("".join(f"node{a}\tnode{b}\n" for a, b in pairs))
    (folder / "more.txt").write_text("".join(f"{a}\t{a + 200}\n" for a in range(50)))
    model = r2v.Reinforce2Vec(8, walks_per_node=2, workers=1).fit(graph, progress=False)
    model.save(folder / "model.r2v")
    model.embedding_.save(folder / "vectors.npz")
    content = (folder / "edges.txt").read_bytes()

    def retrieve(url: str, fname: str, path: Path, downloader: Any, **_: Any) -> str:
        """Write the file a little at a time, as a download does."""
        with Path(path, fname).open("wb") as file:
            for at in range(0, len(content), 256):
                time.sleep(0.002)
                file.write(content[at : at + 256])
        return str(Path(path, fname))

    pooch.retrieve = retrieve
    REGISTRY["toy"] = DatasetEntry(
        name="toy",
        title="a toy",
        description="A toy.",
        citation="Nobody.",
        sources=(PublishedFile("toy.ungraph", "https://localhost/toy"),),
        paper_nodes=200,
        paper_edges=len(pairs),
        graph=GraphFingerprint.of(_reading.whole_graph(folder / "edges.txt")),
        read_graph=_reading.whole_graph,
    )


def warm(trial: Trial, folder: Path) -> None:
    """Run a command in this process: what it imports and compiles, all forks of it have."""
    if not isinstance(trial, Download):
        home = Path.cwd()
        with tempfile.TemporaryDirectory(prefix="kills-") as name:
            for path in trial.inputs:
                shutil.copy(folder / path, name)
            os.chdir(name)
            try:
                if trial.words[0] == "save":
                    save_graph(*trial.words[1:])
                elif (done := CliRunner().invoke(app, trial.words)).exit_code:
                    raise SystemExit(f"{trial.name}: {done.output}")
            finally:
                os.chdir(home)
    if threading.active_count() > 1:
        raise SystemExit(f"threads are left: {threading.enumerate()}")


# -- kills -------------------------------------------------------------------------------------


class Series:
    """Runs of one command that are killed, or whose disk fails."""

    def __init__(self, trial: Trial, inputs: Path, path_in: str = "") -> None:
        """Run it undisturbed, and count its events with files whose names hold `path_in`."""
        self.trial, self.inputs = trial, inputs
        self.old: dict[str, Any] = {}
        self.old_files: dict[str, bytes] = {}
        with tempfile.TemporaryDirectory(prefix="kills-") as name:
            folder = self.fill(Path(name))
            warm(trial, folder)
            if trial.before is not None:
                _expect(Run(trial.before, folder).wait())
                self.old, self.old_files = self.contents(folder), trial.files(folder)
        with tempfile.TemporaryDirectory(prefix="kills-") as name:
            folder = self.fill(Path(name))
            began = time.monotonic()
            ended = Run(trial.words, folder, Moment(path_in=path_in)).wait()
            _expect(ended)
            self.seconds, self.events = time.monotonic() - began, ended.events
            self.new = self.contents(folder)

    def fill(self, folder: Path, with_old: bool = False) -> Path:
        """Put the inputs into a folder, and older files."""
        for name in self.trial.inputs:
            shutil.copy(self.inputs / name, folder)
        for name, content in self.old_files.items() if with_old else ():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_bytes(content)
        return folder

    def contents(self, folder: Path) -> dict[str, Any]:
        """Return what the files hold."""
        files = self.trial.files(folder)
        return {name: self.trial.content(name, data) for name, data in files.items()}

    def wrong_after_next(self, folder: Path) -> list[str]:
        """Run the command once more, to its end; return what is wrong then."""
        if isinstance(self.trial, Download):
            (folder / self.trial.downloaded).unlink(missing_ok=True)
        again = Run(self.trial.words, folder).wait()
        if again.status != 0:
            return [f"the next run: {again.status}: {again.err[-300:]}"]
        return [f"after the next run: {name}" for name in self.unlike_new(folder)]

    def unlike_new(self, folder: Path) -> list[str]:
        """Return which files are not as a run leaves them that succeeds."""
        try:
            contents = self.contents(folder)
        except Exception as error:
            return [f"a file cannot be read: {error!r}"]
        names = sorted({*contents, *self.new})
        return [f"{name} differs" for name in names if contents.get(name) != self.new.get(name)]

    def kill_once(
        self, signal_name: str, aimed: bool, replaces: bool, rng: random.Random
    ) -> dict[str, Any]:
        """Kill a run; return when, how it ended, and what is wrong."""
        trial, number = self.trial, getattr(signal, signal_name)
        with tempfile.TemporaryDirectory(prefix="kills-") as name:
            folder = self.fill(Path(name), replaces)
            at = rng.randrange(max(1, self.events)) if aimed else None
            delay, times = rng.uniform(0, self.seconds), rng.choice([1, 2])
            run = Run(trial.words, folder, Moment(at, lambda: os.kill(os.getpid(), number)))
            if not aimed:
                time.sleep(delay)
                run.kill(number, times)
            ended = run.wait()
            problems = run.orphans()
            allowed = {0, -number} if signal_name == "SIGKILL" else {0, 130, -number}
            if ended.status not in allowed or "Traceback" in ended.err:
                problems.append(f"exit status {ended.status}: {ended.err[-600:]}")
            old = self.old if replaces else {}
            done = ended.status == 0
            problems += self.unlike_new(folder) if done else trial.wrong(folder, old, self.new)
            hidden = any(map(_is_hidden, trial.files(folder)))
            problems += self.wrong_after_next(folder)
        moment = f"file event {at}" if aimed else f"{delay:.3f} s" + ", twice" * (times - 1)
        problems = [f"{signal_name}, {moment}: {problem}" for problem in problems]
        return {"status": ended.status, "hidden": hidden, "problems": problems}


def _expect(ended: Ended) -> None:
    if ended.status != 0:
        raise SystemExit(f"a run ended with {ended.status}: {ended.err}")


def kill_all(n_kills: int, inputs: Path, rng: random.Random) -> dict[str, Any]:
    """Kill all commands; return counts by command and signal, and everything that is wrong."""
    commands: dict[str, Any] = {}
    counts: Counter[str] = Counter()
    for kind, share in TRIALS.items():
        count = max(1, round(share * n_kills / sum(TRIALS.values())))
        series, statuses = Series(kind(), inputs), Counter[str]()
        hidden, problems = 0, list[str]()
        for number in range(count):
            name = SIGNALS[number % len(SIGNALS)]
            result = series.kill_once(name, number // 4 % 2 == 0, number % 3 != 0, rng)
            counts[name] += 1
            statuses[f"{name}: {_status(result['status'])}"] += 1
            hidden += result["hidden"]
            problems += result["problems"]
        commands[kind.name] = {
            "kills": count,
            "seconds_of_a_run": round(series.seconds, 2),
            "file_events_of_a_run": series.events,
            "ended_by_signal": dict(statuses),
            "left_hidden_files_until_the_next_run": hidden,
            "problems": problems,
        }
        _say(f"{kind.name}: {count} kills, {len(problems)} problems {problems or ''}")
    return {"kills": sum(counts.values()), "by_signal": dict(counts), "commands": commands}


def _status(status: int) -> str:
    if status < 0:
        return "killed"
    return {0: "had ended", 130: "interrupted"}.get(status, f"status {status}")


# -- disks -------------------------------------------------------------------------------------


def disks(inputs: Path, only: Sequence[str], recorded: bool) -> int:
    """Let writing fail in the middle, of each command; return how much was wrong."""
    wrong = 0
    for trial in [*(kind() for kind in TRIALS), *OTHERS]:
        if only and trial.name not in only:
            continue
        series, results = Series(trial, inputs, trial.unfinished), dict[str, Any]()
        for name, way in (("full", _full), ("read-only", _read_only), ("quota", _quota)):
            results[name] = _fail_often(series, way)
            wrong += len(results[name]["problems"])
            _say(f"{trial.name}: {name}: {results[name]}")
        if recorded:
            record("disks", results, part=trial.name)
    return wrong


def _fail_often(series: Series, way: Callable[[Path], None]) -> dict[str, Any]:
    """Let a disk fail at some moments; return how often runs failed, their errors, problems."""
    trial, count = series.trial, series.events
    spread = np.linspace(0, count - 1, trial.moments, dtype=int).tolist()
    moments = sorted({*spread, *range(max(0, count - 4), count)})
    if way is not _read_only:  # after the last two, nothing is written
        moments = moments[: max(1, len(moments) - 2)]
    problems, said, tried = list[str](), set[str](), 0
    for at in moments:
        last, wrong = _fail_once(series, way, at)
        problems += [f"file event {at}: {problem}" for problem in wrong]
        if last is not None:
            tried += 1
            said.add(last)
    return {"tried": tried, "said": sorted(said), "problems": problems}


def _fail_once(
    series: Series, way: Callable[[Path], None], at: int
) -> tuple[str | None, list[str]]:
    """Return what a run said whose disk fails (None if it succeeded), and what is wrong."""
    trial = series.trial
    with tempfile.TemporaryDirectory(prefix="kills-") as name:
        folder = Path(name, "disk", "trial")
        image, disk = Path(name, "image"), folder.parent
        disk.mkdir()
        with image.open("wb") as file:
            file.truncate(DISK)
        _call("mkfs.ext4", "-q", "-m", "0", image)
        _mount(image, disk)
        try:
            folder.mkdir()
            series.fill(folder, with_old=True)
            os.sync()
            out = str(disk / "out") if isinstance(trial, Evaluate) else os.devnull
            run = Run(trial.words, folder, Moment(at, lambda: way(folder), trial.unfinished), out)
            ended = run.wait()
            problems = run.orphans()
            if way is not _read_only:
                (folder / "filler").unlink(missing_ok=True)
            if ended.status == 0:  # all was written before
                return None, problems + series.unlike_new(folder)
            if way is _read_only:  # as after a start of the machine
                _unmount(disk)
                subprocess.run(["e2fsck", "-fy", image], check=False, capture_output=True)
                _mount(image, disk)
            last = ended.err.strip().splitlines()[-1] if ended.err.strip() else ""
            if ended.status not in (1, 2) or "Traceback" in ended.err or "error: " not in last:
                problems.append(f"status {ended.status}: {ended.err[-600:]}")
            problems += trial.wrong(folder, series.old, series.new)
            if way is not _read_only:  # where nothing can be removed
                problems += [f"{name} is left" for name in trial.files(folder) if _is_hidden(name)]
            problems += series.wrong_after_next(folder)
            return last.replace(str(folder), "FOLDER"), problems
        finally:
            _unmount(disk)


def _mount(image: Path, disk: Path) -> None:
    _call("mount", "-o", "loop,errors=remount-ro", image, disk)


def _unmount(disk: Path) -> None:
    for _ in range(100):  # until the last process of a run has ended
        if not subprocess.run(["umount", disk], check=False, stderr=subprocess.DEVNULL).returncode:
            return
        time.sleep(0.2)
    raise SystemExit(f"{disk} is busy")


def _call(*words: str | Path) -> None:
    subprocess.run(words, check=True)


def _full(folder: Path) -> None:
    """Fill the disk."""
    file = os.open(folder / "filler", os.O_WRONLY | os.O_CREAT)
    for size in (1 << 20, 1 << 12, 1 << 9):
        with suppress(OSError):
            while os.write(file, bytes(size)):
                pass
    os.close(file)


def _read_only(folder: Path) -> None:
    """Let the disk have an error, after which the system lets nothing be written to it."""
    device = f"loop{os.minor(os.stat(folder).st_dev)}"
    Path(f"/sys/fs/ext4/{device}/trigger_fs_error").write_text("1")


def _quota(folder: Path) -> None:
    """Let no file grow beyond 64 bytes; Python ignores the signal, and the write fails."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))


# -- two runs ----------------------------------------------------------------------------------


def second_runs(inputs: Path) -> dict[str, Any]:
    """Start a second run into each output while the first is stopped in the middle."""
    commands = {}
    for kind in [kind for kind in TRIALS if kind not in (Evaluate, Download)]:
        trial, problems = kind(), list[str]()
        warm(trial, inputs)
        with tempfile.TemporaryDirectory(prefix="kills-") as name:
            folder = Path(name)
            for path in trial.inputs:
                shutil.copy(inputs / path, folder)
            # before it gives up the first of its locks
            stop = Moment(0, lambda: os.kill(os.getpid(), signal.SIGSTOP), ".lock", {"os.remove"})
            first = Run(trial.words, folder, stop)
            os.waitpid(first.pid, os.WUNTRACED)
            second = Run(trial.words, folder).wait()
            if second.status not in (1, 2) or "another run is writing" not in second.err:
                problems.append(f"the second: {second.status}: {second.err[-300:]}")
            first.kill(signal.SIGCONT)
            ended = first.wait()
            if ended.status != 0:
                problems.append(f"the first: {ended.status}: {ended.err[-300:]}")
            hidden = [file for file in trial.files(folder) if Path(file).name.startswith(".")]
            problems += [f"{file} is left" for file in hidden]
        said = second.err.strip().splitlines()[-1].replace(str(folder), "FOLDER")
        commands[kind.name] = {"second_said": said, "problems": problems}
        _say(f"two runs of {kind.name}: {len(problems)} problems {problems or ''}")
    return {"commands": commands}


def _say(text: str) -> None:
    print(text, flush=True)


def main() -> int:
    """Run the trials; the exit status is 1 if anything was wrong."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--part", choices=PARTS, help="one part alone; by default all")
    parser.add_argument("--kills", type=int, default=200, help="in all (default 200)")
    parser.add_argument("--seed", type=int, default=0, help="of the moments (default 0)")
    parser.add_argument(
        "--only", help="commands to try, such as walk,embed; of these, only disks are recorded"
    )
    parser.add_argument("--no-record", action="store_true", help="write no file of results")
    options = parser.parse_args()
    only = options.only.split(",") if options.only else []
    for kind in [kind for kind in TRIALS if only and kind.name not in only]:
        del TRIALS[kind]
    wrong = 0
    with tempfile.TemporaryDirectory(prefix="kills-") as name:
        inputs = Path(name)
        prepare(inputs)
        for part in [options.part] if options.part else PARTS:
            began = time.monotonic()
            if part == "disks":
                if os.geteuid() == 0:
                    wrong += disks(inputs, only, not options.no_record)
                else:
                    _say("disks: not tried, since mounting needs root")
                continue
            if part == "kills":
                results = kill_all(options.kills, inputs, random.Random(options.seed))
            else:
                results = second_runs(inputs)
            problems = sum(len(row["problems"]) for row in results["commands"].values())
            results |= {"problems": problems, "minutes": round((time.monotonic() - began) / 60, 1)}
            if not options.no_record and not only:
                record(part, results)
            _say(f"{part}: {problems} problems")
            wrong += problems
    return int(wrong > 0)


if __name__ == "__main__":
    raise SystemExit(main())

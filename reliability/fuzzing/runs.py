"""Executes inputs in processes of their own, under limits, and judges what happened.

A child process is forked for every batch of inputs, so that the library is imported and compiled
once. It writes each input into its folder before it reads it: if it crashes or hangs, this input is
to blame. What it finds is appended to a file, which survives it.
"""

from __future__ import annotations

import faulthandler
import mmap
import os
import pickle
import resource
import shutil
import signal
import struct
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import reinforce2vec
from reinforce2vec import InputError

from .cases import Case
from .oracles import LARGE, Content, Wrong, message_problem, outcome, require
from .targets import Target, mutated

PACKAGE = str(Path(reinforce2vec.__file__).parent) + os.sep
TRACED = ("files", "graph", "tuning", "skipgram", "models", "embedding", "explorer", "_util")
CHANGING = ("_util/interrupts.py", "_util/progress.py", "_util/threads.py")  # steps vary with time

MEMORY_FLOOR = 64 << 20  # bytes that every input may take, for chunks and what is imported late
MEMORY_FACTOR = 10  # times the size of its files, in addition
MEMORY_OF_NODE = 64  # bytes for each node of a result, since a matrix may only declare them
ADDRESS_SPACE = 3 << 30  # bytes beside those of the library; more is refused by the system
CPU_SECONDS = 20.0  # for one input
WALL_SECONDS = 300.0  # for one input; only what waits for something takes so long


# -- coverage ----------------------------------------------------------------------------------


class Coverage:
    """Which steps from line to line of a function were taken, as far as Python sees them."""

    def __init__(self) -> None:
        self.edges: set[int] = set()
        self.new: list[int] = []
        self._numbers: dict[Any, int] = {}
        self._last: dict[Any, int] = {}  # line of each function

    def start(self) -> None:
        """Begin with an input."""
        self._last.clear()
        self.new = []
        sys.settrace(self._call)

    def stop(self) -> None:
        """End the input."""
        sys.settrace(None)

    def _number(self, code: Any) -> int:
        # a name that is the same in all processes, and 0 for what is not traced
        name, number = code.co_filename.removeprefix(PACKAGE), 0
        if name.split(os.sep)[0] in TRACED and name not in CHANGING:
            number = hash_of(f"{name}:{code.co_firstlineno}")
        self._numbers[code] = number
        return number

    def _call(self, frame: Any, event: str, arg: Any) -> Any:
        code = frame.f_code
        number = self._numbers.get(code)
        if number is None:
            number = self._number(code)
        return self._line if number else None

    def _line(self, frame: Any, event: str, arg: Any) -> Any:
        if event == "line":
            here = self._numbers[frame.f_code] + frame.f_lineno
            edge = self._last.get(frame.f_code, 0) * 3 ^ here
            self._last[frame.f_code] = here
            if edge not in self.edges:
                self.edges.add(edge)
                self.new.append(edge)
        return self._line


def hash_of(text: str) -> int:
    """Return a number that is the same in every process, with room for lines below others."""
    import zlib

    return zlib.crc32(text.encode()) << 20


# -- one input ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Ending:
    """How the reading of an input ended.

    Attributes
    ----------
    kind : str
        "result", "refusal", or what is wrong: "exception", "message", "warning", "wrong", "memory",
        "crash", "hang".
    text : str
        The message, or what is wrong.
    place : str
        Where in the library, if that is known.
    content : dict, optional
        What was read.
    """

    kind: str
    text: str = ""
    place: str = ""
    content: Content | None = None
    peak: int = 0

    @property
    def is_finding(self) -> bool:
        """Whether something is wrong."""
        return self.kind not in ("result", "refusal")

    @property
    def key(self) -> str:
        """What endings of the same cause have in common."""
        return f"{self.kind}: {self.place or outcome(self.text)}"

    @property
    def signature(self) -> str:
        """What distinguishes endings from each other, beside the lines that were executed."""
        if self.content is None:
            return f"{self.kind} {outcome(self.text)}"
        sizes = [
            len(part).bit_length() for part in self.content.values() if hasattr(part, "__len__")
        ]
        flags = [part for part in self.content.values() if isinstance(part, bool)]
        kinds = sorted({type(node).__name__ for node in self.content.get("ids", ())[:50]})
        return f"result {sizes} {flags} {kinds}"


def place_of(error: BaseException) -> str:
    """Return the innermost line of the library in a traceback, and the kind of the error."""
    place = ""
    for frame in traceback.extract_tb(error.__traceback__):
        if frame.filename.startswith(PACKAGE):
            place = f"{frame.filename[len(PACKAGE) :]} {frame.name}"
    return f"{type(error).__name__} in {place}"


def kind_of(problem: str) -> str:
    """Return a problem of a message without the character that it is about."""
    return problem.split(" U+")[0]


def execute(
    target: Target, case: Case, path: Path, coverage: Coverage | None = None, used: bool = True
) -> Ending:
    """Read an input and judge what happened, except for crashes and hangs."""
    result = content = None
    ending = Ending("result")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        before = _reset_peak()
        if coverage is not None:
            coverage.start()
        try:
            result = target.read(path, **case.options)
        except InputError as error:
            names = [path.name, *map(os.path.basename, case.files)] if target.names_file else [""]
            problem = message_problem(str(error), names)
            if problem is not None:
                ending = Ending(
                    "message",
                    f"{problem}: {error!s:.300}",
                    f"{kind_of(problem)}, {place_of(error)}",
                )
            else:
                ending = Ending("refusal", str(error))
        except MemoryError as error:
            ending = Ending("memory", f"MemoryError: {error!s:.200}", place_of(error))
        except Exception as error:
            ending = Ending("exception", f"{type(error).__name__}: {error!s:.200}", place_of(error))
        finally:
            if coverage is not None:
                coverage.stop()
        grown = _peak() - before
        allowed = MEMORY_FLOOR + MEMORY_FACTOR * case.size
        allowed += MEMORY_OF_NODE * len(getattr(result, "ids", ()))
        if ending.kind in ("result", "refusal") and grown > allowed:
            text = (
                f"{grown >> 20} MB for {case.size:,} bytes, then {ending.kind} {ending.text[:150]}"
            )
            return Ending("memory", text, f"peak, then {ending.kind} {outcome(ending.text)}")
        if ending.kind == "result":
            ending = _judged(target, case, result, used)
            content = ending.content
    problem = None if ending.is_finding else _warning_problem(told)
    if problem is not None:
        return Ending("warning", problem)
    return Ending(ending.kind, ending.text, ending.place, content, grown)


def _judged(target: Target, case: Case, result: Any, used: bool) -> Ending:
    """Return whether a result is what the file holds, and can be used."""
    try:
        content = target.content(result)
    except Wrong as error:
        return Ending("wrong", str(error), str(error).partition(":")[0][:80])
    except Exception as error:
        return Ending(
            "exception", f"{type(error).__name__}: {error!s:.200}", f"content, {place_of(error)}"
        )
    try:
        if LARGE not in content:
            target.check(case, content, result)
    except Wrong as error:
        return Ending("wrong", str(error), str(error).partition(":")[0][:80])
    except Exception as error:
        return Ending(
            "wrong", f"the slow reader fails: {error!r:.200}", f"slow reader {type(error).__name__}"
        )
    if used:
        try:
            target.use(result)
        except InputError as error:
            problem = message_problem(str(error), [""])
            if problem is not None:
                return Ending(
                    "message",
                    f"in use, {problem}: {error!s:.300}",
                    f"{kind_of(problem)}, {place_of(error)}",
                )
        except Exception as error:
            return Ending(
                "exception",
                f"in use, {type(error).__name__}: {error!s:.200}",
                f"use, {place_of(error)}",
            )
    return Ending("result", "", "", content)


def _warning_problem(told: list[Any]) -> str | None:
    """Return a warning that is not addressed to the user, or is no sentence."""
    for one in told:
        if not issubclass(one.category, UserWarning):
            return f"{one.category.__name__}: {one.message!s:.200} ({Path(one.filename).name})"
        problem = message_problem(str(one.message), [""])
        if problem is not None:
            return f"{problem}: {one.message!s:.200}"
    return None


def _reset_peak() -> int:
    """Forget the highest amount of memory so far; returns the amount now, in bytes."""
    try:
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
        return _status("VmRSS")
    except OSError:  # not on Linux, or not allowed: the peak of the whole process so far
        return _peak()


def _peak() -> int:
    try:
        return _status("VmHWM")
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _status(name: str, pid: int | str = "self") -> int:
    with open(f"/proc/{pid}/status") as file:
        for line in file:
            if line.startswith(name):
                return int(line.split()[1]) * 1024
    return 0


# -- processes ---------------------------------------------------------------------------------


@dataclass
class Entry:
    """An input of the corpus.

    Attributes
    ----------
    case : Case
    good : bool
        Whether it ended in a result; those are changed more often.
    content : dict, optional
        What was read, if damage of it must be noticed.
    """

    case: Case
    good: bool
    content: Content | None = None


class Marker:
    """Memory that a child shares with its parent: the number of its input, and when it began."""

    _LAYOUT = struct.Struct("<qdd")

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, self._LAYOUT.size)
        self.set(0)

    def set(self, number: int) -> None:
        """Say that an input begins."""
        self._memory[:] = self._LAYOUT.pack(number, time.monotonic(), time.process_time())

    def get(self) -> tuple[int, float, float]:
        """Return the number of the input, and the time and CPU time when it began."""
        return self._LAYOUT.unpack(self._memory[:])  # type: ignore[return-value]


@dataclass
class Job:
    """A child process, and what the parent knows of it."""

    folder: Path
    target: Target
    marker: Marker
    pid: int = 0
    began: float = field(default_factory=time.monotonic)
    cpu_seconds: float = CPU_SECONDS
    wall_seconds: float = WALL_SECONDS

    def reports(self) -> Iterator[dict[str, Any]]:
        """Yield what the child has reported; what it was about to write is lost."""
        path = self.folder / "reports"
        if not path.exists():
            return
        with path.open("rb") as file:
            while True:
                try:
                    yield pickle.load(file)  # of our own child
                except Exception:
                    return

    def last_input(self) -> dict[str, bytes]:
        """Return the files that the child was reading."""
        folder = self.folder / "input"
        return {
            str(path.relative_to(folder)): path.read_bytes()
            for path in sorted(folder.rglob("*"))
            if path.is_file() and not path.name.startswith(".")
        }

    def overdue(self) -> str | None:
        """Return why the child's present input takes too long, if it does."""
        _, began, cpu_began = self.marker.get()
        if time.monotonic() - began > self.wall_seconds:
            return f"more than {self.wall_seconds:g} s, waiting"
        try:
            with open(f"/proc/{self.pid}/stat") as file:
                fields = file.read().rpartition(")")[2].split()
        except OSError:
            return None
        cpu = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        return (
            f"more than {self.cpu_seconds:g} s of CPU time"
            if cpu - cpu_began > self.cpu_seconds
            else None
        )


def start(job: Job, work: Callable[[Job, Callable[[dict[str, Any]], None]], None]) -> None:
    """Fork a child that does some work; the work gets a function that reports."""
    shutil.rmtree(job.folder, ignore_errors=True)
    (job.folder / "input").mkdir(parents=True)
    job.marker.set(0)
    sys.stdout.flush()
    sys.stderr.flush()
    job.pid = os.fork()
    if job.pid:
        return
    status = 1
    try:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        _die_with_parent()
        tempfile.tempdir = str(job.folder)  # what is left there is removed with it
        output = os.open(job.folder / "output", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        nothing = os.open(os.devnull, os.O_RDONLY)
        for stream, number in ((nothing, 0), (output, 1), (output, 2)):
            os.dup2(stream, number)
        faulthandler.enable(open(job.folder / "fault", "w"))  # noqa: SIM115  open while it lives
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        space = _status("VmSize") + ADDRESS_SPACE
        resource.setrlimit(resource.RLIMIT_AS, (space, space))
        with (job.folder / "reports").open("wb", buffering=0) as file:
            work(job, lambda report: file.write(pickle.dumps(report)) and None)
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        try:
            sys.stderr.flush()
        finally:
            os._exit(status)


def _die_with_parent() -> None:
    """Let the system end this process if the parent is killed (Linux)."""
    try:
        import ctypes

        ctypes.CDLL(None).prctl(1, signal.SIGKILL)
    except (OSError, AttributeError):
        pass


def crash_of(job: Job, status: int) -> Ending:
    """Return how a child ended that did not end by itself."""
    if os.WIFSIGNALED(status):
        name = signal.Signals(os.WTERMSIG(status)).name
    else:
        name = f"exit status {os.WEXITSTATUS(status)}"
    where = ""
    try:
        fault = (job.folder / "fault").read_text(errors="replace")
        for line in fault.splitlines():
            if PACKAGE in line:
                where = line.strip().replace(PACKAGE, "")
                break
        output = (job.folder / "output").read_text(errors="replace").strip()
    except OSError:
        output = ""
    last = output.splitlines()[-1] if output else ""
    return Ending("crash", f"{name} {where} {last[:200]}".strip(), f"{name} {where}")


# -- work of children --------------------------------------------------------------------------


def fuzz_batch(
    target: Target,
    entries: list[Entry],
    coverage: Coverage,
    seen: set[str],
    seed: str,
    inputs: int,
) -> Callable[[Job, Callable[[dict[str, Any]], None]], None]:
    """Return the work of mutating and reading some inputs of a target.

    What it does depends on the arguments alone, not on the speed of the machine.
    """

    def work(job: Job, report: Callable[[dict[str, Any]], None]) -> None:
        random = Random(seed)
        folder = job.folder / "input"
        outcomes: dict[str, int] = {}
        known = set(seen)
        found: set[str] = set()
        count = 0
        longest = 0.0
        for _ in range(inputs):
            entry = _pick(entries, random)
            try:
                case, damage = mutated(entry.case, _pick(entries, random).case, target, random)
                if random.random() < 0.1:
                    case, _ = mutated(case, entry.case, target, random)
                    damage = False
            except (ValueError, TypeError, OverflowError, RecursionError):
                continue  # what cannot be changed in this way
            count += 1
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            try:
                path = case.write(folder)
            except (OSError, ValueError):  # a name that no file can have
                continue
            job.marker.set(count)
            (job.folder / "options").write_bytes(pickle.dumps((case.main, case.options)))
            began = time.process_time()
            ending = execute(target, case, path, coverage, used=random.random() < 0.25)
            longest = max(longest, time.process_time() - began)
            if (
                damage
                and target.checksummed
                and LARGE not in (ending.content or {LARGE: 0})
                and entry.content is not None
            ):
                try:
                    require(ending.content or {}, entry.content, "those of the undamaged file")
                except Wrong as error:
                    ending = Ending(
                        "wrong", f"damage that is not noticed: {error}", "damage not noticed"
                    )
            outcomes[ending.kind] = outcomes.get(ending.kind, 0) + 1
            signature = ending.signature
            if ending.is_finding:
                if ending.key not in found:
                    found.add(ending.key)
                    origin = entry.case if ending.place == "damage not noticed" else None
                    report({"finding": ending, "case": case, "origin": origin})
            elif coverage.new or signature not in known:
                known.add(signature)
                # without content: only damage of what the library wrote must be noticed, not
                # damage after damage that took a checksum away
                entries.append(Entry(case, ending.kind == "result"))
                report({"entry": entries[-1], "edges": coverage.new, "signature": signature})
        report(
            {
                "count": count,
                "outcomes": outcomes,
                "longest": longest,
                "seconds": time.process_time(),
            }
        )

    return work


def _pick(entries: list[Entry], random: Random) -> Entry:
    """Return an input, new ones and good ones more often."""
    if random.random() < 0.5:
        entries = [entry for entry in entries if entry.good] or entries
    if random.random() < 0.4:
        return entries[-1 - min(len(entries) - 1, int(random.expovariate(0.1)))]
    return random.choice(entries)


def replay_batch(
    target: Target, cases: list[tuple[str, Case, Case | None]]
) -> Callable[[Job, Callable[[dict[str, Any]], None]], None]:
    """Return the work of reading inputs that are known, each with the one it is a damage of."""

    def work(job: Job, report: Callable[[dict[str, Any]], None]) -> None:
        for case in target.cases():  # compiles what is needed, which takes memory of its own
            replayed(target, case, None, job.folder / "input")
        for number, (name, case, origin) in enumerate(cases, 1):
            job.marker.set(number)
            report({"name": name, "ending": replayed(target, case, origin, job.folder / "input")})

    return work


def replayed(target: Target, case: Case, origin: Case | None, folder: Path) -> Ending:
    """Read one input in this process."""
    endings = []
    for one in (case,) if origin is None else (origin, case):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        endings.append(execute(target, one, one.write(folder)))
    ending = endings[-1]
    if origin is not None and ending.kind == endings[0].kind == "result":
        try:
            require(ending.content or {}, endings[0].content or {}, "those of the undamaged file")
        except Wrong as error:
            return Ending("wrong", f"damage that is not noticed: {error}", "damage not noticed")
    return ending

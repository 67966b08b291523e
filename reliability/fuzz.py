"""Fuzzes every reader of the library with files that are damaged, odd or hostile.

    python reliability/fuzz.py --minutes 2 --workers 2
    python reliability/fuzz.py --minutes 10 --target edges --target labels
    python reliability/fuzz.py --inputs 1000 --seed 19
    python reliability/fuzz.py --replay
    python reliability/fuzz.py --replay reliability/corpus/edges/0123456789ab.json
    python reliability/fuzz.py --list
    python reliability/fuzz.py --special "edges-pipe*"

Valid files that the library writes are changed: bytes are flipped, removed, repeated and spliced;
lines, fields and encodings are edited; what is inside archives, JSON and tables is changed and
packed again with the right checksums. Inputs that reach new lines of the library, or that end in a
new way, are changed further. Then there are special cases (`--list`), such as lines of ten million
characters, archives that unpack to gigabytes, named pipes, and files that change while being read.

Every input must end in a right result or in an InputError whose message is one line that names the
file. A finding is anything else: another exception, a warning of a library below, a crash, more
than 20 s of CPU time, more memory than 64 MB and ten times the file, or a result that a slow reader
written from the documentation does not find in the file.

Findings are saved under reliability/corpus. The exit status is 1 if there is one.

With --minutes each reader gets as much time. With --inputs it gets as many inputs, and a seed gives
the same ones on every machine, however fast it is and however many workers there are (set
PYTHONHASHSEED, as `make fuzz` does): what passes in one place passes in another.
"""

from __future__ import annotations

import argparse
import collections
import fnmatch
import math
import os
import pickle
import re
import secrets
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from fuzzing import runs, special
from fuzzing.cases import Case, read_case
from fuzzing.runs import Coverage, Ending, Entry, Job, Marker
from fuzzing.targets import TARGETS, Target, missing_packages

CORPUS = Path(__file__).parent / "corpus"
BATCH = 500  # inputs that a process reads
FIRST = 50  # of a first batch, where time is limited: so a short run comes to every reader
LONG_RUN = 30  # minutes, in which there is time for slow special cases
SPECIAL_SHARE = 0.25  # of the time, at most; a short run draws some of the special cases
LARGEST_KEPT = 1 << 14  # bytes of an input that is saved in the repository


# -- processes ---------------------------------------------------------------------------------


class Pool:
    """Some child processes at a time, each with a folder of its own."""

    def __init__(self, workers: int) -> None:
        shared = Path("/dev/shm")
        roomy = (
            shared.is_dir()
            and os.access(shared, os.W_OK)
            and shutil.disk_usage(shared).free > 1 << 30
        )
        self.folder = Path(
            tempfile.mkdtemp(prefix="reinforce2vec-fuzz-", dir=shared if roomy else None)
        )
        self.free = [(self.folder / str(number), Marker()) for number in range(workers)]
        self.jobs: list[tuple[Job, Callable[[Job, Ending | None], None]]] = []

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *_: object) -> None:
        for job, _done in self.jobs:
            os.kill(job.pid, signal.SIGKILL)
            os.waitpid(job.pid, 0)
        shutil.rmtree(self.folder, ignore_errors=True)

    def start(
        self,
        target: Target,
        work: Any,
        done: Callable[[Job, Ending | None], None],
        cpu: float = runs.CPU_SECONDS,
        wall: float = runs.WALL_SECONDS,
    ) -> None:
        """Begin some work; `done` gets the job, and how it ended if not by itself."""
        folder, marker = self.free.pop()
        job = Job(folder, target, marker, cpu_seconds=cpu, wall_seconds=wall)
        runs.start(job, work)
        self.jobs.append((job, done))

    def wait(self) -> None:
        """Wait until a job ends, or a while."""
        for job, done in [*self.jobs]:
            pid, status = os.waitpid(job.pid, os.WNOHANG)
            ending = None
            if not pid:
                late = job.overdue()
                if late is None:
                    continue
                os.kill(job.pid, signal.SIGKILL)
                os.waitpid(job.pid, 0)
                ending = Ending("hang", late)
            elif status:
                ending = runs.crash_of(job, status)
            self.jobs.remove((job, done))
            self.free.append((job.folder, job.marker))
            done(job, ending)
            return
        time.sleep(0.02)

    def finish(self) -> None:
        """Wait until all jobs have ended."""
        while self.jobs:
            self.wait()


# -- fuzzing -----------------------------------------------------------------------------------


class Fuzzing:
    """A run over some targets."""

    def __init__(self, targets: list[Target], pool: Pool, seed: int, corpus: Path) -> None:
        self.targets, self.pool, self.seed, self.corpus = targets, pool, seed, corpus
        self.coverage = {target.name: Coverage() for target in targets}
        self.entries: dict[str, list[Entry]] = {}
        self.seen: dict[str, set[str]] = {target.name: set() for target in targets}
        self.begun: collections.Counter[str] = collections.Counter()  # batches
        self.ended: collections.Counter[str] = collections.Counter()
        self.spent = dict.fromkeys(self.seen, 0.0)  # seconds of CPU time
        self.counts: collections.Counter[str] = collections.Counter()
        self.outcomes = {name: collections.Counter[str]() for name in self.seen}
        self.longest = dict.fromkeys(self.seen, 0.0)
        self.findings: dict[tuple[str, str], dict[str, Any]] = {}
        self.special: dict[str, str] = {}

    def prepare(self, others: list[Target]) -> None:
        """Read valid files, those of other targets too, which compiles everything."""
        folder = self.pool.folder / "seeds"
        for target in others:
            for case in target.cases():
                runs.replayed(target, case, None, folder)
        for target in self.targets:
            self.entries[target.name] = entries = []
            for case in target.cases():
                ending = runs.replayed(target, case, None, folder)
                self.seen[target.name].add(ending.signature)
                entries.append(Entry(case, True, ending.content if target.checksummed else None))
                if ending.is_finding:
                    self._found(target, case, None, ending)
            entries += [Entry(case, False) for _, case, _ in saved(self.corpus, target.name)]

    def run_special(self, names: list[str], seconds: float = math.inf) -> None:
        """Run special cases, each in a process of its own, as many as there is time for."""
        end = time.monotonic() + seconds
        for name in names:
            while not self.pool.free:
                self.pool.wait()
            if time.monotonic() > end:
                break
            one = special.CASES[name]

            def done(job: Job, ending: Ending | None, name: str = name, one: Any = one) -> None:
                reports = list(job.reports())
                ending = ending or (
                    reports[-1]["ending"] if reports else Ending("crash", "no report")
                )
                self.special[name] = f"{ending.kind} {ending.text}".strip()[:200]
                if ending.is_finding:
                    self._note("special", f"{name}: {ending.key}", ending, f"--special {name}")

            limits = special.CPU_SECONDS, special.WALL_SECONDS
            self.pool.start(TARGETS[one.target], special.work(one), done, *limits)
        self.pool.finish()

    def run(self, seconds: float = math.inf, inputs: float = math.inf) -> None:
        """Change inputs until the time is over, or until each reader had so many."""
        end = time.monotonic() + seconds
        while True:
            while self.pool.free and time.monotonic() < end and self._start(inputs):
                pass
            if not self.pool.jobs:
                break
            self.pool.wait()
        self.pool.finish()

    def _start(self, inputs: float) -> bool:
        """Begin with the next batch; returns whether there is one.

        Where the number of inputs is limited, a batch waits for the one before it of its reader,
        so that the order in which batches end changes nothing.
        """
        free = [
            one
            for one in self.targets
            if inputs == math.inf
            or (self.begun[one.name] == self.ended[one.name] < math.ceil(inputs / BATCH))
        ]
        if not free:
            return False
        target = min(free, key=lambda one: self._time_of(one.name))
        name = target.name
        size = min(BATCH, inputs - BATCH * self.begun[name])
        if inputs == math.inf and not self.begun[name]:
            size = FIRST
        seed = f"{self.seed} {name} {self.begun[name]}"
        self.begun[name] += 1
        entries, coverage, seen = self.entries[name], self.coverage[name], self.seen[name]
        work = runs.fuzz_batch(target, entries, coverage, seen, seed, int(size))
        self.pool.start(target, work, self._batch_done)
        return True

    def _time_of(self, name: str) -> float:
        """Return the time of a reader, with that of the batches that have not ended."""
        return self.spent[name] * self.begun[name] / max(self.ended[name], 1)

    def _batch_done(self, job: Job, ending: Ending | None) -> None:
        target, name = job.target, job.target.name
        coverage = self.coverage[name]
        self.ended[name] += 1
        counted = False
        for report in job.reports():
            if "finding" in report:
                self._found(target, report["case"], report["origin"], report["finding"])
            elif "count" in report:
                counted = True
                self.counts[name] += report["count"]
                self.outcomes[name].update(report["outcomes"])
                self.longest[name] = max(self.longest[name], report["longest"])
                self.spent[name] += report["seconds"]
            else:
                new = [edge for edge in report["edges"] if edge not in coverage.edges]
                if new or report["signature"] not in self.seen[name]:
                    coverage.edges.update(new)
                    self.seen[name].add(report["signature"])
                    self.entries[name].append(report["entry"])
        if ending is not None:
            if not counted:
                self.counts[name] += job.marker.get()[0]
            self.outcomes[name][ending.kind] += 1
            main, options = pickle.loads((job.folder / "options").read_bytes())  # of our own child
            self._found(target, Case(name, job.last_input(), main, options), None, ending)

    def _found(self, target: Target, case: Case, origin: Case | None, ending: Ending) -> None:
        key = target.name, ending.key
        if key in self.findings:
            self.findings[key]["count"] += 1
            return
        self._note(*key, ending, "")
        self._save(target, case, origin, ending)

    def _note(self, target: str, key: str, ending: Ending, input: str) -> None:
        self.findings[target, key] = {
            "target": target,
            "kind": ending.kind,
            "text": ending.text,
            "place": ending.place,
            "count": 1,
            "input": input,
        }
        print(f"FINDING {target}: {key}\n        {ending.text[:300]}", flush=True)
        if input:
            print(f"  python reliability/fuzz.py {input}", flush=True)

    def _save(self, target: Target, case: Case, origin: Case | None, ending: Ending) -> None:
        text = re.sub(rf"{re.escape(str(self.pool.folder))}/\w+/input/", "", ending.text)
        about = {"found": ending.key, "text": text[:300]}
        if origin is not None:
            about["origin"] = origin.save(self.corpus / target.name / "origins").name
        folder = (
            self.corpus
            if case.size <= LARGEST_KEPT
            else Path(tempfile.gettempdir(), "fuzz-findings")
        )
        path = case.save(folder / target.name, **about)
        self.findings[target.name, ending.key]["input"] = shown(path)
        print(
            f"  saved {shown(path)}; python reliability/fuzz.py --replay {shown(path)}", flush=True
        )


def shown(path: Path) -> str:
    """Return a path as seen from here, if it is below."""
    return os.path.relpath(path) if path.is_relative_to(Path.cwd()) else str(path)


def saved(corpus: Path, target: str) -> Iterator[tuple[str, Case, Case | None]]:
    """Yield the saved inputs of a target: the file, the input, and the one it is a damage of."""
    for path in sorted((corpus / target).glob("*.json")):
        yield loaded(path)


def loaded(path: Path) -> tuple[str, Case, Case | None]:
    """Read a saved input."""
    case, about = read_case(path)
    origin = read_case(path.parent / "origins" / about["origin"])[0] if "origin" in about else None
    return shown(path), case, origin


# -- replaying ---------------------------------------------------------------------------------


def replay(paths: list[Path], pool: Pool, corpus: Path) -> tuple[int, list[tuple[str, Ending]]]:
    """Read saved inputs again; returns how many, and those that are findings."""
    by_target = collections.defaultdict(list)
    for path in paths or sorted(corpus.glob("*/*.json")):
        one = loaded(path)
        by_target[one[1].target].append(one)
    bad: list[tuple[str, Ending]] = []
    total = 0

    def begin(target: Target, cases: list[Any]) -> None:
        def done(job: Job, ending: Ending | None) -> None:
            ended = {report["name"]: report["ending"] for report in job.reports()}
            if ending is not None:  # of the first input without a report
                rest = [case for case in cases if case[0] not in ended]
                if rest:
                    ended[rest[0][0]] = ending
                    if rest[1:]:
                        begin(target, rest[1:])
            bad.extend((name, one) for name, one in ended.items() if one.is_finding)

        while not pool.free:
            pool.wait()
        pool.start(target, runs.replay_batch(target, cases), done)

    for name, cases in sorted(by_target.items()):
        lacking = missing_packages(TARGETS[name])
        if lacking:
            print(f"skipped {len(cases)} inputs of {name}: {', '.join(lacking)} is not installed")
            continue
        total += len(cases)
        begin(TARGETS[name], cases)
    pool.finish()
    return total, bad


# -- reports -----------------------------------------------------------------------------------


def results_of(
    run: Fuzzing, seconds: float, workers: int, skipped: dict[str, str]
) -> dict[str, Any]:
    """Return what a run did, for JSON."""
    return {
        "seconds": round(seconds),
        "workers": workers,
        "worker_hours": round(seconds * workers / 3600, 2),
        "seed": run.seed,
        "inputs": sum(run.counts.values()),
        "skipped": skipped,
        "steps_between_lines": len({edge for one in run.coverage.values() for edge in one.edges}),
        "findings": list(run.findings.values()),
        "targets": {
            target.name: {
                "inputs": run.counts[target.name],
                "endings": dict(run.outcomes[target.name]),
                "distinct_endings": len(run.seen[target.name]),
                "corpus": len(run.entries[target.name]),
                "longest_cpu_seconds": round(run.longest[target.name], 2),
            }
            for target in run.targets
        },
        "special_cases": run.special,
    }


def print_results(results: dict[str, Any]) -> None:
    """Print a table."""
    print(
        f"\n{'target':16}{'inputs':>9}{'results':>9}{'refused':>9}{'endings':>9}{'kept':>7}{'slowest':>9}"
    )
    for name, one in results["targets"].items():
        ends = one["endings"]
        print(
            f"{name:16}{one['inputs']:9,}{ends.get('result', 0):9,}{ends.get('refusal', 0):9,}"
            f"{one['distinct_endings']:9,}{one['corpus']:7,}{one['longest_cpu_seconds']:8.1f}s"
        )
    print(
        f"{results['inputs']:,} inputs and {len(results['special_cases'])} special cases in "
        f"{results['seconds']:,} s with {results['workers']} workers; "
        f"{results['steps_between_lines']:,} steps between lines; "
        f"{len(results['findings'])} findings"
    )


# -- command -----------------------------------------------------------------------------------


def _interrupted(*_: object) -> None:
    raise KeyboardInterrupt


def main() -> int:
    """Run the command; the exit status is 1 if there is a finding."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    length = parser.add_mutually_exclusive_group()
    length.add_argument("--minutes", type=float, default=1.0, help="how long to fuzz (1)")
    length.add_argument("--inputs", type=int, help="how many for each reader, instead of a time")
    parser.add_argument(
        "--workers", type=int, default=os.cpu_count() or 1, help="processes at a time"
    )
    parser.add_argument(
        "--target",
        action="append",
        choices=[*TARGETS, "special"],
        help="only this reader; may be repeated",
    )
    parser.add_argument(
        "--special", metavar="PATTERNS", help='only these, such as "edges-name-*,*-pipe"'
    )
    parser.add_argument("--seed", type=int, help="of all changes; random by default, and printed")
    parser.add_argument(
        "--replay",
        nargs="*",
        type=Path,
        metavar="CASE",
        help="read saved inputs again, all by default",
    )
    parser.add_argument(
        "--extract",
        type=Path,
        metavar="FOLDER",
        help="with --replay: write the files of a saved input there instead",
    )
    parser.add_argument("--corpus", type=Path, default=CORPUS, help="where inputs are saved")
    parser.add_argument("--record", action="store_true", help="write results/fuzz.json")
    parser.add_argument("--list", action="store_true", help="list readers and special cases")
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, _interrupted)
    if given.list:
        print("\n".join([*TARGETS, "", *special.CASES]))
        return 0
    if given.extract is not None:
        given.extract.mkdir(parents=True, exist_ok=True)
        for path in given.replay or ():
            case, about = read_case(path)
            print(f"{case.write(given.extract)} {case.options} {about.get('found', '')}")
        return 0
    with Pool(max(1, given.workers)) as pool:
        if given.replay is not None:
            total, bad = replay(given.replay, pool, given.corpus)
            for name, ending in bad:
                print(f"FINDING {name}: {ending.key}\n        {ending.text[:300]}")
            print(f"{total:,} saved inputs read again, {len(bad)} findings")
            return 1 if bad else 0
        return _fuzz(given, pool)


def _fuzz(given: Any, pool: Pool) -> int:
    seed = secrets.randbelow(10**9) if given.seed is None else given.seed
    named = ["special"] if given.special else given.target or [*TARGETS, "special"]
    chosen = [TARGETS[name] for name in dict.fromkeys(named) if name != "special"]
    skipped = {
        one.name: f"{', '.join(missing_packages(one))} is not installed"
        for one in chosen
        if missing_packages(one)
    }
    for name, reason in skipped.items():
        print(f"skipped {name}: {reason}")
    chosen = [one for one in chosen if one.name not in skipped]
    fixed = given.inputs is not None
    length = f"{given.inputs:,} inputs for each reader" if fixed else f"{given.minutes:g} minutes"
    print(f"seed {seed}, {given.workers} workers, {length}", flush=True)
    run = Fuzzing(chosen, pool, seed, given.corpus)
    began = time.monotonic()
    try:
        others = [
            one for one in TARGETS.values() if one not in chosen and not missing_packages(one)
        ]
        run.prepare(others if "special" in named else [])
        if "special" in named:
            long = not fixed and given.minutes >= LONG_RUN
            names = special.installed(slow=bool(given.special) or long)
            patterns = (given.special or "*").split(",")
            names = [name for name in names if any(fnmatch.fnmatch(name, one) for one in patterns)]
            Random(seed).shuffle(names)
            if fixed or given.special:
                run.run_special(names)
            else:
                run.run_special(names, 60 * given.minutes * (SPECIAL_SHARE if chosen else 1))
        if chosen and fixed:
            run.run(inputs=given.inputs)
        elif chosen:
            run.run(max(1.0, 60 * given.minutes - (time.monotonic() - began)))
    except KeyboardInterrupt:
        print("interrupted")
    results = results_of(run, time.monotonic() - began, given.workers, skipped)
    print_results(results)
    if given.record:
        from recording import record

        record("fuzz", results, "pyarrow")
    return 1 if run.findings else 0


if __name__ == "__main__":
    sys.exit(main())

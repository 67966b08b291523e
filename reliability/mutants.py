"""Counts the planted mistakes that the tests notice.

    python reliability/mutants.py --workers 16 --json results.json
    python reliability/mutants.py --tree ../old-checkout --workers 16 --json old.json
    python reliability/mutants.py --list
    python reliability/mutants.py --compare old.json new.json

A mutant is a copy of the package in which one operator or one constant of one function is another.
The functions are drawn by a seed from kernels, readers and writers: each room has a share, and
within it functions are ordered by a digest of the seed and their names, and so are the places in
a function. So two versions of the code have the same mutants where they have the same functions.

Each mutant runs the tests of its room, without slow ones, until the first failure. Tests that fail
without a mutant are left out. Time that compiling takes longer after a change of compiled code is
added to the limit. A mutant whose tests do not end in time counts as killed if they do without it.

All work is done in copies in a temporary folder, with compiled code of their own.
"""

from __future__ import annotations

import argparse
import ast
import collections
import concurrent.futures
import contextlib
import hashlib
import json
import os
import queue
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = "src/reinforce2vec"
# the modules of each room, the folder of its tests, and how many mutants
ROOMS = {
    "files": (["files/*"], 52),
    "walks": (["walks/*"], 28),
    "skipgram": (["skipgram/*"], 28),
    "models": (["models/cpu/*"], 10),
    "graph": (["graph/*"], 14),
    "_util": (["_util/ids*", "_util/random*"], 8),
    "embedding": (["embedding/*"], 10),
}
LEFT_OUT = ("*/cuda/*", "*/ray/*", "*html*", "*/__init__.py")
MARKS = "not slow and not gpu and not browser and not study"
COMPILED = re.compile("compiled|kernel|inner|inlined|intrinsic|jit")
LIMIT = 120.0  # seconds
_OPERATORS: dict[type, type] = {
    **{ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq},
    **{ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot},
    **{ast.IsNot: ast.Is, ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add},
    **{ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.Mod: ast.Add, ast.Pow: ast.Mult},
    **{ast.LShift: ast.RShift, ast.RShift: ast.LShift, ast.BitAnd: ast.BitOr},
    **{ast.BitOr: ast.BitAnd, ast.BitXor: ast.BitOr, ast.And: ast.Or, ast.Or: ast.And},
}


@dataclass
class Mutant:
    """A change of one function, and what became of it."""

    room: str
    module: str
    function: str
    compiled: bool
    line: int
    before: str
    after: str
    source: str = ""
    outcome: str = ""  # killed, survived or timeout
    seconds: float = 0.0
    test: str = ""  # that failed


# -- drawing ---------------------------------------------------------------------------------------


def functions_of(tree: ast.AST, prefix: str = "") -> Iterator[tuple[str, ast.FunctionDef]]:
    """Yield functions and methods with their qualified names; inner ones belong to theirs."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef):
            if not re.fullmatch("__repr__|_repr_html_|__str__", node.name):
                yield prefix + node.name, node
        elif isinstance(node, ast.ClassDef):
            yield from functions_of(node, f"{prefix}{node.name}.")


def places_in(node: ast.AST) -> Iterator[tuple[ast.AST, int]]:
    """Yield what can be changed: nodes, and which of their operators; no types, no messages."""
    if isinstance(node, (ast.Raise, ast.JoinedStr, ast.arg)):
        return
    if isinstance(node, ast.Compare):
        yield from ((node, number) for number in range(len(node.ops)))
    elif isinstance(node, (ast.BinOp, ast.AugAssign, ast.BoolOp, ast.UnaryOp)):
        if type(node.op) in _OPERATORS or isinstance(node.op, ast.Not):
            yield node, 0
    elif isinstance(node, ast.Constant) and isinstance(node.value, (bool, int, float)):
        yield node, 0
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from places_in(child)


def change(node: ast.AST, number: int) -> None:
    """Change an operator or a constant."""
    if isinstance(node, ast.Compare):
        node.ops[number] = _OPERATORS[type(node.ops[number])]()
    elif isinstance(node, (ast.BinOp, ast.AugAssign, ast.BoolOp)):
        node.op = _OPERATORS[type(node.op)]()
    elif isinstance(node, ast.UnaryOp):
        node.op = ast.UAdd()
        node.operand = ast.Call(ast.Name("bool", ast.Load()), [node.operand], [])
    elif isinstance(node.value, bool):
        node.value = not node.value
    else:
        node.value += 1


def ordered(items: list, seed: int, name) -> list:
    """Return items in an order that depends on the seed and their names alone."""
    return sorted(items, key=lambda item: hashlib.sha256(f"{seed} {name(item)}".encode()).digest())


def draw(tree: Path, seed: int, total: int) -> list[Mutant]:
    """Return mutants of the package in a tree: one for each function that is drawn."""
    package = tree / PACKAGE
    mutants, rest = [], []
    shares = sum(share for _, share in ROOMS.values())
    for room, (patterns, share) in ROOMS.items():
        candidates = []
        for path in sorted(package.rglob("*.py")):
            module = path.relative_to(package).as_posix()
            if any(fnmatch(module, one) for one in patterns) and not any(
                fnmatch(f"/{module}", one) for one in LEFT_OUT
            ):
                for name, node in functions_of(ast.parse(path.read_text())):
                    if any(places_in(node)):
                        candidates.append((module, name))
        # a name without its module, so that a function that moves stays in its place
        candidates = ordered(candidates, seed, lambda item: item[1])
        count = round(total * share / shares)
        mutants += [mutant_of(package, room, *one, seed) for one in candidates[:count]]
        rest += [(room, *one) for one in candidates[count:]]
    rest = ordered(rest, seed, lambda item: item[2])[: max(0, total - len(mutants))]
    return mutants + [mutant_of(package, *one, seed) for one in rest]


def mutant_of(package: Path, room: str, module: str, name: str, seed: int) -> Mutant:
    """Return the mutant of a function."""
    tree = ast.parse((package / module).read_text())
    node = dict(functions_of(tree))[name]
    places = list(places_in(node))
    places = ordered([*enumerate(places)], seed, lambda item: f"{name} {item[0]}")
    place, number = places[0][1]
    line, before = place.lineno, ast.unparse(place)
    change(place, number)
    ast.fix_missing_locations(tree)
    compiled = any(COMPILED.search(ast.unparse(one)) for one in node.decorator_list)
    after = ast.unparse(place)
    return Mutant(room, module, name, compiled, line, before, after, ast.unparse(tree))


# -- running ---------------------------------------------------------------------------------------


def dependents(package: Path, module: str) -> set[str]:
    """Return a module and those that import it, directly or not."""
    importers = collections.defaultdict(set)
    for path in package.rglob("*.py"):
        name = path.relative_to(package).as_posix()
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.level:
                base = path.parents[node.level - 1].joinpath(*(node.module or "").split("."))
                for one in [base, *(base / alias.name for alias in node.names)]:
                    for file in (one.with_suffix(".py"), one / "__init__.py"):
                        if file.exists():
                            importers[file.relative_to(package).as_posix()].add(name)
    reached, waiting = {module}, [module]
    while waiting:
        new = importers[waiting.pop()] - reached
        reached |= new
        waiting += new
    return reached


def pytest_configure(config) -> None:
    """Compile again only what depends on a change; this module is a plugin of pytest, too."""
    changed = os.environ.get("MUTANT_DEPENDENTS")
    if changed is None:
        return
    if os.environ["MUTANT_CPUS"]:  # two for each worker, or else all start as many threads as CPUs
        os.sched_setaffinity(0, map(int, os.environ["MUTANT_CPUS"].split()))
    from reinforce2vec._util import code_cache

    if hasattr(code_cache, "_Locator"):
        names = {one for one in changed.split(os.pathsep) if one}

        def stamp(self) -> str:
            path = Path(self._py_file).as_posix()
            return "changed" if any(path.endswith(f"{PACKAGE}/{one}") for one in names) else "same"

        code_cache._Locator.get_source_stamp = stamp


def cpus_of(worker: str) -> str:
    """Return the CPUs of a worker, by the name of its folder; nothing for all of them."""
    cpus = sorted(os.sched_getaffinity(0))
    number = worker.removeprefix("worker-")
    places = (int(number), int(number) + 1) if number.isdigit() else ()
    return " ".join(str(cpus[place % len(cpus)]) for place in places)


def run_tests(tree: Path, room: str, limit: float, changed: set[str], *words: str) -> tuple:
    """Run the tests of a room; returns the exit status, None after the limit, time and output."""
    command = [sys.executable, "-m", "pytest", "-p", "mutants", "-p", "no:cacheprovider"]
    command += ["--tb=line", "-rfE", "-m", MARKS, f"tests/{room}", *words]
    began = time.monotonic()
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
        tempfile.TemporaryFile("w+") as output,
    ):
        paths = [str(tree / "src"), str(Path(__file__).parent)]
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths), "PYTHONHASHSEED": "0"}
        environment |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        environment |= {"MUTANT_DEPENDENTS": os.pathsep.join(sorted(changed))}
        environment |= {"TMPDIR": folder, "HOME": folder, "MUTANT_CPUS": cpus_of(tree.parent.name)}
        process = subprocess.Popen(
            command,
            cwd=tree,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            status = process.wait(limit)
        except subprocess.TimeoutExpired:
            status = None
        with contextlib.suppress(ProcessLookupError):  # what the tests have started, too
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        output.seek(0)
        text = output.read()
    return status, time.monotonic() - began, text


def failed_tests(text: str) -> list[str]:
    """Return the tests that failed, by the report of pytest."""
    return re.findall(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", text, re.MULTILINE)


@dataclass
class Baseline:
    """The tests of a room without a mutant."""

    room: str
    cold: float  # seconds, with compiling
    warm: float
    failing: list[str]  # tests that are left out
    ends: bool  # whether the others pass in time
    last: str  # line of the report

    def limit_of(self, mutant: Mutant) -> float:
        """Return how many seconds the tests of a mutant may take."""
        return LIMIT + (max(0.0, self.cold - self.warm) if mutant.compiled else 0)

    @property
    def words(self) -> list[str]:
        """Arguments of pytest."""
        left_out = [
            f"--deselect={test}" if "::" in test else f"--ignore={test}" for test in self.failing
        ]
        return ["-x", *left_out]


def baseline_of(pristine: Path, room: str) -> Baseline:
    """Run the tests of a room without a mutant, twice: the first time compiles."""
    _, cold, text = run_tests(pristine, room, 1200, set(), "--continue-on-collection-errors")
    baseline = Baseline(room, cold, 0, failed_tests(text), False, "")
    status, baseline.warm, text = run_tests(pristine, room, 600, set(), *baseline.words)
    baseline.ends = status == 0 and baseline.warm < LIMIT
    baseline.last = (text.strip().splitlines() or [""])[-1]
    print(f"{room}: {cold:.0f} s, then {baseline.warm:.0f} s, {baseline.last}", flush=True)
    return baseline


def try_mutant(pristine: Path, copies: queue.Queue, mutant: Mutant, baseline: Baseline) -> Mutant:
    """Run the tests of a mutant in a copy of the tree."""
    copy = copies.get()
    try:
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(pristine, copy, symlinks=True, copy_function=os.link)
        package = copy / PACKAGE
        changed = dependents(package, mutant.module) if mutant.compiled else set()
        (package / mutant.module).unlink()  # it is a link
        (package / mutant.module).write_text(mutant.source)
        limit = baseline.limit_of(mutant)
        status, mutant.seconds, text = run_tests(copy, mutant.room, limit, changed, *baseline.words)
        mutant.outcome = {0: "survived", None: "timeout"}.get(status, "killed")
        mutant.test = (failed_tests(text) or [""])[0]
    finally:
        copies.put(copy)
    print(f"{mutant.outcome} {mutant.seconds:.0f} s {mutant.module}:{mutant.function}", flush=True)
    return mutant


def run(tree: Path, mutants: list[Mutant], workers: int, work: Path, out: Path) -> dict:
    """Try all mutants, some at a time; what the file of results has already is not done again."""
    pristine = work / "pristine"
    if not pristine.exists():
        for part in ("src", "tests"):
            ignored = shutil.ignore_patterns("__pycache__", "results", "corpus")
            shutil.copytree(tree / part, pristine / part, symlinks=True, ignore=ignored)
        for part in ("pyproject.toml", "README.md"):
            shutil.copy(tree / part, pristine / part)
    before = json.loads(out.read_text()) if out.exists() else {"baselines": [], "mutants": []}
    baselines = {one["room"]: Baseline(**one) for one in before["baselines"]}
    known = {json.dumps(list(one.values())[:7]): one for one in before["mutants"]}
    copies: queue.Queue = queue.Queue()
    for number in range(workers):
        copies.put(work / f"worker-{number}" / "tree")
    result = before

    def save() -> None:
        rest = [asdict(one) | {"source": ""} for one in mutants if one.outcome]
        rest.sort(key=lambda one: (one["room"], one["module"], one["function"]))
        result.update(baselines=[asdict(one) for one in baselines.values()], mutants=rest)
        out.write_text(json.dumps(result, indent=1) + "\n")

    for mutant in mutants:
        done = known.get(json.dumps(list(asdict(mutant).values())[:7]), {"outcome": ""})
        mutant.__dict__.update(done, source=mutant.source)
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        rooms = sorted({mutant.room for mutant in mutants} - baselines.keys())
        for baseline in pool.map(lambda room: baseline_of(pristine, room), rooms):
            baselines[baseline.room] = baseline
        save()
        # the longest tests first, so that the last ones are short
        waiting = [mutant for mutant in mutants if not mutant.outcome]
        waiting.sort(key=lambda one: -baselines[one.room].warm)
        tried = [
            pool.submit(try_mutant, pristine, copies, one, baselines[one.room]) for one in waiting
        ]
        for _ in concurrent.futures.as_completed(tried):
            save()
    return result


# -- reporting -------------------------------------------------------------------------------------


def share_killed(result: dict) -> tuple[int, int]:
    """Return how many mutants were killed, and of how many."""
    ends = {one["room"]: one["ends"] for one in result["baselines"]}
    outcomes = [(one["outcome"], ends[one["room"]]) for one in result["mutants"]]
    killed = sum(outcome == "killed" or (outcome == "timeout" and end) for outcome, end in outcomes)
    return killed, len(outcomes)


def report(result: dict) -> None:
    """Print the share of mutants killed, by room, and those that survive."""
    for room in sorted({one["room"] for one in result["mutants"]}):
        counts = collections.Counter(
            one["outcome"] for one in result["mutants"] if one["room"] == room
        )
        print(f"{room:10}", ", ".join(f"{name} {count}" for name, count in counts.items()))
    for one in result["mutants"]:
        if one["outcome"] != "killed":
            place = f"{one['module']}:{one['line']} {one['function']}"
            print(f"{one['outcome']}: {place}: {one['before']!r} -> {one['after']!r}")
    killed, total = share_killed(result)
    print(f"{killed} of {total} killed: {100 * killed / total:.1f} %")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tree", type=Path, default=ROOT, help="the checkout: by default this")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seed", type=int, default=30)
    parser.add_argument("--total", type=int, default=150, help="how many mutants")
    parser.add_argument("--rooms", nargs="*", choices=ROOMS, default=list(ROOMS))
    parser.add_argument("--first", type=int, help="run only so many of them")
    parser.add_argument("--json", type=Path, help="results; a second run goes on with them")
    parser.add_argument("--work", type=Path, help="a folder for the copies, kept for a second run")
    parser.add_argument("--list", action="store_true", help="print the mutants")
    parser.add_argument("--compare", type=Path, nargs="*", help="print results that are stored")
    options = parser.parse_args()
    if options.compare:
        for path in options.compare:
            print(f"== {path}")
            report(json.loads(path.read_text()))
        return
    mutants = draw(options.tree.resolve(), options.seed, options.total)
    mutants = [one for one in mutants if one.room in options.rooms][: options.first]
    if options.list:
        for one in mutants:
            place = f"{one.module}:{one.line} {one.function}"
            print(f"{place}{' (compiled)' * one.compiled}: {one.before!r} -> {one.after!r}")
        return
    with tempfile.TemporaryDirectory(prefix="mutants-", ignore_cleanup_errors=True) as folder:
        work = (options.work or Path(folder)).resolve()
        out = (options.json or Path(folder, "results.json")).resolve()
        report(run(options.tree.resolve(), mutants, options.workers, work, out))


if __name__ == "__main__":
    main()

"""Checks that a version of the library reads nothing else from its inputs than an earlier version.

    python reliability/differential_reader.py OLD_CHECKOUT --folder FOLDER --json results.json

Both versions read the corpus of the fuzzer, its special cases, changed inputs by a seed, and all
that the tests of the old checkout's `tests/files` give to readers. For each input a new version
must read the same ids, edges, weights, labels and vectors as the old one, or refuse it with an
InputError: what it refuses now is listed, and so is what it reads now. Different contents, other
exceptions, crashes and hangs are mistakes, for which the exit status is 1.

FOLDER keeps the inputs and what the old version reads in them, so a later call needs a minute or
two. It holds pickles: use none that somebody else has made.
"""

from __future__ import annotations

import argparse
import collections
import functools
import hashlib
import itertools
import json
import os
import pickle
import re
import resource
import signal
import subprocess
import sys
import tempfile
import traceback
import warnings
from importlib import import_module
from pathlib import Path
from random import Random

ROOT = Path(__file__).parents[1]
REMOVED = ("walks-npy", "walks-parquet", "vectors-tsv")
LARGEST = 1 << 18  # bytes of an input
SECONDS = 60  # for one input
SPACE = 4 << 30  # bytes of memory that a process may ask for; a matrix may declare any size
COLUMN_READERS = ("files.node_tables.read_node_table", "files.columns_of_nodes.read_node_table")
_READER_OF = {"edges": "graph", "matrix-market": "graph", "matlab": "graph", "graphml": "graph"}
_READER_OF |= {"edges-parquet": "graph", "graph-npz": "graph"}


# -- inputs that tests give to readers: this module is a plugin of pytest, too ---------------------


def pytest_configure(config) -> None:
    """Let readers keep a copy of what they are given."""
    folder = os.environ.get("DIFFERENTIAL_CAPTURE")
    if not folder:
        return
    import reinforce2vec as r2v

    for place, name, reader in (
        ("reinforce2vec", "read_graph", "graph"),
        ("reinforce2vec", "read_walks", "walks"),
        ("reinforce2vec", "read_labels", "labels"),
        ("reinforce2vec.files.edge_lists", "read_edge_list", "graph"),
        ("reinforce2vec.files.node_tables", "read_node_table", "columns"),
    ):
        module = import_module(place)
        setattr(module, name, _keeping(getattr(module, name), reader, Path(folder)))
    for owner, name, reader in (
        (r2v.Graph, "from_any", "graph"),
        (r2v.Embedding, "load", "vectors"),
        (r2v.Reinforce2Vec, "load", "model"),
    ):
        kept = _keeping(getattr(owner, name), reader, Path(folder))
        setattr(owner, name, staticmethod(kept))


def _keeping(read, reader: str, folder: Path):
    @functools.wraps(read)
    def keep_and_read(source, /, *words, **options):
        try:
            _keep(source, words, options, reader, folder)
        except Exception as error:
            print(f"not kept: {error!r:.200}", file=sys.stderr)
        return read(source, *words, **options)

    return keep_and_read


def _keep(source, words, options, reader: str, folder: Path) -> None:
    item = {"target": f"tests {reader}", "reader": reader, "nodes": None, "object": None}
    files: dict[str, bytes] = {}
    if reader in ("labels", "columns"):
        item["nodes"] = words[0].ids.tolist()
    elif words:
        options = {}
    if not isinstance(source, (str, os.PathLike)):
        item["object"], item["main"] = pickle.dumps(source), ""
    else:
        path = Path(source)
        if path.is_dir():
            files = {one.name: one.read_bytes() for one in path.iterdir() if _is_small(one)}
        elif _is_small(path):
            files = {path.name: path.read_bytes()}
        item["main"] = "." if path.is_dir() else path.name
    options = {name: value for name, value in options.items() if value is not None}
    beside = options.get("nodes")
    if isinstance(beside, (str, os.PathLike)) and _is_small(Path(beside)):
        files["beside-" + Path(beside).name] = Path(beside).read_bytes()
        options["nodes"] = Path("beside-" + Path(beside).name)
    if files or item["object"]:
        content = pickle.dumps(item | {"files": files, "options": options})
        if len(content) < LARGEST and b"creinforce2vec" not in content:
            name = hashlib.sha256(content).hexdigest()[:16]
            (folder / name).write_bytes(content)


def _is_small(path: Path) -> bool:
    return path.is_file() and path.stat().st_size < LARGEST


# -- inputs of the fuzzer --------------------------------------------------------------------------


def fuzzed(checkout: Path, seed: int, changed: int) -> list[dict]:
    """Return the inputs of the fuzzer of the package on the path, so many changed ones a reader."""
    sys.path.insert(0, str(checkout / "reliability"))
    from fuzzing import cases, special, targets

    items = []
    for name, target in targets.TARGETS.items():
        if targets.missing_packages(target):
            continue
        corpus = sorted((checkout / "reliability" / "corpus" / name).rglob("*.json"))
        inputs = [(case, "valid") for case in target.cases()]
        inputs += [(cases.read_case(path)[0], path.name) for path in corpus]
        inputs += [(case, "special") for case in _special_cases(special, cases.Case, name)]
        random, number, failures = Random(f"{seed} {name}"), 0, 0
        valid = list(inputs)
        while number < changed and failures < 10 * changed:
            case = random.choice(inputs if random.random() < 0.3 else valid)[0]
            try:
                case, _ = targets.mutated(case, random.choice(valid)[0], target, random)
            except (ValueError, TypeError, OverflowError, RecursionError, KeyError):
                failures += 1
                continue
            number += 1
            inputs.append((case, f"change {number}"))
        for case, origin in inputs:
            options = dict(case.options)
            nodes = targets._nodes()[options.pop("nodes")].ids if "nodes" in options else None
            reader = _READER_OF.get(name, name.partition("-")[0])
            item = {"target": name, "reader": reader, "main": case.main, "files": case.files}
            item |= {"nodes": None if nodes is None else nodes.tolist(), "object": None}
            items.append(item | {"options": options, "origin": origin})
    return items


def _special_cases(special, make, target: str) -> list:
    """Return the special cases of a reader that are small files and nothing else."""
    made = []
    for name, one in special.CASES.items():
        if one.target != target or one.slow or one.read or re.search("bomb|pipe|stdin", name):
            continue
        with tempfile.TemporaryDirectory() as folder:
            try:
                path, options = one.prepare(Path(folder))
                if path.is_file() and path.name.isprintable() and len(path.name) < 200:
                    files = {
                        part.name: part.read_bytes()
                        for part in Path(folder).iterdir()
                        if _is_small(part)
                    }
                    if path.name in files:
                        made.append(make(target, files, path.name, options))
            except Exception as error:
                print(f"special case {name}: {error!r:.100}", file=sys.stderr)
    return made


def prepare(checkout: Path, folder: Path, seed: int, changed: int) -> list[dict]:
    """Return all inputs, made with an old checkout, and keep them in a folder."""
    kept = folder / "inputs.pickle"
    if not kept.exists():
        captured = folder / "captured"
        captured.mkdir(parents=True, exist_ok=True)
        environment = _environment(checkout) | {"DIFFERENTIAL_CAPTURE": str(captured)}
        environment["PYTHONPATH"] += os.pathsep + str(Path(__file__).parent)
        words = ["-m", "pytest", "-q", "-p", "differential_reader", "-p", "no:cacheprovider"]
        command = [sys.executable, *words, "--tb=no", str(checkout / "tests" / "files")]
        subprocess.run(command, cwd=checkout, env=environment, check=False)
        command = [sys.executable, __file__, str(checkout), "--fuzzed", str(kept)]
        command += ["--seed", str(seed), "--changed", str(changed)]
        subprocess.run(command, env=_environment(checkout), check=True)
        items = pickle.loads(kept.read_bytes())
        for path in sorted(captured.iterdir()):
            items.append(pickle.loads(path.read_bytes()) | {"origin": path.name})
        kept.write_bytes(pickle.dumps(items))
    return pickle.loads(kept.read_bytes())


# -- reading, with the package on the path ---------------------------------------------------------


def read(item: dict, folder: Path):
    """Return what an input holds: a digest for each part."""
    import numpy as np

    import reinforce2vec as r2v

    for name, content in item["files"].items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    source = folder if item["main"] == "." else folder / item["main"]
    source = source if item["object"] is None else pickle.loads(item["object"])
    options, reader, nodes = dict(item["options"]), item["reader"], item["nodes"]
    if isinstance(options.get("nodes"), Path):
        options["nodes"] = folder / options["nodes"]
    rows = nodes and r2v.Embedding(nodes, np.zeros((len(nodes), 1), np.float32))
    if reader == "graph":
        from_any = r2v.Graph.from_any if item["object"] else r2v.read_graph
        return _graph_parts(from_any(source, **options))
    if reader == "nodes":
        ends = ("ann,bob", "bob,cid") if isinstance(nodes[0], str) else ("0,1", "1,2")
        edges = folder / ".edges.csv"
        edges.write_text("\n".join(["source,target", *ends, ""]))
        return _graph_parts(r2v.read_graph(edges, nodes=source))
    if reader == "walks":
        walks = r2v.read_walks(source, **options)
        begins, steps = walks.begins.tolist(), np.asarray(walks.nodes[:])
        listed = [steps[a:b] for a, b in itertools.pairwise(begins)]
        listed = [walk[walk >= 0].tolist() for walk in listed]
        return {"ids": digest(walks.ids), "walks": digest(listed)}
    if reader == "labels":
        labels = r2v.read_labels(source, rows, **options)
        parts = {"classes": labels.matrix, "names": labels.names}
        parts["strangers"] = list(map(str, labels.strangers))
        return {name: digest(part) for name, part in parts.items()}
    if reader == "columns":
        table = _column_reader()(source, rows, **options)
        return {"names": digest(table.names), "columns": digest(list(map(list, table.columns)))}
    if reader == "tuning":
        content = r2v.Tuning.load(source).to_dict()
        kept = ("facts", "trials", "finals", "baselines")
        return {name: digest(content.get(name)) for name in kept}
    if reader == "vectors":
        return _vector_parts(r2v.Embedding.load(source))
    if reader == "model":
        model = getattr(r2v, options.get("estimator", "Reinforce2Vec")).load(source)
        settings = sorted((name, repr(value)) for name, value in model.get_params().items())
        return _vector_parts(model.embedding_) | {"parameters": digest(settings)}
    window = options.get("window", 2)  # a checkpoint
    window = tuple(window) if isinstance(window, list) else window
    few = {"dimensions": 4, "walks_per_node": 4, "walk_length": 6, "smooth": False, "workers": 1}
    ring = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0), (0, 2), (11, 3)]
    graph = r2v.Graph.from_edges(ring, nodes=range(6))
    model = r2v.Reinforce2Vec(**few, window=window)
    model.fit(graph, checkpoint=source, resume=True, progress=False)
    return _vector_parts(model.embedding_)


def _column_reader():
    for name in COLUMN_READERS:
        module, _, function = f"reinforce2vec.{name}".rpartition(".")
        try:
            return getattr(import_module(module), function)
        except (ImportError, AttributeError):
            continue
    raise LookupError("no reader of columns: name it in COLUMN_READERS")


def _graph_parts(graph) -> dict[str, str]:
    weights = [] if graph.weights is None else graph.weights
    parts = {"ids": graph.ids, "weights": weights, "directed": bool(graph.directed)}
    edges = digest(graph.indptr) + digest(graph.indices)
    return {"edges": edges} | {name: digest(part) for name, part in parts.items()}


def _vector_parts(embedding) -> dict[str, str]:
    scales = tuple(map(int, embedding.scales))
    parts = {"ids": embedding.ids, "vectors": embedding.vectors, "scales": scales}
    return {name: digest(part) for name, part in parts.items()}


def digest(part) -> str:
    """Return a digest of an array, or of lists and what has a repr that tells all."""
    if hasattr(part, "dtype") and part.dtype != object:
        content = f"{part.dtype.kind} {part.shape} ".encode() + part.tobytes()
    else:
        content = repr(part.tolist() if hasattr(part, "dtype") else part).encode(errors="replace")
    return hashlib.sha256(content).hexdigest()[:16]


class Late(Exception):
    """What the alarm raises."""


def _late(*_: object) -> None:
    raise Late


def read_all(items: list[dict], out: Path) -> None:
    """Read what has not been read yet, in this process; append a line for each input."""
    from reinforce2vec import InputError

    resource.setrlimit(resource.RLIMIT_AS, (SPACE, SPACE))
    signal.signal(signal.SIGALRM, _late)
    warnings.simplefilter("ignore")
    done = len(out.read_text().splitlines()) if out.exists() else 0
    with out.open("a") as file:
        for item in items[done:]:
            with tempfile.TemporaryDirectory() as folder:
                signal.alarm(SECONDS)
                try:
                    outcome = ["read", read(item, Path(folder))]
                except InputError as error:
                    outcome = ["refused", str(error).replace(folder, "")[:400]]
                except MemoryError:
                    outcome = ["refused", "not enough memory"]
                except Late:
                    outcome = ["hang", f"more than {SECONDS} s"]
                except Exception as error:
                    last = traceback.extract_tb(error.__traceback__)[-1]
                    place = f"{Path(last.filename).name}:{last.name}"
                    outcome = ["raised", f"{type(error).__name__} in {place}: {error!s:.200}"]
                finally:
                    signal.alarm(0)
            file.write(json.dumps(outcome) + "\n")
            file.flush()


def outcomes_of(checkout: Path, folder: Path, name: str, count: int) -> list[list]:
    """Return the outcome of every input in a version, read in a process of its own."""
    out = folder / f"{name}.jsonl"
    command = [sys.executable, __file__, str(checkout), "--folder", str(folder), "--read", str(out)]
    while True:
        done = subprocess.run(command, env=_environment(checkout), stderr=subprocess.DEVNULL)
        outcomes = [json.loads(line) for line in out.read_text().splitlines()]
        if len(outcomes) >= count:
            return outcomes
        if len(outcomes) == 0 and done.returncode > 0:
            sys.exit(f"the package of {checkout} cannot be used")
        with out.open("a") as file:
            file.write(json.dumps(["crash", f"status {done.returncode}"]) + "\n")


def _environment(checkout: Path) -> dict[str, str]:
    threads = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}
    return os.environ | threads | {"PYTHONPATH": str(checkout / "src")}


# -- comparing -------------------------------------------------------------------------------------


def verdict(old: list, new: list) -> str:
    """Return what became of an input."""
    if old[0] == new[0] == "read":
        return "same" if old[1] == new[1] else "DIFFERENT"
    if new[0] in ("read", "refused") or (old[0] == new[0] and old[1] == new[1]):
        return "same end" if old[0] == new[0] else f"{old[0]}, now {new[0]}"
    return f"{old[0]}, now {new[0].upper()}"


def target_of(item: dict) -> str:
    """Return the target of an input; inputs of tests belong to a removed one by their suffix."""
    removed = f"{item['reader']}-{Path(item['main']).suffix[1:]}"
    return removed if removed in REMOVED else item["target"]


def is_mistake(change: str) -> bool:
    """Return whether a change is not allowed: other contents, exceptions, crashes, hangs."""
    return change != change.lower()


def outline(text: str) -> str:
    """Return a message without file names, numbers and what is quoted."""
    text = re.sub(r"""["'].*["']|["'].*""", '""', text.split(": ", 1)[-1])
    return re.sub(r"[\d,.]+", "0", text)[:120]


def compare(items: list[dict], before: list, after: list) -> dict:
    """Return counts by target, and the inputs whose outcome is another one, by message."""
    counts: dict[str, collections.Counter] = collections.defaultdict(collections.Counter)
    groups: dict[tuple, list] = collections.defaultdict(list)
    for number, (item, old, new) in enumerate(zip(items, before, after, strict=True)):
        target = target_of(item)
        change = "removed" if target in REMOVED else verdict(old, new)
        counts[target][change] += 1
        if change not in ("same", "same end", "removed"):
            message = new[1] if new[0] != "read" else old[1] if old[0] != "read" else "contents"
            groups[change, target, outline(message)].append(number)
    changes = []
    for (change, target, message), numbers in sorted(groups.items()):
        first = items[numbers[0]]
        parts = {"change": change, "target": target, "message": message, "count": len(numbers)}
        shown = {
            name: value[:300].decode(errors="replace") for name, value in first["files"].items()
        }
        parts |= {"origin": first["origin"], "options": repr(first["options"]), "files": shown}
        old, new = before[numbers[0]], after[numbers[0]]
        changes.append(parts | {"old": old, "new": new, "inputs": numbers[:20]})
    return {"inputs": len(items), "counts": counts, "changes": changes}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("old", type=Path, metavar="OLD_CHECKOUT")
    parser.add_argument("--folder", type=Path, default=Path("differential"), help="for the inputs")
    parser.add_argument("--json", type=Path, help="where to write the result")
    parser.add_argument("--new", type=Path, default=ROOT, help="the new checkout: by default this")
    parser.add_argument("--seed", type=int, default=30)
    parser.add_argument("--changed", type=int, default=300, help="changed inputs for each reader")
    parser.add_argument("--fuzzed", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--read", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    folder = options.folder.resolve()
    if options.fuzzed:
        items = fuzzed(options.old, options.seed, options.changed)
        options.fuzzed.write_bytes(pickle.dumps(items))
        return
    if options.read:
        read_all(pickle.loads((folder / "inputs.pickle").read_bytes()), options.read)
        return
    folder.mkdir(parents=True, exist_ok=True)
    old = options.old.resolve()
    items = prepare(old, folder, options.seed, options.changed)
    before = outcomes_of(old, folder, "old", len(items))
    name = f"new-{os.getpid()}"
    after = outcomes_of(options.new.resolve(), folder, name, len(items))
    (folder / f"{name}.jsonl").unlink()
    result = compare(items, before, after)
    for target, counts in sorted(result["counts"].items()):
        print(f"{target:16}", ", ".join(f"{name} {count}" for name, count in counts.most_common()))
    for change in result["changes"]:
        print(f"{change['change']} ({change['count']}) {change['target']}: {change['message']}")
    mistakes = sum(one["count"] for one in result["changes"] if is_mistake(one["change"]))
    print(f"{len(items)} inputs, {mistakes} mistakes")
    if options.json:
        options.json.write_text(json.dumps(result, indent=1) + "\n")
    sys.exit(bool(mistakes))


if __name__ == "__main__":
    main()

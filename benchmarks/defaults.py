"""Study that chooses the defaults of Reinforce2Vec: settings on many graphs, scored by validation.

    python benchmarks/graphs.py STUDY                  # the graphs beyond the paper's, once
    python benchmarks/defaults.py run --study STUDY --data DATA --out scores.jsonl
    python benchmarks/defaults.py report scores.jsonl [MORE.jsonl ...]

A component is the vectors of one window; a setting puts the smoothed components of one seed side by
side, each times a factor. The walks of a seed do not depend on the window, so this is what a model
with several windows learns. No component is trained twice: all settings of a graph and seed share
them.

Vectors of the whole graph are scored by node classification, those of the graph without the
held-out edges by link prediction (`shared`). Scores of part "validation" choose; those of part
"test" are for reporting what was chosen. Every score is one line of the output, written at once, so
that a run that is stopped keeps what it has; training that fails is such a line too. With --done,
what these files hold is not run again. Settings are run by their rank: first the important ones on
all graphs and seeds.

On a GPU the classifiers take most of the time: some 20 ms each with C = 1, and 150 ms to choose C,
mostly for launching small kernels, so that several --processes share the GPU well. All settings,
3 seeds, `--parts validation --shuffles 1`, should take about 8 minutes in one process (estimated
from counts of kernels, not measured); the default, with the test part and 2 shuffles, four times
that. NetMF and LINE are trained on the CPU, and last.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatch
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np

import reinforce2vec as r2v
from defaults_report import report
from gpu_limits import describe_gpu
from graphs import DIRECTED, NAMES, PLANTED, Made, load
from measuring import describe, timed
from reinforce2vec.evaluation.splits import EdgeSplit, shuffle_seed, split_seeds
from reinforce2vec.skipgram.rules import narrow_rate, usual_rate

# -- settings ------------------------------------------------------------------------------------


class Component(NamedTuple):
    """Vectors that one training makes."""

    window: int = 10
    dimensions: int = 128
    walks: int = 20  # that start at each node
    rate: float | None = None  # that of learning; None for the default
    method: str = "reinforce2vec"
    direction: str = "forward"  # in which walks follow the edges of a directed graph


class Setting(NamedTuple):
    """Components side by side, each times its factor; then every row has a length."""

    rank: int  # the lower, the sooner it is run
    components: tuple[Component, ...]
    factors: tuple[float, ...] = (1.0, 1.0, 1.0)
    smooth: bool = True  # if not, the vectors of the only component as they are
    mu: float = 0.2  # of the filter
    length: float = 1.0
    scale_only: bool = False  # differs from another in length: only C = 1 on nodes depends on it


def scales(windows: str, split: str, rank: int = 1, **changes: object) -> Setting:
    """Return a setting with several windows, such as scales("1+10", "32/96").

    Factors and rates are those of the model: a component weighs as much as its dimensions, and a
    narrow window has up to twice the rate of the widest. `narrow` is another factor of that rate.
    """
    walks = changes.pop("walks", 20)
    rate = changes.pop("rate", None) or usual_rate(LENGTH * walks)
    narrow = changes.pop("narrow", None)
    direction = changes.pop("direction", "forward")
    reaches = [int(window) for window in windows.split("+")]
    sizes = [int(size) for size in split.split("/")]
    parts = []
    for window, size in zip(reaches, sizes, strict=True):
        factor = narrow_rate(window, reaches[-1]) if narrow is None else narrow
        own = rate * (factor if window < reaches[-1] else 1.0)
        parts.append(Component(window, size, walks, own, direction=direction))
    changes.setdefault("factors", tuple(np.sqrt(sizes).tolist()))
    return Setting(rank, tuple(parts), **changes)


def single(rank: int = 1, **changes: object) -> Setting:
    """Return a setting with one component."""
    own = {name: changes.pop(name) for name in Component._fields if name in changes}
    return Setting(rank, (Component(**own),), **changes)


LENGTH = 40  # nodes in a walk
OTHERS = {"netmf": r2v.NetMF, "line": r2v.LINE, "prone": r2v.ProNE, "hope": r2v.HOPE}
OTHERS["grarep"] = r2v.GraRep
FOR_DIRECTED = ("both ways*", "*R160", "HOPE*")  # settings that are run on directed graphs only
SETTINGS: dict[str, Setting] = {
    # what was the default, and what may become it
    "1+10, 32/96": scales("1+10", "32/96", 0),
    "raw 10, R20": single(0, smooth=False),
    "1+20, 32/96": scales("1+20", "32/96", 0),
    "1+10, 32/96, R10": scales("1+10", "32/96", 0, walks=10),
    "raw 10, R80": single(1, walks=80, smooth=False),
    "raw 10, d64, R80": single(1, dimensions=64, walks=80, smooth=False),
    "smooth 10": single(1),
    "smooth 10, R80": single(1, walks=80),
    "1+10, 16/48": scales("1+10", "16/48"),
    "1+10, 64/64": scales("1+10", "64/64"),
    # windows
    "1+5, 32/96": scales("1+5", "32/96"),
    "1+3, 64/64": scales("1+3", "64/64"),
    "2+10, 32/96": scales("2+10", "32/96"),
    "1+15, 32/96": scales("1+15", "32/96"),
    "1+5+20, 16/16/96": scales("1+5+20", "16/16/96"),
    "smooth 1": single(2, window=1),
    "smooth 5": single(2, window=5),
    # walks
    "1+10, 32/96, R5": scales("1+10", "32/96", walks=5),
    "1+10, 32/96, R40": scales("1+10", "32/96", walks=40),
    "1+10, 32/96, R80": scales("1+10", "32/96", walks=80),
    "1+20, 32/96, R80": scales("1+20", "32/96", walks=80),
    "1+20, 32/96, R80, rate 0.05": scales("1+20", "32/96", walks=80, rate=0.05),
    # learning rates, with 20 walks (whose default is 0.05)
    "1+10, 32/96, rate 0.025": scales("1+10", "32/96", rate=0.025),
    "1+10, 32/96, rate 0.1": scales("1+10", "32/96", rate=0.1, narrow=1.0),
    "1+10, 32/96, equal rates": scales("1+10", "32/96", narrow=1.0),
    "raw 10, R20, rate 0.025": single(2, smooth=False, rate=0.025),
    # factors of the components, and lengths of the rows
    "1+10, 32/96, equal factors": scales("1+10", "32/96", factors=(1.0, 1.0)),
    "1+10, 32/96, length 1.5": scales("1+10", "32/96", length=1.5, scale_only=True),
    "1+10, 32/96, length 2": scales("1+10", "32/96", length=2.0, scale_only=True),
    # the filter
    "1+10, 32/96, mu 0": scales("1+10", "32/96", mu=0.0),
    # directed graphs only: edges followed both ways, and more of the short walks that follow them
    "both ways, 1+10, 32/96": scales("1+10", "32/96", direction="both"),
    "both ways, raw 10, R20": single(smooth=False, direction="both"),
    "both ways, raw 10, R20, rate 0.025": single(smooth=False, direction="both", rate=0.025),
    "1+10, 32/96, R160": scales("1+10", "32/96", walks=160, rate=0.05),
    # other methods
    "DeepWalk, raw": single(2, method="deepwalk", walks=80, smooth=False),
    "DeepWalk, smooth": single(2, method="deepwalk", walks=80),
    "ProNE": single(2, method="prone", smooth=False),
}
for method in ("NetMF", "LINE", "GraRep", "HOPE"):
    for title, smooth in (("raw", False), ("smooth", True)):
        SETTINGS[f"{method}, {title}"] = single(3, method=method.lower(), smooth=smooth)

SHARES = (0.1, 0.5)  # of the labelled nodes that train
SHARES_OF = {"dblp": (0.05, 0.5)}
HELD_OUT = {"grid": 0.2, "wordnet": 0.2, "power": 0.2}  # 0.5 elsewhere: fewer can be spared there
MOST_PAIRS = 50_000  # edges, and as many non-edges, that are scored
OPERATORS = ("hadamard", "l2")


# -- training ------------------------------------------------------------------------------------


@dataclass
class Trained:
    """Components trained on one graph with one seed, and their seconds."""

    graph: r2v.Graph
    seed: int
    backend: str
    per_node: float = 1.0  # factor of the number of walks, for tests
    kept: dict = field(default_factory=dict)

    def raw(self, component: Component) -> tuple[np.ndarray, float]:
        if component not in self.kept:
            model = self._model(component)
            times, vectors = timed(lambda: model.fit_transform(self.graph))
            self.kept[component] = np.asarray(vectors), times["seconds"]
        return self.kept[component]

    def smoothed(self, component: Component, mu: float) -> tuple[np.ndarray, float]:
        if (component, mu) not in self.kept:
            vectors, _ = self.raw(component)
            times, smoothed = timed(
                lambda: r2v.smooth(vectors, self.graph, mu=mu, backend=self.backend)
            )
            self.kept[component, mu] = smoothed, times["seconds"]
        return self.kept[component, mu]

    def vectors(self, setting: Setting) -> tuple[np.ndarray, dict[str, float]]:
        """Return the vectors of a setting, and the seconds of training and of smoothing."""
        trained = [self.raw(component) for component in setting.components]
        seconds = {"train_s": sum(spent for _, spent in trained), "smooth_s": 0.0}
        if not setting.smooth:
            return trained[0][0], seconds
        parts = [self.smoothed(component, setting.mu) for component in setting.components]
        seconds["smooth_s"] = sum(spent for _, spent in parts)
        factors = setting.factors[: len(parts)]
        scale = setting.length / np.sqrt(sum(factor**2 for factor in factors))
        pairs = zip(parts, factors, strict=True)
        rows = [np.float32(scale * factor) * vectors for (vectors, _), factor in pairs]
        return np.hstack(rows), seconds

    def _model(self, component: Component) -> r2v.Reinforce2Vec | r2v.NetMF | r2v.LINE | r2v.ProNE:
        size = component.dimensions
        if component.method in OTHERS:
            return OTHERS[component.method](size, seed=self.seed)
        return r2v.Reinforce2Vec(
            size,
            r2v.FirstOrderWalk() if component.method == "deepwalk" else None,
            window=component.window,
            walks_per_node=max(1, round(self.per_node * component.walks)),
            learning_rate=component.rate,
            smooth=False,
            seed=self.seed,
            backend=self.backend,
            direction=component.direction,
        )


# -- scoring -------------------------------------------------------------------------------------


class Options(NamedTuple):
    """What to score, and where."""

    backend: str = "cuda"
    parts: tuple[str, ...] = ("validation", "test")
    tasks: tuple[str, ...] = ("nodes", "links")
    rates: tuple[float | str, ...] = (1.0, "validation")
    shuffles: int = 2
    per_node: float = 1.0


class Case:
    """One graph and seed: trained components, and the tasks they are scored on."""

    def __init__(self, name: str, made: Made, seed: int, options: Options) -> None:
        self.name, self.seed, self.options = name, seed, options
        self.graph, labels = made
        self.labelled = self.labels = None
        if labels is not None:
            self.labelled = np.flatnonzero(labels.any(axis=1))
            self.labels = np.ascontiguousarray(labels[self.labelled])
        self.whole = Trained(self.graph, seed, options.backend, options.per_node)

    @cached_property
    def rest(self) -> tuple[EdgeSplit, Trained]:
        """The split for link prediction, and what is trained on the remaining graph."""
        of_split, _ = split_seeds(self.seed)
        whole = r2v.hold_out_edges(self.graph, HELD_OUT.get(self.name, 0.5), of_split)
        drawn = np.random.default_rng(of_split)
        fewer = [
            pairs[np.sort(drawn.permutation(len(pairs))[:MOST_PAIRS])]
            for pairs in (whole.edges, whole.non_edges)
        ]
        split = EdgeSplit(whole.graph, *fewer)
        options = self.options
        return split, Trained(split.graph, of_split, options.backend, options.per_node)

    def scores(self, setting: Setting, task: str) -> Iterator[dict]:
        """Yield every score of a setting, as a line of the output without what identifies it."""
        yield from self._nodes(setting) if task == "nodes" else self._links(setting)

    def _nodes(self, setting: Setting) -> Iterator[dict]:
        vectors, seconds = self.whole.vectors(setting)
        rows, shares = vectors[self.labelled], SHARES_OF.get(self.name, SHARES)
        rates = (1.0,) if setting.scale_only else self.options.rates
        for share, shuffle, part, c in product(
            shares, range(self.options.shuffles), self.options.parts, rates
        ):
            how = {"train": share, "seed": shuffle_seed(self.seed, shuffle), "part": part, "c": c}
            how["backend"] = self.options.backend
            times, scores = timed(lambda how=how: r2v.classify_nodes(rows, self.labels, **how))
            chosen = {"chosen_c": scores.pop("c")} if "c" in scores else {}
            facts = {"share": share, "shuffle": shuffle, "part": part, "c": c}
            yield facts | scores | chosen | {"score_s": times["seconds"]} | seconds

    def _links(self, setting: Setting) -> Iterator[dict]:
        split, trained = self.rest
        vectors, seconds = trained.vectors(setting)
        how = {"seed": self.seed, "operators": OPERATORS, "backend": self.options.backend}
        for part in self.options.parts:
            times, scores = timed(
                lambda part=part: r2v.score_links(vectors, split, part=part, **how)
            )
            spent = {"score_s": times["seconds"] / len(OPERATORS)} | seconds
            for operator, metrics in scores.items():
                yield {"operator": operator, "part": part, "c": 1.0} | metrics | spent


# -- running -------------------------------------------------------------------------------------

Key = tuple[str, str, int, str]  # graph, setting, seed, task


def planned(
    names: list[str], settings: dict[str, Setting], seeds: list[int], options: Options
) -> list[Key]:
    """Return what to run, the important first; on the largest graph nothing else, with one seed."""

    def is_run(title: str, setting: Setting, name: str, seed: int, task: str) -> bool:
        if name not in DIRECTED and any(fnmatch(title, pattern) for pattern in FOR_DIRECTED):
            return False
        small = name != PLANTED or (setting.rank == 0 and seed == seeds[0])
        return small and not (setting.scale_only and task == "links")

    def order(key: Key) -> tuple[float, int]:
        name, title, seed, _ = key
        return settings[title].rank + 0.5 * (name == PLANTED), seeds.index(seed)

    keys = [
        (name, title, seed, task)
        for name in names
        for title, setting in settings.items()
        for seed in seeds
        for task in options.tasks
        if is_run(title, setting, name, seed, task)
    ]
    return sorted(keys, key=order)


class Study:
    """Runs what is planned and appends every score to a file."""

    def __init__(self, out: Path, study: Path, data: Path | None, options: Options) -> None:
        self.out, self.study, self.data, self.options = out, study, data, options
        self._graphs: dict[str, Made] = {}
        self._cases: dict[tuple[str, int], Case] = {}

    def run(self, keys: list[Key], settings: dict[str, Setting], until: float) -> int:
        """Run until the time is over; return how many are left."""
        for place, (name, title, seed, task) in enumerate(keys):
            if time.time() > until:
                return len(keys) - place
            begin = time.perf_counter()
            case = self._case(name, seed)
            if task == "nodes" and case.labels is None:
                continue
            who = {"graph": name, "setting": title, "seed": seed, "task": task}
            try:
                rows, outcome = list(case.scores(settings[title], task)), ""
            except r2v.InputError as error:  # training that diverged, or too little memory
                rows, outcome = [{"error": str(error)}], f"; {error}"
            append(self.out, [who | row for row in rows])
            spent = time.perf_counter() - begin
            print(f"{name}, {title}, seed {seed}, {task}: {spent:.2f} s{outcome}", flush=True)
        return 0

    def _case(self, name: str, seed: int) -> Case:
        if name not in self._graphs:
            self._graphs[name] = load(name, self.study, self.data)
        if (name, seed) not in self._cases:
            self._cases[name, seed] = Case(name, self._graphs[name], seed, self.options)
        return self._cases[name, seed]


def append(path: Path, rows: list[dict]) -> None:
    """Append lines in one call, so that those of several processes do not mix."""
    text = "".join(json.dumps(row) + "\n" for row in rows)
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        os.write(handle, text.encode())
    finally:
        os.close(handle)


def shares_of_work(keys: list[Key], processes: int) -> list[list[Key]]:
    """Split the work; a graph and seed belong to one process, which keeps their components."""
    cases = list(dict.fromkeys((name, seed) for name, _, seed, _ in keys))
    owner = {case: place % processes for place, case in enumerate(cases)}
    shares = [[key for key in keys if owner[key[0], key[2]] == one] for one in range(processes)]
    return [share for share in shares if share]


def work(arguments: tuple) -> int:
    """Run a share of the work in a process of its own."""
    paths, options, keys, settings, until = arguments
    return Study(*paths, options).run(keys, settings, until)


def warm_up(options: Options) -> None:
    """Compile everything before it is timed, and before several processes would do so at once."""
    data = r2v.planted_groups(70, 7, degree=4.0)
    small = options._replace(per_node=0.05, shuffles=1)
    case = Case("warm-up", (data.graph, data.labels), 0, small)
    for title in ("raw 10, R80", "1+10, 32/96", "1+10, 16/48"):
        for task in options.tasks:
            list(case.scores(SETTINGS[title], task))


def run(arguments: argparse.Namespace) -> None:
    until = time.time() + arguments.seconds
    options = Options(
        arguments.backend,
        tuple(arguments.parts.split(",")),
        tuple(arguments.tasks.split(",")),
        tuple(c if c == "validation" else float(c) for c in arguments.c.split(",")),
        arguments.shuffles,
        arguments.walks_factor,
    )
    names = list(NAMES) if arguments.graphs is None else arguments.graphs.split(",")
    unknown = [name for name in names if name not in NAMES]
    patterns = [pattern.strip() for pattern in arguments.settings.split(";")]
    settings = {
        title: replace_dimensions(setting, arguments.dimensions_factor)
        for title, setting in SETTINGS.items()
        if any(fnmatch(title, pattern) for pattern in patterns)
    }
    if unknown or not settings:
        sys.exit(f"no such graph or setting: {', '.join(unknown) or arguments.settings}")
    seeds = [int(seed) for seed in arguments.seeds.split(",")]
    keys = planned(names, settings, seeds, options)
    done = {key_of(row) for path in arguments.done for row in read_rows(path)}
    keys = [key for key in keys if key not in done]
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    machine = describe() | {"options": options._asdict(), "gpu": None}
    if options.backend == "cuda":
        machine["gpu"] = describe_gpu()["name"]
    append(arguments.out, [{"machine": machine}])
    begin = time.perf_counter()
    if options.backend == "cuda" and keys:
        warm_up(options)
    print(f"{len(keys)} to run; warm after {time.perf_counter() - begin:.1f} s", flush=True)
    paths = arguments.out, arguments.study, arguments.data
    shares = shares_of_work(keys, arguments.processes)
    jobs = [(paths, options, share, settings, until) for share in shares]
    if len(jobs) <= 1:
        left = [work(job) for job in jobs]
    else:
        with multiprocessing.get_context("spawn").Pool(len(jobs)) as pool:
            left = pool.map(work, jobs)
    print(f"{sum(left)} of {len(keys)} left; {time.perf_counter() - begin:.1f} s", flush=True)


def replace_dimensions(setting: Setting, factor: float) -> Setting:
    """Return a setting with fewer dimensions, for a quick trial."""
    parts = tuple(
        part._replace(dimensions=max(2, round(factor * part.dimensions)))
        for part in setting.components
    )
    return setting._replace(components=parts)


def read_rows(path: Path) -> list[dict]:
    """Return the scores of a file; the last line may be cut off."""
    rows = []
    for line in path.read_text().splitlines():
        try:
            row = json.loads(line)
        except json.JSONDecodeError:
            continue
        if "graph" in row:
            rows.append(row)
    return rows


def key_of(row: dict) -> Key:
    return row["graph"], row["setting"], row["seed"], row["task"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    add = commands.add_parser("run", help="train and score").add_argument
    add("--study", type=Path, required=True, help="folder of graphs.py")
    add("--data", type=Path, help="folder of the paper's files")
    add("--out", type=Path, required=True, help="file of scores to append to")
    add("--done", type=Path, nargs="*", default=[], help="scores not to repeat")
    add("--graphs", help="some of " + ",".join(NAMES))
    add("--settings", default="*", help="patterns of names, separated by ;")
    add("--seeds", default="0,1,2")
    add("--parts", default="validation,test")
    add("--tasks", default="nodes,links")
    add("--c", default="1,validation", help="of node classification")
    add("--shuffles", type=int, default=2, help="of the labelled nodes")
    add("--seconds", type=float, default=540.0, help="start nothing after that")
    add("--processes", type=int, default=1, help="at a time, on the same GPU")
    add("--backend", default="cuda", choices=("cpu", "cuda"))
    add("--walks-factor", type=float, default=1.0, help="for a quick trial")
    add("--dimensions-factor", type=float, default=1.0, help="for a quick trial")
    add = commands.add_parser("report", help="print tables of what was scored").add_argument
    add("files", type=Path, nargs="+")
    add("--part", default="validation,test")
    arguments = parser.parse_args()
    if arguments.command == "run":
        run(arguments)
    else:
        rows = [row for path in arguments.files for row in read_rows(path)]
        print(report(rows, arguments.part.split(","), list(NAMES), list(SETTINGS)))


if __name__ == "__main__":
    main()

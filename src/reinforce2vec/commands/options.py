"""Options that several commands share: which graph, which walk."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import InputError

if TYPE_CHECKING:
    from ..graph import Graph
    from ..model import Reinforce2Vec
    from ..walks.policy import Walk

# Which options each kind of walk understands.
OPTIONS_OF = {
    "reinforced": (
        *("reading", "reward", "exploration", "weight"),
        *("annealing", "occupation", "candidates", "temperature", "attraction"),
    ),
    "first-order": (),
    "second-order": ("p", "q"),
}
WALK_OPTIONS = tuple(name for names in OPTIONS_OF.values() for name in names)
LEARNING_OPTIONS = (
    *("dimensions", "walk_length", "walks_per_node", "window", "negatives", "epochs"),
    *("learning_rate", "subsample", "smooth", "workers", "backend"),
)
GRAPH_OPTIONS = ("directed", "weighted", "self_loops", "format", "delimiter", "header", "key")

GRAPH_HELP = (
    "The graph: an edge list (.txt .tsv .csv .edgelist .edges), .mtx or .graphml, all of them "
    "also with .gz; or .mat, .npz, .parquet."
)


def _choice(help: str, *choices: str, names: tuple[str, ...] = ()) -> Any:
    return typer.Option(*names, metavar="|".join(choices), help=help)


Seed = Annotated[
    int,
    typer.Option(
        metavar="N",
        min=0,
        help="One seed, one result: walks with any number of workers, vectors to the last bit "
        "with one.",
    ),
]
Workers = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, help="Threads. Default: one for each processor."),
]
Backend = Annotated[
    str,
    _choice(
        "Where to work: on the processor, or on a graphics card (needs CuPy: pip install "
        "'reinforce2vec[cuda]'). auto takes the card if there is one and the work is large enough, "
        "unless --workers is given.",
        *("auto", "cpu", "cuda"),
    ),
]
Kind = Annotated[
    str,
    _choice(
        "What the next node depends on: the whole path, nothing (DeepWalk), or the step "
        "before (node2vec).",
        *OPTIONS_OF,
        names=("--walk",),
    ),
]
Reading = Annotated[
    str | None,
    _choice(
        "Reinforced: the paper's equations as printed, which stray far on large graphs, or "
        "the authors' code that made its tables, which returns more. Single options below "
        "override it. Default: paper.",
        *("paper", "released"),
    ),
]
Reward = Annotated[
    str | None,
    _choice(
        "Reinforced: prefer the node that moves the path's occupation vector least, by "
        "Jensen-Shannon or Kullback-Leibler divergence, or the most visited one. Default: js.",
        *("js", "kl", "vertex"),
    ),
]
Exploration = Annotated[
    str | None,
    _choice(
        "Reinforced: what keeps it from getting stuck: a bonus for nodes seen rarely, random "
        "steps, or nothing. Default: ucb.",
        *("ucb", "epsilon", "none"),
    ),
]
Weight = Annotated[
    float | None,
    typer.Option(
        help="Reinforced: how strongly to explore. Default: 1 for ucb (released: 0.01), 0.5 "
        "for epsilon."
    ),
]
Annealing = Annotated[
    str | None,
    _choice(
        "Reinforced: how --weight falls along the walk, so that it settles. Default: constant.",
        *("constant", "linear", "exponential"),
    ),
]
Occupation = Annotated[
    str | None,
    _choice(
        "Reinforced: count visits over the whole graph or over the path alone. Default: graph "
        "(released: path).",
        *("graph", "path"),
    ),
]
Candidates = Annotated[
    int | None,
    typer.Option(
        help="Reinforced: weigh at most this many unvisited neighbours, drawn at random; the "
        "fewer, the more the walk returns. Default: all (released: 10, but all for vertex)."
    ),
]
Temperature = Annotated[
    float | None,
    typer.Option(
        help="Reinforced: divides the scores; low is greedy, high is uniform. Default: 1."
    ),
]
Attraction = Annotated[
    float | None,
    typer.Option(
        help="Reinforced: how many times as much a visited neighbour weighs; above 1 the path "
        "attracts the walk, below 1 it repels it. Default: 1."
    ),
]
P = Annotated[
    float | None,
    typer.Option("--p", help="Second-order: the smaller, the more it turns back. Default: 1."),
]
Q = Annotated[
    float | None,
    typer.Option("--q", help="Second-order: the smaller, the farther it strays. Default: 1."),
]
Directed = Annotated[
    bool | None,
    typer.Option(
        "--directed/--undirected",
        help="Whether walks follow edges in their direction only. Default: what the file says, "
        "else undirected.",
    ),
]
Weighted = Annotated[
    bool | None,
    typer.Option(
        "--weighted/--unweighted",
        help="Whether edges have weights: one of weight 2 is followed twice as readily as one "
        "of weight 1. Default: look.",
    ),
]
SelfLoops = Annotated[bool, typer.Option("--self-loops", help="Keep edges from a node to itself.")]
Format = Annotated[
    str | None,
    typer.Option(help="Suffix to read the graph by, such as txt.gz, instead of its own."),
]
Delimiter = Annotated[
    str | None,
    typer.Option(help="What separates the fields of an edge list; \\t is a tab. Default: look."),
]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        help="Whether an edge list begins with the names of its columns. Default: look.",
    ),
]
Key = Annotated[str, typer.Option(help="Variable of a .mat file that holds the adjacency matrix.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Say nothing unless it fails.")]


def chosen_walk(kind: str, **options: Any) -> Walk:
    """The walk that the options describe; those left at None keep their defaults."""
    if kind not in OPTIONS_OF:
        raise InputError(f"--walk must be one of {', '.join(OPTIONS_OF)}, not {kind!r}")
    given = {name: value for name, value in options.items() if value is not None}
    for name in given:
        if name not in OPTIONS_OF[kind]:
            owner = next(other for other, names in OPTIONS_OF.items() if name in names)
            raise InputError(f"--{name} is for --walk {owner} and says nothing to --walk {kind}")
    from ..walks.policy import FirstOrderWalk, ReinforcedWalk, SecondOrderWalk

    walk: Walk
    if kind == "first-order":
        walk = FirstOrderWalk()
    elif kind == "second-order":
        walk = SecondOrderWalk(**given)
    else:
        presets = {"paper": ReinforcedWalk.paper, "released": ReinforcedWalk.released}
        name = given.pop("reading", "paper")
        if name not in presets:
            raise InputError(f"--reading must be one of {', '.join(presets)}, not {name!r}")
        walk = presets[name](**given)
    walk.check()
    return walk


def walk_from(given: Mapping[str, Any]) -> Walk:
    """The walk that a command's options describe."""
    return chosen_walk(given["kind"], **{name: given[name] for name in WALK_OPTIONS})


def model_from(given: Mapping[str, Any]) -> Reinforce2Vec:
    """The model that a command's options describe, checked."""
    walk = walk_from(given)
    from ..model import Reinforce2Vec

    learning = {name: given[name] for name in LEARNING_OPTIONS}
    model = Reinforce2Vec(walk=walk, seed=given.get("seed", 0), **learning)
    model.check()
    return model


def read_graph_from(path: Path, given: Mapping[str, Any]) -> Graph:
    """The graph in a file, read as a command's options say."""
    from ..readers import read_graph

    chosen = {name: given[name] for name in GRAPH_OPTIONS}
    if chosen["delimiter"] is not None:
        chosen["delimiter"] = chosen["delimiter"].replace("\\t", "\t")
    return read_graph(path, **chosen)


def borrowed(
    other: Callable[..., None], names: Iterable[str]
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command some options of another one, which it finds in its context's parameters."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        own = inspect.signature(command, eval_str=True)
        theirs = inspect.signature(other, eval_str=True).parameters
        more = [theirs[name].replace(kind=inspect.Parameter.KEYWORD_ONLY) for name in names]

        @wraps(command)
        def run(**given: Any) -> None:
            command(**{name: given[name] for name in own.parameters})

        run.__signature__ = own.replace(  # type: ignore[attr-defined]
            parameters=[*own.parameters.values(), *more]
        )
        return run

    return decorate


def check_unused(
    context: typer.Context, names: Iterable[str], purpose: str, instead: object
) -> None:
    """Refuse options that were given and say nothing where what they are for is there already."""
    for name in names:
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            flag = "walk" if name == "kind" else name.replace("_", "-")
            raise InputError(f"--{flag} is for {purpose} and says nothing to {instead}")

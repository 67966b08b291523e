"""Options that several commands share: which graph, which walk, how to run."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .._util.errors import InputError

if TYPE_CHECKING:
    from ..graph import Graph
    from ..models import Reinforce2Vec
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

# The groups of options in the help.
LEARNING, WALK, READING = "Learning", "The walk", "Reading the graph"
RUNNING, OUTPUT = "Running", "Output"


def choice(help: str, *choices: str, group: str, names: tuple[str, ...] = ()) -> Any:
    """An option that is one of several words."""
    return typer.Option(
        *names,
        metavar="|".join(choices),
        help=help,
        rich_help_panel=group,
        autocompletion=lambda: list(choices),
    )


Seed = Annotated[
    int,
    typer.Option(
        metavar="N",
        min=0,
        help="One seed, one result: walks with any number of workers, vectors to the last bit "
        "with one.",
        rich_help_panel=RUNNING,
    ),
]
Workers = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        min=1,
        help="Threads. Default: one for each processor.",
        rich_help_panel=RUNNING,
    ),
]
Backend = Annotated[
    str,
    choice(
        "Where to work: on the processor, or on a graphics card (needs CuPy: pip install "
        "'reinforce2vec[cuda]'). auto takes the card if there is one and the work is large enough, "
        "unless --workers is given.",
        *("auto", "cpu", "cuda"),
        group=RUNNING,
    ),
]
Kind = Annotated[
    str,
    choice(
        "What the next node depends on: the whole path, nothing (DeepWalk), or the step "
        "before (node2vec).",
        *OPTIONS_OF,
        group=WALK,
        names=("--walk",),
    ),
]
Reading = Annotated[
    str | None,
    choice(
        "Reinforced: the paper's equations as printed, which stray far on large graphs, or "
        "the authors' code that made its tables, which returns more. Single options below "
        "override it. Default: paper.",
        *("paper", "released"),
        group=WALK,
    ),
]
Reward = Annotated[
    str | None,
    choice(
        "Reinforced: prefer the node that moves the path's occupation vector least, by "
        "Jensen-Shannon or Kullback-Leibler divergence, or the most visited one. Default: js.",
        *("js", "kl", "vertex"),
        group=WALK,
    ),
]
Exploration = Annotated[
    str | None,
    choice(
        "Reinforced: what keeps it from getting stuck: a bonus for nodes seen rarely, random "
        "steps, or nothing. Default: ucb.",
        *("ucb", "epsilon", "none"),
        group=WALK,
    ),
]
Weight = Annotated[
    float | None,
    typer.Option(
        metavar="NUMBER",
        help="Reinforced: how strongly to explore. Default: 1 for ucb (released: 0.01), 0.5 "
        "for epsilon.",
        rich_help_panel=WALK,
    ),
]
Annealing = Annotated[
    str | None,
    choice(
        "Reinforced: how --weight falls along the walk, so that it settles. Default: constant.",
        *("constant", "linear", "exponential"),
        group=WALK,
    ),
]
Occupation = Annotated[
    str | None,
    choice(
        "Reinforced: count visits over the whole graph or over the path alone. Default: graph "
        "(released: path).",
        *("graph", "path"),
        group=WALK,
    ),
]
Candidates = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        help="Reinforced: weigh at most this many unvisited neighbours, drawn at random; the "
        "fewer, the more the walk returns. Default: all (released: 10, but all for vertex).",
        rich_help_panel=WALK,
    ),
]
Temperature = Annotated[
    float | None,
    typer.Option(
        metavar="NUMBER",
        help="Reinforced: divides the scores; low is greedy, high is uniform. Default: 1.",
        rich_help_panel=WALK,
    ),
]
Attraction = Annotated[
    float | None,
    typer.Option(
        metavar="NUMBER",
        help="Reinforced: how many times as much a visited neighbour weighs; above 1 the path "
        "attracts the walk, below 1 it repels it. Default: 1.",
        rich_help_panel=WALK,
    ),
]
P = Annotated[
    float | None,
    typer.Option(
        "--p",
        metavar="NUMBER",
        help="Second-order: the smaller, the more it turns back. Default: 1.",
        rich_help_panel=WALK,
    ),
]
Q = Annotated[
    float | None,
    typer.Option(
        "--q",
        metavar="NUMBER",
        help="Second-order: the smaller, the farther it strays. Default: 1.",
        rich_help_panel=WALK,
    ),
]
Directed = Annotated[
    bool | None,
    typer.Option(
        "--directed/--undirected",
        help="Whether walks follow edges in their direction only. Default: what the file says, "
        "else undirected.",
        rich_help_panel=READING,
    ),
]
Weighted = Annotated[
    bool | None,
    typer.Option(
        "--weighted/--unweighted",
        help="Whether edges have weights: one of weight 2 is followed twice as readily as one "
        "of weight 1. Default: look.",
        rich_help_panel=READING,
    ),
]
SelfLoops = Annotated[
    bool,
    typer.Option("--self-loops", help="Keep edges from a node to itself.", rich_help_panel=READING),
]
Format = Annotated[
    str | None,
    typer.Option(
        metavar="SUFFIX",
        help="Suffix to read the graph by, such as txt.gz, instead of its own.",
        rich_help_panel=READING,
    ),
]
Delimiter = Annotated[
    str | None,
    typer.Option(
        metavar="LETTER",
        help="What separates the fields of an edge list; \\t is a tab. Default: look.",
        rich_help_panel=READING,
    ),
]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        help="Whether an edge list begins with the names of its columns. Default: look.",
        rich_help_panel=READING,
    ),
]
Key = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="Variable of a .mat file that holds the adjacency matrix.",
        rich_help_panel=READING,
    ),
]
Quiet = Annotated[
    bool, typer.Option("--quiet", help="Say nothing unless it fails.", rich_help_panel=OUTPUT)
]
Json = Annotated[
    bool,
    typer.Option(
        "--json",
        help="Print one JSON object on stdout, for machines. Errors stay a sentence on stderr and "
        "an exit code.",
        rich_help_panel=OUTPUT,
    ),
]
DataDir = Annotated[
    Path | None,
    typer.Option(
        metavar="FOLDER",
        help="Look for the files of data sets in this folder only. Default: in the folder that "
        "the environment variable REINFORCE2VEC_DATA names, then among those fetched before, then "
        "where they are published.",
        rich_help_panel=READING,
    ),
]


def chosen_walk(kind: str, **options: Any) -> Walk:
    """The walk that the options describe; those left at None keep their defaults."""
    if kind not in OPTIONS_OF:
        raise InputError(
            "--walk must be one of reinforced, first-order (DeepWalk), second-order (node2vec), "
            f"not {kind!r}"
        )
    given = {name: value for name, value in options.items() if value is not None}
    for name in given:
        if name not in OPTIONS_OF[kind]:
            owner = next(other for other, names in OPTIONS_OF.items() if name in names)
            raise InputError(f"--{name} is for --walk {owner} and says nothing to --walk {kind}")
    from .._util.checks import check_choice
    from ..walks import FirstOrderWalk, ReinforcedWalk, SecondOrderWalk

    walk: Walk
    if kind == "first-order":
        walk = FirstOrderWalk()
    elif kind == "second-order":
        walk = SecondOrderWalk(**given)
    else:
        presets = {"paper": ReinforcedWalk.paper, "released": ReinforcedWalk.released}
        name = check_choice("--reading", given.pop("reading", "paper"), presets)
        walk = presets[name](**given)
    walk.check()
    return walk


def walk_from(given: Mapping[str, Any]) -> Walk:
    """The walk that a command's options describe."""
    return chosen_walk(given["kind"], **{name: given[name] for name in WALK_OPTIONS})


def model_from(given: Mapping[str, Any]) -> Reinforce2Vec:
    """The model that a command's options describe, checked."""
    walk = walk_from(given)
    from ..models import Reinforce2Vec

    learning = {name: given[name] for name in LEARNING_OPTIONS}
    model = Reinforce2Vec(walk=walk, seed=given.get("seed", 0), **learning)
    model.check()
    return model


def check_reading(path: Path, given: Mapping[str, Any]) -> None:
    """Refuse a format and a delimiter that no file has."""
    if given["format"] is not None:
        from ..files.graph_readers import format_of

        format_of(path, given["format"])
    if given["delimiter"] is not None:
        from ..files.edge_lists import delimiter_code

        delimiter_code(typed(given["delimiter"]))


def read_graph_from(path: Path, given: Mapping[str, Any]) -> Graph:
    """The graph in a file, read as a command's options say."""
    from ..graph import read_graph

    chosen = {name: given[name] for name in GRAPH_OPTIONS}
    if chosen["delimiter"] is not None:
        chosen["delimiter"] = typed(chosen["delimiter"])
    return read_graph(path, **chosen)


def typed(delimiter: str) -> str:
    """A delimiter as it was meant: a tab is hard to type."""
    return delimiter.replace("\\t", "\t")


# -- for machines ------------------------------------------------------------------------------


def walk_facts(walk: Walk) -> dict[str, Any]:
    """A walk for JSON: its kind, and its parameters by their names in Python."""
    from ..walks import FirstOrderWalk, SecondOrderWalk

    kinds = {FirstOrderWalk: "first-order", SecondOrderWalk: "second-order"}
    return {"kind": kinds.get(type(walk), "reinforced")} | asdict(walk)


def model_facts(model: Reinforce2Vec) -> dict[str, Any]:
    """The settings of a model for JSON, by their names in Python."""
    settings = model.get_params()
    return settings | {"walk": walk_facts(settings["walk"])}


def graph_facts(graph: Graph) -> dict[str, Any]:
    """What JSON tells of a graph."""
    return {
        "nodes": graph.n_nodes,
        "edges": graph.n_edges,
        "directed": graph.directed,
        "weighted": graph.weighted,
    }


# -- who takes which option --------------------------------------------------------------------


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

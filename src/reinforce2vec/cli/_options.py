"""Options that several commands share: which graph, which walk, how to train and to run.

Hyperparameters come from the table in `_util.hyperparameters`. A command takes shared options with
:func:`shared`, and finds them in `context.params`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import typer

from .._util.errors import InputError
from .._util.hyperparameters import (
    DUPLICATES,
    ID_TYPES,
    METHODS,
    PARAMETERS,
    PRESETS,
    READINGS,
    TRAINING,
    WALKS,
)
from ._exit_codes import USAGE, exit_code

# Groups of options in the help, in this order.
OUTPUT, EVALUATION, SEARCH, OWN = "Output", "The evaluation", "The search", "Your own"
MAP, SERVER = "The map", "The server"
LEARNING, WALK, READING, RUNNING = "Training", "The walk", "Reading the graph", "Running"
GROUPS = (OUTPUT, EVALUATION, OWN, SEARCH, MAP, SERVER, LEARNING, WALK, READING, RUNNING)

# Names of options that describe a walk, a model, and how to read a graph, in `context.params`.
OF_WALKS = {PARAMETERS[one].flag or one: one for names in WALKS.values() for one in names}
WALK_OPTIONS = ("kind", "reading", *OF_WALKS)
MODEL_OPTIONS = ("method", "preset", *TRAINING, "workers", "backend", *WALK_OPTIONS)
# What read_graph calls these options, where arguments of commands have the same name.
READING_NAMES = {
    "source_column": "source",
    "target_column": "target",
    "weight_column": "weight",
    "edge_columns": "columns",
    "nodes_file": "nodes",
}
GRAPH_OPTIONS = (
    *("directed", "weighted", "self_loops", "duplicates", "id_type", "format", "delimiter"),
    *("header", "comments", "key", "bipartite", *READING_NAMES),
)

GRAPH_HELP = (
    "The graph: an edge list (.txt .tsv .csv .edgelist .edges), .mtx or .graphml, all of them "
    "also with .gz; or .mat, .npz, .parquet."
)


# -- one option --------------------------------------------------------------------------------


def choice(help: str, *choices: str, group: str, names: tuple[str, ...] = ()) -> Any:
    """Return an option that takes one of several words."""
    return typer.Option(
        *names,
        metavar="|".join(choices),
        help=help,
        rich_help_panel=group,
        autocompletion=lambda: list(choices),
    )


def completed(*names: str) -> Any:
    """Return what makes a shell complete an argument by names, or else by files."""

    def starting(incomplete: str) -> list[str]:
        return [name for name in names if name.startswith(incomplete)]

    return starting


def hyperparameter(
    name: str, group: str, *, names: tuple[str, ...] = (), help: str = "", with_default: bool = True
) -> Any:
    """Return the option for a hyperparameter of the table.

    Parameters
    ----------
    name : str
        Its name in the table.
    group : str
        The group of options in the help.
    names : tuple of str
        What to type, if not the name with dashes.
    help : str
        Instead of the table's.
    with_default : bool
        False for an option that is None if it is not given: the help then names the default.
    """
    one = PARAMETERS[name]
    text = help or one.help
    if one.default is None or not with_default:
        text = f"{text} Default: {one.default_text}."
    if one.choices:
        return choice(text, *one.choices, group=group, names=names or (one.option,))
    own = f"{one.option}/--no-{one.option[2:]}" if one.type is bool else one.option
    return typer.Option(
        *(names or (own,)),
        metavar=one.placeholder or None,
        help=text,
        rich_help_panel=group,
        min=one.least if one.type is int else None,  # the library checks the others
    )


# -- options of many commands ------------------------------------------------------------------

Quiet = Annotated[
    bool, typer.Option("--quiet", help="Print only the result, and errors.", rich_help_panel=OUTPUT)
]
Json = Annotated[
    bool,
    typer.Option(
        "--json",
        help="Print the result as one JSON object on stdout. Errors are still a sentence on stderr "
        "and an exit code.",
        rich_help_panel=OUTPUT,
    ),
]
DataDir = Annotated[
    Path | None,
    typer.Option(
        metavar="FOLDER",
        help="Look for the files of data sets in this folder only. Default: in the folder given "
        "by the environment variable REINFORCE2VEC_DATA, then among earlier downloads; else they "
        "are downloaded.",
        rich_help_panel=READING,
    ),
]

LabelColumn = Annotated[
    str | None,
    typer.Option(
        "--label",
        metavar="COLUMN",
        help="Column of --labels with the labels, by name, or by number from 1; all: every column "
        "but the ids. Default: the only one, or one named label, class, group or category.",
        rich_help_panel=READING,
    ),
]
IdColumn = Annotated[
    str | None,
    typer.Option(
        "--id",
        metavar="COLUMN",
        help="Column with the ids of nodes, by name or by number. Default: one named id, node, "
        "user_id or name that holds nodes, else the first.",
        rich_help_panel=READING,
    ),
]
LABELS_HELP = (
    "Text with a node and its label per line, separated by tabs, commas, semicolons, bars or "
    "spaces; it may have a header, and double quotes around fields."
)

Estimator = Annotated[
    str | None,
    typer.Option(
        metavar="MODULE:CLASS",
        help="A method of your own to compare with: a Python path such as mypackage.models:MyModel "
        "of a class, or of a function that returns a model; the module may be in the current "
        "folder. The model has a method fit_transform(graph) that returns a matrix, a row for each "
        "node in the order of graph.ids. It gets dimensions and seed if it has parameters of these "
        "names.",
        rich_help_panel=OWN,
    ),
]


# -- options of walks, models and graphs ---------------------------------------------------------

_Kind = Annotated[
    str,
    choice(
        "What the next node depends on: the whole path, the current node (DeepWalk), or the "
        "last two nodes (node2vec).",
        *WALKS,
        group=WALK,
        names=("--walk",),
    ),
]
_Reading = Annotated[
    str | None,
    choice(
        "Reinforced: a preset. paper: the equations as printed; walks go far on large graphs. "
        "released: the authors' code, which produced the paper's tables; walks return more often. "
        "The options below override it. Default: paper.",
        *READINGS,
        group=WALK,
    ),
]
_Directed = Annotated[
    bool | None,
    typer.Option(
        "--directed/--undirected",
        help="Whether walks follow edges in their direction only. Default: what the file says, "
        "else undirected.",
        rich_help_panel=READING,
    ),
]
_Weighted = Annotated[
    bool | None,
    typer.Option(
        "--weighted/--unweighted",
        help="Whether edges have weights: one of weight 2 is followed twice as often as one "
        "of weight 1. Default: detected.",
        rich_help_panel=READING,
    ),
]
_SelfLoops = Annotated[
    bool,
    typer.Option("--self-loops", help="Keep edges from a node to itself.", rich_help_panel=READING),
]
_Duplicates = Annotated[
    str,
    choice(
        "What to do with edges that repeat another: make one edge of them, with the sum of their "
        "weights, or refuse the graph.",
        *DUPLICATES,
        group=READING,
    ),
]
_IdType = Annotated[
    str | None,
    choice(
        "What ids become: int refuses those that are no integers, str keeps numbers as text. "
        "Default: integers if all of them are.",
        *ID_TYPES,
        group=READING,
    ),
]
_Format = Annotated[
    str | None,
    typer.Option(
        metavar="SUFFIX",
        help="Format of the graph, such as txt.gz. Default: the suffix of the file.",
        rich_help_panel=READING,
    ),
]
_Delimiter = Annotated[
    str | None,
    typer.Option(
        metavar="CHARACTER",
        help="What separates the fields of an edge list or of walks; \\t is a tab. Default: "
        "detected.",
        rich_help_panel=READING,
    ),
]
_Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        help="Whether an edge list begins with the names of its columns. Default: detected.",
        rich_help_panel=READING,
    ),
]
_Comments = Annotated[
    str | None,
    typer.Option(
        metavar="CHARACTER",
        help="What begins comments in an edge list, anywhere; '' for no comments. Default: # or %, "
        "before the first line of data.",
        rich_help_panel=READING,
    ),
]
_Bipartite = Annotated[
    bool | None,
    typer.Option(
        "--bipartite/--no-bipartite",
        help="Sources and targets are nodes of two kinds: 7 in the columns user and item becomes "
        "user:7 and item:7.",
        rich_help_panel=READING,
    ),
]


def _column(flag: str, help: str) -> Any:
    """Return the option that names a column."""
    return Annotated[
        str | None,
        typer.Option(flag, metavar="COLUMN", help=help, rich_help_panel=READING),
    ]


_EdgeColumns = Annotated[
    str | None,
    typer.Option(
        "--columns",
        metavar="SOURCE,TARGET[,WEIGHT]",
        help="Columns of an edge list or Parquet file with the two nodes of each edge and perhaps "
        "its weight, by name, or by number from 1: src,dst,weight or 1,2,3. No others are read. "
        "Default: known names such as source or src, else the first two; see --weight.",
        rich_help_panel=READING,
    ),
]
_Source = _column(
    "--source",
    "Column of an edge list or Parquet file with the first node of each edge, by name, or by "
    "number from 1. Default: known names such as source or src, else the first.",
)
_Target = _column(
    "--target",
    "Column with the second node of each edge. Default: known names such as target or dst, else "
    "the second.",
)
_WeightColumn = _column(
    "--weight",
    "Column with the weights of edges. Default: weight; without a header the third of three.",
)
_Nodes = Annotated[
    Path | None,
    typer.Option(
        "--nodes",
        metavar="FILE",
        help="All nodes, or those without edges: an id per line, or in the first column. They come "
        "first, in this order.",
        rich_help_panel=READING,
    ),
]
_Key = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="Variable of a .mat file that holds the adjacency matrix.",
        rich_help_panel=READING,
    ),
]


_Address = Annotated[
    str | None,
    typer.Option(
        metavar="auto|HOST:PORT",
        help="The cluster to use with --backend ray; auto: one that runs on this machine. Default: "
        "that of the environment variable RAY_ADDRESS, else processes are started on this machine.",
        rich_help_panel=RUNNING,
    ),
]


def _apply_preset(context: typer.Context, name: str | None) -> str | None:
    """Make the settings of a preset the defaults of all other options."""
    preset = PRESETS.get(name or "", {})  # `model_from` refuses what is none
    given = {key: PARAMETERS[key].spelled(value) for key, value in preset.items()}
    context.default_map = {**(context.default_map or {}), **given}
    return name


def _apply_method(context: typer.Context, name: str) -> str:
    """Make what a method sets the defaults of other options; a preset counts more."""
    given = dict(METHODS.get(name, {}))  # `model_from` refuses what is none
    for key in given.keys() & PARAMETERS.keys():
        given[key] = PARAMETERS[key].spelled(given[key])
    context.default_map = {**given, **(context.default_map or {})}
    return name


_Method = Annotated[
    str,
    typer.Option(
        metavar="NAME",  # all of them are too long for a line
        help=f"How vectors are made: {', '.join(METHODS)}. deepwalk and node2vec are walks of "
        "their kind with window 10, not smoothed. Of the options below, those after them have "
        "dimensions, seed and smoothing; netmf also window and negatives; line also negatives, "
        "learning rate and workers.",
        rich_help_panel=LEARNING,
        autocompletion=lambda: list(METHODS),
        callback=_apply_method,
        is_eager=True,
    ),
]
_Preset = Annotated[
    str | None,
    typer.Option(
        metavar="|".join(PRESETS),
        help="Settings with a name, which the options below override. fast: 10 walks per node. "
        "best: 80 walks per node and windows 1,20, several times as slow as the default. paper: "
        "64 dimensions, 80 walks per node, window 10, not smoothed.",
        rich_help_panel=LEARNING,
        autocompletion=lambda: list(PRESETS),
        callback=_apply_preset,
        is_eager=True,
    ),
]


def _of_table() -> Iterator[inspect.Parameter]:
    """Yield the options for hyperparameters; those of walks are None unless they are given."""
    names = {"dimensions": ("--dimensions", "-d")}
    for name, one in PARAMETERS.items():
        of_walk = name in OF_WALKS.values()
        group = WALK if of_walk else LEARNING if name in TRAINING else RUNNING
        info = hyperparameter(name, group, names=names.get(name, ()), with_default=not of_walk)
        default = None if of_walk else one.default
        kind: Any = one.type if default is not None else one.type | None
        if one.type is tuple:
            kind, default = str, one.spelled(one.default)
        yield _option(one.flag or name, Annotated[kind, info], default)


def _option(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation
    )


_SHARED = {
    one.name: one
    for one in (
        _option("method", _Method, "reinforce2vec"),
        _option("preset", _Preset, None),
        _option("kind", _Kind, "reinforced"),
        _option("reading", _Reading, None),
        *_of_table(),
        _option("address", _Address, None),
        _option("directed", _Directed, None),
        _option("weighted", _Weighted, None),
        _option("self_loops", _SelfLoops, False),
        _option("duplicates", _Duplicates, "merge"),
        _option("id_type", _IdType, None),
        _option("format", _Format, None),
        _option("delimiter", _Delimiter, None),
        _option("header", _Header, None),
        _option("comments", _Comments, None),
        _option("key", _Key, "network"),
        _option("bipartite", _Bipartite, None),
        _option("edge_columns", _EdgeColumns, None),
        _option("source_column", _Source, None),
        _option("target_column", _Target, None),
        _option("weight_column", _WeightColumn, None),
        _option("nodes_file", _Nodes, None),
    )
}


def shared(*names: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command shared options, which it finds in its context's parameters.

    A command that takes `backend` also has `address`, and one connection to Ray for all its work.
    """
    all_names = (*names, "address") if "backend" in names else names

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        own = inspect.signature(command, eval_str=True)

        @wraps(command)
        def run(**given: Any) -> None:
            with _cluster_of(given):
                command(**{name: given[name] for name in own.parameters})

        run.__signature__ = own.replace(  # type: ignore[attr-defined]
            parameters=[*own.parameters.values(), *(_SHARED[name] for name in all_names)]
        )
        return run

    return decorate


def _cluster_of(given: Mapping[str, Any]) -> AbstractContextManager[None]:
    """Return what keeps the connection to the cluster that a command's options name."""
    if given.get("address") is not None and given["backend"] != "ray":
        with exit_code(USAGE):
            raise InputError("--address needs --backend ray")
    if given.get("backend") != "ray":
        return nullcontext()
    from .._util.cluster.connection import kept

    return kept(given.get("address"))


def was_given(context: typer.Context, name: str) -> bool:
    """Return whether an option stands on the command line."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def flag_of(name: str) -> str:
    """Return what to type for an option, without dashes before it."""
    return "walk" if name == "kind" else READING_NAMES.get(name, name).replace("_", "-")


def check_unused(
    context: typer.Context, names: Iterable[str], purpose: str, instead: object
) -> None:
    """Refuse options that were given and would have no effect."""
    for name in names:
        if was_given(context, name):
            raise InputError(f"--{flag_of(name)} is for {purpose} and has no effect with {instead}")

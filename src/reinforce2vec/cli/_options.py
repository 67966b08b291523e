"""Options that several commands share: which graph, which walk, how to train and to run.

Hyperparameters come from the table in `_util.hyperparameters`. An option is an
`inspect.Parameter`; a command lists those that it takes, and finds them in `Run.given`.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from .._util import hyperparameters as known
from ._run import READING_NAMES

# Names of options that describe a walk, a model, and how to read a graph, in `Run.given`.
OF_WALKS = {
    known.PARAMETERS[name].flag or name: name for names in known.WALKS.values() for name in names
}
WALK_OPTIONS = ("kind", "reading", *OF_WALKS)
MODEL_OPTIONS = ("method", "preset", *known.TRAINING, "workers", "backend", *WALK_OPTIONS)
GRAPH_OPTIONS = (
    *("directed", "weighted", "self_loops", "duplicates", "id_type", "format", "delimiter"),
    *("header", "comments", "key", "bipartite", *READING_NAMES),
)


# -- how an option or an argument is made --------------------------------------------------------


# Types and ranges of values, by what stands for them in the help; all others are text.
_KINDS = {"N": int, "SHARE": float, "SECONDS": float, "INCHES": float}
_KINDS |= dict.fromkeys(("FILE", "FOLDER", "FILE|FOLDER"), Path)
_RANGES: dict[str, dict[str, Any]] = {
    "N": {"min": 1},
    "SHARE": {"min": 0, "max": 1},
    "SECONDS": {"min": 0},
}


class _Group:
    """Options that stand together in the help, below a title."""

    def __init__(self, title: str) -> None:
        self.title = title

    def option(
        self, spec: str, help: str, *, kind: Any = None, default: Any = None, **more: Any
    ) -> inspect.Parameter:
        """Return an option.

        Parameters
        ----------
        spec : str
            Its name in `Run.given`, what to type, if not the name with dashes, and what stands for
            its value in the help: "k -k --k N".
        help : str
            What it does.
        kind : type, optional
            Of its values; by default what the last word of `spec` says.
        default : value
            By default None, for what was not given.
        """
        name, *words = spec.split()
        flags = [word for word in words if word.startswith("-")]
        metavar = words[-1] if words[len(flags) :] else None
        if kind is None:
            kind = _KINDS.get(metavar or "", str)
            kind = kind | None if default is None else kind
        more = {"metavar": metavar, **_RANGES.get(metavar or "", {}), **more}
        info = typer.Option(*flags, help=help, rich_help_panel=self.title, **more)
        return _parameter(name, Annotated[kind, info], default)

    def flag(self, spec: str, help: str) -> inspect.Parameter:
        """Return an option without a value: off, or undecided if two words are given."""
        if "/" in spec:
            return self.option(spec, help, kind=bool | None)
        spec = spec if " " in spec else f"{spec} --{spec.replace('_', '-')}"
        return self.option(spec, help, kind=bool, default=False)

    def choice(
        self, spec: str, choices: Iterable[str], help: str, default: Any = None, **more: Any
    ) -> inspect.Parameter:
        """Return an option that takes one of several words."""
        words: Any = Literal[tuple(choices)]
        shown = {"metavar": "|".join(choices), "kind": words if default else words | None}
        return self.option(spec, help, default=default, **(shown | more))

    def hyperparameter(self, name: str, spec: str = "", **changes: Any) -> inspect.Parameter:
        """Return the option for a hyperparameter of the table.

        `default` and `help` replace those of the table. With the default None, which depends on
        other options, the help names it.
        """
        parameter = known.PARAMETERS[name]
        default = changes.get("default", parameter.default)
        text = changes.get("help", parameter.help)
        if default is None:
            text = f"{text} Default: {parameter.default_text}."
        both = f"{parameter.option}/--no-{parameter.option[2:]}"
        spec = (
            spec
            or f"{parameter.flag or name} {both if parameter.type is bool else parameter.option}"
        )
        if parameter.choices:
            return self.choice(spec, parameter.choices, text, default)
        kind: Any = parameter.type if default is not None else parameter.type | None
        if parameter.type is tuple:
            kind, default = str, parameter.spelled(default)
        ranges = {"min": parameter.least if parameter.type is int else None, "max": None}
        spec = f"{spec} {parameter.placeholder}"  # the library checks the other ranges
        return self.option(spec, text, kind=kind, default=default, **ranges)


def argument(
    spec: str, help: str, kind: Any = Path, default: Any = ..., **more: Any
) -> inspect.Parameter:
    """Return an argument: "name METAVAR". It is required if it has no default."""
    name, metavar = spec.split()
    if default is ...:
        default = inspect.Parameter.empty
    else:
        more["show_default"] = False
    info = typer.Argument(metavar=metavar, help=help, **more)
    return _parameter(name, Annotated[kind, info], default)


def _parameter(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    place = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, place, default=default, annotation=annotation)


def completed(*names: str) -> Any:
    """Return what makes a shell complete an argument by names, or else by files."""

    def starting(incomplete: str) -> list[str]:
        return [name for name in names if name.startswith(incomplete)]

    return starting


# In the order of the help.
OUTPUT = _Group("Output")
EVALUATION = _Group("The evaluation")
OWN = _Group("Your own")
SEARCH = _Group("The search")
MAP = _Group("The map")
SERVER = _Group("The server")
LEARNING = _Group("Training")
WALK = _Group("The walk")
READING = _Group("Reading the graph")
RUNNING = _Group("Running")
GROUPS = (OUTPUT, EVALUATION, OWN, SEARCH, MAP, SERVER, LEARNING, WALK, READING, RUNNING)


# -- arguments and options of several commands ---------------------------------------------------

VECTORS = argument("vectors EMB", "Vectors, as embed writes them: .npz .txt .bin ...")
GRAPH_HELP = (
    "The graph: an edge list (.txt .tsv .csv .edgelist .edges), .mtx or .graphml, all of them "
    "also with .gz; or .mat, .npz, .parquet."
)
GRAPH = argument("graph GRAPH", GRAPH_HELP)
GRAPH_OR_DATASET = argument(
    "graph GRAPH|DATASET",
    "A file as for embed, or the name of a data set, such as facebook.",
    str,
    autocompletion=completed(*known.DATASETS),
)
LABELS_HELP = (
    "Text with a node and its label per line, separated by tabs, commas, semicolons, bars or "
    "spaces; it may have a header, and double quotes around fields."
)
VECTORS_OUTPUT = OUTPUT.option(
    "output --output -o FILE",
    "Where the vectors go: .npz (ids and vectors; Embedding.load reads it), .csv, "
    ".csv.gz, .txt, .txt.gz or .vec (word2vec text), .bin (word2vec binary), .parquet, or "
    ".tsv (for the TensorBoard projector; ids in NAME.metadata.tsv). - is CSV on stdout.",
)
TABLE_OUTPUT = OUTPUT.option(
    "output --output -o FILE",
    "Write a table, .csv, .tsv or .parquet, instead of printing it; - is CSV on stdout.",
)
PROJECTION = MAP.choice(
    "method",
    known.PROJECTIONS,
    "How vectors become points: pca is fast and rough; tsne and umap show groups and need "
    "scikit-learn or umap-learn; layout shows groups too, and is fast for many nodes. auto: "
    "tsne for up to 10,000 nodes if it is installed, else layout.",
    default="auto",
)
MAP_SEED = MAP.option("seed N", "Seed of the map and the communities.", default=0, min=0)
SEARCH_METHOD = SEARCH.choice(
    "method",
    known.SEARCH_METHODS,
    "exact compares with every node. approximate uses an index; if it finds less than 95% of "
    "the neighbours of a sample, the search is exact after all. It saves time for all "
    "nodes of graphs well beyond 100,000 nodes. Needs usearch: pip install "
    "'reinforce2vec[approximate]'. auto is exact, unless the work is large and usearch is "
    "installed.",
    default="auto",
)


def _apply_preset(context: typer.Context, name: str | None) -> str | None:
    """Make the settings of a preset the defaults of all other options."""
    preset = known.PRESETS.get(name or "", {})  # `model_from` refuses what is none
    settings = {key: known.PARAMETERS[key].spelled(value) for key, value in preset.items()}
    context.default_map = {**(context.default_map or {}), **settings}
    return name


def _apply_method(context: typer.Context, name: str) -> str:
    """Make what a method sets the defaults of other options; a preset counts more."""
    settings = dict(known.METHODS.get(name, {}))  # `model_from` refuses what is none
    for key in settings.keys() & known.PARAMETERS.keys():
        settings[key] = known.PARAMETERS[key].spelled(settings[key])
    context.default_map = {**settings, **(context.default_map or {})}
    return name


def _of_table() -> Iterator[inspect.Parameter]:
    """Yield the options for hyperparameters; those of walks are None unless they are given."""
    for name in known.PARAMETERS:
        if name in OF_WALKS.values():
            yield WALK.hyperparameter(name, default=None)
        elif name == "dimensions":
            yield LEARNING.hyperparameter(name, "dimensions --dimensions -d")
        else:
            yield (LEARNING if name in known.TRAINING else RUNNING).hyperparameter(name)


_OPTIONS = (
    OUTPUT.flag("quiet", "Print only the result, and errors."),
    OUTPUT.flag(
        "as_json --json",
        "Print the result as one JSON object on stdout. Errors are still a sentence on stderr "
        "and an exit code.",
    ),
    READING.option(
        "data_dir FOLDER",
        "Look for the files of data sets in this folder only. Default: in the folder given "
        "by the environment variable REINFORCE2VEC_DATA, then among earlier downloads; else they "
        "are downloaded.",
    ),
    READING.option(
        "label COLUMN",
        "Column of --labels with the labels, by name, or by number from 1; all: every column "
        "but the ids. Default: the only one, or one named label, class, group or category.",
    ),
    READING.option(
        "id COLUMN",
        "Column with the ids of nodes, by name or by number. Default: one named id, node, "
        "user_id or name that holds nodes, else the first.",
    ),
    OWN.option(
        "estimator MODULE:CLASS",
        "A method of your own to compare with: a Python path such as mypackage.models:MyModel "
        "of a class, or of a function that returns a model; the module may be in the current "
        "folder. The model has a method fit_transform(graph) that returns a matrix, a row for each "
        "node in the order of graph.ids. It gets dimensions and seed if it has parameters of these "
        "names.",
    ),
    SEARCH.option("k -k --k N", "How many for each node.", default=10),
    SEARCH.option(
        "ids FILE",
        "Nodes in a file, an id a line or in the first column, in addition to those named; - "
        "reads standard input.",
    ),
    LEARNING.choice(
        "method",
        known.METHODS,
        f"How vectors are made: {', '.join(known.METHODS)}. deepwalk and node2vec are walks of "
        "their kind with window 10, not smoothed. Of the options below, those after them have "
        "dimensions, seed and smoothing; netmf also window and negatives; line also negatives, "
        "learning rate and workers.",
        metavar="NAME",
        callback=_apply_method,
        is_eager=True,
        default="reinforce2vec",
    ),
    LEARNING.choice(
        "preset",
        known.PRESETS,
        "Settings with a name, which the options below override. fast: 10 walks per node. "
        "best: 80 walks per node and windows 1,20, several times as slow as the default. paper: "
        "64 dimensions, 80 walks per node, window 10, not smoothed.",
        callback=_apply_preset,
        is_eager=True,
    ),
    WALK.choice(
        "kind --walk",
        known.WALKS,
        "What the next node depends on: the whole path, the current node (DeepWalk), or the "
        "last two nodes (node2vec).",
        default="reinforced",
    ),
    WALK.choice(
        "reading",
        known.READINGS,
        "Reinforced: a preset. paper: the equations as printed; walks go far on large graphs. "
        "released: the authors' code, which produced the paper's tables; walks return more often. "
        "The options below override it. Default: paper.",
    ),
    *_of_table(),
    RUNNING.option(
        "address auto|HOST:PORT",
        "The cluster to use with --backend ray; auto: one that runs on this machine. Default: "
        "that of the environment variable RAY_ADDRESS, else processes are started on this machine.",
    ),
    READING.flag(
        "directed --directed/--undirected",
        "Whether walks follow edges in their direction only. Default: what the file says, "
        "else undirected.",
    ),
    READING.flag(
        "weighted --weighted/--unweighted",
        "Whether edges have weights: one of weight 2 is followed twice as often as one "
        "of weight 1. Default: detected.",
    ),
    READING.flag("self_loops", "Keep edges from a node to itself."),
    READING.choice(
        "duplicates",
        known.DUPLICATES,
        "What to do with edges that repeat another: make one edge of them, with the sum of their "
        "weights, or refuse the graph.",
        default="merge",
    ),
    READING.choice(
        "id_type",
        known.ID_TYPES,
        "What ids become: int refuses those that are no integers, str keeps numbers as text. "
        "Default: integers if all of them are.",
    ),
    READING.option(
        "format SUFFIX", "Format of the graph, such as txt.gz. Default: the suffix of the file."
    ),
    READING.option(
        "delimiter CHARACTER",
        "What separates the fields of an edge list or of walks; \\t is a tab. Default: detected.",
    ),
    READING.flag(
        "header --header/--no-header",
        "Whether an edge list begins with the names of its columns. Default: detected.",
    ),
    READING.option(
        "comments CHARACTER",
        "What begins comments in an edge list, anywhere; '' for no comments. Default: # or %, "
        "before the first line of data.",
    ),
    READING.option(
        "key NAME", "Variable of a .mat file that holds the adjacency matrix.", default="network"
    ),
    READING.flag(
        "bipartite --bipartite/--no-bipartite",
        "Sources and targets are nodes of two kinds: 7 in the columns user and item becomes "
        "user:7 and item:7.",
    ),
    READING.option(
        "edge_columns --columns SOURCE,TARGET[,WEIGHT]",
        "Columns of an edge list or Parquet file with the two nodes of each edge and perhaps "
        "its weight, by name, or by number from 1: src,dst,weight or 1,2,3. No others are read. "
        "Default: known names such as source or src, else the first two; see --weight.",
    ),
    READING.option(
        "source_column --source COLUMN",
        "Column of an edge list or Parquet file with the first node of each edge, by name, or by "
        "number from 1. Default: known names such as source or src, else the first.",
    ),
    READING.option(
        "target_column --target COLUMN",
        "Column with the second node of each edge. Default: known names such as target or dst, "
        "else the second.",
    ),
    READING.option(
        "weight_column --weight COLUMN",
        "Column with the weights of edges. Default: weight; without a header the third of three.",
    ),
    READING.option(
        "nodes_file --nodes FILE",
        "All nodes, or those without edges: an id per line, or in the first column. They come "
        "first, in this order.",
    ),
)
_SHARED = {parameter.name: parameter for parameter in _OPTIONS}


def shared(*names: str) -> list[inspect.Parameter]:
    """Return shared options by their names. Those of `backend` are two: also `address`."""
    names = (*names, "address") if "backend" in names else names
    return [_SHARED[name] for name in names]

"""The hyperparameters of walks and of training: one table of data.

It serves the checks of the estimator and of the walks, the options of the commands, the names and
defaults of the tuner, and the table of docs/howto/settings.md. It imports neither numpy nor numba,
so that `--help` is quick. Constructors keep their defaults in their signatures, where editors and
scikit-learn look for them; a test compares them with this table.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Parameter:
    """One hyperparameter.

    Parameters
    ----------
    name : str
        Its name in Python; the command's option has dashes instead of underscores.
    type : type
        int, float, bool, str, Path: a folder, or tuple: an integer, or several in ascending order.
    default : value
        What it is if nothing is given. None: it depends on other parameters, as `unset` says.
    help : str
        What it does and what to choose, as `--help` prints it.
    least, above, most : float, optional
        The range: at least, more than, at most.
    choices : tuple of str
        All values, where they are strings.
    unset : str
        What None stands for.
    released : str
        The default of the reading `released`, where it is another one.
    short : str
        What to choose, in a few words, for the table of the documentation.
    label : str
        Its name in reports; by default the name with spaces.
    metavar : str
        What stands for its value in the help; by default by its type.
    flag : str
        The command's option, where it is another one than the name.
    """

    name: str
    type: type
    default: Any
    help: str
    least: float | None = None
    above: float | None = None
    most: float | None = None
    choices: tuple[str, ...] = ()
    unset: str = ""
    released: str = ""
    short: str = ""
    label: str = ""
    metavar: str = ""
    flag: str = ""

    def check(self, value: Any, most: float | None = None) -> Any:
        """Return a value of the right type and within the range; InputError if it is not.

        Parameters
        ----------
        value : any
            What was given. None is returned as it is where it has a meaning.
        most : float, optional
            A limit that other parameters set.
        """
        from . import checks

        if value is None and self.unset:
            return None
        if self.choices:
            return checks.check_choice(self.name, value, self.choices)
        if self.type is bool:
            return checks.check_flag(self.name, value)
        if self.type is Path:
            return checks.check_folder(self.name, value)
        if self.type is tuple:
            return checks.check_counts(self.name, value, int(self.least or 0))
        if self.type is int:
            return checks.check_count(self.name, value, int(self.least or 0), self.most or inf)
        limit = self.most if most is None else most
        limits = {"least": self.least, "above": self.above, "most": limit}
        given = {name: bound for name, bound in limits.items() if bound is not None}
        return checks.check_number(self.name, value, **given)

    def spelled(self, value: Any) -> Any:
        """Return a value as it is typed, where that is another one: "1,10" for a tuple."""
        if self.type is not tuple:
            return value
        return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)

    def typed(self, text: Any) -> Any:
        """Return what was typed for it: of "1,10" a tuple; whatever else is wrong, as it is."""
        if self.type is not tuple or not isinstance(text, str):
            return text
        try:
            numbers = tuple(int(part) for part in text.split(","))
        except ValueError:
            return text
        return numbers if len(numbers) > 1 else numbers[0]

    @property
    def option(self) -> str:
        """The option of the commands."""
        return "--" + (self.flag or self.name).replace("_", "-")

    @property
    def title(self) -> str:
        """Its name in reports."""
        return self.label or self.name.replace("_", " ")

    @property
    def placeholder(self) -> str:
        """What stands for its value in the help."""
        if self.choices:
            return "|".join(self.choices)
        usual = {int: "N", float: "NUMBER", tuple: "N[,N]", Path: "FOLDER"}
        return self.metavar or usual.get(self.type, "")

    @property
    def range(self) -> str:
        """The values it takes, in words."""
        if self.choices:
            return ", ".join(self.choices)
        if self.type is bool:
            return "on or off"
        if self.type is Path:
            return "folder"
        if self.type is tuple:
            return f"integer, at least {self.least or 0:g}, or several in ascending order"
        kind = "integer" if self.type is int else "number"
        if self.above is not None:
            return f"{kind} above {self.above:g}"
        most = "" if self.most is None else f", at most {self.most:g}"
        return f"{kind}, at least {self.least or 0:g}{most}"

    @property
    def default_text(self) -> str:
        """The default in words."""
        if self.default is None:
            text = self.unset
        elif self.type is bool:
            text = "on" if self.default else "off"
        elif self.type is tuple:
            text = self.spelled(self.default)
        else:
            text = f"{self.default:g}" if self.type is float else str(self.default)
        return f"{text} (released: {self.released})" if self.released else text


DIRECTIONS = ("forward", "both")
"""Ways to follow the edges of a directed graph."""
SHARD_FORMATS = ("npy",)
"""Of walks in a folder."""
DUPLICATES = ("merge", "refuse")
"""What to do with edges that repeat another."""
ID_TYPES = ("int", "str")
"""What node ids become."""

_TRAINING = (
    Parameter(
        "dimensions",
        int,
        128,
        "Dimensions of a vector, over all windows. 64, the paper's choice, takes half of the "
        "memory and more than half of the time, and is seldom much worse.",
        least=1,
        short="64 to save memory",
    ),
    Parameter(
        "walks_per_node",
        int,
        20,
        "Walks from every node. More than 20 seldom pay once vectors are smoothed; on very large "
        "graphs 5 to 10 are enough. The paper has 80.",
        least=1,
        short="more until your score stops rising",
    ),
    Parameter(
        "walk_length",
        int,
        40,
        "Nodes in a walk, including the start. The paper's 40 gives a reinforced walk time to "
        "return.",
        least=1,
        short="leave it",
    ),
    Parameter(
        "window",
        tuple,
        (1, 10),
        "Largest distance, in steps of a walk, between two nodes that are trained as a pair; "
        "close pairs are drawn more often. 10 captures communities; 1, direct neighbours. With "
        "several, each has its share of the dimensions: the widest three quarters.",
        least=1,
        short="1,10 for links and communities; 1,5 where edges are many and near is all",
    ),
    Parameter(
        "negatives",
        int,
        5,
        "Negative samples for each pair. 5 is enough on all but tiny graphs; time grows with it.",
        least=1,
        short="leave it, except on tiny graphs",
    ),
    Parameter(
        "epochs",
        int,
        1,
        "Passes of training, each on new walks (with --walks: on the same walks). One is enough "
        "at 80 walks per node.",
        least=1,
        short="more walks per node have the same effect",
    ),
    Parameter(
        "learning_rate",
        float,
        None,
        "Step size at the start of training; it falls linearly to almost 0.",
        above=0,
        unset="0.05 for up to 20 walks of 40 nodes per node, decreasing to 0.025 for 80",
        short="the first to tune",
        metavar="RATE",
    ),
    Parameter(
        "subsample",
        float,
        0.0,
        "Skip some visits of nodes that have more than about this share of all visits; 0 skips "
        "none. 0.001 speeds up graphs with a few huge hubs.",
        least=0,
        short="0.001 speeds up graphs with a few huge hubs",
        metavar="SHARE",
    ),
    Parameter(
        "smooth",
        bool,
        True,
        "Smooth the vectors along the graph after training. It takes less time than training and "
        "usually improves them, above all with few walks.",
        short="on, unless you need vectors as they were trained",
        label="smoothing",
    ),
    Parameter(
        "direction",
        str,
        "auto",
        "Directed graphs: whether walks follow edges in their direction (forward) or both ways. "
        "auto: both ways where walks would soon end in nodes without out-edges, on average before "
        "half of their length; forward elsewhere.",
        choices=("auto", *DIRECTIONS),
        short="both for similar nodes, forward for what a node leads to",
    ),
)

_RUNNING = (
    Parameter(
        "seed",
        int,
        0,
        "Random seed: one seed gives one result on the CPU, with any number of workers.",
        least=0,
        short="several, to see how much results vary",
    ),
    Parameter(
        "workers",
        int,
        None,
        "Threads; with --backend ray, processes.",
        least=1,
        unset="one for each CPU core, of the cluster with Ray; at most 32 train",
        short="leave it; results do not depend on it",
    ),
    Parameter(
        "backend",
        str,
        "auto",
        "Where to compute: on the CPU, on a GPU (cuda; needs CuPy: pip install "
        "'reinforce2vec[cuda]'), or in processes of this machine or a cluster (ray; needs Ray: pip "
        "install 'reinforce2vec[ray]'). auto takes the GPU if there is one and the work is large "
        "enough, unless --workers is given.",
        choices=("auto", "cpu", "cuda", "ray"),
        short="leave it",
    ),
    Parameter(
        "scratch",
        Path,
        None,
        "A folder on a disk in which the matrices are kept while training and smoothing, for "
        "graphs whose matrices do not fit into memory. On the CPU alone; the vectors are the same, "
        "bit for bit. The files have no names, and end with the process.",
        unset="the matrices are in memory",
        short="a folder on a fast disk, if memory is short",
    ),
)

_REINFORCED = (
    Parameter(
        "reward",
        str,
        "js",
        "Reinforced: prefer nodes that change the occupation vector least, by Jensen-Shannon (js) "
        "or Kullback-Leibler (kl) divergence, or nodes with many visits (vertex).",
        choices=("js", "kl", "vertex"),
        short="leave it",
    ),
    Parameter(
        "exploration",
        str,
        "ucb",
        "Reinforced: what keeps the walk from getting stuck: a bonus for rarely visited nodes "
        "(ucb), random steps (epsilon), or nothing.",
        choices=("ucb", "epsilon", "none"),
        short="do not train with none: such walks get stuck",
    ),
    Parameter(
        "weight",
        float,
        None,
        "Reinforced: how strongly to explore.",
        least=0,
        unset="1 for ucb (released: 0.01), 0.5 for epsilon",
        short="for epsilon, a probability: at most 1",
        label="ε",
        flag="exploration_weight",  # --weight is the column of edge weights
    ),
    Parameter(
        "annealing",
        str,
        "constant",
        "Reinforced: how --exploration-weight decreases along the walk.",
        choices=("constant", "linear", "exponential"),
        short="leave it",
    ),
    Parameter(
        "occupation",
        str,
        "graph",
        "Reinforced: count visits over the whole graph or over the path alone.",
        choices=("graph", "path"),
        released="path",
        short="path returns more often",
    ),
    Parameter(
        "candidates",
        int,
        None,
        "Reinforced: consider at most this many unvisited neighbours, drawn at random; the fewer, "
        "the more often the walk returns.",
        least=1,
        unset="all",
        released="10, but all for vertex",
        short="3 to 10 to return more often",
    ),
    Parameter(
        "temperature",
        float,
        1.0,
        "Reinforced: divides the scores; low is greedy, high is uniform.",
        above=0,
        short="leave it",
    ),
    Parameter(
        "attraction",
        float,
        1.0,
        "Reinforced: factor on the weight of visited neighbours; above 1 the path attracts the "
        "walk, below 1 it repels it.",
        least=1e-6,  # beyond these it changes nothing but can get lost in rounding
        most=1e6,
        short="leave it; 0.03, repelled, is as good, and above 1 is worse",
    ),
)

_SECOND_ORDER = (
    Parameter(
        "p",
        float,
        1.0,
        "Second-order: the smaller, the more often the walk turns back.",
        above=0,
        short="0.25 to 4",
    ),
    Parameter(
        "q",
        float,
        1.0,
        "Second-order: the smaller, the farther the walk goes.",
        above=0,
        short="0.25 to 4",
    ),
)

PRESETS: dict[str, dict[str, Any]] = {
    "paper": {
        "dimensions": 64,
        "walks_per_node": 80,
        "window": 10,
        "learning_rate": 0.025,
        "smooth": False,
    },
    "fast": {"walks_per_node": 10},
    "best": {"walks_per_node": 80, "window": (1, 20)},
}
"""Settings that have a name: what differs from the defaults."""

PARAMETERS = {one.name: one for one in (*_TRAINING, *_RUNNING, *_REINFORCED, *_SECOND_ORDER)}
"""Every hyperparameter by its name."""


def _names(parameters: tuple[Parameter, ...]) -> tuple[str, ...]:
    return tuple(one.name for one in parameters)


TRAINING, RUNNING = _names(_TRAINING), _names(_RUNNING)
REINFORCED, SECOND_ORDER = _names(_REINFORCED), _names(_SECOND_ORDER)
WALKS = {"reinforced": REINFORCED, "first-order": (), "second-order": SECOND_ORDER}
"""Kinds of walk by their names on the command line, and the parameters of each."""
READINGS = ("paper", "released")
"""Presets of a reinforced walk."""

BASELINE_METHODS = ("prone", "netmf", "grarep", "hope", "line", "spectral")
METHODS: dict[str, dict[str, Any]] = {
    "reinforce2vec": {},
    "deepwalk": {"kind": "first-order", "window": 10, "smooth": False},
    "node2vec": {"kind": "second-order", "window": 10, "smooth": False},
    **{name: {} for name in BASELINE_METHODS},
}
"""Methods by their names on the command line, and the options that a method sets."""

# Choices of functions that commands offer as well.
PROTOCOLS = ("shared", "transfer")
TASKS = ("link-prediction", "node-classification")
SEARCH_METHODS = ("auto", "exact", "approximate")
PROJECTIONS = ("auto", "pca", "tsne", "umap", "layout")
LINK_SCORES = (
    *("auto", "combined", "allocation", "adamic-adar", "common", "three-steps"),
    *("odds", "cosine"),
)
COLOURINGS = ("label", "community", "degree", "none")

# Names that a shell completes.
DATASETS = ("facebook", "ca-astroph", "blogcatalog", "ppi", "dblp")
"""The data sets of `datasets.registry`."""

"""The command line. Only commands import what computes, so that --help waits for nothing."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import __version__
from .errors import InputError

if TYPE_CHECKING:
    from .walks.policy import Walk

FAILURE, USAGE, INTERRUPTED = 1, 2, 130  # exit codes

# Which options each kind of walk understands.
OPTIONS_OF = {
    "reinforced": (
        *("reading", "reward", "exploration", "weight"),
        *("annealing", "occupation", "candidates", "temperature"),
    ),
    "first-order": (),
    "second-order": ("p", "q"),
}

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main() -> None:
    """Run the command that the arguments name."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends as Ctrl-C does: cleanly
    app(prog_name="reinforce2vec")


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"reinforce2vec {__version__}")
        raise typer.Exit


@app.callback()
def _every_command(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Random walks that remember, on graphs in files."""


def _choice(help: str, *choices: str, names: tuple[str, ...] = ()) -> Any:
    return typer.Option(*names, metavar="|".join(choices), help=help)


@app.command(epilog="Example: reinforce2vec walk edges.txt -o walks.txt --reading released")
def walk(
    graph: Annotated[
        Path,
        typer.Argument(
            metavar="GRAPH",
            help="The graph: an edge list (.txt .tsv .csv .edgelist .edges), .mtx or .graphml, "
            "all of them also with .gz; or .mat, .npz, .parquet.",
        ),
    ],
    output: Annotated[
        Path,
        typer.Option(
            *("--output", "-o"),
            metavar="FILE",
            help="Where the walks go: .txt or .txt.gz (a walk a line, ids separated by tabs), "
            ".npy (row numbers; ids in NAME.ids.txt) or .parquet (lists of ids).",
        ),
    ],
    length: Annotated[
        int, typer.Option(metavar="N", min=1, help="Nodes in a walk, the start included.")
    ] = 40,
    per_node: Annotated[int, typer.Option(metavar="N", min=1, help="Walks from every node.")] = 80,
    seed: Annotated[
        int,
        typer.Option(metavar="N", min=0, help="One seed, one result, with any number of workers."),
    ] = 0,
    workers: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Threads. Default: one for each processor."),
    ] = None,
    kind: Annotated[
        str,
        _choice(
            "What the next node depends on: the whole path, nothing (DeepWalk), or the step "
            "before (node2vec).",
            *OPTIONS_OF,
            names=("--walk",),
        ),
    ] = "reinforced",
    reading: Annotated[
        str | None,
        _choice(
            "Reinforced: the paper's equations as printed, which stray far on large graphs, or "
            "the authors' code that made its tables, which returns more. Single options below "
            "override it. Default: paper.",
            *("paper", "released"),
        ),
    ] = None,
    reward: Annotated[
        str | None,
        _choice(
            "Reinforced: prefer the node that moves the path's occupation vector least, by "
            "Jensen-Shannon or Kullback-Leibler divergence, or the most visited one. Default: js.",
            *("js", "kl", "vertex"),
        ),
    ] = None,
    exploration: Annotated[
        str | None,
        _choice(
            "Reinforced: what keeps it from getting stuck: a bonus for nodes seen rarely, random "
            "steps, or nothing. Default: ucb.",
            *("ucb", "epsilon", "none"),
        ),
    ] = None,
    weight: Annotated[
        float | None,
        typer.Option(
            help="Reinforced: how strongly to explore. Default: 1 for ucb (released: 0.01), 0.5 "
            "for epsilon."
        ),
    ] = None,
    annealing: Annotated[
        str | None,
        _choice(
            "Reinforced: how --weight falls along the walk, so that it settles. Default: constant.",
            *("constant", "linear", "exponential"),
        ),
    ] = None,
    occupation: Annotated[
        str | None,
        _choice(
            "Reinforced: count visits over the whole graph or over the path alone. Default: graph "
            "(released: path).",
            *("graph", "path"),
        ),
    ] = None,
    candidates: Annotated[
        int | None,
        typer.Option(
            help="Reinforced: weigh at most this many unvisited neighbours, drawn at random; the "
            "fewer, the more the walk returns. Default: all (released: 10, but all for vertex)."
        ),
    ] = None,
    temperature: Annotated[
        float | None,
        typer.Option(
            help="Reinforced: divides the scores; low is greedy, high is uniform. Default: 1."
        ),
    ] = None,
    p: Annotated[
        float | None,
        typer.Option("--p", help="Second-order: the smaller, the more it turns back. Default: 1."),
    ] = None,
    q: Annotated[
        float | None,
        typer.Option("--q", help="Second-order: the smaller, the farther it strays. Default: 1."),
    ] = None,
    directed: Annotated[
        bool | None,
        typer.Option(
            "--directed/--undirected",
            help="Whether walks follow edges in their direction only. Default: what the file says, "
            "else undirected.",
        ),
    ] = None,
    weighted: Annotated[
        bool | None,
        typer.Option(
            "--weighted/--unweighted",
            help="Whether edges have weights: one of weight 2 is followed twice as readily as one "
            "of weight 1. Default: look.",
        ),
    ] = None,
    self_loops: Annotated[
        bool, typer.Option("--self-loops", help="Keep edges from a node to itself.")
    ] = False,
    format: Annotated[
        str | None,
        typer.Option(help="Suffix to read the graph by, such as txt.gz, instead of its own."),
    ] = None,
    delimiter: Annotated[
        str | None,
        typer.Option(
            help="What separates the fields of an edge list; \\t is a tab. Default: look."
        ),
    ] = None,
    header: Annotated[
        bool | None,
        typer.Option(
            "--header/--no-header",
            help="Whether an edge list begins with the names of its columns. Default: look.",
        ),
    ] = None,
    key: Annotated[
        str, typer.Option(help="Variable of a .mat file that holds the adjacency matrix.")
    ] = "network",
    quiet: Annotated[bool, typer.Option("--quiet", help="Say nothing unless it fails.")] = False,
) -> None:
    """Write random walks from every node of a graph to a file.

    The file appears when it is complete; until then an older one stays as it is.
    """
    with _sentences(USAGE):
        chosen = chosen_walk(
            kind,
            reading=reading,
            reward=reward,
            exploration=exploration,
            weight=weight,
            annealing=annealing,
            occupation=occupation,
            candidates=candidates,
            temperature=temperature,
            p=p,
            q=q,
        )
        from .walks.files import check_output

        target, _ = check_output(output)
        if graph.exists() and target.exists() and graph.samefile(target):
            raise InputError(f"{output}: this is the graph itself: choose another name")
    with _sentences(FAILURE):
        from .progress import readable
        from .readers import read_graph
        from .walks.files import write_walks
        from .walks.sampler import WalkSampler

        with _status(f"reading {graph}", quiet):
            whole = read_graph(
                graph,
                format=format,
                directed=directed,
                weighted=weighted,
                self_loops=self_loops,
                delimiter=None if delimiter is None else delimiter.replace("\\t", "\t"),
                header=header,
                key=key,
            )
        _say(f"{graph}: {whole!r}", quiet)
        with _status("preparing (at its first use, a kind of walk is compiled)", quiet):
            WalkSampler(whole, chosen, length=1, per_node=1, starts=whole.ids[:1]).sample()
        began = time.perf_counter()
        sampler = WalkSampler(
            whole,
            chosen,
            length=length,
            per_node=per_node,
            seed=seed,
            workers=workers,
            progress=not quiet,
        )
        steps = write_walks(output, sampler)
        seconds = time.perf_counter() - began
        _say(
            f"{output}: {sampler.n_walks:,} walks, {steps:,} steps in {seconds:.2f} s "
            f"({readable(steps / seconds)} steps/s)",
            quiet,
        )


@app.command(epilog="Example: reinforce2vec demo --out demo-output")
def demo(
    out: Annotated[
        Path, typer.Option(metavar="FOLDER", help="Where the walks go; made if it is not there.")
    ] = Path("demo-output"),
) -> None:
    """Show on built-in graphs what the walks do."""
    with _sentences(FAILURE):
        from .demo import tell

        tell(out, typer.echo)


def chosen_walk(kind: str, **options: Any) -> Walk:
    """The walk that the options describe; those left at None keep their defaults."""
    if kind not in OPTIONS_OF:
        raise InputError(f"--walk must be one of {', '.join(OPTIONS_OF)}, not {kind!r}")
    given = {name: value for name, value in options.items() if value is not None}
    for name in given:
        if name not in OPTIONS_OF[kind]:
            owner = next(other for other, names in OPTIONS_OF.items() if name in names)
            raise InputError(f"--{name} is for --walk {owner} and says nothing to --walk {kind}")
    from .walks.policy import FirstOrderWalk, ReinforcedWalk, SecondOrderWalk

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


# -- what is said ------------------------------------------------------------------------------


@contextmanager
def _sentences(code: int) -> Iterator[None]:
    """End with a sentence and an exit code, not with a traceback, when something is amiss."""
    try:
        yield
    except InputError as error:
        _end(f"error: {error}", code)
    except BrokenPipeError:
        raise  # whoever read the output went away: typer ends without a word
    except OSError as error:
        where = "" if error.filename is None else f"{error.filename}: "
        _end(f"error: {where}{error.strerror or error}", FAILURE)
    except MemoryError:
        _end("error: there is not enough memory for this graph and walks of this length", FAILURE)
    except KeyboardInterrupt:
        _end("interrupted: no unfinished file is left", INTERRUPTED)


def _end(message: str, code: int) -> None:
    if sys.stderr.isatty():
        message = f"\r\033[K{message}"  # over the line of the progress
    typer.echo(message, err=True)
    raise typer.Exit(code)


def _say(message: str, quiet: bool) -> None:
    if not quiet:
        typer.echo(message, err=True)


@contextmanager
def _status(message: str, quiet: bool) -> Iterator[None]:
    """Keep a line on the terminal, if there is one, while something is under way."""
    if quiet or not sys.stderr.isatty():
        yield
        return
    typer.echo(f"{message} ...", nl=False, err=True)
    yield
    typer.echo("\r\033[K", nl=False, err=True)

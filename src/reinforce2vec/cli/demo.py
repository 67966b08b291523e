"""The command `demo`: the whole pipeline on a built-in graph, with a picture."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import reinforce2vec as r2v

from .._util.errors import InputError
from . import _options as options
from ._app import command
from ._messages import print_text
from ._options import OUTPUT
from ._run import Run

_LONG, _LAST = 10_000, 100  # steps after which a walk may be stuck, and how many of them to look at


@command(
    OUTPUT.option(
        "output --output -o FOLDER",
        "Folder for the files; created if needed.",
        default=Path("demo-output"),
    ),
    *options.shared("data_dir", "as_json", "quiet"),
    examples=("demo", "demo -o demo-output"),
)
def demo(run: Run) -> None:
    """Run the whole pipeline on a built-in graph: walks, vectors, scores and a picture.

    It does the same with the graph of Facebook, if its file is on this machine.
    """
    from ..datasets.loading import existing_folder, find_files
    from ..datasets.registry import registered

    folder, data_dir = run.given.output, run.given.data_dir
    _check_folder(folder)
    run.begin()
    if data_dir is not None:
        existing_folder(data_dir, "data_dir")  # before the work
    folder.mkdir(parents=True, exist_ok=True)
    run.claim(folder / "groups-vectors.npz")
    groups = r2v.planted_groups(1000, 6, mixing=0.4)
    groups.graph.save(folder / "groups-edges.txt")
    _tell(run, f"Six hidden groups: {groups.graph!r}")
    _report_walks(run, groups.graph)
    files = _embed(run, "groups", groups.graph, groups.labels)
    if None not in find_files(registered("facebook"), data_dir):
        friends = r2v.load_dataset("facebook", data_dir, progress=False).graph
        _tell(run, f"Facebook, who is friends with whom: {friends!r}")
        files += _embed(run, "facebook", friends)
    _tell(run, "\n  ".join(["Look at", *map(str, files)]))
    _tell(run, "Next: reinforce2vec embed YOUR-EDGES.txt -o vectors.npz")
    if run.given.as_json:
        run.print_json(files=files)


def _check_folder(path: Path) -> None:
    """Raise InputError for a folder that cannot be made, or written to."""
    existing = next(folder for folder in (path, *path.absolute().parents) if folder.exists())
    if not existing.is_dir():
        raise InputError(f"{path}: {existing.name} is a file, expected a folder")
    if not os.access(existing, os.W_OK | os.X_OK):
        raise InputError(f"{path}: no permission to write to the folder {existing}")


def _tell(run: Run, line: str) -> None:
    """Print a line of the report."""
    if not run.quiet:
        print_text(line, sys.stderr if run.given.as_json else sys.stdout)


def _report_walks(run: Run, graph: Any) -> None:
    """Print how many nodes a walk of each kind visits, and how many in the long run."""
    walks: dict[str, Any] = {
        "first-order (DeepWalk)": r2v.FirstOrderWalk(),
        "reinforced": r2v.ReinforcedWalk(),
        "reinforced, no exploration": r2v.ReinforcedWalk("js", "none"),
    }
    for name, walk in walks.items() if not run.quiet else ():
        paths = r2v.sample_walks(graph, walk, length=40, per_node=1).tolist()
        distinct = sum(len(set(path)) for path in paths) / len(paths)
        path = r2v.sample_walks(graph, walk, length=_LONG + 1, per_node=1, starts=graph.ids[:1])[0]
        stuck = len(r2v.stuck_set(path, last=_LAST)[0])
        visits = f"40 steps visit {distinct:.1f} nodes, the last {_LAST} of {_LONG:,} visit {stuck}"
        _tell(run, f"  {name}: {visits}")


def _embed(run: Run, name: str, graph: Any, labels: Any = None) -> list[Path]:
    """Train on a graph, report scores, and write vectors, a page, and perhaps a picture."""
    model = r2v.Reinforce2Vec().fit(graph, progress=not run.quiet)
    vectors = model.embedding_
    if not run.quiet:
        if labels is not None:
            f1 = r2v.evaluate_node_classification(vectors, labels, train=[0.1]).mean[0.1]["micro"]
            _tell(run, f"  groups predicted, 10% of the nodes known: {f1:.1f}% right")
        scores = r2v.evaluate_link_prediction(graph, model, fraction=0.2, seeds=1).mean
        auc = scores["hadamard"]["auc"]
        _tell(run, f"  hidden links against other pairs: AUC {auc:.1f} (50 is chance)")
    folder, points = run.given.output, r2v.project(vectors)
    files = [folder / f"{name}-vectors.npz", folder / f"{name}-page.html"]
    vectors.save(files[0])
    r2v.explore(vectors, graph, labels, export=files[1], title=name.capitalize(), positions=points)
    if find_spec("matplotlib") is not None:
        files.append(folder / f"{name}-map.png")
        figure = r2v.plotting.embedding_map(vectors, labels, graph, positions=points)
        r2v.plotting.save(figure, files[-1])
    return files

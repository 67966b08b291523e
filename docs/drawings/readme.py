"""Draw the figure of the README: `python docs/drawings/readme.py`."""

from __future__ import annotations

from pathlib import Path

import reinforce2vec as r2v
from reinforce2vec.plotting.style import new_figure, styled

PICTURE = Path(__file__).parents[1] / "pictures" / "readme.png"
WALKS = {
    "first-order": r2v.FirstOrderWalk(),
    "repelled by its path": r2v.ReinforcedWalk(weight=0, attraction=0.03),
    "attracted by its path": r2v.ReinforcedWalk("vertex"),
}


def main() -> None:
    """Draw three walks from one node, and a map of vectors of a larger graph."""
    figure = new_figure(9.0, 5.6)
    with styled():
        panels = figure.subplot_mosaic([[0, "map"], [1, "map"], [2, "map"]], width_ratios=[1, 2])
    small = r2v.planted_groups(90, 3, degree=8, mixing=0.1, seed=1).graph
    start = [small.ids[small.degrees.argmax()]]
    for number, (name, walk) in enumerate(WALKS.items()):
        path = r2v.sample_walks(small, walk, length=121, per_node=1, starts=start)[0]
        title = f"{name}: {len(set(path.tolist()))} of 90 nodes"
        r2v.plotting.walk_path(small, path, title=title, axes=panels[number])
    groups = r2v.planted_groups(1000, 6, mixing=0.4)
    model = r2v.Reinforce2Vec().fit(groups.graph, progress=False)
    r2v.plotting.embedding_map(
        model.embedding_,
        [f"group {'ABCDEF'[number]}" for number in groups.labels.argmax(axis=1)],
        groups.graph,
        method="tsne",
        axes=panels["map"],
        title="vectors of another graph, in six groups not used in training",
    )
    PICTURE.parent.mkdir(exist_ok=True)
    r2v.plotting.save(figure, PICTURE, dpi=130)


if __name__ == "__main__":
    main()

"""One `reinforce2vec embed edges.txt -o vectors.npz`: which files work, in which order."""

from __future__ import annotations

from typing import Any

from style import arrow, box, canvas

from reinforce2vec.plotting.style import BLUE, GREEN, GREY, ORANGE, PURPLE, RED, SKY

# Sub-package, colour, what happens, and the files that do it.
STAGES = (
    (
        "cli",
        GREY,
        "parse and check the options, the output file\nand the free disk space; build the model",
        "cli/main.py  cli/embed.py",
    ),
    (
        "files",
        SKY,
        "detect the format and read the edges",
        "files/graph_readers.py  files/edge_lists.py",
    ),
    (
        "graph",
        BLUE,
        "number the ids, merge repeated edges, sort\nneighbours into CSR arrays",
        "graph/reading.py  graph/graph.py  graph/csr.py",
    ),
    (
        "models",
        PURPLE,
        "check hyperparameters, estimate memory,\nchoose CPU or GPU",
        "models/reinforce2vec.py",
    ),
    (
        "skipgram",
        ORANGE,
        "train chunk by chunk: loss, callbacks,\ncheckpoints, Ctrl-C",
        "skipgram/trainer.py  skipgram/checkpoint.py",
    ),
    ("models", PURPLE, "unless --no-smooth: spectral propagation", "models/smoothing.py"),
    ("embedding", RED, "join ids and vectors", "embedding/embedding.py"),
    (
        "files",
        SKY,
        "write a temporary file and rename it",
        "files/vector_files.py  files/writing.py",
    ),
)
HEIGHTS = (0.86, 0.64, 0.86, 0.86, 0.86, 0.64, 0.64, 0.64)
LOOP = (
    (
        "walks",
        GREEN,
        "sample the walks of the chunk:\nchoose the kernel, fill its score tables",
        "skipgram/corpus.py  walks/sampler.py\nwalks/plan.py  walks/scores.py  walks/_backends.py",
        ("walks/cpu/", "walks/plain/", "walks/cuda/"),
    ),
    (
        "skipgram",
        ORANGE,
        "pairs of nodes, negative samples, updates of\nthe two matrices; on the CPU in blocks",
        "skipgram/backends.py  skipgram/host.py\nskipgram/schedule.py  skipgram/passes.py",
        ("skipgram/cpu/", "skipgram/plain.py", "skipgram/cuda/"),
    ),
)
LEFT, WIDTH, GAP, TOP = 0.95, 4.5, 0.2, 7.85
RIGHT, SPAN = 6.35, 4.5


def draw() -> Any:
    """Draw the stages from top to bottom, and beside them the loop over chunks of walks."""
    figure, field = canvas(11.0, 8.35)
    y, middle = TOP, LEFT + WIDTH / 2
    _text(field, middle, TOP + 0.3, "reinforce2vec embed edges.txt -o vectors.npz", weight="bold")
    training = 0.0
    for (room, colour, does, files), height in zip(STAGES, HEIGHTS, strict=True):
        bottom = y - height
        box(field, LEFT, bottom, WIDTH, height, colour)
        _room(field, LEFT - 0.1, bottom + height / 2, room, colour)
        lines = does.count("\n") + 1
        _text(field, middle, y - 0.12 - 0.11 * lines, does)
        _code(field, middle, bottom + 0.17, files)
        arrow(field, (middle, bottom), (middle, bottom - GAP))
        if room == "skipgram":
            training = bottom + height / 2
        y = bottom - GAP
    _text(field, middle, y - 0.14, "vectors.npz", weight="bold")
    _draw_loop(field, training)
    return figure


def _draw_loop(field: Any, training: float) -> None:
    """Draw what happens to each chunk of walks."""
    top, height, between = training + 2.45, 2.0, 0.45
    middle = RIGHT + SPAN / 2
    _text(field, middle, top + 0.22, "for each chunk of walks, on all threads", weight="bold")
    for number, (room, colour, does, files, engines) in enumerate(LOOP):
        bottom = top - height - number * (height + between)
        box(field, RIGHT, bottom, SPAN, height, colour)
        _text(field, RIGHT + 0.12, bottom + height - 0.2, room, color=colour, ha="left")
        _text(field, middle, bottom + height - 0.42, does)
        _code(field, middle, bottom + height - 0.9, files)
        for place, (engine, kind) in enumerate(
            zip(engines, ("CPU, fast", "CPU, plain", "GPU"), strict=True)
        ):
            x = RIGHT + 0.1 + place * 1.45
            box(field, x, bottom + 0.1, 1.4, 0.58, GREY)
            _text(field, x + 0.7, bottom + 0.52, kind)
            _code(field, x + 0.7, bottom + 0.27, engine, fontsize=7.5)
    arrow(field, (middle, top - height), (middle, top - height - between))
    _text(field, middle + 0.1, top - height - between / 2, "node numbers", ha="left")
    arrow(field, (LEFT + WIDTH, training), (RIGHT, training + 0.75))
    arrow(field, (RIGHT, training - 0.75), (LEFT + WIDTH, training - 0.2))
    _text(field, RIGHT - 0.5, training + 0.66, "chunk")
    _text(field, RIGHT - 0.43, training - 0.72, "loss")


def _text(field: Any, x: float, y: float, words: str, **looks: Any) -> None:
    field.text(x, y, words, **({"ha": "center", "va": "center", "fontsize": 9} | looks))


def _code(field: Any, x: float, y: float, words: str, **looks: Any) -> None:
    _text(field, x, y, words, **({"family": "monospace", "fontsize": 8} | looks))


def _room(field: Any, x: float, y: float, name: str, colour: str) -> None:
    _text(field, x, y, name, ha="right", color=colour, weight="bold")

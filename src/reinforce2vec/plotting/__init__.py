"""Figures of embeddings, walks and scores, made with matplotlib, ready for a paper.

>>> import reinforce2vec as r2v
>>> club = r2v.karate_club()
>>> path = r2v.sample_walks(club, length=100, per_node=1, starts=[1])[0]
>>> figure = r2v.plotting.walk_path(club, path)

The palette is safe for colour-blind readers. Figures are matplotlib's own: change what you like,
show them in a notebook, and write them with :func:`save`. Your matplotlib settings and your own
figures stay as they are. It may import `_util`, `files`, `graph`, `walks`, `skipgram`, `embedding`,
`models`, `evaluation` and `datasets`.
"""

from .maps import embedding_map
from .scores import evaluation_scores, evaluation_table
from .style import save
from .walks import occupation_over_time, stuck_set, walk_path

__all__ = [
    "embedding_map",
    "evaluation_scores",
    "evaluation_table",
    "occupation_over_time",
    "save",
    "stuck_set",
    "walk_path",
]

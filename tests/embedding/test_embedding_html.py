"""What notebooks show of an embedding: true, escaped, small, and cheap."""

from __future__ import annotations

import numpy as np

from reinforce2vec import Embedding


def test_names_are_escaped_and_a_page_is_small():
    page = Embedding(["<script>alert(1)</script>", "b"], [[1], [2]])._repr_html_()
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    large = Embedding(range(1000), np.random.default_rng(0).normal(size=(1000, 128)))
    assert len(large._repr_html_()) < 20_000

"""What notebooks show of an embedding: true, escaped, small, and cheap."""

from __future__ import annotations

import numpy as np

from helpers.html import facts, picture
from reinforce2vec import Embedding
from reinforce2vec.embedding import _html


def test_an_embedding_is_shown_with_its_size_and_first_vectors():
    people = Embedding(["ann", "bob"], [[3, -4, 0, float("nan")], [1, 0, 0, 0]])
    shown = facts(people)
    assert (shown["nodes"], shown["dimensions"], shown["memory"]) == ("2", "4", "32 bytes")
    stripes = picture(people._repr_html_())
    assert [stripe.get("fill") for stripe in stripes] == [
        _html._POSITIVE,
        _html._NEGATIVE,
    ]
    assert [stripe.get("opacity") for stripe in stripes] == ["0.75", "1.00"]
    assert [stripe.get("x") for stripe in stripes] == ["0", "5"]


def test_lengths_are_those_of_the_vectors():
    assert facts(Embedding([1, 2], [[3, 4], [0, 1]]))["lengths"] == "mean 3, 1 to 5"
    assert "lengths" not in facts(Embedding([], np.empty((0, 2))))


def test_of_many_vectors_some_are_measured_and_few_shown(monkeypatch):
    monkeypatch.setattr(_html, "_MEASURED", 10)
    shown = facts(Embedding(range(101), np.ones((101, 100))))
    assert shown["lengths"] == "mean 10, 10 to 10 (of 10 vectors)"
    assert list(shown)[-7:] == ["node", "0", "1", "2", "3", "4", "…"]
    assert shown["node"] == "first 32 numbers"


def test_names_are_escaped_and_cut():
    wicked, long = "<script>alert(1)</script>", "x" * 1000
    page = Embedding([wicked, long], [[1], [2]])._repr_html_()
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert long not in page


def test_a_page_is_small():
    large = Embedding(range(1000), np.random.default_rng(0).normal(size=(1000, 128)))
    assert len(large._repr_html_()) < 20_000

"""What tests look at in a fitted model."""

from __future__ import annotations


def vectors_of(model):
    return model.embedding_.vectors

"""The sentences with which things are refused."""

from __future__ import annotations

import pytest

from reinforce2vec import InputError


def refusal(action, *arguments, **options):
    """Return the sentence of the InputError that a call raises; it is a single line."""
    with pytest.raises(InputError) as caught:
        action(*arguments, **options)
    message = str(caught.value)
    assert "\n" not in message
    return message

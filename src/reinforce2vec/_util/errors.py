"""The one error a user can cause."""

from importlib import import_module
from typing import Any


class InputError(ValueError):
    """Something the user gave cannot be used; the message says what, where and what to do."""


class UnknownNode(InputError, KeyError):
    """A node id that is not there; also a KeyError, as look-ups are expected to raise."""

    __str__ = InputError.__str__


def missing(package: str, extra: str, purpose: str) -> InputError:
    """An optional package is not installed: say what it is for and how to get it."""
    return InputError(
        f"{purpose} needs {package}, which is not installed: pip install 'reinforce2vec[{extra}]'"
    )


def pandas_for(purpose: str) -> Any:
    """The package pandas, if it is installed."""
    try:
        return import_module("pandas")
    except ImportError:
        raise missing("pandas", "frames", purpose) from None

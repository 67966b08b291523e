"""The one error a user can cause."""


class InputError(ValueError):
    """Something the user gave cannot be used; the message says what, where and what to do."""


def missing(package: str, extra: str, purpose: str) -> InputError:
    """An optional package is not installed: say what it is for and how to get it."""
    return InputError(
        f"{purpose} needs {package}, which is not installed: pip install 'reinforce2vec[{extra}]'"
    )

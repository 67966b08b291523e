"""The errors that users can cause, with the parameters that they are about."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from importlib import import_module
from typing import Any

from .terminal import on_one_line

# a scalar of numpy, as `repr` spells it: np.int64(3), np.str_('a'), np.True_
_SCALAR = re.compile(
    r"""\bnp\.(?:
        (?P<truth>True|False)_
        | [a-z]+\d*_?\( (?P<value>[-+.\w]+ | b?'(?:[^'\\]|\\.)*' | b?"(?:[^"\\]|\\.)*") \)
    )""",
    re.VERBOSE,
)
_SIMPLE = (bool, int, float, str, type(None))  # types that every process can unpickle
_LONGEST = 60  # characters of what a message quotes
_PACKAGES = {"sklearn": "scikit-learn", "umap": "umap-learn"}  # whose modules have other names
_LONGEST_LINE = 300  # of what another package says


class InputError(ValueError):
    """Invalid input; the message says what is wrong, where, and what to do.

    The message names parameters as Python does; scalars of numpy in it become plain ones, and
    control characters and ends of lines are escaped. The attributes repeat parameters as data, so
    that the command line can name its options instead.

    Parameters
    ----------
    message : str
        One sentence.
    parameter : str, optional
        The parameter that is at fault; the message names it.
    value : optional
        What was given for it. An error that is pickled keeps numbers and strings, and `repr` of
        any other value.
    settings : iterable of (str, value)
        Parameters that the message names together with a value, as :func:`python_setting` spells
        them: `("weighted", False)` for `weighted=False`.
    """

    def __init__(
        self,
        message: str,
        *,
        parameter: str | None = None,
        value: Any = None,
        settings: Iterable[tuple[str, Any]] = (),
    ) -> None:
        plain = _SCALAR.sub(lambda found: found["truth"] or found["value"], message)
        super().__init__(on_one_line(plain))  # it may quote a file or an id
        self.parameter, self.value, self.settings = parameter, value, tuple(settings)

    def renamed(self, parameter: str, name: str) -> InputError:
        """Return the error for a caller that has another name for a parameter.

        >>> print(InputError("p must be positive", parameter="p").renamed("p", "walk_p"))
        walk_p must be positive
        """
        if self.parameter != parameter:
            return self
        message = re.sub(rf"(?<!\w){parameter}(?!\w)", name, str(self), count=1)
        return type(self)(message, **(self.data() | {"parameter": name}))

    def data(self) -> dict[str, Any]:
        """Return what the error carries beside its message, to build another one from it."""
        return {"parameter": self.parameter, "value": self.value, "settings": self.settings}

    def __reduce__(self) -> tuple[Any, ...]:
        value = self.value if isinstance(self.value, _SIMPLE) else repr(self.value)
        return _rebuild, (type(self), self.args, self.data() | {"value": value})


def _rebuild(kind: type[InputError], args: tuple[Any, ...], data: dict[str, Any]) -> InputError:
    return kind(*args, **data)


class UnknownNode(InputError, KeyError):
    """A node id that is not there; also a KeyError, as look-ups are expected to raise."""

    __str__ = InputError.__str__


class NoEdges(InputError):
    """A file that holds no edges: empty, or nothing but a header or comments."""


def excerpt(text: str | bytes, longest: int = _LONGEST) -> str:
    """Return the beginning of a piece of a file, of an id or of a name, to show in a message.

    >>> excerpt("a" * 100, 10)
    'aaaaaaa...'
    """
    if isinstance(text, bytes):
        text = text[: 4 * longest + 4].decode(errors="replace")  # so many bytes are longer
    return text if len(text) <= longest else text[: longest - 3] + "..."


def short_repr(value: Any, longest: int = _LONGEST) -> str:
    """Return `repr` of a value to show in a message, cut if it is long; strings keep their quotes.

    >>> short_repr("ann"), short_repr([1] * 100, 10), short_repr("a" * 100, 10)
    ("'ann'", '[1, 1, ...', "'aaaaaaa...'")
    """
    if isinstance(value, (str, bytes)):
        cut = value if len(value) <= longest else value[: longest - 3]
        more = "" if len(value) <= longest else "..."
        return repr(cut)[:-1] + more + repr(cut)[-1]
    return excerpt(repr(value), longest)


def python_setting(parameter: str, value: Any) -> str:
    """Spell a parameter and its value as an argument in Python; `...` stands for any value.

    >>> python_setting("backend", "cpu"), python_setting("key", ...)
    ('backend="cpu"', 'key=...')
    """
    if value is ...:
        return f"{parameter}=..."
    if isinstance(value, str):
        return f'{parameter}="{excerpt(value)}"'
    if isinstance(value, float) and float(f"{value:g}") == value:
        return f"{parameter}={value:g}"
    return f"{parameter}={excerpt(str(value))}"


def missing(
    package: str, extra: str, purpose: str, settings: Iterable[tuple[str, Any]] = ()
) -> InputError:
    """Return the error for an optional package that is not installed: what it is for, and how to
    get it.
    """
    return InputError(
        f"{purpose} needs {package}, which is not installed: pip install 'reinforce2vec[{extra}]'",
        settings=settings,
    )


def first_line(error: BaseException) -> str:
    """Return the first line of the message of an error, cut if it is very long; its class if there
    is no message.
    """
    line = (str(error).strip().splitlines() or [type(error).__name__])[0]
    return excerpt(line, _LONGEST_LINE)


def line_of_user() -> int:
    """Return the `stacklevel` of a warning that names the line outside of this package."""
    home, level, frame = __name__.partition(".")[0], 1, sys._getframe(1)
    while frame.f_back is not None:
        if str(frame.f_globals.get("__name__")).partition(".")[0] != home:
            break
        level, frame = level + 1, frame.f_back
    return level


def pandas_for(purpose: str) -> Any:
    """Import pandas; InputError, with the purpose, if it is not installed."""
    return import_package("pandas", purpose, "frames")


def import_package(module: str, purpose: str, extra: str = "") -> Any:
    """Import a module of another package; InputError, with what to install, if it is missing.

    `extra` is the one of ours that installs it, if there is one.
    """
    try:
        return import_module(module)
    except ImportError:
        package = module.partition(".")[0]
        if extra:
            raise missing(_PACKAGES.get(package, package), extra, purpose) from None
        raise InputError(
            f"{purpose} needs {package}, which is not installed: pip install {package}"
        ) from None

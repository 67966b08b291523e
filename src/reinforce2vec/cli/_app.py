"""The application that commands belong to: options in groups, and errors in a line or two."""

from __future__ import annotations

import inspect
import re
import shlex
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from .._util.errors import InputError, python_setting
from .._util.machine import check_address_space
from ._messages import print_last
from ._options import GROUPS
from ._run import FAILURE, READING_NAMES, Run
from ._suggestions import instead_of, known_spelling

# Newer versions of typer bring their own copy of click: this is UsageError in any of them.
_UsageError: Any = typer.BadParameter.__mro__[1]
_ORDER = "demo embed update evaluate tune neighbors recommend plot explore walk datasets warm-up"
_CONTEXT = inspect.Parameter("context", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)


def command(
    *parameters: inspect.Parameter, examples: Iterable[str]
) -> Callable[[Callable[[Run], None]], Callable[..., None]]:
    """Make a command of a function: it takes these arguments and options, and finds them in a Run.

    One that takes `backend` has one connection to Ray for all its work.
    """

    def decorate(function: Callable[[Run], None]) -> Callable[..., None]:
        def run(**given: Any) -> None:
            work = given["context"].obj = Run(given["context"])
            with _cluster_of(work):
                function(work)

        lines = "".join(f"\n    reinforce2vec {line}" for line in examples)
        run.__name__, run.__doc__ = function.__name__, function.__doc__
        run.__signature__ = inspect.Signature([_CONTEXT, *parameters])  # type: ignore[attr-defined]
        run.epilog = f"\b\nExamples:{lines}"  # type: ignore[attr-defined]
        return run

    return decorate


def _cluster_of(run: Run) -> AbstractContextManager[None]:
    """Return what keeps the connection to the cluster that a command's options name."""
    address = getattr(run.given, "address", None)
    is_ray = getattr(run.given, "backend", None) == "ray"
    if address is not None and not is_ray:
        raise InputError("--address needs --backend ray")
    if not is_ray:
        return nullcontext()
    from .._util.cluster.connection import kept

    return kept(address)


class _Command(TyperCommand):
    """A command whose help has groups of options, and whose errors are sentences."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments, then options in the groups that `rich_help_panel` names."""
        for title, params in grouped(self.get_params(ctx)).items():
            records = [param.get_help_record(ctx) for param in params]
            with formatter.section(title):
                formatter.write_dl([record for record in records if record is not None])

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the options; one that is given twice, of which only the last would count, fails."""
        words = [*args]  # reading them empties the list
        rest = super().parse_args(ctx, args)
        if not ctx.resilient_parsing:
            _, _, order = self.make_parser(ctx).parse_args(args=words)
            for option, times in Counter(order).items():
                if times > 1 and _has_one_value(option):
                    names = " or ".join([_flag(option), *option.secondary_opts])
                    ctx.fail(f"give {names} once, not {times} times")
        return rest

    def invoke(self, ctx: Any) -> Any:
        """Run the command; name options, not parameters, in the error it ends with."""
        try:
            check_address_space()
            _check_arguments(self.params, ctx.params)
            return super().invoke(ctx)
        except (typer.Exit, typer.Abort):
            raise
        except (Exception, KeyboardInterrupt) as error:
            if isinstance(error, InputError):
                error = with_options(error, self.params)
            if not isinstance(ctx.obj, Run):  # it did not begin
                ctx.obj = Run(ctx)
                ctx.obj.begin()
            message, code = ctx.obj.ending(error)
            print_last(message)
            raise typer.Exit(code) from None


class _Group(TyperGroup):
    """Commands in the order of work; reports a wrong command line in two lines."""

    def __init__(self, **settings: Any) -> None:
        """Sort the commands; those without a place in the order come last."""
        super().__init__(**settings)
        names = sorted(self.commands, key=lambda name: (_ORDER + name).index(name))
        self.commands = {name: self.commands[name] for name in names}

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of all commands in their order."""
        return list(self.commands)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return the command of a name, in either spelling."""
        return super().get_command(ctx, known_spelling(cmd_name))

    def main(self, *args: Any, **settings: Any) -> Any:
        """Run the command that the arguments name; exit with 0, or print why and exit otherwise."""
        try:
            code = super().main(*args, **(settings | {"standalone_mode": False}))
        except _UsageError as error:
            _print_misuse(error)
            code = error.exit_code
        except OSError as error:  # of the help, on a disk that is full
            print_last(f"error: {error.strerror or error}")
            code = FAILURE
        sys.exit(code if isinstance(code, int) else 0)


class App(typer.Typer):
    """A typer application of such commands.

    Its help is typer's plain one: rich would double the time that it takes.
    """

    def __init__(self, **changes: Any) -> None:
        settings: dict[str, Any] = {
            "cls": _Group,
            "no_args_is_help": True,
            "add_completion": False,
            "rich_markup_mode": None,
            "pretty_exceptions_enable": False,
            "context_settings": {
                "help_option_names": ["-h", "--help"],
                "max_content_width": 100,
            },
        }
        super().__init__(**(settings | changes))

    def command(self, name: str | None = None, **settings: Any) -> Callable[[Any], Any]:
        """Add a command of this form."""

        def add(function: Callable[..., None]) -> Any:
            summary = " ".join((function.__doc__ or "").split("\n\n")[0].split())
            own: dict[str, Any] = {"cls": _Command, "short_help": summary}
            own["epilog"] = getattr(function, "epilog", None)
            return super(App, self).command(name, **(own | settings))(function)

        return add


def grouped(params: Iterable[Any]) -> dict[str, list[Any]]:
    """Return parameters by the headings of the help: arguments, then groups in their order."""
    titles = {name: list[Any]() for name in ("Arguments", *(group.title for group in GROUPS))}
    titles["Other options"] = []
    for param in params:
        is_argument = param.param_type_name == "argument"
        title = "Arguments" if is_argument else param.rich_help_panel or "Other options"
        titles[title].append(param)
    return {title: members for title, members in titles.items() if members}


def _check_arguments(params: Iterable[Any], given: Mapping[str, Any]) -> None:
    """Raise InputError for a file that is missing, before the command takes its time to start."""
    for param in params:
        path = given.get(param.name)
        missing = isinstance(path, Path) and str(path) != "-" and not path.exists()
        if param.param_type_name == "argument" and missing:
            raise InputError(f"{path}: there is no such file")


# -- mistakes ----------------------------------------------------------------------------------


def _print_misuse(error: Any) -> None:
    """Print what is wrong with a command line, and where to read on."""
    if type(error).__name__ == "NoArgsIsHelpError":
        error.show()
        return
    message = error.format_message().rstrip(".")
    name = getattr(error, "option_name", None)
    if type(error).__name__ == "NoSuchOption" and name is not None:
        message = f"there is no option {name}{instead_of(name, error.ctx)}"
    message = message[:1].lower() + message[1:].replace("Input should", "it should")
    message = re.sub(r", unable to parse \w+ as an? \w+|value error, ", "", message, flags=re.I)
    print_last(f"error: {message}")
    if error.ctx is not None:
        print_last(f"for help, run {error.ctx.command_path} --help")


def with_options(error: InputError, params: Iterable[Any]) -> InputError:
    """Return an error whose message has options in place of the parameters that it carries.

    A parameter that is no option of the command keeps its name in Python.
    """
    options = {
        READING_NAMES.get(param.name, param.name): param
        for param in params
        if param.param_type_name == "option"
    }
    message = str(error)
    named = {name for name, _ in error.settings}
    faulty = error.parameter
    if faulty is not None and faulty in options and faulty not in named:
        word = rf"(?<![\w./\\-]){faulty}(?![\w/\\-]|\.\w)"  # and no part of a path
        message = re.sub(word, _flag(options[faulty]), message, count=1)
    if named <= {*options}:  # those that stand together are typed without a comma
        together = ", ".join(python_setting(*setting) for setting in error.settings)
        typed = " ".join(_as_option(options[name], value) for name, value in error.settings)
        message = message.replace(together, typed) if together else message
    for name, value in error.settings:
        if name in options:
            spelled = _as_option(options[name], value)
            message = message.replace(python_setting(name, value), spelled)
    return InputError(message)


def _has_one_value(param: Any) -> bool:
    """Return whether a parameter is an option whose values exclude each other."""
    if param.param_type_name != "option" or param.multiple:
        return False
    return not param.is_flag or bool(param.secondary_opts)


def _flag(option: Any) -> str:
    """Return the long name of an option."""
    return str(max(option.opts, key=len))


def _as_option(option: Any, value: Any) -> str:
    """Return what to type to give an option a value."""
    if value is True:
        return _flag(option)
    if value is False and option.secondary_opts:
        return str(option.secondary_opts[0])
    if isinstance(value, tuple):
        return f"{_flag(option)} {','.join(map(str, value))}"
    text = "..." if value is ... else shlex.quote(python_setting("", value)[1:].strip('"'))
    return f"{_flag(option)} {text}"

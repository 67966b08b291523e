"""The application that commands belong to: their order, and errors in a line or two."""

from __future__ import annotations

import re
import shlex
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from .._util.errors import InputError, python_setting
from .._util.machine import check_address_space
from ._exit_codes import FAILURE, CommandEnd, exit_code
from ._help import WIDTH, Context, write_options
from ._messages import print_last
from ._options import READING_NAMES
from ._suggestions import instead_of, known_spelling

# Newer versions of typer bring their own copy of click: this is UsageError in any of them.
_UsageError: Any = typer.BadParameter.__mro__[1]


class _Command(TyperCommand):
    """A command whose help has groups of options, and whose errors are sentences."""

    context_class = Context

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments, then options in the groups that `rich_help_panel` names."""
        write_options(self, ctx, formatter)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the examples, which can be copied."""
        if self.epilog:
            formatter.write_examples(self.epilog)

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
            with exit_code(FAILURE):
                check_address_space()
                _check_arguments(self.params, ctx.params)
                return super().invoke(ctx)
        except CommandEnd as ending:
            if ending.error is not None:
                ending.message = f"error: {with_options(ending.error, self.params)}"
            print_last(ending.message)
            raise


class CommandGroup(TyperGroup):
    """Commands in the order of work; reports a wrong command line in two lines."""

    order: tuple[str, ...] = ()
    context_class = Context

    def __init__(self, *, commands: dict[str, Any], **settings: Any) -> None:
        """Sort the commands; those without a place in the order of work come last."""
        names = sorted(commands, key=lambda name: [*self.order, name].index(name))
        super().__init__(commands={name: commands[name] for name in names}, **settings)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the commands, and below them the few options."""
        commands = {name: self.get_command(ctx, name) for name in self.list_commands(ctx)}
        with formatter.section("Commands"):
            formatter.write_dl(
                [(name, one.get_short_help_str(WIDTH)) for name, one in commands.items() if one]
            )
        write_options(self, ctx, formatter)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the examples, which can be copied."""
        if self.epilog:
            formatter.write_examples(self.epilog)

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
    """A typer application of such commands."""

    def __init__(self, **changes: Any) -> None:
        settings: dict[str, Any] = {
            "cls": CommandGroup,
            "no_args_is_help": True,
            "add_completion": False,
            "rich_markup_mode": None,  # plain text: at once, and the same without a terminal
            "pretty_exceptions_enable": False,
            "context_settings": {
                "help_option_names": ["-h", "--help"],
                "max_content_width": WIDTH,
            },
        }
        super().__init__(**(settings | changes))

    def command(self, name: str | None = None, **settings: Any) -> Callable[[Any], Any]:
        """Add a command of this form."""
        return super().command(name, **({"cls": _Command} | settings))


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
    message = re.sub(r", unable to parse \w+ as an? \w+", "", message)
    print_last(f"error: {message}")
    if error.ctx is not None:
        print_last(f"for help, run {error.ctx.command_path} --help")


def with_options(error: InputError, params: Iterable[Any]) -> str:
    """Return an error's message with options in place of the parameters that it carries.

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
    if named <= {*options}:  # those that stand together
        together = ", ".join(python_setting(*setting) for setting in error.settings)
        typed = " ".join(_as_option(options[name], value) for name, value in error.settings)
        message = message.replace(together, typed) if together else message
    for name, value in error.settings:
        if name in options:
            spelled = _as_option(options[name], value)
            message = message.replace(python_setting(name, value), spelled)
    return message


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

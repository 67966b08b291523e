"""The shape of all commands: help in groups, examples, and mistakes told in a line or two."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from ._messages import FAILURE, Ending, say_last, sentences

WIDTH, NAMES = 100, 26  # columns of the help, and of the names of options in it
# Newer versions of typer bring their own copy of click: this is UsageError in any of them.
UsageError: Any = typer.BadParameter.__mro__[1]


class Command(TyperCommand):
    """A command whose options stand in groups, and which ends in a sentence."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments, then options in the groups that `rich_help_panel` names."""
        write_options(self, ctx, formatter)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the examples, each on a line of its own, so that it can be copied."""
        write_lines(self.epilog, formatter)

    def invoke(self, ctx: Any) -> Any:
        """Run the command; say its last sentence in the words of the command line."""
        try:
            with sentences(FAILURE):
                return super().invoke(ctx)
        except Ending as ending:
            say_last(in_options(ending.message, self.params))
            raise


class Group(TyperGroup):
    """Commands in the order of work; says what is wrong with a command line in two lines."""

    order: tuple[str, ...] = ()

    def __init__(self, *, commands: dict[str, Any], **settings: Any) -> None:
        """Those without a place in the order of work come last."""
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
        """Write the epilog as it stands."""
        write_lines(self.epilog, formatter)

    def main(self, *args: Any, **settings: Any) -> Any:
        """Run what the arguments name, and exit with 0, or with a sentence and another code."""
        try:
            code = super().main(*args, **(settings | {"standalone_mode": False}))
        except UsageError as error:
            tell_misuse(error)
            code = error.exit_code
        except OSError as error:  # of the help, on a disk that is full
            say_last(f"error: {error.strerror or error}")
            code = FAILURE
        sys.exit(code if isinstance(code, int) else 0)


class App(typer.Typer):
    """A typer of such commands."""

    def __init__(self, **changes: Any) -> None:
        settings: dict[str, Any] = {
            "cls": Group,
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
        """Add a command, of our shape."""
        return super().command(name, **({"cls": Command} | settings))


# -- help --------------------------------------------------------------------------------------


def write_options(command: Any, ctx: Any, formatter: Any) -> None:
    """Write arguments, and options in their groups; those of no group come last."""
    groups: dict[str, list[tuple[str, str]]] = {"Arguments": []}
    others = []
    for param in command.get_params(ctx):
        record = param.get_help_record(ctx)
        group = getattr(param, "rich_help_panel", None)
        if record is None:
            continue
        if param.param_type_name == "argument":
            groups["Arguments"].append(record)
        elif group is None:
            others.append(record)
        else:
            groups.setdefault(group, []).append(record)
    rest = "Other options" if any(groups.values()) else "Options"
    for name, records in [*groups.items(), (rest, others)]:
        if records:
            with formatter.section(name):
                formatter.write_dl(records, col_max=NAMES)


def write_lines(text: str | None, formatter: Any) -> None:
    """Write lines as they are, after a blank one, and keep them together."""
    if text:
        formatter.write("\n" + text.replace("\n\n", "\n") + "\n")


def examples(*lines: str) -> str:
    """The end of a command's help: what one may type. Also Markdown, for the documentation."""
    return "\n".join(["Examples:", "", *(f"    reinforce2vec {line}" for line in lines)])


# -- mistakes ----------------------------------------------------------------------------------


def tell_misuse(error: Any) -> None:
    """Say what is wrong with a command line, and where to read on."""
    if type(error).__name__ == "NoArgsIsHelpError":
        error.show()
        return
    message = error.format_message().rstrip(".")
    name = getattr(error, "option_name", None)
    if type(error).__name__ == "NoSuchOption" and name is not None:
        close = get_close_matches(name, error.possibilities or (), n=1)
        message = f"there is no option {name}" + (f": did you mean {close[0]}?" if close else "")
    message = message[:1].lower() + message[1:].replace("Input should", "it should")
    message = re.sub(r", unable to parse \w+ as an? \w+", "", message)
    say_last(f"error: {message}")
    if error.ctx is not None:
        say_last(f"{error.ctx.command_path} --help says more")


def in_options(message: str, params: Iterable[Any]) -> str:
    """A sentence of the library in the words of the command line: --seed 3 for seed=3."""
    options = {param.name: param for param in params if param.param_type_name == "option"}
    if not options:
        return message
    names = "|".join(map(re.escape, sorted(options, key=len, reverse=True)))
    long = "|".join(name for name in options if "_" in name) or "(?!)"
    free = r"(?<![\w./=-])"  # not within the name of a file

    def reworded(found: re.Match[str]) -> str:
        given = found.groupdict()
        if given["name"]:
            return setting(options[given["name"]], given["value"].strip("\"'"))
        name = given["asked"] or given["first"] or given["long"]
        return flag(options[name]) if name else found.group()

    told = re.sub(
        rf"\w+\(\.\.\., (?P<asked>{names})=\.\.\.\)"  # read_graph(..., format=...)
        r"|\w+\([^()]*\)"  # a call says what it is as it stands
        rf"|{free}(?P<name>{names})=(?P<value>\"[^\"]*\"|'[^']*'|[^\s,;:()]+)"
        rf"|(?<=error: )(?P<first>{names})(?= must | says | ')"
        rf"|{free}(?P<long>{long})(?![\w./=-])",
        reworded,
        message,
    )
    return re.sub(r"(--[\w-]+), or \1\b", r"\1", told)  # some tell both ways


def flag(option: Any) -> str:
    """The long name of an option."""
    return str(max(option.opts, key=len))


def setting(option: Any, value: str) -> str:
    """What gives an option a value."""
    if value == "False" and option.secondary_opts:
        return str(option.secondary_opts[0])
    return flag(option) if value == "True" else f"{flag(option)} {value}"

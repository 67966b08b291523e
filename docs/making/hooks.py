"""Generate the reference of the command line while the site is built."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

COMMAND = re.compile(r"<!-- the command (.+) -->")
OPTIONS = "<!-- every option -->"


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Insert the reference of a command, and the table of options, where a page has a marker."""
    if OPTIONS in markdown:
        markdown = markdown.replace(OPTIONS, "\n".join(option_table()))
    return COMMAND.sub(lambda found: "\n".join(reference(found[1])), markdown)


def application() -> Any:
    """Return the whole command line."""
    from typer.main import get_command

    from reinforce2vec.cli.main import app

    return get_command(app)


def reference(name: str) -> Iterator[str]:
    """Yield Markdown for a command and its subcommands, from the application itself."""
    command = application().commands[name]
    for words, one in walk(f"reinforce2vec {name}", command):
        level = 2 if one is command else 3
        if one is not command:
            yield f"## `{words}` {{ #{words.replace(' ', '-')} }}\n"
        yield from section(words, one, level)


def walk(name: str, command: Any) -> Iterator[tuple[str, Any]]:
    """Yield a command and its subcommands, with their full names."""
    yield name, command
    for word, child in getattr(command, "commands", {}).items():
        if not child.hidden:
            yield from walk(f"{name} {word}", child)


def option_table() -> Iterator[str]:
    """Yield a table of the options that more than one command has, and of these commands."""
    owners: dict[str, list[str]] = {}
    for words, command in walk("", application()):
        for one in shown(command) if words else ():
            if one.param_type_name == "option" and one.name != "help":
                owners.setdefault(names(one), []).append(words.strip())
    yield "| option | commands |"
    yield "|---|---|"
    for option, commands in owners.items():
        if len(commands) > 1:
            yield f"| {option.replace('|', '&#124;')} | {', '.join(commands)} |"


def shown(command: Any) -> list[Any]:
    """Return the parameters of a command that its help has."""
    return [one for one in command.params if not getattr(one, "hidden", False)]


def section(name: str, command: Any, level: int) -> Iterator[str]:
    """Yield one command: its description, arguments, options and examples."""
    if command.help:
        yield f"{paragraphs(command.help)}\n"
    yield f"    {' '.join([name, *usage(command, shown(command))])}\n"
    from reinforce2vec.cli._app import grouped

    for title, parameters in grouped(shown(command)).items():
        yield f"{'#' * level} {title} {{ #{anchor(name, title)} }}\n"
        for parameter in parameters:
            yield f"{names(parameter)}\n:   {text(parameter)}\n"
    if command.epilog:
        yield f"{'#' * level} Examples {{ #{anchor(name, 'examples')} }}\n"
        yield f"{paragraphs(command.epilog).partition(':')[2]}\n"


def anchor(name: str, title: str) -> str:
    """Return where a group of options is on the page."""
    return f"{name} {title}".lower().replace(" ", "-")


def usage(command: Any, parameters: list[Any]) -> Iterator[str]:
    """Yield the words of the usage line."""
    yield "[OPTIONS]"
    for parameter in parameters:
        if parameter.param_type_name == "argument":
            value = takes(parameter).removesuffix("...") + "..." * (parameter.nargs == -1)
            yield value if parameter.required else f"[{value}]"
    if getattr(command, "commands", None):
        yield "COMMAND ..."


def names(parameter: Any) -> str:
    """Return the names of a parameter, and the placeholder of its value."""
    if parameter.param_type_name == "argument":
        return f"`{takes(parameter)}`"
    value = "" if parameter.is_flag else f" {takes(parameter)}"
    return ", ".join(f"`{name}{value}`" for name in (*parameter.opts, *parameter.secondary_opts))


def takes(parameter: Any) -> str:
    """Return the placeholder of the value of a parameter."""
    return str(parameter.metavar or parameter.name.upper())


def text(parameter: Any) -> str:
    """Return the help of a parameter, with its default if the help does not have it."""
    words = parameter.help or ""
    if parameter.required:
        return f"{words} *Required.*"
    flag = getattr(parameter, "is_flag", False)
    unset = parameter.default is None or parameter.default == "" or flag
    complete = unset or "Default:" in words
    return words if complete else f"{words} Default: `{parameter.default}`."


def paragraphs(words: str) -> str:
    """Return help text as Markdown, without the marks for the terminal."""
    return words.replace("\b", "").replace("\f", "").strip()

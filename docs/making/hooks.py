"""Generate the reference of the command line while the site is built."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

COMMANDS = "<!-- every command -->"


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Insert the reference of all commands into the page that has the marker."""
    return markdown.replace(COMMANDS, "\n".join(reference()) if COMMANDS in markdown else "")


def reference() -> Iterator[str]:
    """Yield Markdown for the whole command line, from the application itself."""
    from typer.main import get_command

    from reinforce2vec.cli.main import app

    for name, command in walk("reinforce2vec", get_command(app)):
        yield from section(name, command)


def walk(name: str, command: Any) -> Iterator[tuple[str, Any]]:
    """Yield a command and its subcommands, with their full names."""
    yield name, command
    for word, child in getattr(command, "commands", {}).items():
        if not child.hidden:
            yield from walk(f"{name} {word}", child)


def section(name: str, command: Any) -> Iterator[str]:
    """Yield one command: its description, arguments, options and examples."""
    shown = [one for one in command.params if not getattr(one, "hidden", False)]
    yield f"## `{name}` {{ #{name.replace(' ', '-')} }}\n"
    if command.help:
        yield f"{paragraphs(command.help)}\n"
    yield f"    {' '.join([name, *usage(command, shown)])}\n"
    from reinforce2vec.cli._help import grouped

    for title, parameters in grouped(shown).items():
        yield f"**{title}**\n"
        for parameter in parameters:
            yield f"{names(parameter)}\n:   {text(parameter)}\n"
    if command.epilog:
        yield f"{paragraphs(command.epilog)}\n"


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

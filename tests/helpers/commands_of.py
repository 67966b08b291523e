"""What tests of the whole command line share: every command there is."""

from __future__ import annotations

from typer.main import get_command

from reinforce2vec.cli.main import app

ALL = get_command(app)


def leaves(command=ALL, path=()):
    """Every command that does something, by its words: {"evaluate link-prediction": command}."""
    below = getattr(command, "commands", None)
    if below is None:
        return {" ".join(path): command}
    found = {}
    for name, child in below.items():
        found |= leaves(child, (*path, name))
    return found


COMMANDS = leaves()


def options_of(command):
    return [param for param in command.params if param.param_type_name == "option"]


def flag_of(param):
    return max(param.opts, key=len)

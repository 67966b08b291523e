"""Settings that make Ray listen on this machine alone (on 127.0.0.1), and ask for a token."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from .side_effects import environment

_SETTINGS = {
    "RAY_AUTH_MODE": "token",
    "RAY_AUTH_TOKEN": secrets.token_hex(32),  # else Ray writes one to the home folder
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_worker_niceness": "0",  # at Ray's 15, other programs leave its workers little time
    # as on systems without clusters: elsewhere Ray replaces 127.0.0.1 by an address of the network
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
}


@contextmanager
def on_loopback() -> Iterator[None]:
    """Make a Ray that is started in this block listen on this machine alone, and ask for a token.

    Ray reads its settings when it is imported, so this also changes those that it has read.
    """
    settings = dict(_SETTINGS)
    if "RAY_AUTH_TOKEN_PATH" in os.environ:
        del settings["RAY_AUTH_TOKEN"]
    with environment(settings), loopback_alone():
        read_settings()
        yield


@contextmanager
def loopback_alone() -> Iterator[None]:
    """Keep Ray from replacing 127.0.0.1 by an address of the network."""
    constants: Any = import_module("ray._private.ray_constants")  # there is no public setting
    usual, constants.ENABLE_RAY_CLUSTER = constants.ENABLE_RAY_CLUSTER, False
    try:
        yield
    finally:
        constants.ENABLE_RAY_CLUSTER = usual


def read_settings() -> None:
    """Make Ray read its environment variables again: whether to use a token, and which.

    This does nothing while the process is connected: Ray must not change them during the work.
    """
    internals = import_module("ray._raylet")
    is_connected = import_module("ray").is_initialized()
    if not is_connected and hasattr(internals, "AuthenticationTokenLoader"):
        internals.Config.initialize("")
        loader = internals.AuthenticationTokenLoader.instance()
        loader.reset_cache()
        loader.has_token(ignore_auth_mode=True)  # it reads the token when it is asked

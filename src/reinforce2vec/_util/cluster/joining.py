"""Joining a Ray cluster that runs already; an address without one is refused in seconds."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib import import_module
from typing import Any

from ..errors import InputError, first_line
from .loopback import loopback_alone
from .resources import check_versions

_ANSWERING = 10.0  # seconds in which a host accepts a connection


def join(ray: Any, address: str) -> None:
    """Connect to a cluster; InputError if its nodes have other versions of packages."""
    try:
        head: Any = import_module("ray._raylet").GcsClient(address=address)
        head.get_all_node_info(timeout=_ANSWERING)  # a wrong token fails here, `init` tries again
        ray.init(address=address, log_to_driver=False, logging_level="error")
    except Exception as error:  # ConnectionError, ValueError, RuntimeError
        reason = f"cannot be used: {first_line(error)}"
        if isinstance(error, getattr(ray.exceptions, "AuthenticationError", ())):
            reason = "asks for its token: set RAY_AUTH_MODE=token, and RAY_AUTH_TOKEN to the token"
        raise InputError(
            f"the Ray cluster at the address {address!r} {reason}",
            parameter="address",
            value=address,
        ) from None
    check_versions(ray)


@contextmanager
def reaching(address: str) -> Iterator[str]:
    """Yield where a cluster answers, as HOST:PORT, and make Ray use the address in this block.

    Ray replaces 127.0.0.1 by the machine's address in the network, where a cluster may not listen.
    InputError if no Ray answers; Ray itself would try for minutes.
    """
    if address == "auto":
        address = _cluster_here()
    host, _, port = address.rpartition(":")
    if "://" in address or not host or not port.isdigit():
        raise InputError(
            f"address must be auto or HOST:PORT, as head-node:6379, not {address!r}",
            parameter="address",
            value=address,
        )
    services: Any = import_module("ray._private.services")
    host, network = host.strip("[]"), services.resolve_ip_for_localhost(host.strip("[]"))
    try:
        _greet(host, int(port))
    except (OSError, OverflowError) as error:
        raise InputError(
            f"no Ray cluster answers at the address {address!r} ({first_line(error)}): is it "
            "running, and can its head node be reached from here?",
            parameter="address",
            value=address,
        ) from None
    with ExitStack() as stack:
        try:
            _greet(network, int(port))
        except OSError:
            stack.enter_context(loopback_alone())
        yield address


def _cluster_here() -> str:
    """Return the address of the cluster that Ray finds on this machine, or in RAY_ADDRESS."""
    services: Any = import_module("ray._private.services")
    services.find_gcs_addresses.cache_clear()  # it may have ended since
    try:
        return str(services.get_ray_address_from_environment("auto", None))
    except ConnectionError:
        raise InputError(
            "no Ray cluster runs on this machine: give its address as HOST:PORT",
            parameter="address",
            value="auto",
        ) from None


def _greet(host: str, port: int) -> None:
    """Raise OSError unless an HTTP/2 server answers: Ray's head node is one."""
    with socket.create_connection((host, port), timeout=_ANSWERING) as connection:
        if os.environ.get("RAY_USE_TLS", "0") != "0":
            return
        settings = bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])  # a frame: its length, type, flags, stream
        connection.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + settings)
        if connection.recv(4)[3:] != settings[3:4]:
            raise OSError("another program listens there")

"""A Ray cluster of several simulated machines on this one, for tests."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterable

from reinforce2vec._util.cluster.isolation import handlers_kept, on_loopback


class SimulatedCluster:
    """A head node and more nodes, each with an object store of its own.

    The process is connected to it as long as it is there. There is at most one in a process.
    """

    def __init__(self, nodes: int = 2, cpus: int = 2, store_bytes: int = 100 << 20) -> None:
        self._settings = {"num_cpus": cpus, "object_store_memory": store_bytes}
        with on_loopback(), handlers_kept():
            import ray
            from ray.cluster_utils import Cluster

            # a node that is killed is noticed in 5 s, not in 15
            noticing = {"health_check_period_ms": 1000}
            head = self._settings | {"include_dashboard": False, "_system_config": noticing}
            names = ("RAY_AUTH_MODE", "RAY_AUTH_TOKEN")
            self.token = {name: os.environ[name] for name in names}  # for other processes
            self._cluster = Cluster(initialize_head=True, head_node_args=head)
            ray.init(self._cluster.address, log_to_driver=False, logging_level="error")
        self.ray = ray
        self.nodes = [self.add_node() for _ in range(nodes - 1)]

    @property
    def address(self) -> str:
        return self._cluster.address

    def add_node(self):
        """Add a node, and return it."""
        with on_loopback():
            node = self._cluster.add_node(**self._settings)
        self._cluster.wait_for_nodes(30)
        return node

    def remove_node(self, node, allow_graceful: bool = False) -> None:
        """Kill all processes of a node."""
        self._cluster.remove_node(node, allow_graceful=allow_graceful)

    def worker_processes(self, call: str = "") -> list[int]:
        """Return the ids of processes that work for the cluster, or that are in this call now."""
        raylets = {
            str(process.process.pid)
            for node in self._cluster.list_all_nodes()
            for process in node.all_processes.get("raylet", [])
        }
        found = []
        for entry in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{entry}/cmdline", "rb") as file:
                    is_worker = file.read().startswith(f"ray::{call}".encode())
                with open(f"/proc/{entry}/stat") as file:
                    parent = file.read().rpartition(")")[2].split()[1]
            except OSError:  # it has ended
                continue
            if is_worker and parent in raylets:  # and not of another cluster on this machine
                found.append(int(entry))
        return found

    def close(self) -> None:
        with handlers_kept():
            self.ray.shutdown()
            self._cluster.shutdown()


# -- processes ---------------------------------------------------------------------------------


def descendants(process: int) -> dict[int, str]:
    """Return the commands of all processes below one, by their ids."""
    parents, commands = {}, {}
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{entry}/stat") as file:
                state, parent = file.read().rpartition(")")[2].split()[:2]
            with open(f"/proc/{entry}/cmdline", "rb") as file:
                commands[int(entry)] = file.read().replace(b"\0", b" ").decode()
        except OSError:  # it has ended
            continue
        if state != "Z":
            parents[int(entry)] = int(parent)
    found: dict[int, str] = {}
    below = [process]
    while below:
        below = [one for one, parent in parents.items() if parent in below]
        found |= {one: commands[one] for one in below}
    return found


def listening_addresses(processes: Iterable[int]) -> list[str]:
    """Return the addresses of all TCP sockets on which some processes listen."""
    sockets = set()
    for process in processes:
        for name in os.listdir(f"/proc/{process}/fd"):
            try:
                sockets.add(os.readlink(f"/proc/{process}/fd/{name}"))
            except OSError:  # it was closed
                continue
    found = []
    for table, family in (("tcp", socket.AF_INET), ("tcp6", socket.AF_INET6)):
        with open(f"/proc/net/{table}") as file:
            rows = [line.split() for line in file][1:]
        for row in rows:
            if row[3] == "0A" and f"socket:[{row[9]}]" in sockets:  # it listens
                words = bytes.fromhex(row[1].partition(":")[0])
                address = b"".join(words[i : i + 4][::-1] for i in range(0, len(words), 4))
                found.append(socket.inet_ntop(family, address))
    return found

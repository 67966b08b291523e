"""A Ray cluster of several simulated machines on this one, for tests."""

from __future__ import annotations

import os

from reinforce2vec._util import cluster


class SimulatedCluster:
    """A head node and more nodes, each with an object store of its own.

    The process is connected to it as long as it is there. There is at most one in a process.
    """

    def __init__(self, nodes: int = 2, cpus: int = 2, store_bytes: int = 100 << 20) -> None:
        self._settings = {"num_cpus": cpus, "object_store_memory": store_bytes}
        with cluster.on_loopback(), cluster.handlers_kept():
            import ray
            from ray.cluster_utils import Cluster

            head = self._settings | {"include_dashboard": False}
            self._cluster = Cluster(initialize_head=True, head_node_args=head)
            ray.init(self._cluster.address, log_to_driver=False, logging_level="error")
        self.ray = ray
        self.nodes = [self.add_node() for _ in range(nodes - 1)]

    @property
    def address(self) -> str:
        return self._cluster.address

    def add_node(self):
        """Add a node, and return it."""
        with cluster.on_loopback():
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
        with cluster.handlers_kept():
            self.ray.shutdown()
            self._cluster.shutdown()

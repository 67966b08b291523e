"""The page about clusters: its tables are the calculated ones, and its files are valid."""

from __future__ import annotations

import json
import re
from importlib.util import find_spec
from pathlib import Path

import pytest

from helpers import pages
from helpers.paths import ROOT

PAGE = ROOT / "docs" / "howto" / "cluster.md"


def shown_file(name):
    """Return a YAML file that the page shows."""
    yaml = pytest.importorskip("yaml")
    [text] = [block.text for block in pages.blocks_of(PAGE) if block.title == name]
    return yaml.safe_load(text)


# -- files -------------------------------------------------------------------------------------


def test_ray_accepts_the_file_of_the_cluster_launcher():
    jsonschema = pytest.importorskip("jsonschema")
    spec = find_spec("ray")
    if spec is None:
        pytest.skip("Ray is not installed")
    schema = Path(spec.origin).parent / "autoscaler" / "ray-schema.json"
    found = shown_file("cluster.yaml")
    jsonschema.validate(found, json.loads(schema.read_text()))
    assert found["head_node_type"] in found["available_node_types"]
    assert "~/.ray/auth_token" in found["file_mounts"]
    for commands in ("head_start_ray_commands", "worker_start_ray_commands"):
        assert any("ray start" in command for command in found[commands])


def test_the_manifest_of_kuberay_is_complete():
    """Names are those of the operator's types, RayJobSpec and RayClusterSpec."""
    found = shown_file("rayjob.yaml")
    assert (found["apiVersion"], found["kind"]) == ("ray.io/v1", "RayJob")
    job = found["spec"]
    assert set(job) <= {"entrypoint", "shutdownAfterJobFinishes", "backoffLimit", "rayClusterSpec"}
    cluster = job["rayClusterSpec"]
    assert set(cluster) == {"rayVersion", "authOptions", "headGroupSpec", "workerGroupSpecs"}
    assert cluster["authOptions"] == {"mode": "token"}
    for group in (cluster["headGroupSpec"], *cluster["workerGroupSpecs"]):
        assert all(isinstance(value, str) for value in group["rayStartParams"].values())
        pod = group["template"]["spec"]
        [container] = pod["containers"]
        assert {mount["name"] for mount in container["volumeMounts"]} == {
            volume["name"] for volume in pod["volumes"]
        }
        assert {"name": "RAY_worker_niceness", "value": "0"} in container["env"]
        assert container["resources"]["limits"] == container["resources"]["requests"]


def test_the_files_name_one_release_of_ray():
    """A driver and its cluster must have the same one."""
    files = [block.text for block in pages.blocks_of(PAGE) if block.title is not None]
    assert len(files) == 3
    named = [set(re.findall(r"\b2\.\d+\.\d+\b", text)) for text in files]
    assert len(named[0]) == 1
    assert named[1:] == named[:-1]

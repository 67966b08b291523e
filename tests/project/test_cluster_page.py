"""The page about clusters: its tables are the calculated ones, and its files are valid."""

from __future__ import annotations

import importlib
import json
import re
from importlib.util import find_spec
from pathlib import Path

import pytest

from helpers import pages
from helpers.paths import ROOT

PAGE = ROOT / "docs" / "howto" / "cluster.md"


@pytest.fixture
def study(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return importlib.import_module("cluster_study")


def shown_file(name):
    """Return a YAML file that the page shows."""
    yaml = pytest.importorskip("yaml")
    [text] = [block.text for block in pages.blocks_of(PAGE) if block.title == name]
    return yaml.safe_load(text)


# -- the study on paper ------------------------------------------------------------------------


@pytest.mark.parametrize("table", ["movement", "costs", "sizes", "partitions"])
def test_the_tables_of_the_page_are_the_calculated_ones(study, table):
    assert getattr(study, table)() in PAGE.read_text(encoding="utf-8")


def test_the_outputs_of_a_pass_visit_every_worker_once(study):
    """By hand: 51.2 GB × 8 workers × 275 passes, and 7/8 of 13 pairs of 8 bytes for each token."""
    assert study.passes() == pytest.approx(275)
    expected = 51.2e9 * 8 * 275 + 8e10 * 13 * 8 * 7 / 8
    assert study.moved_bytes(128, 8) == pytest.approx(expected)
    outputs = 4 * 128 * 8 * 11 / 32  # bytes for each token, by the formula of the page
    assert study.moved_bytes(128, 8) / study.tokens() == pytest.approx(outputs + 13 * 7)


def test_hours_follow_from_bytes_and_measured_rates(study):
    received = study.moved_bytes(128, 8) / 8
    assert study.network_hours(128, 10) == pytest.approx(received / 1.25e9 / 3600)
    assert study.network_hours(128, 100) == pytest.approx(study.network_hours(128, 10) / 10)
    assert study.training_hours(128, 32) == pytest.approx(study.training_hours(128, 8) / 4)
    by_a_thread = study.tokens() / study.rates(128).thread / 3600
    assert study.training_hours(128, 1) == pytest.approx(by_a_thread / study.worker_share())


def test_the_largest_measured_training_on_a_gpu_is_calculated_as_it_was(study, monkeypatch):
    """34 million nodes and 524 million edges took a peak of 40.3 GB."""
    monkeypatch.setattr(study, "NODES", 33_554_432)
    monkeypatch.setattr(study, "EDGES", 523_599_647)
    assert study.gpu_bytes(128) == pytest.approx(40.3e9 - 0.56e9, rel=0.01)


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

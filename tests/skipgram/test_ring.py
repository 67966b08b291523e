"""How workers share a pass: every bucket once, in the order of one machine, with few hops."""

from __future__ import annotations

import numpy as np
import pytest

from reinforce2vec.skipgram.ring import make_ring

SIZES = [(blocks, workers) for blocks in (1, 2, 3, 5, 8, 32) for workers in range(1, blocks + 1)]


@pytest.mark.parametrize(("blocks", "workers"), SIZES)
def test_every_bucket_is_trained_once_after_those_it_waits_for(blocks, workers):
    ring = make_ring(blocks, workers)
    places = np.concatenate([visit.places for visit in ring.visits])
    assert sorted(places) == list(range(blocks**2))
    done = np.zeros(2 * blocks, int)
    for turn in ring.order[places]:
        for rows in ("inputs", "outputs"):
            assert done[turn[rows]] == turn[f"{rows}_before"]
        done[[turn["inputs"], turn["outputs"]]] += 1


@pytest.mark.parametrize(("blocks", "workers"), SIZES)
def test_a_worker_trains_only_rows_that_it_has(blocks, workers):
    ring = make_ring(blocks, workers)
    assert [block for share in ring.shares for block in share] == list(range(blocks))
    assert [block for unit in ring.units for block in unit] == list(range(blocks))
    where = list(ring.owners)
    hops = 0
    for visit, after in zip(ring.visits, ring.next_workers(), strict=True):
        assert where[visit.unit] == visit.worker
        turns = ring.order[visit.places]
        assert set(turns["context_block"]) <= set(ring.shares[visit.worker])
        assert set(turns["centre_block"]) <= set(ring.units[visit.unit])
        hops += after != visit.worker
        where[visit.unit] = after
    assert where == ring.owners  # ready for the next pass
    assert hops == (len(ring.units) * workers if workers > 1 else 0)


@pytest.mark.parametrize(("blocks", "workers"), SIZES)
def test_the_buckets_of_a_visit_wait_for_each_other_alone(blocks, workers):
    for visit in make_ring(blocks, workers).visits:
        done = np.zeros(2 * blocks, int)
        for turn in visit.order:
            for rows in ("inputs", "outputs"):
                assert done[turn[rows]] == turn[f"{rows}_before"]
            done[[turn["inputs"], turn["outputs"]]] += 1


def test_a_unit_has_time_to_travel():
    """A worker with two units trains another one between the arrival of a unit and its turn."""
    ring = make_ring(32, 4)
    order = {worker: [] for worker in range(4)}
    for visit in ring.visits:
        order[visit.worker].append(visit.unit)
    for worker, units in order.items():
        before = order[(worker + 1) % 4]
        for turn, unit in enumerate(units[2:-2], 2):
            assert before.index(unit) <= turn - 2

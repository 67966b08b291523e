"""Work in threads: results in order, and nothing goes on after an error."""

from __future__ import annotations

import signal
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from helpers.interrupts import Stopped
from reinforce2vec._util.threads import Threads, do_all, in_turn


def test_results_are_in_the_order_of_the_items():
    def work(item):
        time.sleep(0.002 * (item % 3))
        return item

    with ThreadPoolExecutor(4) as threads:
        assert list(in_turn(threads, work, range(20), 6)) == list(range(20))


def test_after_an_error_no_item_begins_whose_predecessor_is_cancelled(monkeypatch):
    """Such an item could wait for the other forever; the latest is cancelled first."""
    begun, release = [], threading.Event()
    cancel = Future.cancel

    def slow_cancel(job):
        done = cancel(job)
        if done:
            release.set()  # threads become free in the middle of cancelling
            time.sleep(0.05)
        return done

    def work(item):
        begun.append(item)
        if item == 0:
            raise Stopped
        release.wait(10)

    monkeypatch.setattr(Future, "cancel", slow_cancel)
    with ThreadPoolExecutor(2) as threads, pytest.raises(Stopped):
        for _ in in_turn(threads, work, range(8), 8):
            pass
    assert sorted(begun) == list(range(len(begun)))  # in the order of threads


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="signals go to the process there")
def test_a_signal_that_does_not_wake_the_main_thread_ends_its_waiting(interrupts):
    """As one that comes at the last moment before it waits: Python only makes a note of it."""
    release, done = threading.Event(), []

    def work(item):
        time.sleep(0.2)  # by now it waits
        signal.pthread_kill(threading.get_ident(), signal.SIGINT)  # another thread gets it
        done.append(release.wait(60))

    with Threads(1) as threads:
        try:
            with pytest.raises(KeyboardInterrupt):
                do_all(threads, work, [0])
            assert not done
        finally:
            release.set()

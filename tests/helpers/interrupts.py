"""Ctrl-C and other ends of a training, and what waits for processes to end."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time


class Stopped(Exception):
    """What the callback below raises."""


def stop_at(percent):
    """A callback that ends a training when so many hundredths of it are done."""

    def stop(moment):
        if 100 * moment.walks >= percent * moment.n_walks:
            raise Stopped

    return stop


def interrupt_at(percent, times=1):
    """A callback that presses Ctrl-C when so many hundredths are done."""
    moments = []

    def interrupt(moment):
        if 100 * moment.walks >= percent * moment.n_walks and not moments:
            moments.append(moment)
            for _ in range(times):
                signal.raise_signal(signal.SIGINT)

    return interrupt


@contextlib.contextmanager
def interrupt_when(condition):
    """Press Ctrl-C, once, as soon as a condition holds within the block."""
    left = threading.Event()

    def watch():
        while not left.wait(0.01):
            if condition():
                os.kill(os.getpid(), signal.SIGINT)
                return

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield
    finally:
        left.set()
        watcher.join()


def wait_for_end(group):
    """Until no process of a group is left; they end by themselves, or this fails."""
    for _ in range(1200):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    raise AssertionError("processes outlive the one that started them")

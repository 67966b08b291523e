"""Standard process pools for long jobs, by default with one BLAS thread per process.

Each pool has one process, because a process that dies breaks its whole `ProcessPoolExecutor` and
loses the jobs of all others. One pipe is added, because the standard pool cannot stop a running
job, and leaves its processes behind when the parent is killed.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, contextmanager
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

from .._util.errors import InputError

_THREAD_VARIABLES = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


class JobResult(NamedTuple):
    """What a job returned, or why it failed."""

    value: Any
    failure: str | None = None


class JobProcesses:
    """Processes that run jobs; use it in a `with` statement, which ends them.

    Parameters
    ----------
    count : int
        Number of processes. Each starts with its first job.
    threads : int, default 1
        BLAS threads of each process.
    """

    def __init__(self, count: int, threads: int = 1) -> None:
        self._threads = threads
        self._context = multiprocessing.get_context("spawn")
        # Nothing is ever written here. Workers exit when the parent's end is closed: on leaving the
        # `with` statement, or by the operating system if the parent is killed.
        self._workers_end, self._parents_end = self._context.Pipe(duplex=False)
        self._idle = [self._new_pool() for _ in range(count)]
        self._busy: list[tuple[ProcessPoolExecutor, list[Future[JobResult]]]] = []

    def __enter__(self) -> JobProcesses:
        return self

    def __exit__(self, *exception: object) -> None:
        self._parents_end.close()
        for pool in [*self._idle, *(pool for pool, _ in self._busy)]:
            pool.shutdown(cancel_futures=True)
        self._workers_end.close()

    @property
    def free(self) -> bool:
        """Whether a process has no job."""
        return bool(self._idle)

    def submit(
        self, function: Callable[..., Any], jobs: Sequence[tuple[Any, ...]]
    ) -> list[Future[JobResult]]:
        """Run a function on each job's arguments, one after the other in one idle process."""
        pool = self._idle.pop()
        with _blas_threads(self._threads):
            try:
                futures = [pool.submit(_run, function, job) for job in jobs]
            except BrokenProcessPool:  # the process died while it had no job
                pool.shutdown()
                pool = self._new_pool()
                futures = [pool.submit(_run, function, job) for job in jobs]
        self._busy.append((pool, futures))
        return futures

    def finished(
        self, futures: Sequence[Future[JobResult]], seconds: float
    ) -> list[tuple[Future[JobResult], JobResult]]:
        """Wait until one of the futures is done; return those that are, or none after a timeout."""
        done, _ = wait(futures, seconds, FIRST_COMPLETED)
        results = [(future, _result_of(future)) for future in futures if future in done]
        for entry in [entry for entry in self._busy if all(one.done() for one in entry[1])]:
            self._busy.remove(entry)
            pool, finished = entry
            if isinstance(finished[-1].exception(), BrokenProcessPool):
                pool.shutdown()
                pool = self._new_pool()
            self._idle.append(pool)
        return results

    def _new_pool(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(
            1, self._context, initializer=_start_worker, initargs=(self._workers_end,)
        )


def one_thread() -> AbstractContextManager[None]:
    """Give processes that are started in this block one BLAS thread each."""
    return _blas_threads(1)


@contextmanager
def _blas_threads(count: int) -> Iterator[None]:
    """Give processes that are started in this block so many BLAS threads each."""
    usual = {name: os.environ.get(name) for name in _THREAD_VARIABLES}
    os.environ.update(dict.fromkeys(_THREAD_VARIABLES, str(count)))
    try:
        yield
    finally:
        for name, value in usual.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _result_of(future: Future[JobResult]) -> JobResult:
    try:
        return future.result()
    except BrokenProcessPool:
        reason = "its process was killed, perhaps because memory ran out: try fewer --jobs"
        return JobResult(None, reason)


# -- in the worker process -----------------------------------------------------------------------


def _start_worker(lifeline: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C and ends its workers
    threading.Thread(target=_exit_with_parent, args=(lifeline,), daemon=True).start()


def _exit_with_parent(lifeline: Connection) -> None:
    lifeline.poll(None)  # returns at the end of file
    os._exit(1)


def _run(function: Callable[..., Any], job: tuple[Any, ...]) -> JobResult:
    try:
        return JobResult(function(*job))
    except (InputError, MemoryError, OSError) as error:
        return JobResult(None, str(error) or type(error).__name__)
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{os.path.basename(last.filename)}, line {last.lineno}"
        return JobResult(None, f"{type(error).__name__}: {error} ({where})")

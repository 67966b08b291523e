"""Downloads files, with a line of progress and within limits."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Any

from .._util.errors import InputError
from .._util.locks import HAS_LOCKS, lock
from .._util.progress import readable_bytes, terminal_progress, waiting

_TIMEOUT = 30.0  # seconds without an answer from the server
_LONGEST = 900.0  # seconds that a download may take, however little the server sends at a time
_AS_IT_IS = {"Accept-Encoding": "identity"}  # not compressed for the way
_CHUNK = 1 << 16  # bytes between two reports of progress
_LOOK = 0.2  # seconds between two looks whether another process is done


def cache_folder() -> Path:
    """Return the folder of downloaded files, within the operating system's folder for caches."""
    import pooch

    return Path(pooch.os_cache("reinforce2vec"))


@contextmanager
def alone_in(cache: Path) -> Iterator[bool]:
    """Wait until no other process downloads into the cache; yield whether that is certain.

    The system ends the lock with the process, even if that is killed: what an earlier one has left
    can be removed then. Windows has no such locks, and some network file systems have none.
    """
    folder = os.open(cache, os.O_RDONLY) if HAS_LOCKS else None  # itself locked: no file is left
    try:
        yield folder is not None and _wait_for(folder)
    finally:
        if folder is not None:
            os.close(folder)


def _wait_for(folder: int) -> bool:
    """Take a lock, and say what is waited for if another process has it; False if there is none."""
    found = lock(folder)
    if found is False:
        with waiting("waiting for a download of another process"):
            while (found := lock(folder)) is False:
                time.sleep(_LOOK)
    return bool(found)


def download(url: str, path: Path, progress: bool, *, most: int, unsafe: bool = False) -> None:
    """Download a file of at most so many bytes; InputError with the reason if that fails.

    Only https is used, also where the server redirects to; `unsafe` allows http. A thread downloads
    it, since a server that sends a byte now and then can keep a reader waiting forever.
    """
    given_up, failures = Event(), list[BaseException]()

    def work() -> None:
        try:
            _fetch(url, path, progress, most, unsafe, given_up)
        except BaseException as error:
            failures.append(error)

    thread = Thread(target=work, daemon=True)
    thread.start()
    try:
        thread.join(_LONGEST)
    finally:
        given_up.set()
    if thread.is_alive():
        raise InputError(f"it took more than {_LONGEST / 60:g} minutes")
    for error in failures:
        raise error


def _fetch(url: str, path: Path, progress: bool, most: int, unsafe: bool, given_up: Event) -> None:
    """Download a file, until it is given up."""
    import requests

    with requests.Session() as session:
        if not unsafe:
            del session.adapters["http://"]
        try:
            with session.get(url, headers=_AS_IT_IS, stream=True, timeout=_TIMEOUT) as answer:
                answer.raise_for_status()
                _receive(answer, path, progress, most, given_up)
        except InputError:
            raise
        except requests.HTTPError as error:
            told = str(error).split(" for url")[0]
            raise InputError(f'the server answered "{told}"') from None
        except requests.exceptions.InvalidSchema:
            raise InputError("the address, or one that it leads to, is not https") from None
        except requests.Timeout:
            raise InputError(f"no answer within {_TIMEOUT:g} seconds") from None
        except (requests.exceptions.ChunkedEncodingError, requests.exceptions.ContentDecodingError):
            raise InputError("the connection broke off") from None
        except requests.ConnectionError as error:
            if "Read timed out" in str(error):  # in the middle of the file
                raise InputError(f"no answer within {_TIMEOUT:g} seconds") from None
            raise InputError("there is no connection to the server") from None
        except requests.RequestException as error:
            raise InputError(f"the request failed ({type(error).__name__})") from None
        except ValueError:  # of one that a redirect names; requests lets these through
            raise InputError("it leads to an address that is none") from None


def _receive(answer: Any, path: Path, progress: bool, most: int, given_up: Event) -> None:
    """Write the body of an answer to a file, as long as it stays within the limits."""
    if answer.headers.get("Content-Encoding", "identity") != "identity":
        raise InputError("the server compresses the file, which it was asked not to do")  # a bomb?
    report = terminal_progress(f"downloading {path.name}", "bytes") if progress else None
    length = answer.headers.get("Content-Length", "")
    total = int(length) if length.isascii() and length.isdecimal() and len(length) < 16 else 0
    done = 0
    with path.open("wb") as file:
        for chunk in answer.iter_content(_CHUNK):
            done += len(chunk)
            if max(done, total) > most:
                raise InputError(
                    f"the server sends more than {readable_bytes(most)}, which the published file "
                    "does not have"
                )
            if given_up.is_set():
                return
            file.write(chunk)
            if report is not None and total:
                report(min(done, total), total)

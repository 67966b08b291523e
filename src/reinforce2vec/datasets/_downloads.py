"""Downloads files, with a line of progress."""

from __future__ import annotations

from pathlib import Path

from .._util.errors import InputError
from .._util.progress import Report, terminal_progress

_TIMEOUT = 30  # seconds without an answer from the server
_CHUNK = 1 << 16  # bytes between two reports of progress


def cache_folder() -> Path:
    """Return the folder of downloaded files, within the operating system's folder for caches."""
    import pooch

    return Path(pooch.os_cache("reinforce2vec"))


def download(url: str, path: Path, progress: bool) -> None:
    """Download a file; InputError with the reason if that fails."""
    import pooch
    import requests

    meter = _Meter(terminal_progress(f"downloading {path.name}", "bytes")) if progress else False
    downloader = pooch.HTTPDownloader(progressbar=meter, chunk_size=_CHUNK, timeout=_TIMEOUT)
    try:
        downloader(url, str(path), None)
    except requests.HTTPError as error:
        if error.response is not None:
            error.response.close()
        answer = str(error).split(" for url")[0]
        raise InputError(f'the server answered "{answer}"') from None
    except requests.Timeout:
        raise InputError(f"no answer within {_TIMEOUT} seconds") from None
    except (requests.exceptions.ChunkedEncodingError, requests.exceptions.ContentDecodingError):
        raise InputError("the connection broke off") from None
    except requests.ConnectionError:
        raise InputError("there is no connection to the server") from None
    except requests.RequestException as error:
        raise InputError(f"the request failed ({type(error).__name__})") from None


class _Meter:
    """Passes the progress that pooch reports on to a report of ours."""

    def __init__(self, report: Report) -> None:
        """Start at 0 bytes."""
        self.report = report
        self.total = 0  # pooch sets it
        self.done = 0

    def update(self, more: int) -> None:
        """Add the number of bytes that have arrived."""
        self.done += more
        self.report(min(self.done, self.total), self.total)

    def reset(self) -> None:
        """Start again at 0 bytes."""
        self.done = 0

    def close(self) -> None:
        """Do nothing; pooch calls it at the end."""

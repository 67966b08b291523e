"""Loads a data set: finds its files or downloads them, reads them, and verifies their contents."""

from __future__ import annotations

import hashlib
import logging
import os
import time
from pathlib import Path

from .._util.errors import InputError
from .._util.locks import temporary_folder
from .._util.progress import readable_bytes, terminal_progress
from ..graph import Dataset
from ..graph.fingerprint import GraphFingerprint, LabelFingerprint
from .registry import DatasetEntry, PublishedFile, registered

_FOLDER_VARIABLE = "REINFORCE2VEC_DATA"
_TIMEOUT = 30.0  # seconds without an answer from the server
_LONGEST = 900.0  # seconds that a download may take, however little the server sends at a time


def load_dataset(
    name: str, data_dir: str | os.PathLike[str] | None = None, *, progress: bool = True
) -> Dataset:
    """Load a data set of the paper by its name.

    The files are searched in the folder that the environment variable REINFORCE2VEC_DATA names,
    then among those downloaded before, and downloaded from their publisher if they are in neither.
    Their contents are verified, so a data set that loads is the published one.

    ============  ===========================================  ======  =======  =======
    name          contents                                     nodes   edges    classes
    ============  ===========================================  ======  =======  =======
    facebook      friendships on Facebook                       4,039   88,234
    ca-astroph    co-authors in astrophysics                   17,903  196,972
    blogcatalog   bloggers and their topics                    10,312  333,983       39
    ppi           human proteins that interact                  3,890   37,845       50
    dblp          computer scientists and their conferences    51,264  127,968       60
    ============  ===========================================  ======  =======  =======

    Parameters
    ----------
    name : str
        The name of the data set, in upper or lower case.
    data_dir : path, optional
        The folder that holds the files; other folders are not searched, and nothing is downloaded.
    progress : bool, default True
        Whether to show the progress of a download on the terminal, if there is one.

    Returns
    -------
    Dataset

    Raises
    ------
    InputError
        If a file is missing and cannot be downloaded, or is not the published one.

    Examples
    --------
    >>> from reinforce2vec import load_dataset
    >>> blogs = load_dataset("blogcatalog")  # doctest: +SKIP
    >>> blogs  # doctest: +SKIP
    Dataset('blogcatalog', 10,312 nodes, 333,983 edges, 39 classes)
    """
    entry = registered(name)
    places = find_files(entry, data_dir)
    if all(path is not None for path in places):
        return _read_and_check(entry, [path for path in places if path is not None])
    if data_dir is not None:
        pairs = zip(entry.sources, places, strict=True)
        missing = " and no ".join(source.name for source, path in pairs if path is None)
        raise InputError(f"{data_dir}: there is no {missing} in this folder, for {entry.name}")
    return _download_and_read(entry, progress)


def cache_folder() -> Path:
    """Return the folder of downloaded files, within the operating system's folder for caches."""
    import pooch

    return Path(pooch.os_cache("reinforce2vec"))


def find_files(
    entry: DatasetEntry, data_dir: str | os.PathLike[str] | None = None
) -> list[Path | None]:
    """Return where each file of a data set is on this machine; None for a missing file."""
    if data_dir is not None:
        folders = [existing_folder(data_dir, "data_dir")]
    else:
        named = os.environ.get(_FOLDER_VARIABLE)
        folders = [existing_folder(named, _FOLDER_VARIABLE)] if named else []
        paths = [_file_in(folders, source) for source in entry.sources]
        if all(paths):
            return paths
        folders.append(cache_folder())
    return [_file_in(folders, source) for source in entry.sources]


def _file_in(folders: list[Path], source: PublishedFile) -> Path | None:
    """Return the file in the first folder that has it; None if none has."""
    return next((path for folder in folders if (path := source.within(folder))), None)


def existing_folder(folder: str | os.PathLike[str], whence: str) -> Path:
    """Return a folder; InputError, which names `whence` it came, if it does not exist."""
    if not Path(folder).is_dir():
        raise InputError(f"{folder}: there is no such folder ({whence} names it)", parameter=whence)
    return Path(folder)


def _download_and_read(entry: DatasetEntry, progress: bool) -> Dataset:
    """Download the missing files; they enter the cache after they were verified."""
    cache = cache_folder()
    try:
        cache.mkdir(parents=True, exist_ok=True)
        with temporary_folder(str(cache), ".unchecked-") as folder:
            known = find_files(entry)
            paths = [
                path or _download(entry, source, Path(folder), progress)
                for source, path in zip(entry.sources, known, strict=True)
            ]
            try:
                dataset = _read_and_check(entry, paths)
            except InputError as error:
                words = str(error).replace(f"{folder}{os.sep}", "")
                raise InputError(f"{entry.name}: the download is not right: {words}") from None
            for path, before in zip(paths, known, strict=True):
                if before is None:
                    os.replace(path, cache / path.name)
        return dataset
    except OSError as error:
        raise InputError(
            f"{cache}: {entry.name} cannot be saved in this folder: {error.strerror or error}; put "
            f"its files into another folder and set {_FOLDER_VARIABLE} to it"
        ) from None


def _download(entry: DatasetEntry, source: PublishedFile, folder: Path, progress: bool) -> Path:
    """Download a file into a folder; InputError, with what to do by hand, if that fails."""
    import pooch
    import requests

    pooch.get_logger().setLevel(logging.ERROR)
    watch = _DownloadWatch(source, progress)
    try:
        path = pooch.retrieve(
            source.url,
            known_hash=source.sha256,
            fname=source.name,
            path=folder,
            downloader=pooch.HTTPDownloader(progressbar=watch, timeout=_TIMEOUT),
        )
    except (requests.RequestException, ValueError, InputError) as error:
        reason: object = error
        if isinstance(error, requests.ConnectionError):
            reason = "there is no connection to the server"
        raise InputError(
            f"{entry.name}: {source.name} is not on this machine and could not be downloaded from "
            f"{source.url}: {reason}. Download it by hand and save it as "
            f"{cache_folder() / source.name}, or as {source.name} in the folder given by data_dir "
            f"or {_FOLDER_VARIABLE}",
            parameter="data_dir",
        ) from None
    return Path(path)


class _DownloadWatch:
    """Reports the progress of a download, and ends one that is too large or takes too long.

    It has the methods that pooch calls on a progress bar.
    """

    total = 0

    def __init__(self, source: PublishedFile, progress: bool) -> None:
        self._source, self._done = source, 0
        self._began = time.monotonic()
        self._report = terminal_progress(f"downloading {source.name}", "bytes", progress)

    def update(self, size: int) -> None:
        self._done += size
        if max(self._done, self.total) > self._source.most:
            most = readable_bytes(self._source.most)
            raise InputError(f"the server sends more than {most}, unlike the published file")
        if time.monotonic() - self._began > _LONGEST:
            raise InputError(f"it took more than {_LONGEST / 60:g} minutes")
        if self.total:
            self._report(min(self._done, self.total), self.total)

    def reset(self) -> None:
        self._done = 0

    def close(self) -> None:
        pass


def _read_and_check(entry: DatasetEntry, paths: list[Path]) -> Dataset:
    """Read a data set from its files; InputError if they are not the published ones."""
    for source, path in zip(entry.sources, paths, strict=True):
        if source.sha256 is not None:
            found = hashlib.sha256(path.read_bytes()).hexdigest()
            _check_same(path, source, f"SHA-256 {source.sha256}", f"SHA-256 {found}")
    graph = entry.read_graph(paths[0])
    _check_same(paths[0], entry.sources[0], entry.graph, GraphFingerprint.of(graph))
    labels = None
    if entry.read_labels is not None:
        labels = entry.read_labels(paths[-1], graph)
        _check_same(paths[-1], entry.sources[-1], entry.labels, LabelFingerprint.of(labels))
    return Dataset(entry.name, graph, labels, entry.description, entry.citation)


def _check_same(path: Path, source: PublishedFile, expected: object, found: object) -> None:
    """Raise InputError if a file does not hold what is expected."""
    if expected != found:
        raise InputError(
            f"{path}: this is not the file that was published: expected {expected}, found "
            f"{found} (published at {source.url})"
        )

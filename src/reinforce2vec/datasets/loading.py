"""Loads a data set: finds its files or downloads them, reads them, and verifies their contents."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from pathlib import Path

from .._util.errors import InputError
from ..graph import Dataset
from ..graph.fingerprint import GraphFingerprint, LabelFingerprint
from ._downloads import alone_in, cache_folder, download
from .registry import DatasetEntry, PublishedFile, registered

_FOLDER_VARIABLE = "REINFORCE2VEC_DATA"
_UNCHECKED = ".unchecked-"  # folders of files that are not verified yet


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


def find_files(
    entry: DatasetEntry, data_dir: str | os.PathLike[str] | None = None
) -> list[Path | None]:
    """Return where each file of a data set is on this machine; None for a missing file."""
    if data_dir is not None:
        folders = [existing_folder(data_dir, "data_dir")]
    else:
        named = os.environ.get(_FOLDER_VARIABLE)
        folders = [existing_folder(named, _FOLDER_VARIABLE)] if named else []
        folders.append(cache_folder())
    found = ((source.within(folder) for folder in folders) for source in entry.sources)
    return [next((path for path in paths if path is not None), None) for paths in found]


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
        with alone_in(cache) as certain:
            if certain:  # processes that were killed have left these
                for folder in cache.glob(f"{_UNCHECKED}*"):
                    shutil.rmtree(folder, ignore_errors=True)
            unchecked = tempfile.TemporaryDirectory(prefix=_UNCHECKED, dir=cache)
            return _fill_cache(entry, cache, unchecked, progress)
    except OSError as error:
        raise InputError(
            f"{cache}: {entry.name} cannot be saved in this folder: {error.strerror or error}; put "
            f"its files into another folder and set {_FOLDER_VARIABLE} to it"
        ) from None


def _fill_cache(
    entry: DatasetEntry, cache: Path, unchecked: tempfile.TemporaryDirectory[str], progress: bool
) -> Dataset:
    """Download and verify in a folder of the cache, which is removed at the end."""
    with unchecked as folder:
        places = find_files(entry)  # another process may have downloaded them meanwhile
        paths = []
        for source, place in zip(entry.sources, places, strict=True):
            paths.append(Path(folder, source.name) if place is None else place)
            if place is None:
                _download_file(entry, source, paths[-1], progress)
        try:
            dataset = _read_and_check(entry, paths)
        except InputError as error:
            words = str(error).replace(f"{folder}{os.sep}", "")
            raise InputError(f"{entry.name}: the downloaded data are not right: {words}") from None
        for source, path, place in zip(entry.sources, paths, places, strict=True):
            if place is None:
                os.replace(path, cache / source.name)
    return dataset


def _download_file(entry: DatasetEntry, source: PublishedFile, path: Path, progress: bool) -> None:
    """Download one file; InputError, with what to do by hand, if that fails."""
    try:
        unsafe = _may_be_unsafe(source)
        download(source.url, path, progress, most=source.most, unsafe=unsafe)
    except InputError as error:
        raise InputError(
            f"{entry.name}: {source.name} is not on this machine and could not be downloaded from "
            f"{source.url}: {error}. Download it by hand and save it as "
            f"{cache_folder() / source.name}, or as {source.name} in the folder given by data_dir "
            f"or {_FOLDER_VARIABLE}",
            parameter="data_dir",
        ) from None


def _may_be_unsafe(source: PublishedFile) -> bool:
    """Return whether http will do: the address has no https, and the hash of the file is known.

    What was changed on its way is then noticed before the file is opened.
    """
    return source.url.startswith("http://") and source.sha256 is not None


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

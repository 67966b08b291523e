"""Loading a data set: find its files or fetch them, read them, check what they hold."""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path

from .._util.errors import InputError
from ..graph import Dataset
from .downloads import cache_folder, fetch
from .fingerprint import GraphFingerprint, LabelFingerprint
from .registry import Entry, Source, registered

FOLDER_VARIABLE = "REINFORCE2VEC_DATA"


def load_dataset(
    name: str, data_dir: str | os.PathLike[str] | None = None, *, progress: bool = True
) -> Dataset:
    """Load a data set of the paper by its name.

    Its files are looked for in the folder that the environment variable REINFORCE2VEC_DATA
    names, then among those fetched before, and fetched from where they are published if they are
    in neither. What was read is compared with what was published, so a data set that loads is
    the right one.

    ============  ===========================================  ======  =======  =======
    name          what it is                                   nodes   edges    classes
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
        Which one.
    data_dir : path, optional
        The folder that holds the files; nothing is looked for elsewhere, and nothing fetched.
    progress : bool, default True
        Whether a terminal shows how far a download is.

    Returns
    -------
    Dataset

    Raises
    ------
    InputError
        If a file is not there and cannot be fetched, or is not the published one.

    Examples
    --------
    >>> from reinforce2vec import load_dataset
    >>> blogs = load_dataset("blogcatalog")  # doctest: +SKIP
    >>> blogs  # doctest: +SKIP
    Dataset('blogcatalog', 10,312 nodes, 333,983 edges, 39 classes)
    """
    entry = registered(name)
    places = places_of(entry, data_dir)
    if all(path is not None for path in places):
        return read(entry, [path for path in places if path is not None])
    if data_dir is not None:
        pairs = zip(entry.sources, places, strict=True)
        missing = " and no ".join(source.name for source, path in pairs if path is None)
        raise InputError(f"{data_dir}: there is no {missing} in this folder, for {name}")
    return read_fetched(entry, places, progress)


def places_of(entry: Entry, data_dir: str | os.PathLike[str] | None = None) -> list[Path | None]:
    """Where each file of a data set is on this machine; None for one that is not."""
    if data_dir is not None:
        folders = [existing(data_dir, "data_dir")]
    else:
        named = os.environ.get(FOLDER_VARIABLE)
        folders = [existing(named, FOLDER_VARIABLE)] if named else []
        folders.append(cache_folder())
    found = ((source.within(folder) for folder in folders) for source in entry.sources)
    return [next((path for path in paths if path is not None), None) for paths in found]


def existing(folder: str | os.PathLike[str], whence: str) -> Path:
    """A folder that must be there."""
    if not Path(folder).is_dir():
        raise InputError(f"{folder}: there is no such folder ({whence} names it)", parameter=whence)
    return Path(folder)


def read_fetched(entry: Entry, places: list[Path | None], progress: bool) -> Dataset:
    """Fetch the files that are not there; they enter the cache when they proved to be right."""
    cache = cache_folder()
    try:
        cache.mkdir(parents=True, exist_ok=True)
        unchecked = tempfile.TemporaryDirectory(prefix=".unchecked-", dir=cache)
    except OSError as error:
        raise InputError(
            f"{cache}: {entry.name} cannot be kept in this folder: {error.strerror}; put its files "
            f"in another one and name that with {FOLDER_VARIABLE}"
        ) from None
    with unchecked as folder:
        paths = []
        for source, place in zip(entry.sources, places, strict=True):
            paths.append(Path(folder, source.name) if place is None else place)
            if place is None:
                fetch_source(entry, source, paths[-1], progress)
        try:
            dataset = read(entry, paths)
        except InputError as error:
            words = str(error).replace(f"{folder}{os.sep}", "")
            raise InputError(f"{entry.name}: what was fetched is not right: {words}") from None
        for source, path, place in zip(entry.sources, paths, places, strict=True):
            if place is None:
                os.replace(path, cache / source.name)
    return dataset


def fetch_source(entry: Entry, source: Source, path: Path, progress: bool) -> None:
    """Fetch one file; InputError, with what to do by hand, if it cannot be."""
    try:
        fetch(source.url, path, progress)
    except InputError as error:
        raise InputError(
            f"{entry.name}: {source.name} is not on this machine and could not be fetched from "
            f"{source.url}: {error}. To go on without, get it by other means and save it as "
            f"{cache_folder() / source.name}, or as {source.name} in a folder that data_dir "
            f"or {FOLDER_VARIABLE} names",
            parameter="data_dir",
        ) from None


def read(entry: Entry, paths: list[Path]) -> Dataset:
    """Make a data set of its files; InputError if they are not what was published."""
    for source, path in zip(entry.sources, paths, strict=True):
        if source.sha256 is not None:
            found = hashlib.sha256(path.read_bytes()).hexdigest()
            refuse_other(path, source, f"SHA-256 {source.sha256}", f"SHA-256 {found}")
    graph = entry.read_graph(paths[0])
    refuse_other(paths[0], entry.sources[0], entry.graph, GraphFingerprint.of(graph))
    labels = None
    if entry.read_labels is not None:
        labels = entry.read_labels(paths[-1], graph)
        refuse_other(paths[-1], entry.sources[-1], entry.labels, LabelFingerprint.of(labels))
    return Dataset(entry.name, graph, labels, entry.description, entry.citation)


def refuse_other(path: Path, source: Source, expected: object, found: object) -> None:
    """InputError if a file holds something else than expected."""
    if expected != found:
        raise InputError(
            f"{path}: this is not the file that was published: expected {expected}, found "
            f"{found} (published at {source.url})"
        )

"""Where compiled code is kept: which folders are read, and which one is written.

numba caches a function only in a folder that it can write to, and stops where there is none, even
if a folder that it can read has the code. Containers are often like that. So every module has
several folders, in this order:

1. that of the environment variable NUMBA_CACHE_DIR;
2. `__pycache__` beside the module;
3. the user's cache folder;
4. a private temporary folder, which later processes of the same user find again.

Code is written to the first of them that can be written, and read from it and those before it. If
none can be written, code is kept in memory. Nothing that goes wrong with a folder is an error: code
that cannot be read is compiled again, and if it cannot be saved, one warning says so.

Compiled code is run without a check. So 3 and 4 are used only if no other user can write there.

numba's own cache notices that the file of a function has changed, but not that a function it calls
has, in another file. Here, all files of sub-packages with compiled functions have one stamp. It
depends on their content and not on their times, which images of containers change.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any, NamedTuple

from numba import config
from numba.core.caching import CompileResultCacheImpl, FunctionCache

_PACKAGE = Path(__file__).parents[1]
_NAME = _PACKAGE.name
_LONGEST_WRITE = 3600.0  # seconds after which an unfinished file is nobody's any more


@dataclass
class _Tally:
    """What this process did with compiled code."""

    loaded: int = 0  # functions
    compiled: int = 0
    folders: set[str] = field(default_factory=set)  # where they are from, or were saved to
    problem: str | None = None  # why the first one was not saved


tally = _Tally()


class CodeCache:
    """The compiled code of one function; has the methods that numba's dispatchers call."""

    def __init__(self, function: Any) -> None:
        self._function = function
        self._directory = os.path.dirname(os.path.abspath(function.__code__.co_filename))

    @cached_property
    def _layers(self) -> list[_Layer]:
        try:
            return [_Layer(self._function, folder) for folder in places(self._directory).read]
        except Exception:  # another version of numba: nothing is read, and saving is reported
            return []

    @property
    def cache_path(self) -> str | None:
        """The folder that is written; None if there is none."""
        return places(self._directory).written

    def load_overload(self, signature: Any, target: Any) -> Any:
        """Return the compiled code of a signature; None if no folder has it."""
        for layer in self._layers:
            try:
                code = layer.load_overload(signature, target)
            except MemoryError:
                raise
            except Exception:  # noqa: S112  a damaged file: numba raises errors of any class
                continue
            if code is not None:
                tally.loaded += 1
                tally.folders.add(layer.cache_path)
                return code
        return None

    def save_overload(self, signature: Any, code: Any) -> None:
        """Save compiled code, if there is a folder for it."""
        tally.compiled += 1
        if self.cache_path is None:
            _warn_once(
                "there is no folder to save compiled code in, so every run compiles again: set "
                "NUMBA_CACHE_DIR to a folder that can be written, or run `reinforce2vec warm-up` "
                "once as a user who may write beside the package"
            )
            return
        try:
            self._save(signature, code)
            tally.folders.add(self._layers[-1].cache_path)
        except MemoryError:
            raise
        except Exception as error:
            reason = getattr(error, "strerror", None) or f"{type(error).__name__}: {error}"
            _warn_once(
                f"compiled code cannot be saved in {self.cache_path}: {reason}; this run goes on, "
                "and the next one compiles again"
            )

    def _save(self, signature: Any, code: Any) -> None:
        _remove_abandoned(self._layers[-1].cache_path)
        try:
            self._layers[-1].save_overload(signature, code)
        except (MemoryError, OSError):
            raise
        except Exception:  # the index, which numba reads first, is damaged
            self.flush()
            self._layers[-1].save_overload(signature, code)

    def flush(self) -> None:
        """Forget what is saved."""
        if self.cache_path is not None:
            self._layers[-1].flush()


@cache
def _remove_abandoned(folder: str) -> None:
    """Remove unfinished files of processes that were killed while numba wrote them."""
    for path in Path(folder).glob("*.nb[ic].tmp.*"):
        with suppress(OSError):
            if time.time() - path.stat().st_mtime > _LONGEST_WRITE:
                path.unlink()


def _warn_once(message: str) -> None:
    """Warn of the first function that cannot be saved; the others will have the same reason."""
    if tally.problem is None:
        tally.problem = message
        warnings.warn(message, RuntimeWarning, stacklevel=2)


# -- numba's cache in a folder of our choice ----------------------------------------------------


class _Layer(FunctionCache):
    """The compiled code of one function in one folder."""

    def __init__(self, function: Any, folder: str) -> None:
        self._impl_class = partial(_Files, folder)  # type: ignore[assignment]
        super().__init__(function)


class _Files(CompileResultCacheImpl):
    """How numba writes and reads compiled code."""

    def __init__(self, folder: str, function: Any) -> None:
        self._locator_classes = [_Locator(folder, function)]  # type: ignore[list-item]
        super().__init__(function)


class _Locator:
    """Says to numba where the code of a function is, and what it was compiled from."""

    def __init__(self, folder: str, function: Any) -> None:
        self._folder = folder
        self._py_file = function.__code__.co_filename
        self._line = function.__code__.co_firstlineno

    def from_function(self, function: Any, file: str) -> _Locator:
        return self

    def get_cache_path(self) -> str:
        return self._folder

    def ensure_cache_path(self) -> None:
        os.makedirs(self._folder, exist_ok=True)

    def get_source_stamp(self) -> str:
        return _stamp()

    def get_disambiguator(self) -> str:
        return str(self._line)


@cache
def _stamp() -> str:
    """Return a digest of all files of those sub-packages that have compiled functions."""
    files = {path: path.read_bytes() for path in sorted(_PACKAGE.rglob("*.py"))}
    names = {path: path.relative_to(_PACKAGE) for path in files}
    mark = re.compile(rb"\n@(compiled|kernel|inner|inlined|intrinsic)\b")
    with_code = {names[path].parts[0] for path, text in files.items() if mark.search(text)}
    digest = hashlib.sha256()
    for path, text in files.items():
        if names[path].parts[0] in with_code:
            digest.update(f"{names[path].as_posix()} {len(text)}\n".encode() + text)
    return digest.hexdigest()


# -- folders ------------------------------------------------------------------------------------


class Places(NamedTuple):
    """The folders of a module's compiled code."""

    read: tuple[str, ...]
    written: str | None  # the last of them, unless none can be written


@cache
def places(directory: str) -> Places:
    """Return the folders for compiled code of the modules in a directory."""
    folders = []
    for folder in _candidates(directory):
        folders.append(folder)
        if _can_write(folder):
            return Places(tuple(folders), folder)
    return Places(tuple(folders), None)


def _candidates(directory: str) -> Iterator[str]:
    digest = hashlib.sha1(directory.encode(), usedforsecurity=False).hexdigest()
    name = f"{os.path.basename(directory)}_{digest}"  # as numba names them
    chosen = config.CACHE_DIR  # type: ignore[attr-defined]
    if chosen:
        yield os.path.join(chosen, name)
    yield os.path.join(directory, "__pycache__")
    for root in (_user_folder, _temporary_folder):
        folder = root()
        if folder is not None:
            yield os.path.join(folder, name)


def _can_write(folder: str) -> bool:
    """Return whether files can be written; permissions do not reveal a read-only disk."""
    try:
        os.makedirs(folder, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return False
    return True


@cache
def _user_folder() -> Path | None:
    """Return the folder for compiled code in the user's cache; None if there is none."""
    usual = {"win32": "~/AppData/Local", "darwin": "~/Library/Caches"}.get(sys.platform, "~/.cache")
    variable = "LOCALAPPDATA" if sys.platform == "win32" else "XDG_CACHE_HOME"
    caches = Path(os.environ.get(variable) or os.path.expanduser(usual))
    if not caches.is_absolute():  # a user without a home
        return None
    folder = Path(os.path.realpath(caches)) / _NAME / "compiled"
    with suppress(OSError):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder if _is_ours(folder) else None


@cache
def _temporary_folder() -> Path | None:
    """Return a folder of this user that others can neither read, write nor foresee; or None."""
    if not hasattr(os, "getuid"):  # Windows, where every user has a cache folder
        return None
    try:
        parent = Path(os.path.realpath(tempfile.gettempdir()))
        if parent == Path.cwd():  # what Python falls back to: no place to leave files in
            return None
        if not _is_ours(parent, shared=True):
            return None
        prefix = f"{_NAME}-{os.getuid()}-"
        for folder in sorted(parent.glob(f"{prefix}*")):
            if _is_ours(folder) and stat.S_IMODE(folder.stat().st_mode) == 0o700:
                return folder
        return Path(tempfile.mkdtemp(prefix=prefix, dir=parent))  # has that mode
    except OSError:
        return None


def _is_ours(folder: Path, shared: bool = False) -> bool:
    """Return whether no other user, except root, can put files into a folder or replace it.

    In a shared folder, such as /tmp, others may have their own; they must not rename ours.
    """
    if not hasattr(os, "getuid"):
        return True
    users = (0, os.getuid())
    try:
        for path in (folder, *folder.parents):
            about = path.lstat()
            sticky = about.st_mode & stat.S_ISVTX and (shared or path != folder)
            if not stat.S_ISDIR(about.st_mode) or about.st_uid not in users:
                return False
            of_others = about.st_mode & stat.S_IWOTH or (
                about.st_mode & stat.S_IWGRP and about.st_gid != os.getuid()
            )  # the group of a user alone has the number of the user
            if of_others and not sticky:
                return False
    except OSError:
        return False
    return True

"""Inputs that no mutation makes: huge lines, archives that unpack to gigabytes, pickles, entities,
named pipes, standard input, files that change while they are read, and odd names.

Each is prepared and read in a process of its own.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import os
import pickle
import struct
import threading
import time
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from .cases import Case
from .runs import Ending, Job, execute
from .targets import TARGETS, Target, missing_packages

CPU_SECONDS = 240.0  # for one case; 20 GB take more than a minute to unpack alone
WALL_SECONDS = 1800.0
LONG = 10_000_000  # characters of a line
HUGE = 20 << 30  # bytes that an archive unpacks to
LARGE = 2 << 30  # likewise, of those that are read in short runs, too


Prepared = tuple[Path, dict[str, Any]]  # a file in a folder, and options of the reader


@dataclass(frozen=True)
class Special:
    """A special case of a reader (`target`).

    `prepare` writes the file into a folder. It must end as `wanted` says ("any" is a right result
    or a refusal); `after` gets the folder when all is over, and returns what is wrong. `read` reads
    in place of the target. A `slow` case takes minutes, too long for a short run.
    """

    target: str
    prepare: Callable[[Path], Prepared]
    wanted: str = "any"
    after: Callable[[Path], str | None] | None = None
    read: Callable[..., Any] | None = None
    slow: bool = False


@dataclass(frozen=True)
class _Sized(Case):
    """An input that is only on the disk."""

    n_bytes: int = 0

    @property
    def size(self) -> int:
        """Bytes of its file."""
        return self.n_bytes


CASES: dict[str, Special] = {}


def _add(name: str, target: str, prepare: Any, **more: Any) -> None:
    CASES[name] = Special(target, prepare, **more)


def _special(name: str, target: str, **more: Any) -> Callable:
    """Add the decorated function, which prepares a case; it may take the target as well."""

    def add(prepare: Callable) -> Callable:
        arguments = (target,) if prepare.__code__.co_argcount > 1 else ()
        _add(name, target, lambda folder: prepare(folder, *arguments), **more)
        return prepare

    return add


def installed(slow: bool) -> list[str]:
    """Return the cases whose packages are installed, with slow ones or without."""
    return [
        name
        for name, case in CASES.items()
        if not missing_packages(TARGETS[case.target]) and (slow or not case.slow)
    ]


def work(one: Special) -> Callable[[Job, Callable[[dict[str, Any]], None]], None]:
    """Return the work of reading a special case."""

    def do(job: Job, report: Callable[[dict[str, Any]], None]) -> None:
        folder = job.folder / "input"
        path, options = one.prepare(folder)
        job.marker.set(1)
        target: Target = replace(TARGETS[one.target], check=lambda *_: None)
        if one.read is not None:
            target = replace(target, read=one.read)
        odd = len(path.name) > 200 or "\0" in str(path) or not path.name.isprintable()
        if odd or not path.name:
            target = replace(target, names_file=False)
        try:
            n_bytes = path.stat().st_size
        except (OSError, ValueError):
            n_bytes = 0
        ending = execute(target, _Sized(one.target, {}, path.name, options, n_bytes), path)
        problem = one.after(folder) if one.after is not None else None
        if not ending.is_finding and one.wanted not in ("any", ending.kind):
            text = f"expected a {one.wanted}, found a {ending.kind}: {ending.text}"
            ending = Ending("wrong", text)
        if problem is not None:
            ending = Ending("wrong", problem)
        report({"ending": replace(ending, content=None)})

    return do


# -- huge lines --------------------------------------------------------------------------------


def _file(name: str, content: Callable[[], bytes], **options: Any) -> Any:
    def prepare(folder: Path) -> tuple[Path, dict[str, Any]]:
        path = folder / name
        path.write_bytes(content())
        return path, options

    return prepare


_WORDS: dict[str, Callable[[], bytes]] = {
    "word": lambda: b"a" * LONG,
    "digits": lambda: b"7" * LONG,
    "decimal": lambda: b"1." + b"0" * LONG,
    "spaces": lambda: b" " * LONG,
    "tabs": lambda: b"\t" * LONG,
    "commas": lambda: b"," * LONG,
    "quotes": lambda: b'"' * LONG,
    "comment": lambda: b"#" * LONG,
    "breaks": lambda: b"\n" * LONG,
    "returns": lambda: b"\r" * LONG,
    "comments": lambda: b"#\n" * (LONG // 2),
    "fields": lambda: b"1," * (LONG // 2),
    "words": lambda: b"1 " * (LONG // 2),
    "numbers": lambda: b"1e5" * (LONG // 3),
    "open": lambda: b'"' + b"a" * LONG,
}
_MTX = b"%%%%MatrixMarket matrix coordinate real general\n3 3 1\n%s\n"
_XML = b'<graphml><graph><edge source="%s" target="b"/></graph></graphml>'
_INTS = {"nodes": "ints"}
_SOME = ("word", "digits", "breaks", "words")
_FOR_LABELS = (*_SOME, "spaces", "commas", "comments", "fields", "open")
_AT_FIRST = ("digits", "spaces", "commas", "quotes", "breaks", "returns", "comments", "fields")
_AT_FIRST += ("words", "open")
_LINES: dict[str, tuple] = {  # the file, its content, options, and the words that are tried
    "edges": ("graph.csv", b"source,target\na,b\n%s\nc,d\n", {}, tuple(_WORDS)),
    "labels": ("labels.csv", b"0,x\n%s\n1,y\n", _INTS, _FOR_LABELS),
    "nodes": ("nodes.txt", b"0\n%s\n1\n", _INTS, _SOME),
    "columns": ("columns.csv", b"id,age\n0,1\n%s\n", _INTS, _SOME),
    "walks-text": ("walks.txt", b"a\tb\n%s\nb\ta\n", {}, _SOME),
    "vectors-text": ("vectors.txt", b"2 2\na 1 2\n%s\n", {}, _SOME),
    "vectors-csv": ("vectors.csv", b"node,d0,d1\na,1,2\n%s\n", {}, _SOME),
    "matrix-market": ("graph.mtx", _MTX, {}, _SOME),
    "graphml": ("graph.graphml", _XML, {}, _SOME),
}


def _add_lines() -> None:
    for target, (name, text, options, words) in _LINES.items():
        for word in words:
            content = lambda text=text, word=word: text % _WORDS[word]()  # noqa: E731
            _add(f"{target}-line-{word}", target, _file(name, content, **options))
    for word in _AT_FIRST:
        content = lambda word=word: _WORDS[word]() + b"\na,b\n"  # noqa: E731
        _add(f"edges-first-{word}", "edges", _file("graph.csv", content))


# -- archives that unpack to gigabytes ---------------------------------------------------------


def _gzip_bomb(head: bytes, block: bytes, size: int) -> bytes:
    """Return a .gz file that unpacks to a beginning, and a block so often that it has a size."""
    many = block * ((16 << 20) // len(block))
    member = gzip.compress(many, 9, mtime=0)
    return gzip.compress(head, mtime=0) + member * (size // len(many))


def _deflate_bomb(head: bytes, size: int) -> bytes:
    """Return raw deflated bytes: a beginning, and then zeros up to a size."""
    packer = zlib.compressobj(9, wbits=-15)
    begin = packer.compress(head) + packer.flush(zlib.Z_FULL_FLUSH)
    block = packer.compress(bytes(16 << 20)) + packer.flush(zlib.Z_FULL_FLUSH)
    return begin + block * (size // (16 << 20)) + packer.flush()


def _npy_head(shape: tuple[int, ...], kind: str) -> bytes:
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        stream, {"descr": kind, "fortran_order": False, "shape": shape}
    )
    return stream.getvalue()


def _zip_bomb(data: bytes, member: str, shape: tuple[int, ...], kind: str) -> bytes:
    """Return an archive in which a member is an array of gigabytes; its checksum is not right."""
    head = _npy_head(shape, kind)
    size = len(head) + HUGE
    packed = _deflate_bomb(head, HUGE)
    stream = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(stream, "w") as new:
        for name in old.namelist():
            if name != member:
                new.writestr(name, old.read(name))
        info = zipfile.ZipInfo(member)
        info.compress_type = zipfile.ZIP_STORED
        new.writestr(info, packed)
        where = info.header_offset
    archive = bytearray(stream.getvalue())
    # the member is said to be deflated, with a size that only ZIP64 can hold: 4 GB less one here
    size = min(size, 2**32 - 2)
    for signature, kind_at, size_at in ((b"PK\x03\x04", 8, 22), (b"PK\x01\x02", 10, 24)):
        at = where if signature == b"PK\x03\x04" else archive.rindex(signature + b"")
        while (
            signature == b"PK\x01\x02"
            and archive[at + 46 : at + 46 + len(member)] != member.encode()
        ):
            at = archive.rindex(signature, 0, at)
        struct.pack_into("<H", archive, at + kind_at, zipfile.ZIP_DEFLATED)
        struct.pack_into("<I", archive, at + size_at, size)
    return bytes(archive)


def _seed(target: str, number: int = 0) -> Case:
    return TARGETS[target].cases()[number]


_MTX_HEAD = b"%%MatrixMarket matrix coordinate real general\n3 3 999999999999\n"
_XML_BLOCKS = {"nodes": b'<node id="a"/>', "text": b"x", "deep": b"<a>"}
_BOMBS: dict[str, tuple] = {
    "edges": ("graph.csv", b"source,target\n", {"one": b"1,2\n", "blank": b"\n", "line": b"a"}),
    "matrix-market": (
        *("graph.mtx", _MTX_HEAD),
        {"entries": b"1 2 3\n", "comments": b"%\n", "blank": b"\n"},
    ),
    "graphml": ("graph.graphml", b"<graphml><graph>", _XML_BLOCKS),
    "labels": ("labels.csv", b"0,x\n", {"one": b"1,y\n", "line": b"a"}),
    "nodes": ("nodes.txt", b"0\n", {"one": b"1\n"}),
    "columns": ("columns.csv", b"id,age\n0,1\n", {"one": b"1,5\n"}),
    "walks-text": ("walks.txt", b"a\tb\n", {"one": b"a\tb\n", "line": b"a\t"}),
    "vectors-text": ("vectors.txt", b"99999999 2\n", {"one": b"a 1 2\n", "line": b"1 "}),
    "vectors-csv": ("vectors.csv", b"node,d0,d1\n", {"one": b"a,1,2\n", "line": b"1,"}),
}


def _add_bombs() -> None:
    for target, (name, head, blocks) in _BOMBS.items():
        for number, (kind, block) in enumerate(blocks.items()):
            size = LARGE if number else HUGE
            content = lambda h=head, b=block, n=size: _gzip_bomb(h, b, n)  # noqa: E731
            options = _LINES[target][2]
            file = _file(f"{name}.gz", content, **options)
            _add(f"{target}-bomb-{kind}", target, file, slow=size == HUGE)
    arrays = {
        "graph-npz": ("data.npy", "<f8"),
        "vectors-npz": ("vectors.npy", "<f4"),
        "model": ("visits.npy", "<i8"),
        "checkpoint": ("visits.npy", "<i8"),
    }
    for target, (member, kind) in arrays.items():

        @_special(f"{target}-bomb", target)
        def _(folder: Path, target: str, member: str = member, kind: str = kind) -> Prepared:
            case = _seed(target)
            path = case.write(folder)
            shape = (HUGE // int(kind[-1]),) if target != "vectors-npz" else (HUGE // 16, 4)
            path.write_bytes(_zip_bomb(case.files[case.main], member, shape, kind))
            return path, case.options

    @_special("matlab-bomb", "matlab")
    def _(folder: Path) -> Prepared:
        seed = next(case for case in TARGETS["matlab"].cases() if case.files[case.main][128] == 15)
        data = seed.files[seed.main]
        content = zlib.decompress(data[136:])
        packed = b"\x78\xda" + _deflate_bomb(content[:100], 2 << 30)
        path = folder / seed.main
        path.write_bytes(data[:132] + struct.pack("<I", len(packed)) + packed)
        return path, {}

    @_special("edges-parquet-bomb", "edges-parquet")
    def _(folder: Path) -> Prepared:
        import pyarrow
        from pyarrow import parquet

        ones = pyarrow.array(np.ones(1 << 20, np.int64))
        table = pyarrow.table({"source": ones, "target": ones})
        path = folder / "graph.parquet"
        with parquet.ParquetWriter(path, table.schema, compression="gzip") as writer:
            for _ in range(100):
                writer.write_table(table)
        return path, {}


def _add_announcements() -> None:
    """Add small files that announce much."""
    mtx = b"%%%%MatrixMarket matrix coordinate pattern general\n%d %d 1\n1 2\n"
    for size in (10**7, 10**8, 2**31 - 2, 2**31, 10**12, 10**30):
        text = mtx % (size, size)
        file = _file("graph.mtx", lambda text=text: text)
        _add(f"matrix-market-of-{size:.0e}", "matrix-market", file)
    dense = b"%%MatrixMarket matrix array real general\n1000000 1000000\n1\n"
    _add("matrix-market-dense", "matrix-market", _file("graph.mtx", lambda: dense))
    for target, name in (("vectors-bin", "vectors.bin"), ("vectors-text", "vectors.txt")):
        for size in (10**6, 10**9, 10**18):
            text = b"%d 300\na 1 2 3\n" % size
            _add(f"{target}-of-{size:.0e}", target, _file(name, lambda text=text: text))
    wide = _file("vectors.txt", lambda: b"1 1000000000\na 1\n")
    _add("vectors-text-wide", "vectors-text", wide)

    @_special("walks-npz-announced", "walks-npz")
    def _(folder: Path) -> Prepared:
        path = folder / "walks.npz"
        np.savez(path, ids=np.arange(2))
        with zipfile.ZipFile(path, "a") as archive:
            archive.writestr("walks.npy", _npy_head((10**12, 10), "<i4") + bytes(100))
        return path, {}

    @_special("graph-npz-of-1e9", "graph-npz")
    def _(folder: Path) -> Prepared:
        import scipy.sparse

        path = folder / "graph.npz"
        matrix = scipy.sparse.coo_array(([1.0], ([0], [1])), shape=(10**9, 10**9))
        scipy.sparse.save_npz(path, matrix)
        return path, {}

    @_special("graph-npz-offsets", "graph-npz", wanted="refusal")
    def _(folder: Path) -> Prepared:
        path = folder / "graph.npz"
        arrays = {"indices": np.array([1, 0, 2], np.int32), "data": np.ones(3)}
        np.savez(
            path,
            indptr=np.array([0, 10**9, 2, 3], np.int32),
            shape=np.array([3, 3]),
            format=np.array(b"csr"),
            **arrays,
        )
        return path, {}


# -- pickles, entities -------------------------------------------------------------------------

_MARK = "executed"


class _Hostile:
    """Creates a file when it is unpickled."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return open, (self.path, "w")


def _not_executed(folder: Path) -> str | None:
    return "a pickle was executed" if (folder / _MARK).exists() else None


def _add_pickles() -> None:
    for target in ("graph-npz", "vectors-npz", "model", "checkpoint", "walks-npz", "walks-shards"):

        @_special(f"{target}-pickle", target, wanted="refusal", after=_not_executed)
        def _(folder: Path, target: str) -> Prepared:
            case = _seed(target)
            path = case.write(folder)
            hostile = np.array([_Hostile(str(folder / _MARK))] * 3, object)
            array = io.BytesIO()
            np.lib.format.write_array(array, hostile, allow_pickle=True)
            if path.is_dir():
                for file in path.glob("*.npy"):
                    file.write_bytes(array.getvalue())
            else:
                with zipfile.ZipFile(path) as archive:
                    names = archive.namelist()
                with zipfile.ZipFile(path, "w") as archive:
                    for name in names:
                        archive.writestr(name, array.getvalue())
            return path, case.options

    names = {"graph-npz": "graph.npz", "matlab": "graph.mat", "tuning": "study.json"}
    for target, name in names.items():

        @_special(f"{target}-raw-pickle", target, wanted="refusal", after=_not_executed)
        def _(folder: Path, _target: str, name: str = name) -> Prepared:
            path = folder / name
            path.write_bytes(pickle.dumps(_Hostile(str(folder / _MARK))))
            return path, {}


def _add_entities() -> None:
    lol = b"".join(b'<!ENTITY l%d "%s">' % (n, b"&l%d;" % (n - 1) * 10) for n in range(1, 12))
    long, file = b"x" * 100_000, b'SYSTEM "file:///etc/hostname"'
    outside = (_XML % b"a").replace(b"</graph>", b"<node id='n'/>&a;</graph>")
    texts = {
        "laughs": b'<!DOCTYPE g [<!ENTITY l0 "lol">' + lol + b"]>" + _XML % b"&l11;",
        "quadratic": b'<!DOCTYPE g [<!ENTITY a "%s">]>' % long + _XML % (b"&a;" * 30_000),
        "external": b"<!DOCTYPE g [<!ENTITY a %s>]>" % file + outside,
        "parameter": b"<!DOCTYPE g [<!ENTITY %% p %s> %%p;]>" % file + _XML % b"a",
        "doctype": b"<!DOCTYPE g %s>" % file + _XML % b"&a;",
        "deep": b"<graphml>" + b"<a>" * 1_000_000,
    }
    for name, text in texts.items():
        wanted = "any" if name in ("parameter", "external") else "refusal"
        xml = _file("graph.graphml", lambda text=text: text)
        _add(f"graphml-{name}", "graphml", xml, wanted=wanted)
    for kind, text in {"lists": b"[" * 100_000, "dicts": b'{"a":' * 100_000}.items():
        study = _file("study.json", lambda text=text: text)
        _add(f"tuning-deep-{kind}", "tuning", study, wanted="refusal")

    def read(path: Path) -> Any:
        import reinforce2vec as r2v

        ring = np.arange(70_000)
        edges = np.column_stack([ring, np.roll(ring, 1)])
        return r2v.read_labels(path, r2v.Graph.from_edges(edges))

    nodes = "\n".join(f"{number},class{number}" for number in range(70_000))
    labels = _file("labels.csv", lambda: f"id,label\n{nodes}\n".encode())
    _add("labels-distinct", "labels", labels, read=read)


# -- pipes, standard input, files that change --------------------------------------------------


def _later(do: Callable[[], None], seconds: float = 0.05) -> None:
    def run() -> None:
        time.sleep(seconds)
        with contextlib.suppress(OSError):  # the reader is gone
            do()

    threading.Thread(target=run, daemon=True).start()


def _add_pipes() -> None:
    for target in TARGETS:

        @_special(f"{target}-pipe", target)
        def _(folder: Path, target: str) -> Prepared:
            case = _seed(target)
            path = case.write(folder)
            if path.is_dir():
                path, content = folder / "manifest.json", case.files["manifest.json"]
            else:
                content = case.files[case.main]
            path.unlink()
            os.mkfifo(path)
            _later(lambda: _feed(path, content))
            return (folder if case.main == "." else path), case.options

    for name, content in {"empty": b"", "part": b"source,target\na,b\nb"}.items():

        @_special(f"edges-pipe-{name}", "edges")
        def _(folder: Path, _target: str, content: bytes = content) -> Prepared:
            path = folder / "graph.csv"
            os.mkfifo(path)
            _later(lambda: _feed(path, content))
            return path, {}

    @_special("edges-stdin", "edges")
    def _(folder: Path) -> Prepared:
        receive, send = os.pipe()
        os.dup2(receive, 0)
        os.write(send, b"source,target\na,b\nb,c\n")
        os.close(send)
        return Path("/dev/stdin"), {"format": "csv"}

    for name in ("/dev/null", "/proc/self/mem", "/proc/self/status"):
        file = lambda _folder, name=name: (Path(name), {"format": "csv"})  # noqa: E731
        _add(f"edges-{name.replace('/', '-')[1:]}", "edges", file)


def _feed(path: Path, content: bytes) -> None:
    with path.open("wb") as file:
        file.write(content)


def _add_changing() -> None:
    lines = b"".join(b"%d,%d\n" % (n, n + 1) for n in range(300_000))

    def cut(path: Path) -> None:
        os.truncate(path, path.stat().st_size // 2)

    def grow(path: Path) -> None:
        with path.open("ab") as file:
            file.write(lines[:100_000])

    def scribble(path: Path) -> None:
        with path.open("r+b") as file:
            file.seek(path.stat().st_size // 2)
            file.write(b"\0\xff" * 5000)

    for kind, change in {"cut": cut, "grow": grow, "scribble": scribble}.items():

        def later(folder: Path, _target: str, change: Any = change) -> Prepared:
            path = folder / "graph.csv"
            path.write_bytes(lines)
            for wait in (0.0, 0.005, 0.02, 0.05, 0.1):
                _later(lambda: change(path), wait)
            return path, {}

        def at_once(folder: Path, target: str, change: Any = change) -> Prepared:
            case = _seed(target)
            path = case.write(folder)
            for wait in (0.0, 0.001, 0.003):
                _later(lambda: change(path), wait)
            return path, case.options

        _special(f"edges-while-{kind}", "edges")(later)
        for target in [
            "graph-npz",
            "vectors-npz",
            "vectors-bin",
            "walks-npz",
            "model",
            "edges-parquet",
        ]:
            _special(f"{target}-while-{kind}", target)(at_once)

    def read_then_cut(path: Path) -> Any:
        import reinforce2vec as r2v

        walks = r2v.read_walks(path)
        for file in [path] if path.is_file() else path.glob("*.npy"):
            os.truncate(file, 10)
        model = r2v.Reinforce2Vec(dimensions=4, window=2, smooth=False, workers=1)
        model.fit_walks(walks, progress=False)
        return walks

    for target in ("walks-npz", "walks-shards"):

        @_special(f"{target}-cut-after", target, read=read_then_cut)
        def _(folder: Path, target: str) -> Prepared:
            import reinforce2vec as r2v

            ring = np.arange(5000)
            graph = r2v.Graph.from_edges(np.column_stack([ring, np.roll(ring, 1)]))
            sampler = r2v.WalkSampler(graph, r2v.FirstOrderWalk(), length=20, per_node=2, workers=1)
            path = folder / ("walks.npz" if target == "walks-npz" else "walks/")
            r2v.write_walks(f"{path}/" if target == "walks-shards" else path, sampler)
            return path, {}


def _add_names() -> None:
    names = {
        "nul": "a\0b.csv",
        "line": "a\nb.csv",
        "escape": "\x1b[31mred.csv",
        "surrogate": "\udcff.csv",
        "long": "x" * 300 + ".csv",
        "missing": "missing.csv",
        "empty": "",
        "dots": "..",
    }
    for kind, name in names.items():
        path = lambda folder, name=name: (Path(f"{folder}/{name}"), {})  # noqa: E731
        _add(f"edges-name-{kind}", "edges", path, wanted="refusal")

    @_special("edges-folder", "edges", wanted="refusal")
    def _(folder: Path) -> Prepared:
        (folder / "graph.csv").mkdir()
        return folder / "graph.csv", {}

    @_special("edges-link-loop", "edges", wanted="refusal")
    def _(folder: Path) -> Prepared:
        (folder / "graph.csv").symlink_to("graph.csv")
        return folder / "graph.csv", {}

    @_special("walks-shards-outside", "walks-shards", wanted="refusal")
    def _(folder: Path) -> Prepared:
        path = _seed("walks-shards").write(folder)
        manifest = json.loads((folder / "manifest.json").read_text())
        for shard in manifest.get("shards", []):
            shard["file"] = "../../" + str(shard["file"])
        (folder / "manifest.json").write_text(json.dumps(manifest))
        return path, {}


for _make in (
    _add_lines,
    _add_bombs,
    _add_announcements,
    _add_pickles,
    _add_entities,
    _add_pipes,
    _add_changing,
    _add_names,
):
    _make()

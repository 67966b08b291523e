"""Changes of files: of bytes, of lines and fields, and of what is inside archives.

Damage changes bytes of a file as a disk or a transfer does; a file with checksums must show it.
Other changes make files that are whole, with contents that nobody intended: what is inside a .gz,
.npz, .npy, JSON, Parquet or MATLAB file is changed and packed again, with the right checksums.
"""

from __future__ import annotations

import gzip
import io
import json
import re
import struct
import zipfile
import zlib
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np

LONGEST = 1 << 16  # bytes of a file; longer ones are among the special cases

_NUMBERS = (0, 1, -1, 127, 128, 255, 256, 32767, 65535, 2**31 - 1, 2**31, -(2**31), 2**32 - 1)
_NUMBERS = (*_NUMBERS, 2**53 + 1, 2**63 - 1, 2**63, -(2**63), 2**64, 10**9, 10**18, 10**30)
_WORDS = (
    *(str(number).encode() for number in _NUMBERS),
    *(b"9" * 400, b"9" * 4301, b"-" + b"1" * 5000, b"0" * 3000 + b"1", b"1" + b"0" * 2000 + b".5"),
    *(b"nan", b"inf", b"-inf", b"NaN", b"Infinity", b"-0", b"+1", b"1.0", b"1e400", b"1e-400"),
    *b"1e308 4.9e-324 1e5 0x10 1_000 1,5 1.5.5 .5 5. 1e e".split(),
    *(b"0,5", b"1.000,5", b"1 000", b"007", b"-", b"+", b"", b" ", b"\t", b'"', b'""', b'"""'),
    *(b'"a"', b'"a""b"', b'"a,b"', b'"a\nb"', b'a"b', b"'a'", b'"a"b', b'"', b"\\", b"\\N", b"|"),
    *(b"None", b"null", b"NA", b"<NA>", b"true", b"True", b"1", b"{'weight': 2}", b'{"a": 1}'),
    *(b"#", b"# a", b"#a", b"%", b"%%", b"//", b"--", b"\x00", b"\x1b[31m", b"\x07", b"\x7f"),
    b"\r",
    *(b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b"\xe9"),
    *("\u2028".encode(), "\u202e".encode(), "\u00a0".encode(), "\u0661".encode(), "é".encode()),
    *("e\u0301".encode(), "\U0001f600".encode(), "\u0085".encode(), b"\x0c", b"\x1c"),
    *(b"=1+1", b"@x", b"source", b"target", b"weight", b"time", b"id", b"label", b"node", b"user"),
    *(b"directed", b"undirected", b"false", b"edge", b"all", b"double", b"string"),
    *(b"symmetric", b"general", b"hermitian", b"skew-symmetric", b"pattern", b"complex", b"array"),
    *(b"real", b"integer", b"coordinate"),
)
_XML = (
    b'<!DOCTYPE a [<!ENTITY x "1">]>',
    b'<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]>',
    b'<!DOCTYPE a [<!ENTITY a "1"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>',
    *(b"&x;", b"&b;", b"&amp;", b"&#0;", b"&#x1b;", b"&lt;", b"<![CDATA[1]]>", b"<!-- x -->"),
    *(b"<edge/>", b"<node/>", b'<node id="q"/>', b'<edge source="a" target="b"/>', b"</graph>"),
    *(b'<graph edgedefault="directed">', b"<hyperedge/>", b"<port/>", b'<data key="w">3</data>'),
    *(b' directed="1"', b' directed="true"', b' directed="maybe"', b' for="edge"', b' for="node"'),
    *(b'<key id="w" for="edge" attr.name="weight"/>', b"<default>2</default>", b"<?pi x?>"),
    b'<?xml version="1.0" encoding="UTF-16"?>',
    b'<?xml version="1.0" encoding="rot13"?>',
)
_DELIMITERS = (b",", b";", b"\t", b" ", b"|", b"  ", b", ")
_TOKEN = re.compile(rb"[^\s,;|<>\"'=\[\](){}:]+")
_NUMBER = re.compile(rb"\d+(?:\.\d+)?(?:e[+-]?\d+)?")

Bytes = bytes | bytearray


# -- damage ------------------------------------------------------------------------------------


def damaged(data: bytes, other: bytes, random: Random) -> bytes:
    """Return a file of which some bytes are others, missing, or there twice."""
    result = bytearray(data)
    for _ in range(_few(random)):
        random.choice(_DAMAGES)(result, other, random)
    return bytes(result[:LONGEST])


def _few(random: Random) -> int:
    return min(8, 1 + int(random.expovariate(1.2)))


def _place(data: Bytes, random: Random) -> int:
    # headers and the ends of files, where archives have their tables, count most
    kind = random.random()
    if kind < 0.3:
        return min(len(data), random.randrange(64))
    if kind < 0.45:
        return max(0, len(data) - random.randrange(1, 128))
    return random.randrange(len(data) + 1)


def _span(data: Bytes, random: Random) -> tuple[int, int]:
    begin = _place(data, random)
    return begin, begin + random.choice([1, 1, 2, 4, 8, 16, 64, 512])


def _flip(data: bytearray, other: bytes, random: Random) -> None:
    if data:
        data[_place(data, random) % len(data)] ^= 1 << random.randrange(8)


def _set(data: bytearray, other: bytes, random: Random) -> None:
    if data:
        value = random.choice([0, 255, 10, 13, 34, 44, random.randrange(256)])
        data[_place(data, random) % len(data)] = value


def _remove(data: bytearray, other: bytes, random: Random) -> None:
    begin, end = _span(data, random)
    del data[begin:end]


def _repeat(data: bytearray, other: bytes, random: Random) -> None:
    begin, end = _span(data, random)
    data[begin:begin] = data[begin:end] * random.choice([1, 1, 1, 2, 16])


def _insert(data: bytearray, other: bytes, random: Random) -> None:
    place = _place(data, random)
    data[place:place] = random.choice(_WORDS)


def _truncate(data: bytearray, other: bytes, random: Random) -> None:
    del data[_place(data, random) :]


def _zero(data: bytearray, other: bytes, random: Random) -> None:
    begin, end = _span(data, random)
    data[begin:end] = bytes(len(data[begin:end]))


def _splice(data: bytearray, other: bytes, random: Random) -> None:
    begin, end = _span(other, random)
    place = _place(data, random)
    if random.random() < 0.5:
        data[place:] = other[min(place, len(other)) :]
    else:
        data[place : place + (end - begin)] = other[begin:end]


def _swap(data: bytearray, other: bytes, random: Random) -> None:
    (a, b), (c, d) = sorted(_span(data, random) for _ in range(2))
    if b <= c:
        data[a:d] = data[c:d] + data[b:c] + data[a:b]


def _number(data: bytearray, other: bytes, random: Random) -> None:
    width, code = random.choice([(1, "B"), (2, "H"), (4, "I"), (8, "Q")])
    value = random.choice(_NUMBERS) % (1 << (8 * width))
    place = _place(data, random)
    if random.random() < 0.5:
        place -= place % width
    packed = struct.pack(random.choice("<>") + code, value)
    data[place : place + width] = packed


_DAMAGES = (
    *(_flip, _flip, _set, _remove, _repeat, _insert, _truncate, _zero, _splice, _swap, _number),
)


# -- text --------------------------------------------------------------------------------------


def retyped(data: bytes, other: bytes, random: Random, words: tuple[bytes, ...] = ()) -> bytes:
    """Return a text in which lines, fields or the way they are written are others."""
    for _ in range(_few(random)):
        data = random.choice(_EDITS)(data, other, random, words)
        if len(data) > LONGEST:
            return data[:LONGEST]
    return data


def _edit_token(data: bytes, other: bytes, random: Random, words: tuple[bytes, ...]) -> bytes:
    found = list(_TOKEN.finditer(data))
    if not found:
        return random.choice(_WORDS) + data
    token = random.choice(found)
    taken = _TOKEN.findall(other) or [b"x"]
    new = random.choice(
        [random.choice(_WORDS), random.choice(words or _WORDS), random.choice(taken)]
    )
    return data[: token.start()] + new + data[token.end() :]


def _edit_number(data: bytes, other: bytes, random: Random, words: tuple[bytes, ...]) -> bytes:
    found = list(_NUMBER.finditer(data))
    if not found:
        return data
    number = random.choice(found)
    new = random.choice([str(random.choice(_NUMBERS)).encode(), random.choice(_WORDS[:40])])
    return data[: number.start()] + new + data[number.end() :]


def _edit_lines(data: bytes, other: bytes, random: Random, words: tuple[bytes, ...]) -> bytes:
    lines = data.splitlines(keepends=True) or [b"\n"]
    others = other.splitlines(keepends=True) or [b"\n"]
    place = random.randrange(len(lines))
    kind = random.randrange(9)
    if kind == 0:
        lines.insert(random.randrange(len(lines) + 1), lines[place])
    elif kind == 1:
        del lines[place]
    elif kind == 2:
        random.shuffle(lines)
    elif kind == 3:
        lines[place] = lines[place].rstrip(b"\r\n")
    elif kind == 4:
        lines[0] = others[0]
    elif kind == 5:
        lines.insert(place, random.choice(others))
    elif kind == 6:
        blank = random.choice(
            [b"\n", b"\r\n", b" \n", b"\t\n", b"# x\n", b"%\n", b"#x,y\n", b",\n"]
        )
        lines.insert(place, blank * random.choice([1, 1, 30]))
    elif kind == 7:
        lines = lines[place : place + random.randrange(1, 4)]
    else:
        lines = lines * random.choice([2, 2, 3])
    return b"".join(lines)


def _edit_fields(data: bytes, other: bytes, random: Random, words: tuple[bytes, ...]) -> bytes:
    """Insert, remove or quote a column."""
    delimiter = random.choice(_DELIMITERS[:5])
    lines = data.split(b"\n")
    column = random.randrange(5)
    kind = random.randrange(4)
    word = random.choice(words or _WORDS)
    every = random.random() < 0.7
    for number, line in enumerate(lines):
        if not line or not (every or random.random() < 0.2):
            continue
        fields = line.split(delimiter)
        place = column % len(fields)
        if kind == 0:
            fields.insert(place, word if number else b"extra")
        elif kind == 1:
            del fields[place]
        elif kind == 2:
            fields[place] = b'"' + fields[place].replace(b'"', b'""') + b'"'
        else:
            fields.append(fields.pop(place))
        lines[number] = delimiter.join(fields)
    return b"\n".join(lines)


def _edit_delimiter(data: bytes, other: bytes, random: Random, words: tuple[bytes, ...]) -> bytes:
    old, new = random.choice(_DELIMITERS), random.choice(_DELIMITERS)
    return data.replace(old, new, random.choice([-1, -1, 1, 3]))


def _edit_writing(data: bytes, other: bytes, random: Random, words: tuple[bytes, ...]) -> bytes:
    """Change line ends, the encoding or the beginning."""
    kind = random.randrange(8)
    if kind == 0:
        return data.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
    if kind == 1:
        return data.replace(b"\n", random.choice([b"\r", b"\n\r", b"\x0b", b"\x85"]))
    if kind == 2:
        return b"\xef\xbb\xbf" + data
    if kind == 3:
        text = data.decode("utf-8", "replace")
        return text.encode(random.choice(["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-7"]))
    if kind == 4:
        return data.decode("utf-8", "replace").encode("latin-1", "replace")
    if kind == 5:
        return data.rstrip(b"\r\n")
    if kind == 6:
        return data.replace(b'"', b'""', random.choice([-1, 1]))
    return random.choice(_WORDS) + random.choice([b"", b"\n"]) + data


def _edit_length(data: bytes, other: bytes, random: Random, words: tuple[bytes, ...]) -> bytes:
    """Make a very long field or line."""
    place = random.randrange(len(data) + 1)
    what = random.choice([*_WORDS[-30:], b"a", b"1", b"1.", b",", b"\t", b" ", b"a,", b"1 ", b'"'])
    return data[:place] + what * random.choice([10, 300, 5000]) + data[place:]


def _edit_bytes(data: bytes, other: bytes, random: Random, words: tuple[bytes, ...]) -> bytes:
    return damaged(data, other, random)


def _edit_snippet(data: bytes, other: bytes, random: Random, words: tuple[bytes, ...]) -> bytes:
    place = random.randrange(len(data) + 1)
    if words and random.random() < 0.5:
        starts = [found.start() for found in re.finditer(rb"[<>]", data)] or [place]
        place = random.choice(starts)
    return data[:place] + random.choice(words or _WORDS) + data[place:]


_EDITS = (
    *(_edit_token, _edit_token, _edit_token, _edit_number, _edit_lines, _edit_lines, _edit_fields),
    *(_edit_delimiter, _edit_writing, _edit_length, _edit_bytes, _edit_snippet),
)


def rewritten_xml(data: bytes, other: bytes, random: Random) -> bytes:
    """Return a GraphML file with other elements and attributes."""
    return retyped(data, other, random, _XML)


# -- JSON --------------------------------------------------------------------------------------


def odd_json(data: bytes, other: bytes, random: Random) -> bytes:
    """Return JSON in which some values are others, or missing."""
    try:
        tree = json.loads(data)
        donor = json.loads(other)
    except (ValueError, RecursionError):
        return retyped(data, other, random)
    if random.random() < 0.1:
        return retyped(data, other, random)
    for _ in range(_few(random)):
        tree = _change(tree, donor, random, 0.3)
    try:
        return json.dumps(tree).encode("utf-8", "surrogatepass")[: 4 * LONGEST]
    except (ValueError, RecursionError):
        return data


def _odd_value(old: Any, donor: Any, random: Random) -> Any:
    deep: Any = []
    for _ in range(random.choice([1, 50, 2000])):
        deep = [deep]
    close: list[Any] = []
    if isinstance(old, (int, float)) and not isinstance(old, bool):
        close = [old + 1, -old, old * 1e6, float(old), str(old)]
    elif isinstance(old, str):
        close = [old + "x", old.upper(), old[:-1], "../" + old, old + "\x00", "\x1b[2J" + old]
    elif isinstance(old, list):
        close = [old[:-1], old + old[-1:], old * 2, dict.fromkeys(map(str, old))]
    elif isinstance(old, dict):
        close = [list(old), list(old.values()), {**old, "extra": 1}]
    return random.choice(
        [
            *(close * 4),
            *(None, True, False, 0, 1, -1, 2**31, 2**63, 2**64, 10**400, 1e308, -1e-308),
            *(float("nan"), float("inf"), "", "a", "nan", "\ud800", "9" * 5000),
            *([], {}, [[]], {"": 0}),
            *([0] * 1000, deep, donor),
        ]
    )


def _change(tree: Any, donor: Any, random: Random, here: float) -> Any:
    if not isinstance(tree, (dict, list)) or not tree or random.random() < here * 0.1:
        return _odd_value(tree, donor, random)
    keys = list(tree) if isinstance(tree, dict) else list(range(len(tree)))
    key = random.choice(keys)
    changed = tree.copy()
    if random.random() < 0.15:
        del changed[key]
    elif isinstance(changed, dict) and random.random() < 0.1:
        changed[str(key) + random.choice(["x", " ", ""])] = changed.pop(key)
    else:
        changed[key] = _change(changed[key], donor, random, here)
    return changed


# -- arrays ------------------------------------------------------------------------------------


def odd_array(array: np.ndarray, random: Random) -> np.ndarray:
    """Return an array with another value, shape or type."""
    kind = random.randrange(12)
    numbers = array.dtype.kind in "iuf"
    if kind <= 3 and array.size and numbers:
        changed = array.copy()
        for _ in range(_few(random)):
            value: Any = random.choice([*_NUMBERS, array.size, len(array) if array.ndim else 1])
            if array.dtype.kind == "f":
                value = random.choice([float(value), np.nan, np.inf, -1e300, 1e-320, 0.0, -0.0])
            else:
                low, high = np.iinfo(array.dtype).min, np.iinfo(array.dtype).max
                value = (int(value) - low) % (int(high) - int(low) + 1) + low
            with np.errstate(over="ignore"):
                changed.flat[random.randrange(array.size)] = value
        return changed
    if kind == 4:
        types = ["i1", "i4", "i8", "u8", "u4", "f2", "f4", "f8", ">i4", ">f4", "c8", "U3"]
        types += ["S3", "?"]
        with np.errstate(all="ignore"):
            try:
                return array.astype(random.choice(types))
            except (ValueError, TypeError):
                return array
    if kind == 5:
        return array[..., None] if random.random() < 0.5 else array.ravel()
    if kind == 6 and array.ndim:
        return array[: random.randrange(len(array) + 1)]
    if kind == 7 and array.ndim:
        return np.concatenate([array, array[: random.randrange(len(array) + 1)]])
    if kind == 8 and array.ndim:
        return array[::-1]
    if kind == 9:
        return np.asfortranarray(array) if array.ndim == 2 else np.array(0)
    if kind == 10:
        return np.array([{"pickled": True}], object)
    return np.array(random.choice([0, -1, 5, "x", 1.5, b"x", [], [[]], [0], True]))


def _packed_array(array: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.lib.format.write_array(stream, array, allow_pickle=True)
    return stream.getvalue()


def odd_npy(data: bytes, other: bytes, random: Random) -> bytes:
    """Return a .npy file with another array, or with a header that does not fit its array."""
    kind = random.randrange(10)
    try:
        array = np.lib.format.read_array(io.BytesIO(data), allow_pickle=False)
    except Exception:
        return damaged(data, other, random)
    if kind < 6:
        return _packed_array(odd_array(array, random))
    if kind == 6:
        return damaged(data, other, random)
    header = {"descr": array.dtype.str, "fortran_order": False, "shape": array.shape}
    name = random.choice(list(header))
    odd = {
        "descr": [*["|O", "<i8", "<f4", ">i4", "<i4", "|V0", "<U0", "<M8[s]"], [("a", "<i4")], "x"],
        "fortran_order": [True, 0, None, "x"],
        "shape": [(), (0,), (-1,), (2**62,), (10**9, 10**9), (2**31, 0), (3, 10**10), [3], 3],
    }
    header[name] = random.choice(odd[name])
    text = repr(header).encode()
    text += b" " * (-(len(text) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + array.tobytes()


def odd_zip(data: bytes, other: bytes, random: Random) -> bytes:
    """Return an archive with other members, packed again with the right checksums."""
    try:
        members = _unzipped(data)
        others = _unzipped(other)
    except Exception:
        return damaged(data, other, random)
    if not members:
        return damaged(data, other, random)
    repeated = False
    for _ in range(_few(random)):
        name = random.choice(list(members))
        kind = random.randrange(12)
        if kind == 0:
            del members[name]
            if not members:
                break
        elif kind == 1:
            members[random.choice(["x", name + "x", "../" + name, "a/" + name])] = members.pop(name)
        elif kind == 2 and others:
            name = random.choice(list(others))
            members[name] = others[name]
        elif kind == 3:
            repeated = True
        elif kind == 4:
            members[name], one = members[random.choice(list(members))], name
            members[one] = members[name]
        else:
            members[name] = _odd_member(members[name], others.get(name, b""), random)
    stream = io.BytesIO()
    methods = [zipfile.ZIP_STORED] * 4 + [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA]
    with zipfile.ZipFile(stream, "w", random.choice(methods)) as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name), content, archive.compression)
            if repeated and random.random() < 0.3:
                import warnings

                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    archive.writestr(zipfile.ZipInfo(name), content[::-1])
    return stream.getvalue()


def _odd_member(data: bytes, other: bytes, random: Random) -> bytes:
    """Change a member: an array, or JSON in an array of bytes."""
    try:
        array = np.lib.format.read_array(io.BytesIO(data), allow_pickle=False)
    except Exception:
        return damaged(data, other, random)
    if array.dtype == np.uint8 and array.tobytes()[:1] in (b"{", b"[") and random.random() < 0.9:
        changed = odd_json(array.tobytes(), b"{}", random)
        return _packed_array(np.frombuffer(changed, np.uint8))
    return odd_npy(data, other, random)


def _unzipped(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        if sum(member.file_size for member in archive.infolist()) > 1 << 22:
            return {}
        return {name: archive.read(name) for name in archive.namelist()}


# -- compression -------------------------------------------------------------------------------

Mutator = Callable[[bytes, bytes, Random], bytes]


def inside_gzip(change: Mutator) -> Mutator:
    """Return a mutator of what is inside a .gz file."""

    def changed(data: bytes, other: bytes, random: Random) -> bytes:
        plain, donor = (_unpacked(each) for each in (data, other))
        text = change(plain, donor, random)
        kind = random.random()
        packed = gzip.compress(text, 1, mtime=0)
        if kind < 0.1:  # in two members
            cut = random.randrange(len(text) + 1)
            packed = gzip.compress(text[:cut], 1, mtime=0) + gzip.compress(text[cut:], 1, mtime=0)
        elif kind < 0.15:
            packed += random.choice([b"\0" * 10, b"x", packed[:10], b"\x1f\x8b"])
        return packed

    return changed


def _unpacked(data: bytes) -> bytes:
    """Return what is inside a .gz file, as far as it can be unpacked."""
    try:
        return zlib.decompressobj(31).decompress(data, LONGEST)
    except zlib.error:
        return data


# -- MATLAB ------------------------------------------------------------------------------------


def odd_mat(data: bytes, other: bytes, random: Random) -> bytes:
    """Return a MATLAB file with another matrix, or damaged inside its compressed part."""
    import scipy.io
    import scipy.sparse

    if random.random() < 0.5:
        return _inside_mat(data, other, random)
    size = random.choice([0, 1, 2, 3, 5])
    dense = np.array(
        [[random.choice([0, 0, 1, 2.5, 1e300]) for _ in range(size)] for _ in range(size)]
    )
    dense = dense.reshape(size, size)
    value: Any = random.choice(
        [
            *(scipy.sparse.csc_matrix(dense), scipy.sparse.csc_matrix(dense > 0), dense),
            *(odd_array(dense, random), dense.astype(complex), dense.astype(np.int8), "text"),
            *(np.array([["a", 1]], object), {"field": dense}, np.zeros((0, 0)), dense[:1]),
            *(-dense, scipy.sparse.csc_matrix(dense * np.nan), np.zeros((2, 2, 2)), dense > 0),
            scipy.sparse.csc_matrix(dense + 1j),
        ]
    )
    name = random.choice(["network"] * 5 + ["other", "x" * 31])
    stream = io.BytesIO()
    try:
        scipy.io.savemat(stream, {name: value}, do_compression=random.random() < 0.3)
    except Exception:
        return _inside_mat(data, other, random)
    return stream.getvalue()


def _inside_mat(data: bytes, other: bytes, random: Random) -> bytes:
    if len(data) > 136 and data[128:132] == b"\x0f\x00\x00\x00":  # a compressed element
        try:
            content = zlib.decompressobj().decompress(data[136:], 1 << 20)
        except zlib.error:
            return damaged(data, other, random)
        packed = zlib.compress(damaged(content, other[136:], random), 1)
        return data[:132] + struct.pack("<I", len(packed)) + packed
    return data[:128] + damaged(data[128:], other[128:], random)


# -- Parquet -----------------------------------------------------------------------------------


def odd_parquet(data: bytes, other: bytes, random: Random) -> bytes:
    """Return a Parquet file with other columns, types and values."""
    import pyarrow
    from pyarrow import parquet

    try:
        table = parquet.read_table(io.BytesIO(data))
        for _ in range(_few(random)):
            table = _odd_table(table, random, pyarrow)
        stream = io.BytesIO()
        checked = {"write_page_checksum": True} if random.random() < 0.5 else {}
        parquet.write_table(
            *(table, stream, random.choice([None, 1, 3])),
            compression=random.choice(["none", "snappy", "gzip", "zstd"]),
            use_dictionary=random.random() < 0.5,
            **checked,
        )
    except Exception:
        return damaged(data, other, random)
    return stream.getvalue()


def _odd_table(table: Any, random: Random, pyarrow: Any) -> Any:
    names = table.column_names
    kind = random.randrange(9)
    if not names:
        return table
    place = random.randrange(len(names))
    column = table.column(place)
    if kind == 0:
        words = ["source", "target", "weight", "node", "vector", "walk", "id", "time"]
        words += ["", "x", "a,b"]
        names[place] = random.choice(words)
        return table.rename_columns(names)
    if kind == 1:
        return table.remove_column(place)
    if kind == 2:
        return table.append_column(random.choice(["x", "weight", "time", names[place]]), column)
    if kind == 3:
        return table.slice(0, random.randrange(table.num_rows + 1))
    values = column.to_pylist()
    if kind == 4:
        types = ["int8", "int64", "uint64", "float16", "float32", "float64", "string", "binary"]
        types += ["large_string", "bool_", "date32", "decimal"]
        name = random.choice(types)
        wanted = pyarrow.decimal128(20, 2) if name == "decimal" else getattr(pyarrow, name)()
        if name in ("string", "large_string", "binary"):
            values = [None if value is None else str(value) for value in values]
        return table.set_column(place, names[place], pyarrow.array(values, wanted))
    if kind == 5:
        return table.set_column(place, names[place], column.dictionary_encode())
    if kind == 6 and all(isinstance(value, str) for value in values):
        raw = [
            value.encode() + random.choice([b"", b"", b"\xff", b"\x00", b"\xed\xa0\x80"])
            for value in values
        ]
        binary = pyarrow.array(raw, pyarrow.binary())
        return table.set_column(place, names[place], binary.view(pyarrow.string()))
    if values:
        row = random.randrange(len(values))
        odd = [None, None, -1, 0, 2**62, 1e300, float("nan"), float("inf"), "", "x", [], [None]]
        values[row] = random.choice([*odd, random.choice(values)])
    if isinstance(values[:1], list) and values and isinstance(values[0], list) and values[0]:
        values[0] = random.choice([values[0][:-1], values[0] * 2, [None, *values[0]]])
    return table.set_column(place, names[place], pyarrow.array(values))

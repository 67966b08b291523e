"""Edge lists in text: what each spelling is read as, and what is refused, by line."""

from __future__ import annotations

import csv
import io
import re

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from helpers.refusals import refusal
from reinforce2vec import Graph
from reinforce2vec.files._fields import parse_weights
from reinforce2vec.files.columns import ColumnChoice
from reinforce2vec.files.delimited import open_text
from reinforce2vec.files.edge_lists import read_edge_list
from reinforce2vec.files.id_texts import MISSING_IDS

SIZES = (1, 7, 50, 1 << 22)  # of chunks: what is read is the same for all


def parse(text, **options):
    content = text if isinstance(text, bytes) else text.encode()
    return read_edge_list(io.BytesIO(content), "edges.txt", **options)


def edges(text, **options):
    """The edges of a text in its order, as pairs or triples."""
    read = parse(text, **options)
    pairs = [tuple(pair) for pair in read.ids[read.ends].tolist()]
    if read.weights is None:
        return pairs
    return [(*pair, weight) for pair, weight in zip(pairs, read.weights.tolist(), strict=True)]


PATH = [(1, 2), (2, 3)]
WORDS = [("a", "b"), ("b", "c")]
UNWEIGHTED = {"weighted": False}
READ = {
    "tab": ("1\t2\n2\t3\n", {}, PATH),
    "no last newline": ("1 2\n2 3", {}, PATH),
    "commas and blanks": ("1, 2\n 2 ,3 \n", {}, PATH),
    "semicolons": ("1;2\n2;3\n", {}, PATH),
    "bars": ("1 | 2\n2|3\n", {}, PATH),
    "runs of blanks": ("  1   \t 2  \n\t2 3\t\n", {}, PATH),
    "two tabs": ("1\t\t2\n2 3\n", {}, PATH),
    "comments before": ("# comment\n% another\n\n  # third\n1 2\n   \n2 3\n", {}, PATH),
    "windows": ("1 2\r\n2 3\r\n", {}, PATH),
    "old mac": ("1 2\r2 3\r", {}, PATH),
    "byte order mark": ("\ufeff1 2\n2 3\n", {}, PATH),
    "quotes": ('"1","2"\n"2",3\n', {}, PATH),
    "networkx without data": ("1 2 {}\n2 3 {}\n", {}, PATH),
    "a third word": ("1 2 friend\n2 3 foe\n", {}, PATH),
    "an empty third column": ("1,2,\n2,3,\n", {}, PATH),
    "a known header": ("source target\n1 2\n2 3\n", {}, PATH),
    "a header above words": ("source,target\na,b\nb,c\n", {}, WORDS),
    "words above numbers": ("who\twhom\n1\t2\n2\t3\n", {}, PATH),
    "words above dates": ("from,to,at\na,b,2024-01-01\nb,c,2024-01-02 13:00\n", {}, WORDS),
    "no header": ("ann 1\n2 3\n", {}, [("ann", "1"), ("2", "3")]),
    "header=True": ("1 2\n3 4\n", {"header": True}, [(3, 4)]),
    "header=False": ("source target\na b\n", {"header": False}, [("source", "target"), ("a", "b")]),
    "delimiter=:": ("a:b c\n", {"delimiter": ":"}, [("a", "b c")]),
    "delimiter=' '": ("a,b c,d\n", {"delimiter": " "}, [("a,b", "c,d")]),
    "delimiter=;": ("x, y;b\nz;c\n", {"delimiter": ";"}, [("x, y", "b"), ("z", "c")]),
    "delimiter=,": ("a;x,b\nc,d\n", {"delimiter": ","}, [("a;x", "b"), ("c", "d")]),
    "the first order counts": ("7 3\n3 9\n-1 7\n", {}, [(7, 3), (3, 9), (-1, 7)]),
    "64 bits": (f"{2**63 - 1} {-(2**63)}\n", {}, [(2**63 - 1, -(2**63))]),
    **{
        f"words by {word[:9]}": (f"5 -17\n5 {word}\n", {}, [("5", "-17"), ("5", word)])
        for word in ("x", "01", "-0", "+1", "1.5", "1e3", str(2**63), "1" * 5000)
    },
    "whole decimals": ("1.0,2.0\n2.0,3.0\n", {}, [("1.0", "2.0"), ("2.0", "3.0")]),
    "a weight": ("1 2 0.5\n2 3 4\n", {}, [(1, 2, 0.5), (2, 3, 4)]),
    "a weight in quotes": ('a,b,"0.5"\n', {}, [("a", "b", 0.5)]),
    "weighted=False": ("1 2 -3\n", UNWEIGHTED, [(1, 2)]),
    "dictionaries": ("1 2 {'a': 1}\n", UNWEIGHTED, [(1, 2)]),
    "weighted=True": ("1 2 3 4\n", {"weighted": True}, [(1, 2, 3.0)]),
    "weight by place": ("6,2,4,9\n", {"columns": ColumnChoice(2, 1, 3)}, [(2, 6, 4)]),
    "no weights further down": ("1 2\n1 3 x\n", {}, [(1, 2), (1, 3)]),
    "empty further fields": ("a,b,1\nb,c,1,, ,\n", {}, [("a", "b", 1), ("b", "c", 1)]),
    "a comma in quotes": ('York,"Washington, D.C."\n', {}, [("York", "Washington, D.C.")]),
    "blanks around fields": ("  São Paulo , 北京 \n", {}, [("São Paulo", "北京")]),
    "quotes are letters": ('"a b"\nc "\n', {}, [('"a', 'b"'), ("c", '"')]),
    "doubled quotes": ('"say ""hi""","x, y"\n"""",b\n', {}, [('say "hi"', "x, y"), ('"', "b")]),
    "line breaks in quotes": ('"two\nlines",a\nb,a\n', {}, [("two\nlines", "a"), ("b", "a")]),
    "a quote within": ('5"disk,b\n"5""disk","b"\n', {}, [('5"disk', "b"), ('5"disk', "b")]),
    "a line break in the first line": ('"a;\nb";c\n', {}, [("a;\nb", "c")]),
    "unwanted quotes": ('a,b,"b"c,1\nb,c,"1\n2",1\n', {"columns": ColumnChoice(1, 2)}, WORDS),
    "semicolons in quotes": ('"x;y",b\n"z",c\n', {}, [("x;y", "b"), ("z", "c")]),
    "marks of comments in ids": ("u,v\n#py,#go\n%x,#py\n", {}, [("#py", "#go"), ("%x", "#py")]),
    "comments=''": ("#a #b\n", {"comments": ""}, [("#a", "#b")]),
    "comments='#'": ("# one\na b\n# two\n\t#three\nb c\n", {"comments": "#"}, WORDS),
    "comments='!'": ("a;b\n!x\nb;c\n", {"comments": "!"}, WORDS),
    "comments behind an edge": ("1 2 # a, note\n2 3 % 4 5\n", {}, PATH),
    "comments behind, with comments='#'": ("1 2 0.5 #a\n", {"comments": "#"}, [(1, 2, 0.5)]),
    "a mark that is a column": ("a b # c\n", {"columns": ColumnChoice(1, 4)}, [("a", "c")]),
    "marked words": ("ann bob\n#bob cid\n", {}, [("ann", "bob"), ("#bob", "cid")]),
    "a missing value among words": ("x,y\ny,NaN\n", {"header": False}, [("x", "y"), ("y", "NaN")]),
}


@pytest.mark.parametrize("what", READ)
def test_what_is_read(what):
    text, options, expected = READ[what]
    for size in SIZES:
        assert edges(text, **options, chunk_bytes=size) == expected
    if "\r" not in text:
        assert edges(text.replace("\n", "\r\n"), **options) == expected


REFUSED = {  # text: options, line or edge, and what the message names
    "# c\n1 2\n\n2 3\n\n17\n": ({}, "line 6", "2 columns, separated by whitespace, found 1"),
    "1,2\n17\n": ({}, "line 2", "separated by commas, found 1"),
    "1\t2\n3 4\n": ({}, "line 2", "separated by tabs, found 1"),
    "a,b\n,c\n": ({}, "line 2", "column 1 is empty"),
    'a,b\n"",c\n': ({}, "line 2", "column 1 is empty"),
    "1,2,3\n2,3,\n": ({}, "line 2", "column 3 is empty"),
    "weight,source,target\n1,a,b\n,b,c\n": ({}, "line 3", "column 1 is empty"),
    'a,b\n"c"d",e\n': ({}, "line 2", "double quotes"),
    'a,b\n"c,e\n': ({}, "line 2", "never closed"),
    "1 2 0.5\n2 3\n": ({}, "line 2", "3 columns"),
    "1 2\n": ({"weighted": True}, "line 1", "3 columns"),
    **{
        f"1 2 0.5\n2 3 {word}\n": ({}, "line 2", f'positive weight in column 3, found "{word}"')
        for word in "x 1_0 1e . -1 0.0 1e-999 NaN -inf 1e999 0,5".split()  # noqa: SIM905
    },
    "a;b;1\nb;c;0,567\n": ({}, "line 2", '"0,567"'),
    'a,b,"0,567"\nb,c,"1.000,25"\n': ({}, "line 1", '"0,567"'),
    "1 2 {'weight': 3}\n": ({}, "line 1", "dictionaries"),
    "": ({}, "edges.txt", "the file is empty"),
    " \n\n": ({}, "edges.txt", "the file is empty"),
    "# c\n% d\n": ({}, "edges.txt", "only comments"),
    "source,target\n": ({}, "edges.txt", "only a header"),
    "1 2\n\n3 \0 4\n": ({}, "line 3", "NUL"),
    b"1 2\n\n3 \xff\n": ({}, "line 3", "not UTF-8"),
    "1 2\n\ufeff2 3\n": ({}, "line 2", "byte order mark"),
    "u,v,w\n" + "a,b,1\n" * 120 + "b,c,1,5\n": ({}, "line 122", "the 3 columns of the header"),
    "1 2\n" * 120 + "5 6 0.5\n": ({}, "line 121", "more than the 2 columns of the first lines"),
    "source,target\n1,ann,bob\n": ({}, "line 1", "the header names 2 columns"),
    "source;target;score\na;b;0,5\nb;c;1,5\n": ({}, "line 1", '"score" may hold weights'),
    "#\nu v\nv w\n": ({}, "line 2", '"v" is a node id too'),
    "a;b;0,5\nb;c;1,25\n": ({}, "line 1", 'delimiter="," or delimiter=";"'),
    "# n\nM, Hans;Brot\nM, Eva;Milch\n": ({}, "line 2", "commas or semicolons"),
    "95,123.0\n123,95.0\n": ({}, "edge 1", '"123.0" may be'),
    "source,target\n1,2\n2,3\nNaN,1\n": ({}, "edge 3", '"NaN" may be'),
    "source,target\n0008,0009\n\\N,0008\n": ({}, "edge 2", '"\\N" may be'),
    "1 2\n#5 6\n": ({}, "edge 2", '"#5" may be'),
    "1 2\n3 # lonely\n": ({}, "edge 2", 'comments="#"'),
    "a b\n# a comment\n": ({}, "line 2", 'comments="#"'),
    "a b\n%\n": ({}, "line 2", 'comments="%"'),
    "a,b\n# a comment, with a comma\n": ({}, "line 2", 'comments="#"'),
    "a,b\n#comment\n": ({}, "line 2", 'comments="#"'),
    "1 2\n" * 100 + "3 4 #5\n": ({}, "line 101", 'comments="#"'),
    "1 2\n" * 100 + "3 4 # 5\n": ({"comments": ""}, "line 101", "more than the 2 columns"),
    "a::b\n": ({"delimiter": "::"}, "delimiter", "one character"),
    "a b\n": ({"comments": "//"}, "comments", "one character"),
    "a,b\n" + "x" * 10_000 + "\n": ({}, "line 2", "xxx..."),
}


@pytest.mark.parametrize("text", REFUSED, ids=lambda text: repr(text)[:40])
def test_what_is_refused(text):
    options, where, what = REFUSED[text]
    for size in SIZES:
        message = refusal(parse, text, **options, chunk_bytes=size)
        assert where in message
        assert what in message
        assert len(message) < 250


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("\ufeff1,2\n", "a byte order mark left out"),
        ("1;2\n", "separated by semicolons"),
        ("who,whom\n1,2\n", "a header"),
        ("1 2\n", "no header"),
        ("1 2 3\n", "weights from column 3"),
        ("1 2 x\n", "left out column 3"),
        ("src,dst\n1,2\n", 'nodes from "src" and "dst"'),
        ("ann bob\n#bob cid\ncid ann\n", "1 edge from ids that begin with # or %"),
    ],
)
def test_guesses_are_noted(text, note):
    assert note in parse(text).notes


def test_what_is_given_is_no_guess():
    given_by_user = {"delimiter": " ", "header": False, "columns": ColumnChoice(1, 2, None, True)}
    assert parse("1 2\n", **given_by_user).notes == ()


def test_comments_are_counted():
    assert parse("# one\n\n  % two\nsource,target\na,b\n#c,d\n").comments == 2
    lines = [f"{number} {number + 1}" for number in range(200)]
    for line in (0, 50, 150):
        noted = list(lines)
        noted[line] += " # a note, with 3 numbers\t1 2"
        text = "\n".join(noted)
        assert (parse(text).comments, edges(text)) == (1, edges("\n".join(lines)))


def test_a_header_of_unknown_words_above_words_is_warned_of():
    lines = "".join(f"n{i},n{i + 1}\n" for i in range(20))
    with pytest.warns(UserWarning, match='"alpha" and "beta" are in no other line'):
        assert len(edges("alpha,beta\n" + lines)) == 21
    assert len(edges("alpha,beta\n" + lines, header=True)) == 20
    assert len(edges("alpha,beta\n" + lines, header=False)) == 21  # warnings are errors


# -- chunks and numbers ------------------------------------------------------------------------


@pytest.mark.parametrize("chunk_bytes", SIZES)
def test_lines_are_counted_across_chunks_and_the_first_error_counts(chunk_bytes):
    lines = [f"{i} {i + 1} 1" for i in range(1, 101)]
    lines[70] = "1 2 -1"
    lines[80] = "5"
    message = refusal(parse, "# c\n" + "\r\n".join(lines), chunk_bytes=chunk_bytes)
    assert message.startswith("edges.txt, line 72: ")
    text = 'a,b,"1\n2\n3"\nc,"d\ne"\n' * 50 + "x\n"
    assert "line 251" in refusal(parse, text, chunk_bytes=chunk_bytes)


def test_words_late_in_the_file_keep_earlier_numbers():
    lines = [f"{i} {i * i}" for i in range(3000)]
    text = "\n".join([*lines, "ann bob", "2999 ann"])
    whole = parse(text)
    assert whole.ids[:4].tolist() == ["0", "1", "2", "4"]
    for chunk_bytes in (50, 4000):
        cut = parse(text, chunk_bytes=chunk_bytes)
        assert cut.ids.tolist() == whole.ids.tolist()
        assert np.array_equal(cut.ends, whole.ends)


def test_weights_are_correctly_rounded():
    rng = np.random.default_rng(0)
    bits = rng.integers(0, 0x7FE0 << 48, 2000, dtype=np.int64)
    doubles = [w for w in bits.view(np.float64).tolist() if w > 0]
    words = [repr(w) for w in [*doubles, *rng.random(500).tolist(), 5e-324, 2**53 + 1.0]]
    words += [f"{w:.{d}g}" for w in doubles[:300] for d in (3, 15, 16, 18)]
    words += ["1e-3", ".5", "5.", "+2", "1E5", "1e+22", "1e-22", "123456789012345e22", "0.1e1"]
    words += ["9007199254740993", "0." + "0" * 30 + "1", "1" + "0" * 40, "00012.50", "1e0000000001"]
    assert parse("".join(f"1 2 {word}\n" for word in words)).weights.tolist() == [
        float(word) for word in words
    ]


def test_numbers_of_many_digits_are_correctly_rounded_by_the_kernel():
    rng = np.random.default_rng(1)
    words = [f"{number:.17f}" for number in rng.random(2000)]
    words += [f"{number}e-{rng.integers(1, 22)}" for number in rng.integers(2**53, 2**62, 2000)]
    between = (rng.integers(2**52, 2**53, 2000) * 2 + 1).tolist()  # two numbers of 53 bits
    words += [f"{number}.{number % 7}" for number in between]
    words += [f"{number * 10 + last}e-1" for number in between for last in (-1, 0, 1)]
    data = np.frombuffer("".join(f"{word}\n" for word in words).encode(), np.uint8)
    bounds = np.zeros((len(words), 6), np.int32)
    bounds[:, 5] = np.flatnonzero(data == ord("\n"))
    bounds[1:, 4] = bounds[:-1, 5] + 1
    found = np.empty(len(words))
    parse_weights(data, bounds, found)
    done = ~np.isnan(found)
    assert found[done].tolist() == np.array([float(word) for word in words])[done].tolist()
    assert done[:4000].mean() > 0.99


@pytest.mark.parametrize("delimiter", [",", " "])
@pytest.mark.parametrize("places", [(1, 2), (2, 1), (3, 4), (4, 1, 3), (2, 4, 1), (5, 3)])
def test_columns_are_read_in_any_order(delimiter, places):
    rows = [[f"{row}{column}" for column in range(1, 6)] for row in range(1, 4)]
    text = "".join(delimiter.join(row) + "\n" for row in rows)
    chosen = ColumnChoice(*places, *[None] * (3 - len(places)), alone=True)
    expected = [tuple(int(row[place - 1]) for place in places) for row in rows]
    assert edges(text, columns=chosen, header=False) == expected


# -- whatever is written comes back ------------------------------------------------------------

ids_of_any_kind = st.one_of(
    st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=8, unique=True),
    st.lists(
        st.text("abcé北 0123.-_/", min_size=1, max_size=8).map(str.strip).filter(bool),
        min_size=1,
        max_size=8,
        unique=True,
    ),
)


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_whatever_is_written_comes_back(data):
    ids = data.draw(ids_of_any_kind)
    ends = st.tuples(st.sampled_from(ids), st.sampled_from(ids))
    pairs = data.draw(st.lists(ends, min_size=1, max_size=20))
    weighted = data.draw(st.booleans())
    numbers = st.lists(st.floats(1e-70, 1e70), min_size=len(pairs), max_size=len(pairs))
    weights = data.draw(numbers if weighted else st.none())
    spaced = any(" " in str(node) for node in ids)
    delimiter = data.draw(st.sampled_from("\t,;|" if spaced else "\t,;| "))
    quoted = data.draw(st.booleans()) and delimiter != " "
    newline = data.draw(st.sampled_from(["\n", "\r\n"]))
    lines = []
    for number, (a, b) in enumerate(pairs):
        blank = st.sampled_from(["", "  ", "# c", " # c, d", "\t"])
        lines += data.draw(st.lists(blank, max_size=2))
        fields = [f'"{node}"' if quoted else str(node) for node in (a, b)]
        fields += [repr(weights[number])] if weighted else []
        lines.append(data.draw(st.sampled_from(["", " "])) + delimiter.join(fields))
    text = newline.join(lines) + data.draw(st.sampled_from(["", newline]))
    options = {"header": False, "delimiter": delimiter, "comments": "#", "weighted": weighted}
    read = parse(text, **options, chunk_bytes=data.draw(st.integers(1, 200)))
    assert read.comments == text.count("#")
    named = {node for pair in pairs for node in pair}
    integers = all(
        re.fullmatch("0|-?[1-9][0-9]*", str(node)) and -(2**63) <= int(node) < 2**63
        for node in named
    )
    as_read = [tuple(map(int if integers else str, pair)) for pair in pairs]
    expected = Graph.from_edges(as_read, weights, self_loops=True)
    assert read.ids.tolist() == expected.ids.tolist()
    assert [tuple(pair) for pair in read.ids[read.ends].tolist()] == as_read
    assert read.weights is None or read.weights.tolist() == weights


texts = st.text(
    st.one_of(st.sampled_from('abAB01 "",;|\t\n\r#%{é北\u2028'), st.characters(codec="utf-8")),
    min_size=1,
    max_size=6,
).filter(lambda text: not set(text) & {"\0", "\ufeff"} and text.strip().lower() not in MISSING_IDS)


@given(data=st.data())
def test_whatever_the_csv_module_writes_comes_back(data):
    """Python's csv module writes the table; line breaks in fields are read as newlines."""
    columns = data.draw(st.integers(2, 5))
    row = st.lists(texts, min_size=columns, max_size=columns)
    table = data.draw(st.lists(row, min_size=1, max_size=8))
    everything = data.draw(st.booleans())
    if not everything:  # the csv module quotes neither blanks around a field nor "\r" in it
        plain = [[field.replace("\r", "\n").strip(" \t\n") for field in row] for row in table]
        table = [[field or "x" for field in row] for row in plain]
    delimiter = data.draw(st.sampled_from(",;|\t"))
    file = io.StringIO(newline="")
    quoting = csv.QUOTE_ALL if everything else csv.QUOTE_MINIMAL
    end = data.draw(st.sampled_from(["\n", "\r\n"]))
    csv.writer(file, delimiter=delimiter, quoting=quoting, lineterminator=end).writerows(table)
    written = file.getvalue()
    how = {"delimiter": delimiter, "comments": "", "chunk_bytes": data.draw(st.integers(1, 60))}
    expected = [[field.replace("\r\n", "\n").replace("\r", "\n") for field in row] for row in table]
    found = parse(written, header=False, weighted=False, **how)
    assert found.ids.astype(str)[found.ends].tolist() == [row[:2] for row in expected]
    rows = list(open_text(io.BytesIO(written.encode()), "table", "rows", **how).rows(header=False))
    assert [row for _, row in rows] == expected
    lines = [1 + sum(map("".join(row).count, "\n")) for row in expected]
    assert [number for number, _ in rows] == np.cumsum([1, *lines[:-1]]).tolist()


@given(
    lines=st.lists(st.text(alphabet="ab ,;|\t\x0b\x0c\x85\u2028é\r\n", max_size=8), max_size=6),
    delimiter=st.sampled_from([",", ";", "|", "\t", " "]),
    mark=st.sampled_from([None, "", "!"]),
)
def test_text_without_quotes_and_comments_is_split_as_any_other(lines, delimiter, mark):
    """What makes a line special, in another line, makes no difference to a line without it."""
    plain = "a\n" + "\n".join(lines).replace("\r", "\r\n") + "\n"
    special = {",": '"b"\n', ";": '"b"\n'}.get(delimiter, "b\n")
    found = []
    for written in (plain, plain + special + "!#%\n"):
        how = {"delimiter": delimiter, "comments": mark}
        text = open_text(io.BytesIO(written.encode()), "table", "rows", **how)
        found.append(list(text.rows(header=False)))
    assert found[1][: len(found[0])] == found[0]

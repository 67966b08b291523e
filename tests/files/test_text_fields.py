"""Fields of delimited text: chosen columns, quotes and comments."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.refusals import refusal
from reinforce2vec.files.columns import ColumnChoice
from reinforce2vec.files.delimited import Dialect, open_text
from reinforce2vec.files.edge_lists import _Layout, read_edge_list
from reinforce2vec.files.id_texts import MISSING_IDS

COMMA, WHITESPACE = Dialect(ord(",")), Dialect(0)


def parse(text, **options):
    return read_edge_list(io.BytesIO(text.encode()), "edges.txt", **options)


def edges(text, **options):
    """The edges of a text, as pairs of ids."""
    read = parse(text, **options)
    return [tuple(pair) for pair in read.ids[read.ends].tolist()]


# -- columns -------------------------------------------------------------------------------------


def chosen(text, columns, dialect):
    """The chosen fields of every line."""
    data = text.encode()
    bounds = np.zeros((text.count("\n"), 2 * len(columns)), np.int32)
    rows, problem, *_ = _Layout(dialect, columns).find_fields(data, bounds)
    assert problem == 0
    return [[data[a:b].decode() for a, b in row.reshape(-1, 2).tolist()] for row in bounds[:rows]]


@pytest.mark.parametrize("dialect", [COMMA, WHITESPACE])
@pytest.mark.parametrize("columns", [(0, 1), (1, 0), (2, 3), (3, 0, 2), (1, 3, 0), (4, 2)])
def test_columns_are_found_in_any_order(columns, dialect):
    rows = [[f"r{row}c{column}" for column in range(5)] for row in range(3)]
    text = "".join(("," if dialect == COMMA else "  ").join(row) + "\n" for row in rows)
    assert chosen(text, columns, dialect) == [[row[column] for column in columns] for row in rows]


def test_columns_that_are_not_wanted_may_be_empty_or_quoted():
    assert chosen(',a,"x, y",b\n,c,,d\n', (1, 3), COMMA) == [["a", "b"], ["c", "d"]]
    assert chosen('"x"y,a,b,"1\n2",3"\n"",c,d\n', (1, 2), COMMA) == [["a", "b"], ["c", "d"]]
    first = next(COMMA.records(b',a,"x, y",\n"1",2\n'))
    assert first.fields == [b"", b"a", b"x, y", b""]
    assert next(WHITESPACE.records(b"  a\tb  c \n\nd\n")).fields == [b"a", b"b", b"c"]


def test_columns_that_are_named_by_the_user_are_in_a_header():
    text = "tag,other,by\na,b,c\nb,c,d\n"
    named = ColumnChoice("other", "by")
    assert edges(text, columns=named) == [("b", "c"), ("c", "d")]
    assert edges("1,2\n3,4\n", columns=ColumnChoice(2, 1)) == [(2, 1), (4, 3)]


# -- commas and semicolons -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "a;b;0,5\nb;c;1,25\n",
        "x, y;a\nz, 1;b\n",
        "a;x,b\nc;1,d\n",
        "# names\nM\u00fcller, Hans;Brot\nMaier, Eva;Milch\n",
    ],
)
def test_commas_or_semicolons_are_refused_where_both_may_separate(text):
    line = 1 + text.count("#")
    message = refusal(parse, text)
    assert message.startswith(f"edges.txt, line {line}: commas or semicolons may separate")
    assert 'delimiter="," or delimiter=";"' in message
    first = text.splitlines()[line - 1]
    for delimiter in ",;":
        found = edges(text, delimiter=delimiter, weighted=False)[0]
        assert found == tuple(field.strip() for field in first.split(delimiter)[:2])


def test_commas_and_semicolons_in_quotes_separate_nothing():
    assert edges('"x;y",b\n"z",c\n') == [("x;y", "b"), ("z", "c")]
    assert edges('a,b,"0,5"\nb,c,"1"\n', weighted=False) == [("a", "b"), ("b", "c")]


@pytest.mark.parametrize(
    "text",
    [
        "a;b;1\nb;c;0,567\n",
        "source;target;weight\na;b;0,567\nb;c;3\n",
        "a\tb\t0,567\n",
        'a,b,"0,567"\nb,c,"1.000,25"\n',
    ],
)
def test_weights_with_a_decimal_comma_are_refused_by_name(text):
    message = refusal(parse, text)
    assert 'expected a positive weight in column 3, found "0,567"' in message
    assert edges(text, weighted=False)[0] == ("a", "b")


def test_a_column_of_decimal_commas_is_not_left_out_in_silence():
    text = "source;target;score\na;b;0,5\nb;c;1,5\n"
    assert 'may hold weights: weight="score"' in refusal(parse, text)


# -- quotes --------------------------------------------------------------------------------------


def test_doubled_quotes_delimiters_and_line_breaks_inside_quotes():
    text = 'a,b\n"say ""hi""","x, y"\n"two\nlines",a\n"""",b\n'
    found = [("a", "b"), ('say "hi"', "x, y"), ("two\nlines", "a"), ('"', "b")]
    assert edges(text) == found
    assert edges(text.replace("\n", "\r\n")) == found
    for size in range(1, 30):
        assert edges(text, chunk_bytes=size) == found


def test_an_id_is_the_same_node_with_and_without_quotes():
    read = parse('1,2\n"2","1"\n')
    assert read.ids.tolist() == [1, 2]
    read = parse('5"disk,b\n"5""disk","b"\nc,"a ""b"" c"\nc,"a ""b"" c"\n')
    assert read.ids.tolist() == ['5"disk', "b", "c", 'a "b" c']
    assert read.ends.tolist() == [[0, 1], [0, 1], [2, 3], [2, 3]]


def test_the_first_line_may_have_line_breaks_in_quotes():
    assert edges('"user\nname",friend\n1,2\n', header=True) == [(1, 2)]
    assert edges('"a;\nb";c\n') == [("a;\nb", "c")]


@pytest.mark.parametrize("chunk_bytes", [1, 5, 100_000])
def test_line_numbers_are_true_after_line_breaks_in_quotes(chunk_bytes):
    text = 'a,b,"1\n2\n3"\nc,"d\ne"\n' * 50 + "x\n"
    message = refusal(parse, text, chunk_bytes=chunk_bytes)
    assert message.startswith("edges.txt, line 251: expected 2 columns")


@pytest.mark.parametrize("chunk_bytes", [20_000, 1 << 22])
def test_a_quote_that_is_never_closed_is_reported_where_it_opens(chunk_bytes):
    lines = "a,b\n" * 400_000
    for text in (f'a,b\n"c,d\n{lines}', f'a,b\n"c,d\n{lines[:100]}'):
        message = refusal(parse, text, chunk_bytes=chunk_bytes)
        assert message.startswith("edges.txt, line 2: a double quote opens in this line and is")
    message = refusal(parse, f'a,b\n"c,d\n{lines[:8000]}"x",y\n', chunk_bytes=chunk_bytes)
    assert message.startswith("edges.txt, line 2: expected double quotes around a whole field")


def test_quotes_are_not_read_to_the_end_of_a_large_file():
    class Endless(io.RawIOBase):
        given = 0

        def read(self, size):
            self.given += size
            assert self.given < 1 << 24
            return b"a,b\n" * (size // 4) if self.given > size else b'a,b\n"c,d\n'.ljust(size)

    message = refusal(read_edge_list, Endless(), "edges.txt")
    assert message.startswith("edges.txt, line 2: a double quote opens in this line and is never")


texts = st.text(
    st.one_of(st.sampled_from('abAB01 "",;|\t\n\r#%{é北\u2028'), st.characters(codec="utf-8")),
    min_size=1,
    max_size=6,
).filter(lambda text: not set(text) & {"\0", "\ufeff"} and text.strip().lower() not in MISSING_IDS)


@settings(max_examples=150)
@given(data=st.data())
def test_whatever_the_csv_module_writes_comes_back(data):
    """Python's csv module writes the table; line breaks in fields are read as newlines."""
    columns = data.draw(st.integers(2, 5))
    table = data.draw(
        st.lists(st.lists(texts, min_size=columns, max_size=columns), min_size=1, max_size=8)
    )
    everything = data.draw(st.booleans())
    if not everything:  # the csv module quotes neither blanks around a field nor "\r" in it
        table = [
            [field.replace("\r", "\n").strip(" \t\n") or "x" for field in row] for row in table
        ]
    delimiter = data.draw(st.sampled_from(",;|\t"))
    file = io.StringIO(newline="")
    csv.writer(
        file,
        delimiter=delimiter,
        quoting=csv.QUOTE_ALL if everything else csv.QUOTE_MINIMAL,
        lineterminator=data.draw(st.sampled_from(["\n", "\r\n"])),
    ).writerows(table)
    written = file.getvalue()
    how = {"delimiter": delimiter, "comments": "", "chunk_bytes": data.draw(st.integers(1, 60))}
    expected = [[field.replace("\r\n", "\n").replace("\r", "\n") for field in row] for row in table]

    found = parse(written, header=False, weighted=False, **how)
    if found.ids.dtype == object:
        assert found.ids[found.ends].tolist() == [row[:2] for row in expected]
    else:
        assert found.ids[found.ends].astype(str).tolist() == [row[:2] for row in expected]
    text = open_text(io.BytesIO(written.encode()), "table", "rows", **how)
    rows = list(text.rows(header=False))
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


# -- comments ------------------------------------------------------------------------------------


def test_ids_may_begin_with_the_mark_of_a_comment():
    text = "source,target\n#python,#rust\n%x,#python\n"
    assert edges(text) == [("#python", "#rust"), ("%x", "#python")]
    assert edges("# tags\na #b\n#b a\n") == [("a", "#b"), ("#b", "a")]
    assert edges("#a #b\n", comments="") == [("#a", "#b")]


def test_comments_before_the_first_line_of_data_are_skipped_and_counted():
    read = parse("# one\n\n  % two\nsource,target\na,b\n#c,d\n")
    assert (read.comments, len(read.ends)) == (2, 2)
    read = parse("# one\na b\n# two\n\t#three\nc d\n", comments="#", chunk_bytes=1)
    assert (read.comments, len(read.ends)) == (3, 2)
    assert parse("a;b\n!x\n", comments="!").comments == 1


@pytest.mark.parametrize(
    "text",
    [
        "a b\n# a comment\n",
        "a b\n#\n",
        "a b\n #comment\n",
        "a b 1\n#a comment\n",
        "a,b\n# a comment, with a comma\n",
        "a,b\n#comment\n",
        "a b 1\n#some more words\n",
        "a b\nc d\n% e f\n",
    ],
)
@pytest.mark.parametrize("chunk_bytes", [1, 1000])
def test_comments_further_down_are_neither_edges_nor_skipped_in_silence(text, chunk_bytes):
    mark = "%" if "%" in text else "#"
    line = text.count("\n")
    message = refusal(parse, text, chunk_bytes=chunk_bytes)
    assert message.startswith(f"edges.txt, line {line}: ")
    assert f'comments="{mark}"' in message
    assert len(parse(text, comments=mark).ends) == line - 1


@pytest.mark.parametrize("line", [1, 50, 101, 150])
@pytest.mark.parametrize("weight", ["", " 0.5"])
def test_a_comment_behind_an_edge_is_skipped_in_any_line(line, weight):
    lines = [f"{number} {number + 1}{weight}" for number in range(200)]
    plain = parse("\n".join(lines))
    lines[line - 1] += " # a note, with 3 numbers\t1 2"
    for mark in (None, "#"):
        read = parse("\n".join(lines), comments=mark)
        assert (read.comments, read.ends.tolist()) == (1, plain.ends.tolist())
        assert (read.weights is None) == (not weight)
    lines[line - 1] = lines[line - 1].replace("# ", "#")
    assert parse("\n".join(lines), comments="#").comments == 1
    if line > 100 or weight:
        refusal(parse, "\n".join(lines))
    if line > 100:
        assert 'comments="#" skips' in refusal(parse, "\n".join(lines))


def test_what_may_be_a_comment_behind_an_edge_is_data_if_the_user_says_so():
    text = "1 2\n" * 100 + "3 4 # 5\n"
    assert parse(text).comments == 1
    assert "more than the 2 columns" in refusal(parse, text, comments="")
    assert edges("a b # c\n", columns=ColumnChoice(1, 4)) == [("a", "c")]
    assert "more than the 2 columns" in refusal(parse, "1,2\n" * 100 + "3,4,# 5\n")


def test_what_begins_with_a_mark_before_all_data_is_a_comment_unless_the_user_says_so():
    for text in ("#a,#b\nc,d\n", "#a #b\nc d\n", "#source,target\nc,d\n", "#a,#b\nc,d,e\n"):
        assert parse(text).comments == 1
    assert edges("#a,#b\nc,d\n", comments="") == [("#a", "#b"), ("c", "d")]


def test_what_begins_a_comment_is_one_character():
    for wrong in ("//", "a", '"', ",", " "):
        assert f"not {wrong!r}" in refusal(parse, "a b\n", comments=wrong)
    assert "found only comments" in refusal(parse, "#a #b\n")

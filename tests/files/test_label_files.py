"""Files of labels: every form that is read, and the class that is shown."""

from __future__ import annotations

import numpy as np
import pytest

from reinforce2vec import Embedding
from reinforce2vec.files.label_files import one_class, read_named_labels


@pytest.mark.parametrize(
    "text",
    [
        "# people\nann red blue\n\nbob blue\nann green\n",
        "ann\tred\tblue\tgreen\r\nbob\tblue\r\n",
        "ann,red,blue,green\nbob, blue,,\n",
    ],
)
def test_label_files_in_every_form(tmp_path, text):
    (tmp_path / "labels").write_text(text, newline="")
    people = Embedding(["bob", "ann", "cid"], np.ones((3, 1)))
    labels, _, strangers = read_named_labels(tmp_path / "labels", people)
    assert labels.tolist() == [[True, False, False], [True, True, True], [False] * 3]
    assert strangers == []


def test_labels_may_have_blanks_where_fields_are_parted_otherwise(tmp_path):
    (tmp_path / "labels").write_text("ann lee\tmachine learning\nbob\tlogic\n")
    people = Embedding(["ann lee", "bob"], np.ones((2, 1)))
    labels, _, _ = read_named_labels(tmp_path / "labels", people)
    assert labels.tolist() == [[False, True], [True, False]]


def test_labels_keep_their_names(tmp_path):
    embedding = Embedding(["a", "b", "c", "d"], np.eye(4))
    file = tmp_path / "labels.txt"
    file.write_text("a y x\nb x\nc z\nstranger x\n")
    labels = read_named_labels(file, embedding)
    assert labels.names == ["x", "y", "z"]
    assert labels.strangers == ["stranger"]
    assert labels.matrix.tolist() == [
        *([True, True, False], [True, False, False]),
        *([False, False, True], [False, False, False]),
    ]
    assert labels.display.tolist() == [0, 0, 2, -1]


def test_of_equally_large_classes_the_first_is_shown():
    assert one_class(np.array([[0, 1, 1], [1, 0, 0]], bool)).tolist() == [1, 0]

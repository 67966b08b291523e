"""Files are whole or not there: kills at any step, several writers, permissions, devices, locks."""

from __future__ import annotations

import errno
import multiprocessing
import os
import stat
import subprocess
import sys
import threading
from itertools import pairwise

import numpy as np
import pytest

from reinforce2vec import Embedding, Graph, InputError, WalkSampler, read_walks, write_walks
from reinforce2vec._util.locks import HAS_LOCKS, lock
from reinforce2vec.files import pairs, vector_files, writing
from reinforce2vec.files.locks import claimed
from reinforce2vec.files.pairs import both_whole
from reinforce2vec.files.vector_files import metadata_path
from reinforce2vec.files.walk_writers import walk_ids_path
from reinforce2vec.files.writing import check_target, whole

STEPS = ("replace", "fsync", "fchmod")  # of the operating system, after which a kill is tried


def contents(folder):
    """What the files in a folder hold, by their names."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def write(path, content=b"new"):
    with whole(path) as stream:
        stream.write(content)


def killed_at(step, count, work):
    """Do some work in a process that is killed at the count-th call of a step; whether it was."""

    def child():
        usual, calls = getattr(os, step), []

        def counted(*arguments):
            calls.append(arguments)
            if len(calls) == count:
                os._exit(9)
            return usual(*arguments)

        setattr(os, step, counted)
        work()
        os._exit(0)

    process = multiprocessing.get_context("fork").Process(target=child)
    process.start()
    process.join()
    return process.exitcode == 9


# -- pairs -------------------------------------------------------------------------------------


def save_walks(path, names, **options):
    graph = Graph.from_edges(list(pairwise(names)))
    write_walks(path, WalkSampler(graph, length=4, per_node=1, workers=1, **options))


def walks_as_names(path):
    found = read_walks(path)
    return [found.ids[row] for row in np.asarray(found.nodes)[: found.begins[1]]]


def old_vectors(path):
    Embedding(["a", "b"], np.float32([[1, 0], [0, 1]])).save(path)


def new_vectors(path):
    Embedding(["b", "a"], np.float32([[0, 7], [7, 0]])).save(path)


def vectors_by_name(path):
    found = Embedding.load(path)
    return {name: found[name].tolist() for name in found.ids}


def old_walks(path):
    save_walks(path, "ab", seed=1)


def new_walks(path):
    save_walks(path, "xyz", seed=2)


PAIRS = {
    "vectors.tsv": (old_vectors, new_vectors, vectors_by_name),
    "walks.npy": (old_walks, new_walks, walks_as_names),
}


@pytest.fixture(params=PAIRS)
def pair(request, tmp_path):
    return tmp_path / request.param, *PAIRS[request.param]


@pytest.mark.parametrize("step", STEPS)
def test_of_a_pair_both_are_old_or_both_are_new_whenever_it_is_killed(pair, step, tmp_path):
    path, old, new, read = pair
    old(path)
    before, kills = read(path), 0
    new(path)
    after = read(path)
    clean = sorted(os.listdir(tmp_path))
    while True:
        old(path)
        assert sorted(os.listdir(tmp_path)) == clean, "what a killed process left is removed"
        if not killed_at(step, kills + 1, lambda: new(path)):
            break
        kills += 1
        assert read(path) in (before, after)
    assert kills >= 2
    assert read(path) == after


def test_a_first_pair_is_complete_or_missing_whenever_it_is_killed(pair, tmp_path):
    path, _, new, read = pair
    for count in (1, 2):
        assert killed_at("replace", count, lambda: new(path))
        if path.exists():
            assert read(path)
        for name in tmp_path.iterdir():
            name.unlink()


def test_of_a_pair_both_are_old_if_the_system_refuses_to_rename(pair, monkeypatch):
    path, old, new, read = pair
    old(path)
    before, usual, calls = read(path), os.replace, []

    def refuse(*names):
        calls.append(names)
        if len(calls) >= 2:
            raise OSError(errno.EIO, "Input/output error")
        usual(*names)

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(OSError, match="Input/output"):
        new(path)
    assert read(path) == before
    monkeypatch.undo()
    new(path)
    assert len(list(path.parent.iterdir())) == 2


def test_a_pair_that_is_replaced_while_it_is_opened_is_opened_again(pair, monkeypatch):
    path, old, new, read = pair
    new(path)
    after = read(path)
    old(path)
    usual, times = pairs.second_of, []

    def meanwhile(*paths):
        if sys._getframe(1).f_code.co_name == "read_pair":
            times.append(1)
            if len(times) < most:
                new(path)
        return usual(*paths)

    monkeypatch.setattr(pairs, "second_of", meanwhile)
    most = 3
    assert read(path) == after
    assert len(times) == 3
    most = 10**6
    monkeypatch.setattr(pairs, "_PAUSE", 0)
    with pytest.raises(InputError, match="again and again"):
        read(path)


def test_a_reader_beside_writers_of_a_pair_sees_one_of_theirs(pair):
    path, old, new, read = pair
    whole_pairs = []
    for make in (old, new):
        make(path)
        whole_pairs.append(read(path))
    failures, messages = [], set()

    def rewrite():
        try:
            for _ in range(20):
                old(path)
                new(path)
        except BaseException as error:
            failures.append(error)

    writers = [threading.Thread(target=rewrite) for _ in range(2)]
    for thread in writers:
        thread.start()
    while any(thread.is_alive() for thread in writers):
        try:
            assert read(path) in whole_pairs
        except InputError as error:  # nodes of walks stay in the file until they are needed
            messages.add(str(error))
    assert failures == []
    changed = f"{path}: this file has changed since it was opened"
    assert all(path.name == "walks.npy" and one.startswith(changed) for one in messages)


@pytest.mark.skipif(not HAS_LOCKS, reason="the system has no locks")
def test_a_pair_is_cleaned_up_while_nobody_else_can_rename(tmp_path, monkeypatch):
    """Else what a writer leaves that is killed between its renames would be removed."""
    held, usual = [], pairs.remove_abandoned

    def look(*paths):
        file = os.open(tmp_path / ".a.pair", os.O_RDWR)
        held.append(lock(file) is False)
        os.close(file)
        usual(*paths)

    monkeypatch.setattr(pairs, "remove_abandoned", look)
    with both_whole(tmp_path / "a", tmp_path / "b"):
        pass
    assert held == [True, True]


def test_pairs_written_by_other_programs_are_read(tmp_path):
    (tmp_path / "v.tsv").write_text("1\t2\n3\t4\n")
    (tmp_path / "v.metadata.tsv").write_text("a\nb\n")
    assert vectors_by_name(tmp_path / "v.tsv") == {"a": [1, 2], "b": [3, 4]}
    np.save(tmp_path / "w.npy", np.int32([[0, 1], [1, 0]]))
    (tmp_path / "w.ids.txt").write_text("a\nb\n")
    assert walks_as_names(tmp_path / "w.npy") == ["a", "b"]


# -- several writers ---------------------------------------------------------------------------


def test_threads_that_write_one_file_never_show_a_part_of_it(tmp_path):
    path = tmp_path / "file"
    texts = [bytes([letter]) * 300_000 for letter in b"abcd"]
    write(path, texts[0])
    done, failures = threading.Event(), []

    def rewrite(text):
        try:
            for _ in range(25):
                with whole(path) as stream:
                    for begin in range(0, len(text), 1 << 16):
                        stream.write(text[begin : begin + (1 << 16)])
        except BaseException as error:
            failures.append(error)

    def look():
        while not done.is_set():
            if path.read_bytes() not in texts:
                failures.append("a part")

    writers = [threading.Thread(target=rewrite, args=[text]) for text in texts]
    reader = threading.Thread(target=look)
    for thread in (reader, *writers):
        thread.start()
    for thread in writers:
        thread.join()
    done.set()
    reader.join()
    assert failures == []
    assert os.listdir(tmp_path) == ["file"]


def test_threads_that_write_one_pair_leave_two_files_that_belong_together(tmp_path):
    paths = tmp_path / "a", tmp_path / "b"

    def rewrite(text):
        for _ in range(15):
            with both_whole(*paths) as streams:
                for stream in streams:
                    stream.write(text)

    threads = [threading.Thread(target=rewrite, args=[text]) for text in (b"1", b"22", b"333")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert paths[0].read_bytes() == paths[1].read_bytes()
    assert sorted(os.listdir(tmp_path)) == ["a", "b"]


def test_an_unfinished_file_is_removed_only_if_its_writer_is_gone(tmp_path):
    path = tmp_path / "file"
    with whole(path) as stream:
        stream.write(b"slow")
        (live,) = tmp_path.iterdir()
        code = "import sys; from pathlib import Path; from reinforce2vec.files.writing import whole"
        code += "\nwith whole(Path(sys.argv[1])) as stream: stream.write(b'quick')"
        subprocess.run([sys.executable, "-c", code, path], check=True)
        assert path.read_bytes() == b"quick"
        assert live.exists()
    assert path.read_bytes() == b"slow"
    assert killed_at("fsync", 1, lambda: write(path))
    assert len(os.listdir(tmp_path)) == 2
    write(path)
    assert os.listdir(tmp_path) == ["file"]


def test_names_of_unfinished_files_cannot_be_guessed_and_links_are_not_followed(
    tmp_path, monkeypatch
):
    names = set()
    for _ in range(20):
        with whole(tmp_path / "file"):
            names |= set(os.listdir(tmp_path))
    assert len(names - {"file"}) == 20
    tokens = iter(["0" * 16, "1" * 16])
    monkeypatch.setattr(writing.secrets, "token_hex", lambda size: next(tokens))
    (tmp_path / f".file.{'0' * 16}.part").symlink_to(tmp_path / "victim")
    write(tmp_path / "file")
    assert not (tmp_path / "victim").exists()
    assert (tmp_path / "file").read_bytes() == b"new"


@pytest.mark.parametrize("suffix", [".npz", ".tsv"])
def test_a_name_may_be_as_long_as_the_system_allows(tmp_path, suffix):
    longest = 255 - len(".metadata.tsv" if suffix == ".tsv" else suffix)
    path = tmp_path / ("n" * longest + suffix)
    assert killed_at("fsync", 1, lambda: new_vectors(path))
    with claimed(path), claimed(path.with_name("m" * 255)):
        new_vectors(path)
        assert vectors_by_name(path) == {"b": [0, 7], "a": [7, 0]}
    assert len(os.listdir(tmp_path)) == 1 + (suffix == ".tsv")


@pytest.mark.parametrize("name", ["n" * 252 + ".npz", "n" * 250 + ".tsv", "\ud800.npz"])
def test_a_name_that_no_file_can_have_is_refused_before_the_work(tmp_path, name):
    with pytest.raises(InputError, match=r"name too long: choose|no file can have"):
        vector_files.check_vectors_path(tmp_path / name)


# -- permissions, devices ----------------------------------------------------------------------


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("before", [0o600, 0o640, 0o664])
def test_a_file_keeps_the_permissions_of_the_one_it_replaces(tmp_path, before):
    path = tmp_path / "file"
    path.touch()
    path.chmod(before)
    write(path)
    assert mode(path) == before


@pytest.mark.parametrize("mask", [0o022, 0o077])
def test_a_new_file_has_the_usual_permissions_and_is_private_before(tmp_path, mask):
    usual = os.umask(mask)
    try:
        with whole(tmp_path / "file"):
            (unfinished,) = tmp_path.iterdir()
            assert mode(unfinished) == 0o600
    finally:
        os.umask(usual)
    assert mode(tmp_path / "file") == 0o666 & ~mask


@pytest.mark.parametrize("suffix", [".txt", ".csv.gz", ".npz", ".bin", ".parquet"])
def test_a_named_pipe_is_written_to(tmp_path, suffix):
    pipe, plain = tmp_path / f"pipe{suffix}", tmp_path / f"plain{suffix}"
    os.mkfifo(pipe)
    embedding = Embedding(["a", "b"], np.float32([[1, 2], [3, 4]]))
    received = []
    reader = threading.Thread(target=lambda: received.append(pipe.read_bytes()))
    reader.start()
    check_target(pipe)
    embedding.save(pipe)
    reader.join()
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    plain.write_bytes(received[0])
    assert Embedding.load(plain).vectors.tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".npz", ".bin", ".parquet"])
def test_a_device_is_written_to(tmp_path, suffix):
    link = tmp_path / f"vectors{suffix}"
    link.symlink_to("/dev/null")
    Embedding([1], np.float32([[1]])).save(link)
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    assert os.listdir(tmp_path) == [link.name]


def test_a_pipe_without_permission_is_refused_before_the_work(tmp_path, monkeypatch):
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # root may do everything
    with pytest.raises(InputError, match="no permission to write to this device or pipe"):
        check_target(tmp_path / "pipe")


def test_a_link_to_itself_is_refused_before_the_work(tmp_path):
    (tmp_path / "one").symlink_to("other")
    (tmp_path / "other").symlink_to("one")
    with pytest.raises(InputError, match="this link leads back to itself"):
        check_target(tmp_path / "one")


def test_a_link_in_place_of_the_second_of_a_pair_stays_a_link(pair):
    path, _, new, read = pair
    second = metadata_path(path) if path.suffix == ".tsv" else walk_ids_path(path)
    second.symlink_to("elsewhere")
    new(path)
    assert second.is_symlink()
    assert read(path)
    assert len(os.listdir(path.parent)) == 3


def test_a_file_that_only_another_user_may_replace_is_refused_before_the_work(
    tmp_path, monkeypatch
):
    """As in /tmp; the folder and the file belong to whoever runs the tests."""
    tmp_path.chmod(0o1777)
    (tmp_path / "file").touch()
    monkeypatch.setattr(os, "geteuid", lambda: os.stat(tmp_path).st_uid + 1)
    check_target(tmp_path / "new")
    with pytest.raises(InputError, match="belongs to another user"):
        check_target(tmp_path / "file")


def test_pipes_and_folders_in_place_of_hidden_files_are_no_obstacle(pair, monkeypatch):
    """Others can put them into a shared folder; who opens a pipe usually waits for a writer."""
    path, _, new, read = pair
    second = metadata_path(path) if path.suffix == ".tsv" else walk_ids_path(path)
    for name in (f".{path.name}.lock", f".{path.name}.pair"):
        os.mkfifo(path.with_name(name))
    for kind in ("part", "old"):
        path.with_name(f".{second.name}.{'0' * 16}.{kind}").mkdir()
    usual = os.open

    def as_another_user(name, flags, *mode, **options):
        if os.fspath(name).endswith((".lock", ".pair")):
            if flags & os.O_RDWR and os.path.exists(name):
                raise PermissionError(errno.EACCES, "Permission denied", str(name))
            assert flags & (os.O_NONBLOCK | os.O_CREAT)
        return usual(name, flags, *mode, **options)

    monkeypatch.setattr(os, "open", as_another_user)
    with claimed(path):
        new(path)
    assert read(path)
    assert second.is_file()


# -- disks that fail ---------------------------------------------------------------------------


@pytest.mark.parametrize("full", ["a", "b"])
def test_a_full_disk_is_blamed_on_the_file_that_did_not_fit(tmp_path, full, monkeypatch):
    for name in "ab":
        (tmp_path / name).write_text("old")
    usual = writing.io.FileIO.write

    def fail(self, content):
        if self.path.name == full:
            raise OSError(errno.ENOSPC, "No space left on device")
        return usual(self, content)

    class Full(writing._File):
        def write(self, content):
            with self.named():
                return fail(self, content)

    monkeypatch.setattr(writing, "_File", Full)

    def write_both():
        with both_whole(tmp_path / "a", tmp_path / "b") as streams:
            for stream in streams:
                stream.write(b"new" * 100_000)

    with pytest.raises(OSError, match="No space left") as caught:
        write_both()
    assert caught.value.filename == str(tmp_path / full)
    assert contents(tmp_path) == {"a": b"old", "b": b"old"}


@pytest.mark.parametrize("before", [0, 1, 2])
@pytest.mark.parametrize("names", ["a", "ab"])
def test_a_disk_that_becomes_read_only_is_blamed_on_a_file_with_a_name(
    tmp_path, names, before, monkeypatch
):
    paths = [tmp_path / name for name in names]
    for path in paths:
        path.write_text("old")

    def write_all():
        if len(paths) == 1:
            write(*paths)
            return
        with both_whole(*paths) as streams:
            for stream in streams:
                stream.write(b"new")

    usual, renamed = os.replace, []

    def replace(old, new):
        if len(renamed) == before:
            raise OSError(
                errno.EROFS, "Read-only file system", os.fspath(old), None, os.fspath(new)
            )
        renamed.append(old)
        usual(old, new)

    def unlink(path, **options):
        raise OSError(errno.EROFS, "Read-only file system", os.fspath(path))

    monkeypatch.setattr(os, "replace", replace)
    monkeypatch.setattr(os, "unlink", unlink)
    if before and len(paths) == 1:
        write_all()  # it had its name already
    else:
        with pytest.raises(OSError, match="Read-only file system") as caught:
            write_all()
        assert caught.value.filename in [str(path) for path in paths]
        assert caught.value.filename2 is None
    monkeypatch.undo()
    write_all()
    assert contents(tmp_path) == dict.fromkeys(names, b"new")


def test_an_error_of_another_file_is_not_blamed_on_the_one_that_is_written(tmp_path):
    with pytest.raises(OSError, match="Input/output") as caught, whole(tmp_path / "file"):
        raise OSError(errno.EIO, "Input/output error")
    assert caught.value.filename is None
    assert os.listdir(tmp_path) == []


# -- one run at a time -------------------------------------------------------------------------


def test_a_second_run_into_one_file_is_refused(tmp_path):
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "file")
    with claimed(tmp_path / "file"):
        for name in ("file", "link"):
            with (
                pytest.raises(InputError, match="another run is writing"),
                claimed(tmp_path / name),
            ):
                pass
        with claimed(tmp_path / "other", "-", os.devnull):
            pass
        write(tmp_path / "file")
    with claimed(tmp_path / "link"):
        pass
    assert sorted(os.listdir(tmp_path)) == ["file", "link"]


def test_the_lock_of_a_killed_run_is_taken_over(tmp_path):
    def run():
        with claimed(tmp_path / "file"):
            os._exit(9)

    assert killed_at("replace", 1, run)
    assert os.listdir(tmp_path) == [".file.lock"]
    with claimed(tmp_path / "file"):
        pass
    assert os.listdir(tmp_path) == []


def test_a_folder_that_cannot_be_written_to_is_refused(tmp_path, monkeypatch):
    def refuse(*arguments, **options):
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(os, "open", refuse)
    for check in (lambda: check_target(tmp_path / "file"), lambda: write(tmp_path / "file")):
        with pytest.raises(InputError, match=r"cannot write to the folder .*: Read-only"):
            check()
    with pytest.raises(InputError, match="Read-only"), claimed(tmp_path / "file"):
        pass

"""Files are whole or not there: kills at any step, several writers, permissions, devices, locks."""

from __future__ import annotations

import errno
import multiprocessing
import os
import stat
import threading

import numpy as np
import pytest

from reinforce2vec import Embedding, InputError
from reinforce2vec.files.targets import beside
from reinforce2vec.files.vector_files import check_vectors_path
from reinforce2vec.files.writing import check_target, claimed, whole

STEPS = ("replace", "fsync", "fchmod")  # of the operating system, after which a kill is tried


def write(path, content=b"new", **options):
    with whole(path, **options) as stream:
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


# -- whole or not there ------------------------------------------------------------------------


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("packed", [False, True])
def test_a_file_is_old_or_new_whenever_its_writer_is_killed(tmp_path, step, packed):
    path = tmp_path / "file"
    write(path, b"older", packed=packed)
    before = path.read_bytes()
    assert killed_at(step, 1, lambda: write(path, packed=packed))
    assert path.read_bytes() == before
    assert len(os.listdir(tmp_path)) == 2
    write(path, packed=packed)
    assert path.read_bytes() != before
    assert os.listdir(tmp_path) == ["file"], "what a killed process left is removed"
    again = path.read_bytes()
    write(path, packed=packed)
    assert path.read_bytes() == again


@pytest.mark.parametrize("error", [OSError(errno.EIO, "Input/output error"), KeyboardInterrupt()])
def test_a_failure_leaves_the_older_file_and_is_not_blamed_on_it(tmp_path, error):
    write(tmp_path / "file", b"older")

    def fail():
        with whole(tmp_path / "file") as stream:
            stream.write(b"new")
            raise error

    with pytest.raises(type(error)) as caught:
        fail()
    assert getattr(caught.value, "filename", None) is None
    assert (tmp_path / "file").read_bytes() == b"older"
    assert os.listdir(tmp_path) == ["file"]


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


def test_an_unfinished_file_of_a_writer_that_goes_on_is_not_removed(tmp_path):
    with whole(tmp_path / "file") as stream:
        stream.write(b"slow")
        (live,) = tmp_path.iterdir()
        write(tmp_path / "file", b"quick")
        assert live.exists()
    assert (tmp_path / "file").read_bytes() == b"slow"
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
    monkeypatch.setattr("secrets.token_hex", lambda size: next(tokens))
    beside(tmp_path / "file", f"{'0' * 16}.part").symlink_to(tmp_path / "victim")
    write(tmp_path / "file")
    assert not (tmp_path / "victim").exists()
    assert (tmp_path / "file").read_bytes() == b"new"


def test_pipes_and_folders_in_place_of_hidden_files_are_no_obstacle(tmp_path):
    """Others can put them into a shared folder; who opens a pipe usually waits for a writer."""
    os.mkfifo(tmp_path / ".file.lock")
    os.mkfifo(beside(tmp_path / "file", f"{'1' * 16}.part"))
    beside(tmp_path / "file", f"{'0' * 16}.part").mkdir()
    with claimed(tmp_path / "file"):
        write(tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == b"new"


# -- names -------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", [".npz", ".tsv"])
def test_a_name_may_be_as_long_as_the_system_allows(tmp_path, suffix):
    longest = 255 - len(".metadata.tsv" if suffix == ".tsv" else suffix)
    path = tmp_path / ("n" * longest + suffix)
    embedding = Embedding(["b", "a"], np.float32([[0, 7], [7, 0]]))
    assert killed_at("fsync", 1, lambda: embedding.save(path))
    with claimed(path), claimed(path.with_name("m" * 255)):
        embedding.save(path)
        assert path.stat().st_size
    assert len(os.listdir(tmp_path)) == 1 + (suffix == ".tsv")


@pytest.mark.parametrize("name", ["n" * 252 + ".npz", "n" * 250 + ".tsv", "\ud800.npz", "a\0.npz"])
def test_a_name_that_no_file_can_have_is_refused_before_the_work(tmp_path, name):
    with pytest.raises(InputError, match=r"name too long: choose|no file can have|NUL"):
        check_vectors_path(tmp_path / name)


def test_a_link_stays_a_link_and_one_to_itself_is_refused_before_the_work(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere" / "file")
    write(check_target(tmp_path / "link"))
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "elsewhere" / "file").read_bytes() == b"new"
    (tmp_path / "one").symlink_to("other")
    (tmp_path / "other").symlink_to("one")
    with pytest.raises(InputError, match="this link leads back to itself"):
        check_target(tmp_path / "one")


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
    write(tmp_path / "other", like=path)
    assert mode(tmp_path / "other") == before


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root gives files away")
def test_a_file_keeps_its_owner_and_without_its_group_gives_no_group_permissions(
    tmp_path, monkeypatch
):
    path = tmp_path / "file"
    path.touch()
    os.chown(path, 1234, 2345)
    path.chmod(0o660)
    write(path)
    assert (path.stat().st_uid, path.stat().st_gid, mode(path)) == (1234, 2345, 0o660)

    def refuse(*arguments):
        raise PermissionError

    monkeypatch.setattr(os, "fchown", refuse)
    write(path)
    assert mode(path) == 0o600


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
def test_a_named_pipe_and_a_device_are_written_to(tmp_path, suffix):
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
    link = tmp_path / f"link{suffix}"
    link.symlink_to("/dev/null")
    embedding.save(link)
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    assert sorted(os.listdir(tmp_path)) == sorted([link.name, pipe.name, plain.name])


def test_a_pipe_without_permission_is_refused_before_the_work(tmp_path, monkeypatch):
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # root may do everything
    with pytest.raises(InputError, match="no permission"):
        check_target(tmp_path / "pipe")


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


# -- disks that fail ---------------------------------------------------------------------------


def test_a_full_disk_is_blamed_on_the_file_that_did_not_fit(tmp_path):
    resource = pytest.importorskip("resource")
    (tmp_path / "file").write_bytes(b"old")
    usual = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, usual[1]))
    try:
        with pytest.raises(OSError, match="too large") as caught:
            write(tmp_path / "file", b"new" * 100_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, usual)
    assert caught.value.filename == str(tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.parametrize("step", ["replace", "fsync"])
def test_a_disk_that_fails_is_blamed_on_a_file_with_a_name(tmp_path, step, monkeypatch):
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def refuse(*names):
        name = names[:1] if step == "replace" else ()
        raise OSError(errno.EROFS, "Read-only file system", *map(os.fspath, name))

    with monkeypatch.context() as patch:
        patch.setattr(os, step, refuse)
        patch.setattr(os, "unlink", refuse)
        with pytest.raises(OSError, match="Read-only file system") as caught:
            write(path)
    assert (caught.value.filename, caught.value.filename2) == (str(path), None)
    assert path.read_bytes() == b"old"
    write(path)
    assert os.listdir(tmp_path) == ["file"]


def test_a_folder_that_cannot_be_written_to_is_refused(tmp_path, monkeypatch):
    def refuse(*arguments, **options):
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(os, "open", refuse)
    for check in (lambda: check_target(tmp_path / "file"), lambda: write(tmp_path / "file")):
        with pytest.raises(InputError, match=r"cannot write to the folder .*: Read-only"):
            check()
    with pytest.raises(InputError, match="Read-only"), claimed(tmp_path / "file"):
        pass


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


def test_the_lock_of_a_killed_run_is_taken_over_also_that_of_another_user(tmp_path, monkeypatch):
    def run():
        with claimed(tmp_path / "file"):
            os._exit(9)

    assert killed_at("replace", 1, run)
    assert os.listdir(tmp_path) == [".file.lock"]
    usual = os.open

    def as_another_user(name, flags, *mode, **options):
        if flags & os.O_RDWR and os.path.exists(name):
            raise PermissionError(errno.EACCES, "Permission denied", str(name))
        return usual(name, flags, *mode, **options)

    with monkeypatch.context() as patch:
        patch.setattr(os, "open", as_another_user)
        with claimed(tmp_path / "file"), pytest.raises(InputError), claimed(tmp_path / "file"):
            pass
    with claimed(tmp_path / "file"):
        pass
    assert os.listdir(tmp_path) == []

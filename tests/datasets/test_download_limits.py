"""Downloads end within limits, go over https, and leave nothing behind, not even when killed."""

from __future__ import annotations

import gc
import gzip
import os
import signal
import threading
import time
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from helpers.command_line import started
from reinforce2vec import InputError
from reinforce2vec.datasets import _downloads, loading
from reinforce2vec.datasets.registry import REGISTRY, PublishedFile

needs_flock = pytest.mark.skipif(os.name != "posix", reason="Windows has no such locks")


@contextmanager
def serving(answer):
    """A server whose answers a function sends; yields its address."""
    ended = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            with suppress(OSError):  # the client has gone, as it should
                answer(self, ended)

        def log_message(self, *words):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/file"
        ended.set()
        server.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


def endless(handler, ended):
    handler.send_response(200)
    handler.end_headers()
    while not ended.is_set():
        handler.wfile.write(bytes(1 << 16))


def declares_much(handler, ended):
    handler.send_response(200)
    handler.send_header("Content-Length", str(10**12))
    handler.end_headers()
    handler.wfile.write(b"x" * 1000)
    ended.wait(10)


def drips(handler, ended):
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    while not ended.wait(0.02):
        handler.wfile.write(b"x")
        handler.wfile.flush()


def drips_headers(handler, ended):
    handler.wfile.write(b"HTTP/1.0 200 OK\r\nX: ")
    while not ended.wait(0.02):
        handler.wfile.write(b"x")
        handler.wfile.flush()


def falls_silent(handler, ended):
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b"x")
    handler.wfile.flush()
    ended.wait(10)


def never_answers(handler, ended):
    ended.wait(10)


@pytest.mark.parametrize("answer", [endless, declares_much])
def test_more_than_the_published_size_is_cut_off(tmp_path, answer, monkeypatch):
    monkeypatch.setattr(_downloads, "_CHUNK", 1000)
    with (
        serving(answer) as url,
        pytest.raises(InputError, match=r"sends more than 100.0 kB"),
    ):
        _downloads.download(url, tmp_path / "f", False, most=100_000, unsafe=True)
    assert (tmp_path / "f").stat().st_size <= 100_000


@pytest.mark.parametrize("answer", [drips, drips_headers])
def test_a_server_that_sends_byte_by_byte_is_given_up(tmp_path, monkeypatch, answer):
    monkeypatch.setattr(_downloads, "_LONGEST", 0.3)
    with (
        serving(answer) as url,
        pytest.raises(InputError, match=r"it took more than 0.005 minutes"),
    ):
        _downloads.download(url, tmp_path / "f", False, most=10**6, unsafe=True)


@pytest.mark.parametrize("answer", [never_answers, falls_silent])
def test_a_server_that_falls_silent_is_given_up(tmp_path, monkeypatch, answer):
    monkeypatch.setattr(_downloads, "_TIMEOUT", 0.3)
    with (
        serving(answer) as url,
        pytest.raises(InputError, match=r"no answer within 0.3 seconds"),
    ):
        _downloads.download(url, tmp_path / "f", False, most=10**6, unsafe=True)


def unpacks_to_much(handler, ended):
    """Older versions of urllib3 unpack all of it at once."""
    handler.send_response(200)
    handler.send_header("Content-Encoding", "gzip, gzip")
    handler.end_headers()
    handler.wfile.write(gzip.compress(gzip.compress(bytes(10**6))))


def test_a_file_that_is_compressed_for_the_way_is_refused_before_it_is_unpacked(tmp_path):
    with (
        serving(unpacks_to_much) as url,
        pytest.raises(InputError, match="the server compresses the file"),
    ):
        _downloads.download(url, tmp_path / "f", False, most=10**7, unsafe=True)
    assert not (tmp_path / "f").exists()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("place", ["http://[::1", "http://\xff\xfe/", f"http://{'a' * 70}.com/"])
def test_a_redirect_to_what_is_no_address_is_a_sentence(tmp_path, place):
    def redirects(handler, ended):
        handler.send_response(302)
        handler.send_header("Location", place)
        handler.end_headers()

    with serving(redirects) as url, pytest.raises(InputError, match="an address that is none"):
        _downloads.download(url, tmp_path / "f", False, most=10**6, unsafe=True)
    gc.collect()  # requests left the connection to this, which Python would warn of elsewhere


# -- https ---------------------------------------------------------------------------------------


def test_an_address_without_https_is_refused(tmp_path):
    with serving(endless) as url, pytest.raises(InputError, match="is not https"):
        _downloads.download(url, tmp_path / "f", False, most=10**6)


def test_a_redirect_to_http_is_refused(tmp_path, monkeypatch):
    """The first address counts as safe here; where it leads to does not."""
    import requests

    def redirect(handler, ended):
        handler.send_response(302)
        handler.send_header("Location", "http://127.0.0.1:9/other")
        handler.end_headers()

    with serving(redirect) as url:
        secure = requests.adapters.HTTPAdapter()
        monkeypatch.setattr(
            requests.Session,
            "get_adapter",
            lambda session, url: secure if url.endswith("/file") else given(session, url),
        )
        with pytest.raises(InputError, match="or one that it leads to, is not https"):
            _downloads.download(url, tmp_path / "f", False, most=10**6)


def given(session, url):
    import requests

    for prefix, adapter in session.adapters.items():
        if url.startswith(prefix):
            return adapter
    raise requests.exceptions.InvalidSchema


def test_what_is_published_without_https_has_a_hash():
    sources = [source for entry in REGISTRY.values() for source in entry.sources]
    for source in sources:
        assert source.url.startswith("https://") or source.sha256 is not None
        assert source.most <= 16 << 20
    plain = PublishedFile("x", "http://host/x")
    assert not loading._may_be_unsafe(plain)
    assert not loading._may_be_unsafe(PublishedFile("x", "https://host/x", "hash"))


# -- what is left ----------------------------------------------------------------------------------

DOWNLOADING = """
import sys, time
from reinforce2vec.datasets import loading
def download(url, path, *words, **limits):
    path.write_bytes(b"1 2")
    print("begun", flush=True)
    time.sleep(60)
loading.download = download
loading.load_dataset("facebook")
"""


@needs_flock
def test_what_a_killed_download_left_is_removed_by_the_next(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("REINFORCE2VEC_DATA", raising=False)
    cache = _downloads.cache_folder()
    with started(code=DOWNLOADING) as process:
        assert process.stdout.readline() == "begun\n"
        process.send_signal(signal.SIGKILL)
        process.wait(30)
    assert [path.name[:11] for path in cache.iterdir()] == [".unchecked-"]

    def fails(url, path, *words, **limits):
        raise InputError("no network")

    monkeypatch.setattr(loading, "download", fails)
    with pytest.raises(InputError, match="no network"):
        loading.load_dataset("facebook")
    assert list(cache.iterdir()) == []


@needs_flock
def test_a_download_of_another_process_is_waited_for_and_not_removed(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("REINFORCE2VEC_DATA", raising=False)
    monkeypatch.setattr(_downloads, "_LOOK", 0.01)
    cache = _downloads.cache_folder()
    cache.mkdir(parents=True)
    (cache / ".unchecked-other").mkdir()
    order = []
    ready = threading.Event()

    def other():
        with _downloads.alone_in(cache) as certain:
            order.append(("other", certain))
            ready.set()
            time.sleep(0.2)
            order.append(("still there", (cache / ".unchecked-other").exists()))

    thread = threading.Thread(target=other)
    thread.start()
    ready.wait(10)

    def fails(url, path, *words, **limits):
        order.append("we")
        raise InputError("no network")

    monkeypatch.setattr(loading, "download", fails)
    with pytest.raises(InputError, match="no network"):
        loading.load_dataset("facebook")
    thread.join()
    assert order == [("other", True), ("still there", True), "we"]
    assert list(cache.iterdir()) == []


def test_a_changed_file_is_refused_before_it_is_opened(tmp_path):
    (tmp_path / "blogcatalog.mat").write_bytes(b"MATLAB 5.0 MAT-file" + bytes(200))
    with pytest.raises(InputError, match="expected SHA-256"):
        loading.load_dataset("blogcatalog", tmp_path)

"""Downloads from a server on loopback with every fault."""

import contextlib
import errno
import hashlib
import socket
from pathlib import Path

import pytest

import faulty_server
from faulty_server import (
    CONTENT,
    aborted_at,
    answer,
    cut_at,
    resumable,
    silent,
    status,
    to,
    whole,
    without_length,
    wrong_range,
)
from tf_frame.weights import download as module
from tf_frame.weights.download import DownloadError, Remote, download, file_hash

SIZE = len(CONTENT)
SHA256 = hashlib.sha256(CONTENT).hexdigest()


def fetch(server, path, *behaviours, size=SIZE, sha256=SHA256, **options):
    server.behaviours[:] = behaviours
    download(Remote(server.url, size, sha256), str(path), **options)


def test_a_file_is_received_whole_and_shown(server, tmp_path):
    shown = []
    path = tmp_path / "file"
    fetch(server, path, whole, show=lambda *numbers: shown.append(numbers))
    assert path.read_bytes() == CONTENT and file_hash(str(path)) == SHA256
    assert shown[-1] == (len(CONTENT), len(CONTENT)) and len(shown) > 3
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize(
    "behaviours",
    [
        [cut_at(1000), cut_at(200_000), resumable],
        [cut_at(1000), silent, resumable],
        [cut_at(1000), whole],
        [cut_at(1000), wrong_range, resumable],
        [cut_at(1000), status(416), resumable],
        [status(503), status(429), status(408), resumable],
        [status(500), status(599), resumable],
        [without_length],
        [to("/elsewhere.bin"), resumable],
    ],
    ids=[
        "cut",
        "silent",
        "no ranges",
        "wrong range",
        "416",
        "busy",
        "broken",
        "no length",
        "moved",
    ],
)
def test_faults_that_another_try_mends(server, tmp_path, behaviours):
    path = tmp_path / "file"
    fetch(server, path, *behaviours, wait_secs=0.3)
    assert path.read_bytes() == CONTENT


CERTIFICATE = Path(__file__).parent / "loopback_certificate.pem"


def test_a_certificate_that_nobody_trusts_is_refused_in_a_line(server, tmp_path):
    message = "trusts the certificate of the server: self-signed certificate; SSL_CERT_FILE names"
    with (
        faulty_server.serving(CERTIFICATE) as secure,
        pytest.raises(DownloadError, match=message),
    ):
        fetch(secure, tmp_path / "file", whole)
    assert not secure.ranges and list(tmp_path.iterdir()) == []


def test_a_connection_with_tls_that_is_cut_goes_on(server, tmp_path, monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
    with faulty_server.serving(CERTIFICATE) as secure:
        fetch(secure, tmp_path / "file", aborted_at(200_000), resumable)
    assert (tmp_path / "file").read_bytes() == CONTENT
    # What came before the cut is kept.
    assert int(secure.ranges[1].removeprefix("bytes=").rstrip("-")) > 0


def test_a_second_call_goes_on_where_the_first_one_ended(server, tmp_path):
    path = tmp_path / "file"
    with pytest.raises(DownloadError, match="after 1,000 of 512,000 bytes; 1000 B are kept"):
        fetch(server, path, cut_at(1000))
    assert not path.exists()
    fetch(server, path, resumable)
    assert server.ranges[-1] == "bytes=1000-" and path.read_bytes() == CONTENT


def test_without_a_hash_it_begins_anew(server, tmp_path):
    path = tmp_path / "file"
    (tmp_path / "file.part").write_bytes(b"of another file")
    fetch(server, path, resumable, size=None, sha256=None)
    assert server.ranges == [None] and path.read_bytes() == CONTENT


@pytest.mark.parametrize(
    ("behaviour", "message"),
    [
        (status(404), "the server answers 404 Not Found"),
        (status(403), "the server answers 403 Forbidden"),
        (status(500), "the server answers 500 Internal Server Error"),
        (silent, "the server does not answer|sends nothing any more"),
        (lambda h: whole(h, CONTENT[:-1]), "the server sends 511,999 bytes, not 512,000"),
        (lambda h: answer(h, 200, {}, CONTENT + b"x"), "the server sends more bytes, not 512,000"),
        (lambda h: answer(h, 200, {}, CONTENT[:-1]), "after 511,999 of 512,000 bytes"),
        (lambda h: whole(h, CONTENT[::-1]), f"its SHA-256 is [0-9a-f]+, not {SHA256}"),
        (to("/weights.bin"), "infinite loop|302"),
        (to("ftp://127.0.0.1/x"), "only http and https|not allowed|ftp"),
        (to("file:///etc/passwd"), "only http and https|not allowed|file"),
    ],
)
def test_faults_that_end_it(server, tmp_path, behaviour, message):
    path = tmp_path / "file"
    with pytest.raises(DownloadError, match=message) as error:
        fetch(server, path, behaviour, wait_secs=0.2)
    assert server.url in str(error.value) and "\n" not in str(error.value)
    assert not path.exists()


def test_a_wrong_file_is_not_kept(server, tmp_path):
    path = tmp_path / "file"
    path.write_text("the old one")
    with pytest.raises(DownloadError, match="is not the published file"):
        fetch(server, path, lambda h: whole(h, CONTENT[::-1]))
    assert not (tmp_path / "file.part").exists() and path.read_text() == "the old one"
    fetch(server, path, whole)
    assert path.read_bytes() == CONTENT


def test_a_server_that_hardly_sends_anything_is_left(server, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_SLOW_SECS", 0.1)

    def dripping(handler):
        handler.send_response(200)
        handler.send_header("Content-Length", len(CONTENT))
        handler.end_headers()
        with contextlib.suppress(OSError):
            for byte in range(1000):
                handler.wfile.write(CONTENT[byte : byte + 1])
                if handler.server.closing.wait(0.02):
                    return

    with pytest.raises(DownloadError, match=r"the server sent \d+ bytes in 0.1 s"):
        monkeypatch.setattr(module, "_MOST_TRIES", 1)
        fetch(server, tmp_path / "file", dripping, size=None, sha256=None)


def test_a_full_disk(server, tmp_path, monkeypatch):
    full = module.shutil.disk_usage(tmp_path)._replace(free=1000)
    monkeypatch.setattr(module.shutil, "disk_usage", lambda folder: full)
    with pytest.raises(DownloadError, match="1000 B of free space, and 500.0 KiB are needed"):
        fetch(server, tmp_path / "file", whole)


def test_a_disk_that_becomes_full(server, tmp_path, monkeypatch):
    class Full:
        def __enter__(self):
            return self

        def __exit__(self, *error):
            pass

        truncate = seek = lambda self, number: None

        def write(self, content):
            raise OSError(errno.ENOSPC, "No space left on device")

    (tmp_path / "file.part").write_bytes(CONTENT[:1000])
    monkeypatch.setattr(module, "open", lambda *arguments: Full(), raising=False)
    with pytest.raises(DownloadError, match="file cannot be written: the disk is full"):
        fetch(server, tmp_path / "file", resumable)
    assert not list(tmp_path.iterdir())


def test_nobody_listens(tmp_path, server):
    server.server_close()
    with pytest.raises(DownloadError, match=r"refused.*save the file by hand as \S+/file$"):
        fetch(server, tmp_path / "file", whole)


@pytest.mark.parametrize(
    ("function", "error", "message"),
    [
        ("getaddrinfo", socket.gaierror(-2, "Name or service not known"), "not known"),
        ("create_connection", OSError(errno.EHOSTUNREACH, "No route to host"), "No route to host"),
    ],
)
def test_no_such_host_and_no_route(server, tmp_path, monkeypatch, function, error, message):
    def fail(*arguments, **options):
        raise error

    monkeypatch.setattr(socket, function, fail)
    with pytest.raises(DownloadError, match=rf"{message}.*save the file by hand") as raised:
        fetch(server, tmp_path / "file", whole)
    assert "\n" not in str(raised.value) and not server.ranges


def test_offline(tmp_path, server, monkeypatch):
    monkeypatch.setenv(module.OFFLINE, "1")
    with pytest.raises(DownloadError, match="TF_FRAME_OFFLINE is set, so nothing is downloaded"):
        fetch(server, tmp_path / "file", whole)
    assert not server.ranges


def test_the_proxy_of_the_environment_is_asked(tmp_path, server, monkeypatch):
    monkeypatch.setenv("http_proxy", server.url)
    server.behaviours[:] = [whole]
    download(Remote("http://no.such.host.invalid/f", len(CONTENT), SHA256), str(tmp_path / "file"))
    assert (tmp_path / "file").read_bytes() == CONTENT


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://host/x", "weights.bin"])
def test_other_addresses_are_refused(tmp_path, url):
    with pytest.raises(DownloadError, match="only http and https addresses are downloaded"):
        download(Remote(url), str(tmp_path / "file"))

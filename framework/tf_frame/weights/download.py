"""`download`: gets a file from the web, whole and checked, and goes on where it was cut.

    download(Remote("https://site/weights.tar.gz", size=123, sha256="ab..."), path, show=bar)

The bytes go to `PATH.part`, which becomes `PATH` when size and hash are right. Python's urllib
takes the proxies of the environment (`https_proxy`, `no_proxy`).
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import http.client
import os
import shutil
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from typing import Any

from tf_frame.errors import TfFrameError, is_disk_full
from tf_frame.text import readable_bytes, short, short_word

# An environment variable: any text forbids connections.
OFFLINE = "TF_FRAME_OFFLINE"

_CHUNK = 2**16
_WAIT_SECS = 30.0
# A connection that brings less in this time is taken for dead.
_SLOW_SECS, _SLOW_BYTES = 60.0, 60 * 1024
# How often in a row a try may bring nothing.
_MOST_TRIES = 4
_PAUSE_SECS = 1.0
_SCHEMES = ("http://", "https://")


class DownloadError(TfFrameError):
    """A file cannot be downloaded, or is not the published one."""


class _CutError(Exception):
    """The connection ended, or brings nothing; another try may help."""


@dataclasses.dataclass(frozen=True)
class Remote:
    """A file in the web.

    Attributes:
      url: its address.
      size: its number of bytes; None if nobody has recorded it.
      sha256: its hash, 64 hexadecimal digits; None likewise.
    """

    url: str
    size: int | None = None
    sha256: str | None = None


def download(
    remote: Remote,
    path: str,
    *,
    show: Callable[[int, int | None], None] = lambda received, size: None,
    wait_secs: float = _WAIT_SECS,
) -> None:
    """Downloads a file; an existing one is replaced.

    Args:
      remote: the file.
      path: where to write it, in a folder that exists.
      show: called with the number of bytes so far, and of the file (None: unknown).
      wait_secs: seconds without a byte after which the connection is taken for dead.

    Raises:
      DownloadError: the file cannot be had, has another size or hash, or there is no room for it.
    """
    if os.environ.get(OFFLINE):
        raise DownloadError(
            f"{OFFLINE} is set, so nothing is downloaded; get {short(remote.url)} elsewhere, and "
            f"save it as {short(path)}"
        )
    if not remote.url.startswith(_SCHEMES):
        raise DownloadError(f"{short(remote.url)}: only http and https addresses are downloaded")
    part = f"{path}.part"
    if remote.sha256 is None:
        # Nothing would tell that the rest is of another file.
        with contextlib.suppress(FileNotFoundError):
            os.remove(part)
    try:
        _receive_all(remote, part, show, wait_secs)
    except OSError as error:
        reason = "the disk is full" if is_disk_full(error) else error.strerror or str(error)
        with contextlib.suppress(OSError):
            os.remove(part)
        raise DownloadError(f"{short(path)} cannot be written: {reason}") from None
    check_file(part, remote, remove=True)
    os.replace(part, path)


def check_file(path: str, remote: Remote, *, remove: bool = False) -> None:
    """Checks size and hash of a downloaded file.

    Args:
      path: the file.
      remote: what it should be.
      remove: whether a wrong file is removed.

    Raises:
      DownloadError: they are others.
    """
    problem = _find_difference(path, remote)
    if not problem:
        return
    if remove:
        os.remove(path)
    raise DownloadError(
        f"{short(remote.url)} is not the published file: {problem}; try again, and if it stays so, "
        "do not use it"
    )


def file_hash(path: str) -> str:
    """Returns the SHA-256 hash of a file, as hexadecimal digits."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def _find_difference(path: str, remote: Remote) -> str:
    size = os.path.getsize(path)
    if remote.size is not None and size != remote.size:
        return f"it has {size:,} bytes, not {remote.size:,}"
    if remote.sha256 is not None and (found := file_hash(path)) != remote.sha256:
        return f"its SHA-256 is {found}, not {remote.sha256}"
    return ""


def _receive_all(
    remote: Remote, part: str, show: Callable[[int, int | None], None], wait_secs: float
) -> None:
    """Receives a file in as many connections as it takes."""
    fruitless, reason = 0, ""
    while fruitless < _MOST_TRIES:
        before = _size(part)
        try:
            _receive(remote, part, show, wait_secs)
        except _CutError as error:
            reason = str(error)
            fruitless = 0 if _size(part) > before else fruitless + 1
            time.sleep(_PAUSE_SECS * fruitless)
        else:
            return
    kept = f"; {readable_bytes(_size(part))} are kept, and the next try goes on there"
    raise DownloadError(
        f"{short(remote.url)} cannot be downloaded: {reason}{kept if _size(part) else ''}"
    )


def _receive(
    remote: Remote, part: str, show: Callable[[int, int | None], None], wait_secs: float
) -> None:
    """Receives what is missing in one connection.

    Raises:
      _CutError: the connection ended before the file did.
      DownloadError: another try is of no use.
    """
    have = _size(part)
    headers = {"User-Agent": "tf-frame", "Accept-Encoding": "identity"}
    if have:
        headers["Range"] = f"bytes={have}-"
    request = urllib.request.Request(remote.url, headers=headers)
    with _translated(remote.url, part), _opener().open(request, timeout=wait_secs) as got:
        if got.status != http.client.PARTIAL_CONTENT:
            have = 0  # The server sends the whole file.
        elif not str(got.headers.get("Content-Range", "")).startswith(f"bytes {have}-"):
            raise _restart(part, "the server sent another part than asked for")
        size = _announced_size(got, have) or remote.size
        if remote.size is not None and size != remote.size:
            raise _wrong_size(remote, f"{size:,}")
        _check_room(part, (size or 0) - have)
        with open(part, "r+b" if have else "wb") as file:
            file.truncate(have)
            file.seek(have)
            for chunk in _chunks(got):
                file.write(chunk)
                have += len(chunk)
                show(have, size)
                if remote.size is not None and have > remote.size:
                    raise _wrong_size(remote, "more")
    if size is not None and have < size:
        raise _CutError(f"the connection ended after {have:,} of {size:,} bytes")


def _opener() -> urllib.request.OpenerDirector:
    """Returns what opens http and https addresses, and follows to such addresses alone."""
    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler(),
        urllib.request.HTTPHandler(),
        urllib.request.HTTPSHandler(),
        urllib.request.HTTPRedirectHandler(),
        urllib.request.HTTPDefaultErrorHandler(),
        urllib.request.HTTPErrorProcessor(),
        urllib.request.UnknownHandler(),
    ):
        opener.add_handler(handler)
    return opener


def _chunks(response: Any) -> Iterator[bytes]:
    """Yields the bytes of a response; ends a connection that hardly brings any."""
    since, received = time.monotonic(), 0
    while chunk := _read(response):
        yield chunk
        received += len(chunk)
        now = time.monotonic()
        if now > since + _SLOW_SECS:
            if received < _SLOW_BYTES:
                raise _CutError(f"the server sent {received:,} bytes in {_SLOW_SECS:g} s")
            since, received = now, 0


def _read(response: Any) -> bytes:
    """Returns the next bytes; no error of a connection is taken for one of the disk."""
    try:
        chunk: bytes = response.read1(_CHUNK)
    except TimeoutError:
        raise _CutError("the server sends nothing any more") from None
    except (OSError, http.client.HTTPException) as error:
        raise _CutError(f"the connection failed: {short_word(error)}") from None
    return chunk


def _announced_size(response: Any, have: int) -> int | None:
    length = response.headers.get("Content-Length", "")
    return have + int(length) if length.isascii() and length.isdigit() else None


def _wrong_size(remote: Remote, sent: str) -> DownloadError:
    return DownloadError(
        f"{short(remote.url)} is not the published file: the server sends {sent} bytes, not "
        f"{remote.size:,}"
    )


def _check_room(part: str, missing: int) -> None:
    free = shutil.disk_usage(os.path.dirname(part) or ".").free
    if missing > free:
        raise DownloadError(
            f"{short(os.path.dirname(part) or '.')} has {readable_bytes(free)} of free space, and "
            f"{readable_bytes(missing)} are needed"
        )


def _restart(part: str, reason: str) -> _CutError:
    """Removes what was received; returns the error for another try."""
    os.remove(part)
    return _CutError(reason)


@contextlib.contextmanager
def _translated(url: str, part: str) -> Iterator[None]:
    """Translates the errors of a connection."""
    try:
        yield
    except urllib.error.HTTPError as error:
        if error.code == http.client.REQUESTED_RANGE_NOT_SATISFIABLE and _size(part):
            raise _restart(part, "the file has become shorter") from None
        reason = f"{error.code} {short(error.reason, 60)}"
        if error.code in (http.client.REQUEST_TIMEOUT, http.client.TOO_MANY_REQUESTS) or (
            error.code >= http.client.INTERNAL_SERVER_ERROR
        ):
            raise _CutError(f"the server answers {reason}") from None
        raise DownloadError(
            f"{short(url)} cannot be downloaded: the server answers {reason}"
        ) from None
    except urllib.error.URLError as error:
        if isinstance(error.reason, TimeoutError):
            raise _CutError("the server does not answer") from None
        if isinstance(error.reason, ssl.SSLCertVerificationError):
            raise DownloadError(
                f"{short(url)} cannot be downloaded: nobody here trusts the certificate of the "
                f"server: {short_word(error.reason.verify_message)}; SSL_CERT_FILE names the file "
                "of the authorities that you trust"
            ) from None
        raise DownloadError(
            f"{short(url)} cannot be downloaded: {short_word(error.reason)}; without a connection "
            f"to the web, save the file by hand as {short(part.removesuffix('.part'))}"
        ) from None
    except TimeoutError:
        raise _CutError("the server sends nothing any more") from None
    except (ConnectionError, http.client.HTTPException) as error:
        raise _CutError(f"the connection failed: {short_word(error)}") from None


def _size(path: str) -> int:
    with contextlib.suppress(FileNotFoundError):
        return os.path.getsize(path)
    return 0

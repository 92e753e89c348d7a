"""Runs the process of TensorBoard: its port, its first answer, its end."""

from __future__ import annotations

import contextlib
import errno
import http.client
import json
import os
import socket
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import IO

from tf_frame.cli.doctor.machine import LOOPBACK
from tf_frame.errors import ConfigError, TfFrameError
from tf_frame.launch.noted_signals import note_signals

_FIRST_PORT, _TRIED_PORTS = 6006, 100
# It imports TensorFlow, which takes minutes from some network file systems.
_MAX_START_SECS, _MAX_STOP_SECS = 180.0, 10.0
_POLL_SECS, _ANSWER_SECS = 0.2, 5.0
_SHOWN_LINES = 15
_EVERY_ADDRESS = {"0.0.0.0": LOOPBACK, "::": "::1"}


def free_port(host: str, given: int | None) -> int:
    """Returns the given port, or else the first free one from TensorBoard's own.

    Raises:
      ConfigError: it is taken, all are, or this machine has no such address.
    """
    if given:
        if _is_free(host, given):
            return given
        raise ConfigError(
            f"--port {given} is taken on {host}; give another one, or leave --port out for the "
            f"first free one from {_FIRST_PORT}"
        )
    tried = range(_FIRST_PORT, _FIRST_PORT + _TRIED_PORTS)
    found = next((port for port in tried if _is_free(host, port)), None)
    if found is None:
        raise ConfigError(f"the ports {tried[0]} to {tried[-1]} are all taken; give --port")
    return found


def _is_free(host: str, port: int) -> bool:
    try:
        family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind) as probe:
            # The connections that an earlier server closed do not keep the port.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
            return True
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            return False
        reason = error.strerror or error
        raise ConfigError(f"--host {host}: port {port} cannot be used: {reason}") from None


def serve(
    words: Sequence[str],
    host: str,
    port: int,
    answered: Callable[[str, Collection[str]], None],
) -> None:
    """Runs TensorBoard until Ctrl-C or SIGTERM.

    Args:
      words: program and arguments, but for the address.
      host, port: the address on which it listens.
      answered: called once it answers, with its URL and the names of its plugins.

    Raises:
      TfFrameError: it ends by itself, or does not answer in time.
    """
    near = _EVERY_ADDRESS.get(host, host)
    url = f"http://[{near}]:{port}/" if ":" in near else f"http://{near}:{port}/"
    words = [*words, "--host", host, "--port", str(port)]
    with (
        note_signals() as signals,
        tempfile.TemporaryFile("w+", errors="replace") as log,
        _started(words, log) as process,
    ):
        limit = time.monotonic() + _MAX_START_SECS
        plugins = None
        while not signals and not _has_ended(process):
            if plugins is None and (plugins := _plugins(url)) is not None:
                answered(url, plugins)
            if plugins is None and time.monotonic() > limit:
                raise TfFrameError(
                    f"TensorBoard does not answer after {_MAX_START_SECS:g} s{_end_of(log)}"
                )
        if not signals:
            raise TfFrameError(
                f"TensorBoard ended with exit code {process.returncode}{_end_of(log)}"
            )


@contextlib.contextmanager
def _started(words: Sequence[str], log: IO[str]) -> Iterator[subprocess.Popen[bytes]]:
    """A process that is ended with the block."""
    process = subprocess.Popen(
        words,
        env={"TF_CPP_MIN_LOG_LEVEL": "3", **os.environ},
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
    )
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(_MAX_STOP_SECS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _has_ended(process: subprocess.Popen[bytes]) -> bool:
    """Waits a moment for the end of a process; returns whether it came."""
    try:
        process.wait(_POLL_SECS)
    except subprocess.TimeoutExpired:
        return False
    return True


def _plugins(url: str) -> Collection[str] | None:
    """The names of TensorBoard's plugins; None while it does not answer."""
    # Without the proxy of the environment, which does not know this machine's own address.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(f"{url}data/plugins_listing", timeout=_ANSWER_SECS) as answer:
            return list(json.load(answer))
    except (OSError, http.client.HTTPException):
        return None


def _end_of(log: IO[str]) -> str:
    log.seek(0)
    lines = log.read().splitlines()[-_SHOWN_LINES:]
    return ":\n" + "\n".join(lines) if lines else ""

"""Starts the commands that a reader's shell asks for, forked from a process with TensorFlow."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import sys
import threading
from pathlib import Path
from typing import Any

import forked

# Arguments: site-packages of the reader, and the words of the command.
_RUN = """
import runpy, site, sys
site.addsitedir(sys.argv[1])
sys.argv[:2] = ["tf-frame"]
# It is empty where the process could not be forked, because of its environment.
sys.path.remove("" if "" in sys.path else __import__("os").getcwd())
runpy.run_module("tf_frame", run_name="__main__", alter_sys=True)
"""


class Bridge:
    """Listens at a path, and runs `tf-frame` for each that connects.

    Args:
      path: of the socket.
      site: site-packages of the reader's environment.
    """

    def __init__(self, path: Path, site: Path) -> None:
        self._site = site
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.bind(str(path))
        self._socket.listen()
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            connection, _ = self._socket.accept()
            threading.Thread(target=self._run, args=(connection,), daemon=True).start()

    def _run(self, connection: socket.socket) -> None:
        with connection:
            header, streams, *_ = socket.recv_fds(connection, 8, 3)
            with connection.makefile("rb") as file:
                request = json.loads(file.read(int.from_bytes(header, "big")))
            process = self._start(request, streams)
            for stream in streams:
                os.close(stream)
            threading.Thread(target=_kill_without, args=(connection, process), daemon=True).start()
            code = process.wait()
            with contextlib.suppress(OSError):
                connection.sendall(str(code).encode())
                connection.shutdown(socket.SHUT_RDWR)

    def _start(self, request: dict[str, Any], streams: list[int]) -> forked.Popen:
        command = [sys.executable, "-c", _RUN, str(self._site), *request["words"]]
        names = ("stdin", "stdout", "stderr")
        return forked.Popen(
            command,
            cwd=request["cwd"],
            env=request["environment"],
            start_new_session=True,
            **dict(zip(names, streams, strict=True)),
        )


def _kill_without(connection: socket.socket, process: forked.Popen) -> None:
    """Kills a command whose shell has ended before it."""
    with contextlib.suppress(OSError):
        connection.recv(1)
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)

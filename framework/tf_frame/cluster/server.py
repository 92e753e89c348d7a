"""Waiting for the server of a cluster task."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable

from tf_frame.errors import TfFrameError

_TRY_SECS = 1.0


def wait_for_server(
    target: str,
    *,
    timeout_secs: float,
    report: Callable[[str], None],
    check: Callable[[], None],
) -> None:
    """Returns once something listens at a server's address.

    TensorFlow would wait for ever, without a word and deaf to signals.

    Args:
      target: `grpc://HOST:PORT`.
      timeout_secs: seconds to wait at most.
      report: takes a line for the user when there is something to wait for.
      check: called between tries; may raise to stop waiting.

    Raises:
      TfFrameError: nothing listens there in time.
    """
    host, port = target.removeprefix("grpc://").rsplit(":", 1)
    deadline = time.monotonic() + timeout_secs
    waiting = False
    while not _listens(host, int(port)):
        check()
        if time.monotonic() > deadline:
            raise TfFrameError(
                f"no server listens at {target} (waited {timeout_secs:g} s); start it, or "
                "correct --master"
            )
        if not waiting:
            report(f"waiting for the server at {target} ...")
            waiting = True
        time.sleep(_TRY_SECS)


def _listens(host: str, port: int) -> bool:
    try:
        with socket.create_connection((host, port), timeout=_TRY_SECS):
            return True
    except OSError:
        return False

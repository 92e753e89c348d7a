"""Ends this process when the folder of its run does not answer any more.

When a server of NFS is lost, every call for one of its files waits in the kernel, for hours and
without an error: the run would neither go on nor end. A thread asks the folder again and again, and
another one looks for its answers.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterator

from tf_frame.errors import EXIT_START_AGAIN
from tf_frame.file_system import is_remote
from tf_frame.text import short

_LOOKS = 10
_LONGEST_LOOK_SECS = 10.0
# The line may go to a file in the folder itself.
_SAY_SECS = 2.0


@contextlib.contextmanager
def watched_folder(
    path: str,
    *,
    timeout_secs: float,
    report: Callable[[str], None],
    ask: Callable[[str], object] = os.statvfs,
    end: Callable[[int], object] = os._exit,
) -> Iterator[None]:
    """Ends the process inside the block when the folder has not answered for a time.

    The time does not count while the process is stopped.

    Args:
      path: the folder; nothing happens for a remote one, which has time limits of its own.
      timeout_secs: the time.
      report: takes a line for the user.
      ask: asks the folder; returns or raises when it answers.
      end: ends the process with an exit code, whatever its other threads wait for.
    """
    if is_remote(path):
        yield
        return
    over, answered = threading.Event(), threading.Event()
    look_secs = min(timeout_secs / _LOOKS, _LONGEST_LOOK_SECS)

    def keep_asking() -> None:
        while not over.wait(look_secs):
            with contextlib.suppress(OSError):  # An error is an answer.
                ask(path)
            answered.set()

    def keep_looking() -> None:
        silent_secs = 0.0
        while silent_secs < timeout_secs:
            if over.wait(look_secs):
                return
            silent_secs = 0.0 if answered.is_set() else silent_secs + look_secs
            answered.clear()
        line = (
            f"the folder {short(path)} has not answered for {timeout_secs:g} s "
            "(--cluster_timeout_secs); this process ends, and goes on from the last checkpoint "
            "when it is started again"
        )
        speaker = threading.Thread(target=report, args=(line,), daemon=True)
        speaker.start()
        speaker.join(_SAY_SECS)
        end(EXIT_START_AGAIN)

    for work in (keep_asking, keep_looking):
        threading.Thread(target=work, name="folder_watch", daemon=True).start()
    try:
        yield
    finally:
        over.set()

"""Recognises that the system refuses memory, threads or processes, and tries threads beforehand."""

from __future__ import annotations

import errno
import os
import re
import threading

from tf_frame.errors import TfFrameError

# The texts of Python's thread start, and of the dynamic linker: dlopen(3).
_NO_THREAD = re.compile(r"can't start new thread|can't allocate lock")
_NO_MAP = re.compile(r"failed to map segment|cannot allocate memory", re.IGNORECASE)
# TensorFlow ends the process by a signal if the system refuses one of its threads. It has about
# three pools of a thread for each core, and some more.
_POOLS, _MORE = 3, 16


class ResourceError(TfFrameError):
    """The system gives this process no more memory, threads or processes."""

    def __init__(self, reason: str) -> None:
        super().__init__(
            f"the system refuses this process memory, threads or processes: {reason}; compare "
            "ulimit -a, and the limits of the container, with what runs"
        )


def refusal(error: BaseException) -> ResourceError | None:
    """Returns the error for the user if the system refused something, else None."""
    text = " ".join(str(error).split())
    if isinstance(error, OSError) and error.errno in (errno.EAGAIN, errno.ENOMEM):
        return ResourceError(error.strerror or text)
    is_thread = isinstance(error, RuntimeError) and _NO_THREAD.search(text)
    is_map = isinstance(error, ImportError) and _NO_MAP.search(text)
    if is_thread or is_map or isinstance(error, MemoryError):
        return ResourceError(text or "no memory")
    return None


def check_threads() -> None:
    """Starts and ends as many threads as TensorFlow starts.

    Raises:
      ResourceError: the system refuses them.
    """
    end = threading.Event()
    threads = [
        threading.Thread(target=end.wait, daemon=True)
        for _ in range(_POOLS * (os.cpu_count() or 1) + _MORE)
    ]
    started = []
    try:
        for thread in threads:
            thread.start()
            started.append(thread)
    except RuntimeError as error:
        raise refusal(error) or error from None
    finally:
        end.set()
        for thread in started:
            thread.join()

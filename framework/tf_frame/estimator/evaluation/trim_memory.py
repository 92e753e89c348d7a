"""Memory that was freed, given back to the system."""

from __future__ import annotations

import ctypes


def trim_memory() -> None:
    """Has the C library return what it keeps of freed memory.

    glibc keeps it in a heap for each thread, and TensorFlow has many threads:
    without this the evaluations of a process seem to take more and more memory.
    It costs some milliseconds. Where the C library is another one, nothing is done.
    """
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)

"""Memory that was freed goes back to the system."""

import ctypes
import os

import pytest

from tf_frame.estimator.evaluation.trim_memory import trim_memory

LIBC = ctypes.CDLL(None)
BLOCK, COUNT = 4000, 20000


def resident_bytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not hasattr(LIBC, "malloc_trim"), reason="the C library is not glibc")
def test_what_was_freed_is_given_back():
    LIBC.malloc.restype = ctypes.c_void_p
    LIBC.malloc.argtypes, LIBC.free.argtypes = [ctypes.c_size_t], [ctypes.c_void_p]
    blocks = [LIBC.malloc(BLOCK) for _ in range(COUNT)]
    for block in blocks:
        ctypes.memset(block, 1, BLOCK)
    # The last one keeps the heap from shrinking by itself.
    for block in blocks[:-1]:
        LIBC.free(block)
    before = resident_bytes()
    trim_memory()
    assert before - resident_bytes() > BLOCK * COUNT / 2
    LIBC.free(blocks[-1])


def test_without_glibc_nothing_is_done(monkeypatch):
    monkeypatch.setattr(ctypes, "CDLL", lambda name: object())
    trim_memory()

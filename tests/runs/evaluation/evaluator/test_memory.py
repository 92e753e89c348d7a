import ctypes
import os
import sys

import pytest

import forked
from tf_frame.runs.evaluation.evaluator import trim_memory

MEMORY = """
import sys
import tensorflow.compat.v1 as tf
from tf_frame.runs.evaluation.evaluator import Evaluator
from tf_frame.config.run_options import RunOptions
from tf_frame.plugin import InputInfo
from tf_frame.testing.toy import ToyInput, ToyModel

evaluator = Evaluator(
    model=ToyModel(params=ToyModel.Params(), info=InputInfo()),
    source=ToyInput(params=ToyInput.Params()),
    config=RunOptions(eval_batch_size=2),
    steps=None,
)
for count in range(1, 51):
    evaluator.evaluate(sys.argv[1])
    if count in (5, 50):
        print(open("/proc/self/statm").read().split()[1])
"""


@pytest.mark.slow
@pytest.mark.process
def test_fifty_evaluations_take_no_more_memory_than_five(save):
    done = forked.succeed([sys.executable, "-c", MEMORY, save(1)])
    after_five, after_fifty = map(int, done.stdout.split())
    assert after_fifty < 1.02 * after_five


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

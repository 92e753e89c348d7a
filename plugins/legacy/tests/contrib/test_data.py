"""`parallel_interleave` keeps its order where a program has to resume exactly."""

import contextlib

import pytest
import tensorflow.compat.v1 as tf

from tf_frame.session.interrupts import Interrupts
from tf_frame_legacy.contrib import data
from tf_frame_legacy.program.watch.options import Watch, WatchOptions, activated


def interleave(**options):
    """Whether the order of an interleaved data set is fixed, as its operation says."""
    transformation = data.parallel_interleave(
        lambda x: tf.data.Dataset.from_tensors(x).repeat(2), cycle_length=2, **options
    )
    dataset = tf.data.Dataset.range(4).apply(transformation)
    return dataset._variant_tensor.op.get_attr("deterministic") == b"true"


@pytest.mark.usefixtures("graph")
def test_sloppy_gives_way_to_an_exact_resume():
    assert interleave()
    assert not interleave(sloppy=True)
    options = WatchOptions(exact_resume=True)
    with activated(Watch(options, Interrupts(), contextlib.nullcontext)):
        assert interleave(sloppy=True)

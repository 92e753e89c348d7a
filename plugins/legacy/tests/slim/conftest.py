import pytest
import tensorflow.compat.v1 as tf

from sessions import initialized_session
from tf_frame_legacy.slim.queues import QueueRunners


@pytest.fixture(autouse=True)
def graph():
    """A graph of its own for each test."""
    with tf.Graph().as_default():
        yield


def read_all(tensors):
    """Values of all runs until the queue closes."""
    seen = []
    with (
        initialized_session() as session,
        QueueRunners(session),
        pytest.raises(tf.errors.OutOfRangeError),
    ):
        while True:
            seen.append(session.run(tensors))
    return seen

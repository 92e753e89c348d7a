import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from sessions import save_variables
from tf_frame.runs.warm_start.apply import add_warm_start
from tf_frame.runs.warm_start.settings import as_settings

W = np.arange(8, dtype=np.float32).reshape(4, 2)
B = np.array([7.0, 8.0, 9.0], np.float32)


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


@pytest.fixture
def save(tmp_path):
    """Saves variables, and `global_step` 5, into `tmp_path / "old"`; returns that folder."""

    def save(**values):
        values = {name.replace("__", "/"): value for name, value in values.items()}
        save_variables(tmp_path / "old" / "model.ckpt-5", {"global_step": np.int64(5), **values})
        return str(tmp_path / "old")

    return save


@pytest.fixture
def vocabulary(tmp_path):
    def write(name, *entries):
        file = tmp_path / f"{name}.txt"
        file.write_text("".join(f"{entry}\n" for entry in entries))
        return str(file)

    return write


def variable(name, shape, value=-1.0, **more):
    return tf.get_variable(name, shape, initializer=tf.constant_initializer(value), **more)


def started(settings, *, own=None, lines=None):
    """Values of all variables by name, as a session of a scaffold has them at first."""
    report = [].append if lines is None else lines.append
    scaffold = add_warm_start(None, as_settings(settings), own, report=report)
    creator = tf.train.ChiefSessionCreator(scaffold)
    with tf.train.MonitoredSession(creator) as session:
        return {v.op.name: session.run(v) for v in tf.global_variables()}


def message(settings, kind=ValueError):
    with pytest.raises(kind) as caught:
        add_warm_start(None, as_settings(settings), None, report=print)
    return str(caught.value)

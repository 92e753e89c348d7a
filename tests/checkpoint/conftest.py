from pathlib import Path

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from variable_modes import variable_mode_fixture

variable_mode = variable_mode_fixture()


@pytest.fixture
def save(tmp_path):
    """Saves checkpoints of the given steps into `tmp_path`; returns their path prefixes."""

    def save(*steps, sharded=False, **variables):
        with tf.Graph().as_default(), tf.Session() as session:
            step = tf.train.create_global_step()
            with tf.device("/device:CPU:0"):
                values = variables or {"weights": np.arange(64, dtype=np.float32)}
                for name, value in values.items():
                    tf.get_variable(name, initializer=tf.constant(value))
            saver = tf.train.Saver(sharded=sharded, save_relative_paths=True)
            session.run(tf.global_variables_initializer())
            return [write(saver, session, step, number) for number in steps]

    def write(saver, session, step, number):
        session.run(step.assign(number))
        return saver.save(session, str(tmp_path / "model.ckpt"), global_step=number)

    return save


@pytest.fixture
def write(tmp_path):
    """Writes arrays as a checkpoint of any name below `tmp_path`; returns its path prefix."""

    def write(prefix, values):
        path = str(tmp_path / prefix)
        with tf.Graph().as_default(), tf.Session() as session:
            arrays = {name: np.asarray(value) for name, value in values.items()}
            fed = {
                tf.placeholder(tf.string if a.dtype.kind in "OSU" else a.dtype, a.shape): a
                for a in arrays.values()
            }
            op = tf.raw_ops.SaveV2(
                prefix=path,
                tensor_names=list(arrays),
                shape_and_slices=[""] * len(arrays),
                tensors=list(fed),
            )
            session.run(op, fed)
        return path

    return write


@pytest.fixture
def corrupt():
    """Overwrites bytes in the data file, or cuts the index, of a checkpoint."""

    def corrupt(prefix, suffix=".data-00000-of-00001"):
        path = Path(prefix + suffix)
        content = path.read_bytes()
        path.write_bytes(bytes(byte ^ 0xFF for byte in content[:16]) + content[16:])

    return corrupt

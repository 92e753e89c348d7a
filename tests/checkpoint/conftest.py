import numpy as np
import pytest
import tensorflow.compat.v1 as tf


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

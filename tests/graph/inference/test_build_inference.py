"""Models built to be evaluated, to predict and to be exported."""

from pathlib import Path

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from sessions import save_variables
from tf_frame import Mode, ModelOutput
from tf_frame.config.run_options import RunOptions
from tf_frame.errors import CheckpointError
from tf_frame.graph.inference.build_inference import build_inference, restore_session


class Scale:
    def __init__(self, name="w", scaffold=None):
        self.name, self.scaffold = name, scaffold

    def build(self, features, labels, mode):
        weight = tf.get_variable(self.name, [2])
        return ModelOutput(predictions={"out": features * weight}, scaffold=self.scaffold)


@pytest.fixture
def checkpoint(tmp_path, variable_mode):
    values = {"w": [2.0, 3.0], "w/ExponentialMovingAverage": [20.0, 30.0]}
    step = np.int64(7)
    return save_variables(tmp_path / "model.ckpt", {**values, "global_step": step}, global_step=7)


NO_AVERAGES = {"moving_average_decay": 0.0}


def out(checkpoint, model=None, **options):
    with tf.Graph().as_default():
        inference = build_inference(
            model=model or Scale(),
            features=tf.constant([1.0, 1.0]),
            labels=None,
            mode=Mode.PREDICT,
            config=RunOptions(**options),
        )
        with restore_session(inference, checkpoint) as session:
            found = session.run([inference.output.predictions["out"], tf.train.get_global_step()])
        assert tf.get_default_graph().finalized
    return found


def test_variables_or_averages_come_from_the_checkpoint(checkpoint):
    values, step = out(checkpoint)
    np.testing.assert_array_equal(values, [2, 3])
    assert step == 7
    np.testing.assert_array_equal(out(checkpoint, moving_average_decay=0.9)[0], [20, 30])
    for options in ({"moving_average_decay": 0.9, "eval_moving_averages": False}, NO_AVERAGES):
        np.testing.assert_array_equal(out(checkpoint, **options)[0], [2, 3])


def test_checkpoints_of_another_model_or_without_averages_are_refused(checkpoint, tmp_path):
    with pytest.raises(CheckpointError, match=r"another model: 1 variables differ\s+other"):
        out(checkpoint, Scale("other"))
    path = save_variables(tmp_path / "model.ckpt", {"w": [2.0, 3.0], "global_step": np.int64(0)})
    with pytest.raises(CheckpointError, match="holds no moving averages"):
        out(path, moving_average_decay=0.9)
    np.testing.assert_array_equal(out(path, **NO_AVERAGES)[0], [2, 3])


def test_local_variables_and_missing_devices(checkpoint):
    class Counting(Scale):
        def build(self, features, labels, mode):
            counter = tf.get_variable(
                "counter", initializer=1.0, trainable=False, collections=["local_variables"]
            )
            output = super().build(features * counter, labels, mode)
            own = tf.train.Scaffold(local_init_op=counter.assign(5.0).op)
            return ModelOutput(predictions=output.predictions, scaffold=own)

    np.testing.assert_array_equal(out(checkpoint, Counting())[0], [10, 15])

    class Placed(Scale):
        def build(self, features, labels, mode):
            with tf.device("/device:GPU:7"):
                return super().build(features + 1.0, labels, mode)

    np.testing.assert_array_equal(out(checkpoint, Placed())[0], [4, 6])


@pytest.mark.parametrize("part", [".index", ".data-00000-of-00001"])
def test_a_damaged_checkpoint_is_an_error_in_plain_words(checkpoint, part):
    file = Path(checkpoint + part)
    file.write_bytes(file.read_bytes()[:3])
    with pytest.raises(CheckpointError, match=r"model.ckpt-7 cannot be read: \S+"):
        out(checkpoint)


def test_a_table_that_cannot_be_filled_is_no_fault_of_the_checkpoint(checkpoint, tmp_path):
    class Named(Scale):
        def build(self, features, labels, mode):
            names = tf.lookup.TextFileInitializer(
                str(tmp_path / "names"), tf.string, 0, tf.int64, 1, delimiter=","
            )
            tf.lookup.StaticHashTable(names, -1)
            return super().build(features, labels, mode)

    with pytest.raises(tf.errors.NotFoundError, match="names; No such file"):
        out(checkpoint, Named())

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from sessions import save_variables
from tf_frame import InputInfo, Mode, Model, ModelOutput
from tf_frame.config.run_options import RunOptions
from tf_frame.estimator.input_fn import InputFn
from tf_frame.runs.prediction.predictions import predictions

ROWS = np.arange(15, dtype=np.float32).reshape(5, 3)

WEIGHTS = np.array([[1.0], [10.0], [100.0]], np.float32)


SUMS = ROWS @ WEIGHTS


class Sums(Model):
    """Weighted sums of `[batch, 3]` features under `x`; also the row's first number."""

    def __init__(self, **changes):
        super().__init__(params=None, info=InputInfo())
        self.changes = changes

    def build(self, features, labels, mode):
        assert (labels, mode) == (None, Mode.PREDICT)
        weights = tf.get_variable("weights", [3, 1], initializer=tf.ones_initializer())
        outputs = {"sum": tf.matmul(features["x"], weights), "first": features["x"][:, 0]}
        return ModelOutput(**{"predictions": outputs, **self.changes})


def rows(**extra):
    return tf.data.Dataset.from_tensor_slices({"x": ROWS, **extra})


def predicted(
    model=None, make=lambda: rows().batch(2), source=None, checkpoint=None, config=None, **arguments
):
    """Predicts with an adapter of an input function, as `Estimator.predict` does, or an input."""
    return predictions(
        model=model or Sums(),
        source=source or InputFn(make, params=None, config=None),
        config=RunOptions(**{"eval_batch_size": 2, **(config or {})}),
        checkpoint=checkpoint,
        **arguments,
    )


@pytest.fixture
def save(tmp_path):
    """Saves variables and the global step; returns the path."""

    def save(**values):
        return save_variables(tmp_path / "model.ckpt-7", {"global_step": np.int64(7), **values})

    return save


@pytest.fixture
def checkpoint(save):
    return save(weights=WEIGHTS)

import pytest
import tensorflow.compat.v1 as tf

from tf_frame import ModelOutput
from tf_frame.errors import TfFrameError

from ..conftest import Classifier


class Loop(Classifier):
    def build(self, features, labels, mode):
        values = super().build(features, labels, mode).predictions["logits"]
        count = tf.cast(tf.reduce_sum(values), tf.int32)
        found = tf.while_loop(lambda n, _: n < count, lambda n, x: (n + 1, x * 0.5), [0, values])
        return ModelOutput(predictions={"value": found[1]})


def test_a_loop_is_refused(export, tmp_path):
    with pytest.raises(TfFrameError, match="the model has a loop, while.*; take --format tflite"):
        export("tflite_int8", model=Loop)
    assert not (tmp_path / "out").exists()

import functools

import pytest
import tensorflow.compat.v1 as tf

from tf_frame_legacy.estimator import experimental

pytestmark = pytest.mark.usefixtures("graph")


def test_a_logit_function_gets_the_arguments_that_it_has():
    def logit_fn(features, mode, params, scale=1.0):
        assert (mode, params) == ("train", {"units": 2})
        return features["x"] * scale

    x = tf.constant([1.0])
    double = functools.partial(logit_fn, scale=2.0)
    logits = experimental.call_logit_fn(double, {"x": x}, "train", {"units": 2}, None)
    with tf.Session() as session:
        assert session.run(logits) == [2.0]
    named = experimental.call_logit_fn(lambda features: features, {"head": x}, "train", None, None)
    assert named == {"head": x}


@pytest.mark.parametrize("logits", [1.0, {"head": 1.0}, [tf.float32]])
def test_other_results_are_refused(logits):
    with pytest.raises(ValueError, match="logit_fn should return a Tensor or a dictionary mapping"):
        experimental.call_logit_fn(lambda features: logits, {}, "train", None, None)

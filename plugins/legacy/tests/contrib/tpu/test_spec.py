"""TPUEstimatorSpec and CrossShardOptimizer without an estimator."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf
from tensorflow.python.ops import summary_ops_v2

from tf_frame_legacy import estimator as tf_estimator
from tf_frame_legacy.contrib import tpu


def two_tensors(labels, logits):
    return {"accuracy": tf.metrics.accuracy(labels, logits)}


@pytest.mark.parametrize(
    "call, error, message",
    [
        (two_tensors, ValueError, "eval_metrics should be tuple or list"),
        ((two_tensors,), ValueError, "eval_metrics should have two elements"),
        ((1, []), TypeError, r"eval_metrics\[0\] should be callable"),
        ((two_tensors, 1), ValueError, r"eval_metrics\[1\] should be tuple or list, or dict"),
        ((two_tensors, [1]), RuntimeError, "length of tensors 1 does not match"),
    ],
)
def test_wrong_calls(call, error, message):
    with pytest.raises(error, match=message):
        tpu.TPUEstimatorSpec("eval", eval_metrics=call)


def test_fields_of_the_estimator_spec(graph):
    hooks = [tf.train.SessionRunHook() for _ in range(3)]
    one = tf.constant(1.0)
    spec = tpu.TPUEstimatorSpec(
        "eval",
        {"one": one},
        one,
        eval_metrics=(two_tensors, [one, one]),
        host_call=(lambda *tensors: [tf.add_n(tensors)], [one, one]),
        training_hooks=hooks[:1],
        evaluation_hooks=hooks[1:2],
        prediction_hooks=hooks[2:],
    ).as_estimator_spec()
    assert isinstance(spec, tf_estimator.EstimatorSpec)
    assert (spec.loss, spec.predictions, list(spec.eval_metric_ops)) == (
        one,
        {"one": one},
        ["accuracy"],
    )
    (host_call,) = spec.training_hooks[1:]
    assert spec.training_hooks[0] is hooks[0]
    assert spec.evaluation_hooks == (hooks[1], host_call)
    assert spec.prediction_hooks == (hooks[2], host_call)
    with tf.train.MonitoredSession(hooks=[host_call]) as session:
        session.run(one)
    with pytest.raises(TypeError, match="All hooks must be SessionRunHook"):
        tpu.TPUEstimatorSpec("eval", loss=one, training_hooks=[1])


def test_a_host_call_writes_summaries(graph, tmp_path):
    step = tf.train.get_or_create_global_step()

    def host_fn(step, loss):
        with (
            summary_ops_v2.create_file_writer(str(tmp_path)).as_default(),
            summary_ops_v2.always_record_summaries(),
        ):
            summary_ops_v2.scalar("loss", loss[0], step=step[0])
            return summary_ops_v2.all_v2_summary_ops()

    loss = tf.constant(2.5)
    call = (host_fn, [tf.reshape(step, [1]), tf.reshape(loss, [1])])
    spec = tpu.TPUEstimatorSpec("eval", loss=loss, host_call=call).as_estimator_spec()
    advance = tf.assign_add(step, 1)
    with tf.train.MonitoredSession(hooks=spec.evaluation_hooks) as session:
        for _ in range(3):
            session.run(advance)
    (path,) = tmp_path.iterdir()
    written = [
        tf.make_ndarray(value.tensor) if value.HasField("tensor") else value.simple_value
        for event in tf.train.summary_iterator(str(path))
        for value in event.summary.value
        if value.tag == "loss"
    ]
    np.testing.assert_allclose(written, [2.5] * 3)


def test_the_optimizer_is_the_one_that_it_wraps(graph, variable_mode):
    weight = tf.get_variable("weight", [], initializer=tf.ones_initializer())
    momentum = tf.train.MomentumOptimizer(0.1, 0.9)
    optimizer = tpu.CrossShardOptimizer(momentum)
    step = optimizer.minimize(3.0 * weight)
    assert optimizer.get_slot(weight, "momentum") is momentum.get_slot(weight, "momentum")
    assert optimizer.get_slot_names() == ["momentum"]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(step)
        assert session.run(weight) == pytest.approx(0.7)
    with pytest.raises(ValueError, match="reduction"):
        tpu.CrossShardOptimizer(momentum, "none")

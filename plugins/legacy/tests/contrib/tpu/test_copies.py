"""A program with a TPUEstimator of its own, a subclass that overrides private methods."""

import sys

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame.errors import ConfigError
from tf_frame_legacy import estimator as tf_estimator
from tf_frame_legacy.contrib import tpu
from tf_frame_legacy.contrib.tpu import context, errors, session_support, util

X = np.array([[1.0], [2.0], [3.0], [4.0]], np.float32)


class TPUEstimatorSpec(tpu.TPUEstimatorSpec):
    def __new__(cls, mode, **arguments):
        return super().__new__(cls, mode=mode, **arguments)


class TPUEstimator(tf_estimator.Estimator):
    """Overrides what the copies in XLNet and Transformer-XL override, for a CPU."""

    def __init__(self, model_fn, config, params, use_tpu=False, **batch_sizes):
        self.calls = []
        super().__init__(
            model_fn=self._augment(model_fn), config=config, params=params, warm_start_from=None
        )
        self._ctx = context.InternalTPUContext(
            self._config, batch_sizes["train"], batch_sizes["eval"], None, use_tpu
        )

    def _augment(self, model_fn):
        def augmented(features, labels, mode, config, params):
            with self._ctx.with_mode(mode) as ctx:
                params["batch_size"] = ctx.batch_size_for_model_fn
                self.calls.append((mode, ctx.is_running_on_cpu(), params["batch_size"]))
                return model_fn(features, labels, mode, params).as_estimator_spec()

        return augmented

    def _call_input_fn(self, input_fn, mode):
        with self._ctx.with_mode(mode) as ctx:
            return input_fn({**self.params, "batch_size": ctx.batch_size_for_input_fn})

    def _call_model_fn(self, features, labels, mode, config):
        self.calls.append("model")
        return super()._call_model_fn(features, labels, mode, config)

    def _convert_train_steps_to_hooks(self, steps, max_steps):
        raise AssertionError("only a TPU counts steps in a hook")

    def train(self, input_fn, max_steps):
        rendezvous = errors.ErrorRendezvous(num_sources=3)
        try:
            return super().train(input_fn=input_fn, max_steps=max_steps)
        except Exception:  # `raise_errors` raises it again.
            rendezvous.record_error("training_loop", sys.exc_info())
        finally:
            rendezvous.record_done("training_loop")
            rendezvous.raise_errors()


def input_fn(params):
    data = tf.data.Dataset.from_tensor_slices((X, 2 * X)).repeat(params["passes"])
    return data.batch(params["batch_size"])


def model_fn(features, labels, mode, params):
    weight = tf.get_variable("weight", [1], initializer=tf.ones_initializer())
    loss = tf.reduce_mean(tf.square(features * weight - labels))
    step = tf.train.get_global_step()
    spec = TPUEstimatorSpec(
        mode,
        loss=loss,
        train_op=tf.train.GradientDescentOptimizer(0.01).minimize(loss, step),
        eval_metrics=(lambda loss: {"square": tf.metrics.mean(loss)}, [tf.reshape(loss, [1])]),
    )
    spec.cache = [labels]  # These programs give attributes to a spec.
    return spec


def make(folder, **arguments):
    config = tpu.RunConfig(model_dir=str(folder / "model"), save_checkpoints_steps=2)
    given = {"config": config, "params": {"passes": 3}, "train": 2, "eval": 4}
    return TPUEstimator(model_fn, **{**given, **arguments})


def test_a_copy_trains_and_evaluates_by_its_own_methods(tmp_path):
    estimator = make(tmp_path)
    estimator.train(input_fn, max_steps=4)
    assert estimator.calls == ["model", ("train", True, 2)]
    weight = 1.0
    for x in (X[:2], X[2:], X[:2], X[2:]):
        weight -= 0.01 * np.mean(2 * x * (x * weight - 2 * x))
    assert estimator.get_variable_value("weight") == pytest.approx([weight], rel=1e-5)
    result = estimator.evaluate(input_fn, steps=1)
    assert estimator.calls[2:] == ["model", ("eval", True, 4)]
    assert result["square"] == pytest.approx(np.mean((X * weight - 2 * X) ** 2), rel=1e-5)
    make(tmp_path).train(input_fn, max_steps=6)
    assert estimator.get_variable_value("global_step") == 6


def test_an_error_in_the_loop_is_raised_as_it_is(tmp_path):
    def broken(params):
        raise KeyError("absent")

    with pytest.raises(KeyError, match="absent"):
        make(tmp_path).train(broken, max_steps=4)


def test_a_tpu_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="--use_tpu=False"):
        make(tmp_path, use_tpu=True)


def test_another_subclass_may_not_override(tmp_path):
    class Other(tf_estimator.Estimator):
        def train(self, input_fn):
            return self

    with pytest.raises(ValueError, match="cannot override members"):
        Other(model_fn, model_dir=str(tmp_path))


def test_the_context_of_a_mode(tmp_path):
    ctx = context.InternalTPUContext(tpu.RunConfig(), 2, 4, None, use_tpu=False)
    with pytest.raises(RuntimeError, match="with_mode"):
        _ = ctx.mode
    with ctx.with_mode("infer") as inner:
        assert (inner.mode, inner.global_batch_size, inner.num_replicas) == ("infer", None, 1)
        assert not inner.is_input_broadcast_with_iterators()
        assert context.TPUContext(inner).num_replicas == 1


def test_the_error_that_tells_most_is_raised():
    rendezvous = errors.ErrorRendezvous(2)
    for source, error in (
        ("infeed", tf.errors.CancelledError(None, None, "cancelled")),
        ("loop", ValueError("the cause")),
        ("worker", tf.errors.AbortedError(None, None, "a lost worker")),
    ):
        with rendezvous.catch_errors(source):
            raise error
    with pytest.raises(ValueError, match="the cause"):
        rendezvous.raise_errors(timeout_sec=1)
    calm = errors.ErrorRendezvous(1)
    calm.record_done("loop")
    calm.raise_errors()


def test_numbers_of_steps_and_times():
    util.check_positive_integer(3, "steps")
    with pytest.raises(TypeError, match="steps must be int"):
        util.check_positive_integer("3", "steps")
    with pytest.raises(ValueError, match="steps must be positive"):
        util.check_positive_integer(0, "steps")
    parsed = {text: util.parse_iterations_per_loop(text) for text in (5, "5", "60s", "2m", "1h")}
    assert [tuple(each) for each in parsed.values()] == [
        (5, "count"),
        (5, "count"),
        (60, "seconds"),
        (120, "seconds"),
        (3600, "seconds"),
    ]
    with pytest.raises(ValueError, match="iterations_per_loop"):
        util.parse_iterations_per_loop("0s")


def test_hooks_of_workers_do_nothing():
    hook = session_support.GracefulShutdownHook(
        "model.ckpt", on_shutdown_hooks=[session_support.ShutdownLameWorkers(timeout_ms=1)]
    )
    assert isinstance(hook, tf.train.SessionRunHook)
    session_support.RestartComputation()(None)
    session_support.start_worker_watchdog(None)

"""The report of a real profile names a planted cause of slow steps first, and none without one."""

import dataclasses
import json
import time

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from slow_cases import slow
from tf_frame import Model, ModelOutput
from tf_frame.cli.profile import show
from tf_frame.hooks.base import Hook
from tf_frame.hooks.cadence import Cadence
from tf_frame.testing.toy import ToyInput, make_setup, run_setup

SECS = 0.1
STEPS = 5
TWO, SUMMARIES = {"num_clones": 2}, {"save_summaries_steps": 1}


class Dense(Model):
    """Some layers of matrix products: steps of several milliseconds."""

    @dataclasses.dataclass(frozen=True)
    class Params:
        """No options."""

    default_input = "toy"

    def build(self, features, labels, mode):
        net = tf.matmul(features, variable("widen", [3, 512]))
        for layer in range(3):
            net = tf.nn.relu(tf.matmul(net, variable(f"dense_{layer}", [512, 512])))
        net = self.plant(net)
        predictions = tf.matmul(net, variable("narrow", [512, 1]))
        if labels is None:
            return ModelOutput(predictions={"value": predictions})
        loss = tf.reduce_mean(tf.abs(predictions - labels))
        return ModelOutput(loss=loss, predictions={"value": predictions}, hooks=self.hooks())

    def plant(self, net):
        return net

    def hooks(self):
        return ()


def variable(name, shape):
    return tf.get_variable(name, shape, initializer=tf.glorot_uniform_initializer())


def delay(value):
    """Returns its argument late."""
    time.sleep(SECS)
    return value


def python_function(function, value):
    """Returns an operation without gradient that calls `function`."""
    result = tf.numpy_function(function, [tf.stop_gradient(value)], tf.float32)
    result.set_shape(value.shape)
    return result


class SlowInput(ToyInput):
    """Sleeps twice for each batch, so that it takes longer than a step on a busy machine."""

    def dataset(self, mode, context):
        def slow_batch(features, labels):
            return python_function(delay, python_function(delay, features)), labels

        return super().dataset(mode, context).map(slow_batch)


class SleepingHook(Hook):
    """Sleeps after each step."""

    def __init__(self):
        super().__init__(Cadence(every_steps=1))

    def after_step(self, run_context, run_values, step):
        time.sleep(SECS)


class WithSleepingHook(Dense):
    def hooks(self):
        return [SleepingHook()]


class WithPythonFunction(Dense):
    def plant(self, net):
        return net + 0.0 * python_function(delay, net)


class WithLargeSort(Dense):
    """Sorts half a million numbers."""

    def plant(self, net):
        values = tf.tile(tf.reshape(tf.stop_gradient(net), [-1]), [4])
        return net + 0.0 * tf.reduce_mean(tf.math.top_k(values, k=2**19).values)


class WithOneHot(Dense):
    """A one-hot encoding of 200 MB."""

    def plant(self, net):
        classes = tf.argmax(net, axis=1)
        return net + 0.0 * tf.reduce_max(tf.one_hot(classes, 200_000, name="classes"))


class WithSlowClone(Dense):
    def plant(self, net):
        is_second = "clone_1" in tf.get_default_graph().get_name_scope()
        return net + 0.0 * python_function(delay if is_second else np.copy, net)


class WithLargeClone(Dense):
    """The second clone has many more layers."""

    def plant(self, net):
        if "clone_1" in tf.get_default_graph().get_name_scope():
            for _ in range(30):
                net = tf.tanh(tf.matmul(net, tf.eye(512)))
        return net


class WithSummaries(Dense):
    def plant(self, net):
        for name in range(4):
            tf.summary.histogram(f"activations_{name}", net)
        return net


@pytest.fixture
def profile(tmp_path, capsys):
    """Trains a model with default hooks, and profiles it; returns the report as JSON."""

    def profile(model=Dense, source=ToyInput, **options):
        setup = make_setup(
            model,
            source,
            str(tmp_path),
            values={"input.num_examples": 256},
            train_batch_size=256,
            max_steps=STEPS + 2,
            profile_at_step=(2,),
            profile_num_steps=STEPS + 1,  # The first one is not recorded.
            evaluate=False,
            allow_inexact_resume=True,  # A Python function in the input cannot be resumed.
            **options,
        )
        run_setup(setup, report=lambda line: None)
        capsys.readouterr()
        show.main([str(tmp_path), "--json"])
        return json.loads(capsys.readouterr().out)

    return profile


@pytest.mark.slow
def test_a_healthy_run_names_none(profile):
    report = profile()
    assert len(report["step"]["ms_of_steps"]) == STEPS
    assert report["hints"] == []


@pytest.mark.parametrize(
    ("cause", "subject", "planted"),
    [
        ("slow_input", "", {"source": SlowInput}),
        slow("slow_hook", "SleepingHook", {"model": WithSleepingHook}),
        slow("host_operation", "PyFunc", {"model": WithPythonFunction}),
        slow("host_operation", "TopKV2", {"model": WithLargeSort}),
        slow("memory_hog", "classes", {"model": WithOneHot}),
        slow("slow_clone", "clone_1", {"model": WithSlowClone, **TWO}),
        slow("slow_clone", "clone_1", {"model": WithLargeClone, **TWO}),
        slow("summaries_every_step", "SummaryHook", {"model": WithSummaries, **SUMMARIES}),
    ],
)
def test_a_planted_cause_is_named_first(profile, cause, subject, planted):
    first = profile(**planted)["hints"][0]
    assert (first["cause"], first["subject"]) == (cause, subject)

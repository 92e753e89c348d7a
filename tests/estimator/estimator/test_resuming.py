import json

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame import Estimator, EstimatorSpec, RunConfig
from tf_frame.runs.setup.model_dir import completed_step
from tf_frame.runs.setup.run_context import RunObserver
from tf_frame.runs.training.training import Trained, Training
from tf_frame.session.interrupts import Interrupts
from tf_frame.testing.toy import ToyModel

from .conftest import INPUT, counted, input_fn, model_fn


def rows_seen(seen):
    """A hook that notes the first feature of every batch."""

    class Hook(tf.train.SessionRunHook):
        def before_run(self, run_context):
            return tf.train.SessionRunArgs(tf.get_default_graph().get_tensor_by_name("first:0"))

        def after_run(self, run_context, run_values):
            seen.append(int(run_values.results))

    return Hook()


def numbered(features, labels, mode):
    """Learns nothing of a count; its tensor `first` is the first of a batch."""
    tf.identity(features[0], name="first")
    weight = tf.get_variable("w", [])
    return EstimatorSpec(mode, loss=weight * 0 + tf.cast(features[0], tf.float32))


@pytest.mark.slow
def test_each_training_reads_an_input_function_from_its_beginning(tmp_path):
    estimator, seen = Estimator(numbered, model_dir=tmp_path), []
    for steps in (3, 2, None, None):
        estimator.train(counted, steps=steps, hooks=[rows_seen(seen)])
    assert seen == [0, 2, 4, 0, 2, 0, 2, 4, 6, 0, 2, 4, 6]
    assert estimator.get_variable_value("global_step") == 13


@pytest.mark.slow
def test_after_a_training_that_died_the_input_goes_on(tmp_path):
    class Dies(tf.train.SessionRunHook):
        def __init__(self):
            self.runs = 0

        def after_run(self, run_context, run_values):
            self.runs += 1
            if self.runs == 3:
                raise RuntimeError("died")

    config, seen = RunConfig(save_checkpoints_steps=1), []
    estimator = Estimator(numbered, model_dir=tmp_path, config=config)
    estimator.train(counted, steps=1)
    with pytest.raises(RuntimeError, match="died"):
        estimator.train(counted, hooks=[Dies()])
    Estimator(numbered, model_dir=tmp_path).train(counted, hooks=[rows_seen(seen)])
    assert seen == [4, 6]


def shuffled():
    return tf.data.Dataset.range(8).shuffle(8).map(lambda n: (n, n)).batch(1)


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "same"), [(None, False), (3, True)])
def test_each_training_shuffles_anew_unless_it_was_given_a_seed(tmp_path, seed, same):
    orders = []
    estimator = Estimator(numbered, model_dir=tmp_path, config=RunConfig(tf_random_seed=seed))
    for _ in range(2):
        orders.append([])
        estimator.train(shuffled, hooks=[rows_seen(orders[-1])])
    assert sorted(orders[0]) == sorted(orders[1]) == list(range(8))
    assert (orders[0] == orders[1]) == same


@pytest.mark.slow
def test_an_input_of_tf_frame_goes_on_where_it_was(tmp_path):
    config = RunConfig(options={"train_batch_size": 8})
    whole = Estimator(ToyModel, model_dir=tmp_path / "whole", config=config)
    parts = Estimator(ToyModel, model_dir=tmp_path / "parts", config=config)
    whole.train(INPUT, max_steps=10)
    for _ in range(2):
        parts.train(INPUT, steps=5)
    for name in ("linear/weights", "linear/weights/Momentum"):
        np.testing.assert_array_equal(
            parts.get_variable_value(name), whole.get_variable_value(name)
        )


@pytest.mark.slow
def test_the_end_of_a_training_by_an_input_of_tf_frame_is_not_noted(tmp_path):
    Estimator(ToyModel, model_dir=tmp_path).train(INPUT, steps=1)
    assert completed_step(str(tmp_path)) is None
    Estimator(model_fn, model_dir=tmp_path / "function").train(input_fn, steps=1)
    assert completed_step(str(tmp_path / "function")) == 1


def test_only_the_chief_notes_the_end(tmp_path, monkeypatch):
    cluster = {"chief": ["a:1"], "worker": ["b:1"], "ps": ["c:1"]}
    for task, noted in [("worker", None), ("chief", 3)]:
        tf_config = {"cluster": cluster, "task": {"type": task, "index": 0}}
        monkeypatch.setenv("TF_CONFIG", json.dumps(tf_config))
        estimator = Estimator(model_fn, model_dir=tmp_path)
        monkeypatch.setattr(Training, "run", lambda self: Trained(3, 0.5, None, None))
        estimator.train(input_fn)
        assert completed_step(str(tmp_path)) == noted


def test_a_training_that_a_signal_ended_goes_on_in_its_input(tmp_path):
    interrupts, seen = Interrupts(), []

    class Signal(tf.train.SessionRunHook):
        def after_run(self, run_context, run_values):
            interrupts.received = 15

    stopped = Estimator(numbered, model_dir=tmp_path, observer=RunObserver(interrupts=interrupts))
    stopped.train(counted, hooks=[Signal()])
    Estimator(numbered, model_dir=tmp_path).train(counted, hooks=[rows_seen(seen)])
    assert seen == [2, 4, 6]

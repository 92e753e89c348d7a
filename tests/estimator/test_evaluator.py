"""Evaluations in one graph and one session."""

import dataclasses
import logging

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame import ModelOutput
from tf_frame.config.run_options import RunOptions
from tf_frame.errors import CheckpointError, DataError
from tf_frame.estimator.evaluator import Evaluator
from tf_frame.plugin import InputInfo, Mode
from tf_frame.testing.toy import WEIGHTS, ToyInput, ToyModel


@pytest.fixture
def save(tmp_path):
    """Saves the toy model with the right weights and an offset of its biases, at a step."""

    def save(step, offset=0.0, folder="run", **others):
        with tf.Graph().as_default(), tf.Session() as session:
            tf.get_variable("linear/weights", initializer=WEIGHTS)
            tf.get_variable("linear/biases", initializer=np.array([3 + offset], np.float32))
            for name, value in others.items():
                tf.get_variable(name, initializer=np.float32(value))
            tf.get_variable(
                "global_step", initializer=np.int64(step), trainable=False, use_resource=True
            )
            session.run(tf.global_variables_initializer())
            path = str(tmp_path / folder / "model.ckpt")
            return tf.train.Saver().save(session, path, global_step=step)

    return save


class Counted:
    """Counts how often a plugin is asked for its part of a graph."""

    def __init__(self, plugin):
        self.plugin, self.calls = plugin, 0

    def __getattr__(self, name):
        return getattr(self.plugin, name)

    def dataset(self, mode, context):
        self.calls += 1
        return self.plugin.dataset(mode, context)

    def build(self, features, labels, mode):
        self.calls += 1
        self.graph = tf.get_default_graph()
        return self.plugin.build(features, labels, mode)


def toy(model=ToyModel, source=ToyInput, steps=None, num_examples=13, **options):
    """An evaluator of batches of 5, whose model and source are counted."""
    config = RunOptions(eval_batch_size=5, **options)
    params = ToyInput.Params(num_examples=num_examples)
    evaluator = Evaluator(
        model=Counted(model(params=ToyModel.Params(), info=InputInfo())),
        source=Counted(source(params=params)),
        config=config,
        steps=steps,
    )
    return evaluator


def test_checkpoints_are_evaluated_one_after_the_other_in_one_graph(save, variable_mode):
    evaluator = toy()
    graphs = []
    for step, offset in [(1, 0.5), (2, -2.0), (3, 1.0), (2, -2.0)]:
        evaluated = evaluator.evaluate(save(step, offset))
        assert evaluated.global_step == step
        assert evaluated.metrics["mean_absolute_error"] == pytest.approx(abs(offset), abs=1e-5)
        assert evaluated.metrics["loss"] == pytest.approx(offset**2, abs=1e-5)
        graph = evaluator._model.graph
        graphs.append((graph, len(graph.get_operations())))
    assert len(set(graphs)) == 1
    assert evaluator._model.calls == evaluator._source.calls == 1

"""Transforms see the gradients of the loss itself, and run in the order given."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame.config.run_options import RunOptions
from tf_frame.gradient_transforms.clip_by_norm import ClipByNorm
from tf_frame.gradient_transforms.multiply import Multiply
from tf_frame.testing.toy import build_toy_graph


def clip(norm):
    return ClipByNorm(params=ClipByNorm.Params(norm=norm))


def double():
    return Multiply(params=Multiply.Params(factors=(".*=2",)))


def step_taken(transforms, **options):
    """How far one step of SGD, with a learning rate of 1, goes from weights of zero."""
    config = RunOptions(train_batch_size=8, learning_rate=1.0, **options)
    train_graph = build_toy_graph(config, optimizer="sgd", transforms=transforms)
    with train_graph.graph.as_default(), tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        session.run(train_graph.train_op)
        (weights,) = [v for v in tf.trainable_variables() if v.op.name == "linear/weights"]
        return np.linalg.norm(session.run(weights))


@pytest.mark.usefixtures("variable_mode")
def test_clip_and_multiply_do_not_commute():
    assert step_taken([double(), clip(0.5)]) == pytest.approx(0.5, rel=1e-5)
    assert step_taken([clip(0.5), double()]) == pytest.approx(1.0, rel=1e-5)


@pytest.mark.parametrize("options", [{"loss_scale": 64.0}, {"mixed_precision": "float16"}])
def test_the_loss_scale_is_undone_before_the_gradients_are_clipped(options):
    # Without the rewrite of its session, a graph for float16 computes in float32.
    assert step_taken([clip(0.5)], **options) == pytest.approx(0.5, rel=1e-5)

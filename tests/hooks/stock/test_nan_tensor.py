import logging

import pytest
import tensorflow.compat.v1 as tf

from tf_frame.hooks.base import Phase
from tf_frame.hooks.stock.nan_tensor import NanTensorHook, scalar


def test_the_step_with_a_nan_loss_ends_training_in_an_error(build, train):
    graph, steps = build(nan_at_step=2), []
    with pytest.raises(tf.train.NanLossDuringTrainingError, match="^NaN loss during training.$"):
        train(graph, [NanTensorHook(graph.train_op)], to=9, each=lambda _: steps.append(1))
    assert len(steps) == 2


def test_or_in_a_stop(build, train, caplog):
    graph = build(nan_at_step=2)
    with caplog.at_level(logging.WARNING, logger="tensorflow"):
        assert train(graph, [NanTensorHook(graph.train_op, fail_on_nan_loss=False)], to=9) == 3
    assert "Model diverged with loss = NaN." in caplog.text


def test_an_infinite_loss_passes(build, train):
    graph = build()
    with graph.graph.as_default():
        loss = graph.train_op / 0.0
    assert train(graph, [NanTensorHook(loss)], to=3) == 3


@pytest.mark.parametrize("make", [lambda loss: tf.reshape(loss, [1]), lambda loss: loss.name])
def test_a_loss_of_one_number_or_its_name_will_do(build, train, make):
    graph = build(nan_at_step=1)
    with graph.graph.as_default():
        hook = NanTensorHook(make(graph.train_op))
        with pytest.raises(tf.train.NanLossDuringTrainingError):
            train(graph, [hook], to=4)


def test_it_watches_the_tensor_itself_and_wants_no_step(build):
    graph = build()
    hook = NanTensorHook(graph.train_op)
    assert hook.watched is graph.train_op
    assert not hook.cadence
    assert hook.phase == Phase.CHECK


def test_a_scalar_stays_what_it_is():
    with tf.Graph().as_default():
        one = tf.constant(1.0)
        assert scalar(one) is one
        assert scalar(tf.ones([1, 1])).shape.as_list() == []
        with pytest.raises(ValueError, match="reshape a tensor with 2 elements"):
            scalar(tf.ones([2]))

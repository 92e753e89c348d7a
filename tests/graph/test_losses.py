"""The worked example: data losses w.x with x = [1, 1] and [3, 5], penalty 10 sum(w), w = [1, 2].

With slim's model_deploy the total is (3 + 13) / 2 + 30 = 38 and the gradient [12, 13]; with the
towers of DeepLab they are 3 + 13 + 30 = 46 and [7, 8].
"""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from sessions import initialized_session
from tf_frame.config.run_options import RunOptions
from tf_frame.deploy.clones import create_clones
from tf_frame.deploy.deployment_config import DeploymentConfig
from tf_frame.deploy.placement import variables_placed
from tf_frame.errors import ConfigError, PluginError, TfFrameError
from tf_frame.graph.losses import gather_losses, loss_averages
from tf_frame.graph.update.gradients import clone_gradients, sum_gradients
from tf_frame.plugin import ModelOutput
from tf_frame.testing.toy import build_toy_graph


def example(inputs, *, collect=False, penalty=10.0, **options):
    """Losses and the gradient of `w`, with one clone per input."""
    rows = iter(inputs)

    def model_fn():
        w = tf.get_variable(
            "w",
            initializer=tf.constant([1.0, 2.0]),
            regularizer=lambda w: penalty * tf.reduce_sum(w) if penalty else None,
        )
        loss = tf.reduce_sum(w * next(rows))
        if collect:
            tf.add_to_collection(tf.GraphKeys.LOSSES, loss)
        return ModelOutput(loss=None if collect else loss)

    config = DeploymentConfig(num_clones=len(inputs), clone_on_cpu=True)
    with tf.Graph().as_default(), tf.Session() as session:
        clones = create_clones(config, model_fn)
        losses = gather_losses(clones, **options)
        optimizer = tf.train.GradientDescentOptimizer(1.0)
        ((gradient, _),) = sum_gradients(clone_gradients(clones, losses.per_clone, optimizer))
        session.run(tf.global_variables_initializer())
        return losses, session.run((losses.data, losses.total, gradient))


WORKED = [[1.0, 1.0], [3.0, 5.0]]


@pytest.mark.parametrize(
    ("options", "expected_data", "expected_total", "expected_gradient"),
    [
        # The default, of model_deploy, for losses that are returned or collected.
        ({}, 8.0, 38.0, [12.0, 13.0]),
        ({"collect": True}, 8.0, 38.0, [12.0, 13.0]),
        # The choices of older trainers.
        ({"regularization": "full", "total": "mean"}, 8.0, 38.0, [12.0, 13.0]),
        ({"regularization": "full", "total": "sum"}, 16.0, 46.0, [12.0, 13.0]),
        ({"regularization": "scaled", "total": "mean"}, 8.0, 38.0, [7.0, 8.0]),
        ({"regularization": "scaled", "total": "sum"}, 16.0, 46.0, [7.0, 8.0]),
        ({"regularization": "none", "total": "mean"}, 8.0, 8.0, [2.0, 3.0]),
        ({"regularization": "none", "total": "sum"}, 16.0, 16.0, [2.0, 3.0]),
    ],
)
def test_two_clones_combine_data_losses_and_penalty(
    options, expected_data, expected_total, expected_gradient
):
    _, (data, total, gradient) = example(WORKED, **options)
    assert (data, total) == pytest.approx((expected_data, expected_total))
    np.testing.assert_allclose(gradient, expected_gradient)


@pytest.mark.parametrize("regularization", ["full", "scaled"])
@pytest.mark.parametrize("total", ["mean", "sum"])
def test_one_clone_is_the_same_whatever_is_chosen(regularization, total):
    _, (_, reported, gradient) = example([[3.0, 5.0]], regularization=regularization, total=total)
    assert reported == pytest.approx(13.0 + 30.0)
    np.testing.assert_allclose(gradient, [13.0, 15.0])


def test_losses_of_a_scope():
    losses, (_, total, gradient) = example(WORKED, penalty=0.0)
    assert losses.regularization is None
    assert total == pytest.approx(8.0)
    np.testing.assert_allclose(gradient, [2.0, 3.0])
    rows = [[float(i), 0.0] for i in range(11)]
    losses, (_, total, gradient) = example(rows, collect=True, penalty=0.0)
    assert total == pytest.approx(5.0)
    np.testing.assert_allclose(gradient, [5.0, 0.0])
    assert [len(loss.op.inputs[0].op.inputs) for loss in losses.per_clone] == [1] * 11

    def model_fn():
        tf.add_to_collection(tf.GraphKeys.LOSSES, tf.ones([4, 2]))
        return ModelOutput()

    with tf.Graph().as_default():
        clones = create_clones(DeploymentConfig(), model_fn)
        with pytest.raises(PluginError, match=r"GraphKeys\.LOSSES has shape \(4, 2\)"):
            gather_losses(clones)


@pytest.mark.parametrize("option", ["regularization", "total"])
def test_a_choice_that_does_not_exist_is_refused_with_the_choices(option):
    with pytest.raises(ConfigError, match=rf"{option} of the losses is 'half'; use one of "):
        example(WORKED, **{option: "half"})


@pytest.mark.parametrize("num_clones", [1, 2])
def test_a_model_without_loss_is_told_how_to_add_one(num_clones):
    with tf.Graph().as_default():
        tf.add_to_collection(tf.GraphKeys.REGULARIZATION_LOSSES, tf.constant(1.0))
        clones = create_clones(DeploymentConfig(num_clones=num_clones), ModelOutput)
        with pytest.raises(TfFrameError, match=r"ModelOutput\(loss=\.\.\.\).*GraphKeys.LOSSES"):
            gather_losses(clones)


def test_losses_are_computed_in_the_scopes_and_on_the_devices_of_their_clones():
    def model_fn():
        tf.add_to_collection(tf.GraphKeys.LOSSES, tf.constant(1.0))
        return ModelOutput()

    with tf.Graph().as_default() as graph:
        tf.add_to_collection(tf.GraphKeys.REGULARIZATION_LOSSES, tf.constant(1.0))
        gather_losses(create_clones(DeploymentConfig(num_clones=2), model_fn))
        expected = {
            "clone_0/clone_loss": "/device:GPU:0",
            "clone_0/scaled_clone_loss": "/device:GPU:0",
            "clone_0/regularization_loss": "/device:GPU:0",
            "clone_1/clone_loss": "/device:GPU:1",
            "clone_1/scaled_clone_loss": "/device:GPU:1",
            "total_loss": "",
        }
        found = {name: graph.get_operation_by_name(name).device for name in expected}
    assert found == expected


def scalars(session, summaries, feed):
    """Tag -> value, in one run."""
    merged = tf.Summary.FromString(session.run(tf.summary.merge(summaries), feed))
    return {value.tag: value.simple_value for value in merged.value}


def test_raw_and_averaged_losses_are_written(variable_mode):
    with tf.Graph().as_default(), tf.Session() as session:
        data = tf.placeholder(tf.float32, [], name="data")
        total = tf.add(data, 10.0, name="total_loss")
        _, summaries = loss_averages({"losses/loss": data, "losses/total_loss": total}, decay=0.9)
        session.run(tf.local_variables_initializer())
        first = scalars(session, summaries, {data: 2.0})
        second = scalars(session, summaries, {data: 4.0})
    # The averages begin at 0 and are not corrected for it.
    expected = {"losses/loss (raw)": 2, "losses/loss": 0.2}
    assert first == pytest.approx(
        {**expected, "losses/total_loss (raw)": 12, "losses/total_loss": 1.2}
    )
    expected = {"losses/loss (raw)": 4, "losses/loss": 0.9 * 0.2 + 0.1 * 4}
    assert second == pytest.approx(
        {**expected, "losses/total_loss (raw)": 14, "losses/total_loss": 0.9 * 1.2 + 0.1 * 14}
    )


def test_the_averages_move_once_in_each_run_of_the_operation(variable_mode):
    with tf.Graph().as_default():
        loss = tf.constant(1.0, name="loss")
        moved, summaries = loss_averages({"loss": loss, "total": loss}, decay=0.5)
        with initialized_session() as session:
            session.run(moved)
            session.run(moved)
            values = scalars(session, summaries, {})
    assert values["loss"] == values["total"] == pytest.approx(0.5 + 0.25 + 0.125)


def test_place_and_names_of_averages_and_summaries():
    with tf.Graph().as_default():
        loss_averages({"losses/total_loss": tf.constant(1.0, name="total_loss")}, decay=0.9)
        assert [v.op.name for v in tf.local_variables()] == ["total_loss/avg"]
        assert not tf.global_variables() and not tf.trainable_variables()
    config = DeploymentConfig(num_ps_tasks=1, num_replicas=2)
    with tf.Graph().as_default(), variables_placed(config):
        loss_averages({"losses/total_loss": tf.constant(1.0, name="total_loss")}, decay=0.9)
        assert [v.device for v in tf.local_variables()] == [config.optimizer_device()]
    with tf.Graph().as_default():
        _, summaries = loss_averages({"a": tf.constant(1.0), "b": tf.constant(2.0)}, decay=0.9)
        assert len(summaries) == 4
        assert not tf.get_collection(tf.GraphKeys.SUMMARIES)


def test_the_averages_count_the_steps_between_two_summaries():
    config = RunOptions(train_batch_size=8, learning_rate=0.1, loss_average_decay=0.5)
    train_graph = build_toy_graph(config, optimizer="sgd", values={"model.l2": 0.1})
    with initialized_session(train_graph.graph) as session:
        losses = [session.run(train_graph.train_op) for _ in range(2)]
        last, summary = session.run((train_graph.train_op, train_graph.summary_op))
    values = {v.tag: v.simple_value for v in tf.Summary.FromString(summary).value}
    expected = losses[0] / 8 + losses[1] / 4 + last / 2
    assert values["losses/total_loss"] == pytest.approx(expected, rel=1e-5)
    assert values["losses/total_loss (raw)"] == pytest.approx(last, rel=1e-5)
    assert {"losses/loss", "losses/regularization_loss", "losses/loss (raw)"} <= values.keys()

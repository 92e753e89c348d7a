import pytest
import tensorflow.compat.v1 as tf

from tf_frame.config.run_options import RunOptions
from tf_frame.deploy.deployment_config import DeploymentConfig
from tf_frame.deploy.placement import variables_placed
from tf_frame.graph.update.loss_averages import loss_averages
from tf_frame.testing.toy import build_toy_graph


def scalars(session, summaries, feed):
    """Tag -> value, in one run."""
    merged = tf.Summary.FromString(session.run(tf.summary.merge(summaries), feed))
    return {value.tag: value.simple_value for value in merged.value}


def test_raw_and_averaged_losses_are_written(variable_mode):
    with tf.Graph().as_default(), tf.Session() as session:
        data = tf.placeholder(tf.float32, [], name="data")
        total = tf.add(data, 10.0, name="total_loss")
        _, summaries = loss_averages({"losses/data": data, "losses/total": total}, decay=0.9)
        session.run(tf.local_variables_initializer())
        first = scalars(session, summaries, {data: 2.0})
        second = scalars(session, summaries, {data: 4.0})
    # The averages begin at 0 and are not corrected for it.
    expected = {"losses/data (raw)": 2, "losses/data": 0.2}
    assert first == pytest.approx({**expected, "losses/total (raw)": 12, "losses/total": 1.2})
    expected = {"losses/data (raw)": 4, "losses/data": 0.9 * 0.2 + 0.1 * 4}
    assert second == pytest.approx(
        {**expected, "losses/total (raw)": 14, "losses/total": 0.9 * 1.2 + 0.1 * 14}
    )


def test_the_averages_move_once_in_each_run_of_the_operation(variable_mode):
    with tf.Graph().as_default(), tf.Session() as session:
        loss = tf.constant(1.0, name="loss")
        moved, summaries = loss_averages({"loss": loss, "total": loss}, decay=0.5)
        session.run(tf.local_variables_initializer())
        session.run(moved)
        session.run(moved)
        found = scalars(session, summaries, {})
    assert found["loss"] == found["total"] == pytest.approx(0.5 + 0.25 + 0.125)


def test_the_averages_are_local_and_named_after_the_losses():
    with tf.Graph().as_default():
        loss_averages({"losses/total": tf.constant(1.0, name="total_loss")}, decay=0.9)
        assert [v.op.name for v in tf.local_variables()] == ["total_loss/avg"]
        assert not tf.global_variables() and not tf.trainable_variables()


def test_the_averages_stay_with_the_worker():
    config = DeploymentConfig(num_ps_tasks=1, num_replicas=2)
    with tf.Graph().as_default(), variables_placed(config):
        loss_averages({"losses/total": tf.constant(1.0, name="total_loss")}, decay=0.9)
        assert [v.device for v in tf.local_variables()] == [config.optimizer_device()]


def test_the_summaries_are_in_no_collection():
    with tf.Graph().as_default():
        _, summaries = loss_averages({"a": tf.constant(1.0), "b": tf.constant(2.0)}, decay=0.9)
        assert len(summaries) == 4
        assert not tf.get_collection(tf.GraphKeys.SUMMARIES)


@pytest.mark.usefixtures("variable_mode")
def test_the_averages_count_the_steps_between_two_summaries():
    config = RunOptions(train_batch_size=8, learning_rate=0.1, loss_average_decay=0.5)
    train_graph = build_toy_graph(config, optimizer="sgd")
    with train_graph.graph.as_default(), tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        session.run(tf.tables_initializer())
        losses = [session.run(train_graph.train_op) for _ in range(2)]
        last, summary = session.run((train_graph.train_op, train_graph.summary_op))
    values = {v.tag: v.simple_value for v in tf.Summary.FromString(summary).value}
    expected = losses[0] / 8 + losses[1] / 4 + last / 2
    assert values["losses/total"] == pytest.approx(expected, rel=1e-5)

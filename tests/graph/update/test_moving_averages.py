import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from sessions import initialized_session
from tf_frame.config.run_options import RunOptions
from tf_frame.deploy.deployment_config import DeploymentConfig
from tf_frame.deploy.placement import variables_placed
from tf_frame.errors import CheckpointError
from tf_frame.graph.update.moving_averages import (
    averaged_saver_map,
    check_averages,
    moving_averages,
    variables_to_average,
)

MODEL = [tf.GraphKeys.GLOBAL_VARIABLES, tf.GraphKeys.MODEL_VARIABLES]
PARTS = tf.fixed_size_partitioner(2)


def build(**options):
    """A step that subtracts 1 from weights, and moves the averages after it."""
    step = tf.train.create_global_step()
    weights = tf.get_variable("weights", initializer=[1.0, 2.0])
    tf.get_variable("moving_mean", initializer=5.0, trainable=False, collections=MODEL)
    parts = tf.get_variable("parts", initializer=tf.ones([4]), partitioner=PARTS)
    averages = moving_averages(RunOptions(**options), step)
    if averages is None:
        return weights, tf.no_op(), None
    pairs = [(tf.ones([2]), weights), *((tf.ones([2]), part) for part in parts)]
    update = tf.train.GradientDescentOptimizer(1.0).apply_gradients(pairs, step)
    with tf.control_dependencies([update]):
        return weights, averages.apply(), averages


def saved(path, **options):
    """A checkpoint after three steps; returns its path and the average of the weights."""
    with tf.Graph().as_default():
        weights, update, averages = build(**options)
        with initialized_session() as session:
            for _ in range(3):
                session.run(update)
            average = session.run(averages.average.average(weights)) if averages else None
            return tf.train.Saver().save(session, str(path / "model.ckpt")), average


@pytest.mark.parametrize(
    ("options", "decays"),
    [
        ({"moving_average_decay": 0.75, "moving_average_num_updates": False}, [0.75] * 3),
        # At first the decay follows the global step: (1 + step) / (10 + step).
        ({"moving_average_decay": 0.2}, [2 / 11, 0.2, 0.2]),
    ],
)
def test_an_average_begins_as_its_variable_and_follows_it(variable_mode, options, decays):
    with tf.Graph().as_default():
        weights, update, averages = build(**options)
        with initialized_session() as session:
            average = value = np.float64([1, 2])
            for decay in decays:
                value = value - 1
                average = decay * average + (1 - decay) * value
                session.run(update)
                actual = session.run(averages.average.average(weights))
                np.testing.assert_allclose(actual, average, rtol=1e-5)


def test_which_variables_are_averaged():
    with tf.Graph().as_default():
        assert build()[2] is None
        assert not [v for v in tf.global_variables() if "ExponentialMovingAverage" in v.op.name]
    with tf.Graph().as_default():
        tf.get_variable("both", initializer=1.0, collections=MODEL)
        tf.get_variable("statistic", initializer=1.0, trainable=False, collections=MODEL)
        tf.get_variable("count", initializer=1, trainable=False, collections=MODEL)
        listed = tf.get_variable("listed", initializer=1.0, trainable=False)
        tf.add_to_collection(tf.GraphKeys.MOVING_AVERAGE_VARIABLES, listed)
        tf.get_variable("other", initializer=1.0, trainable=False)
        names = [variable.op.name for variable in variables_to_average()]
    assert names == ["both", "statistic", "listed"]
    with tf.Graph().as_default():
        build()
        weights = [v for v in tf.global_variables() if v.op.name == "weights"]
        names = set(averaged_saver_map(weights))
    assert names == {"global_step", "weights/ExponentialMovingAverage", "moving_mean", "parts"}


def test_averages_are_called_as_tensorflow_calls_them(tmp_path, variable_mode):
    path, _ = saved(tmp_path, moving_average_decay=0.9)
    names = [name for name, _ in tf.train.list_variables(path)]
    averaged = ["moving_mean", "parts", "weights"]
    expected = [*averaged, *(f"{name}/ExponentialMovingAverage" for name in averaged)]
    assert names == sorted([*expected, "global_step"])


def test_averages_are_restored_in_place_of_the_variables(tmp_path, variable_mode):
    path, average = saved(tmp_path, moving_average_decay=0.9)
    with tf.Graph().as_default(), tf.Session() as session:
        weights, _, _ = build()
        averaged = variables_to_average()
        check_averages(path, averaged)
        tf.train.Saver(averaged_saver_map(averaged)).restore(session, path)
        np.testing.assert_allclose(session.run(weights), average)
        assert not np.allclose(average, [-2, -1]), "the average is not the last value"
        parts = [session.run(v) for v in tf.trainable_variables() if "parts" in v.op.name]
        np.testing.assert_allclose(np.concatenate(parts), [average[0]] * 4)
        assert session.run(tf.train.get_global_step()) == 3


def test_checkpoints_without_averages_are_refused(tmp_path):
    path, _ = saved(tmp_path)
    with tf.Graph().as_default():
        build()
        with pytest.raises(CheckpointError, match=r"model.ckpt holds no moving averages of.*--mo"):
            check_averages(path, variables_to_average())
    path, _ = saved(tmp_path, moving_average_decay=0.9)
    with tf.Graph().as_default():
        build()
        tf.get_variable("new", initializer=tf.ones([4]), partitioner=PARTS)
        message = r"lacks 1 of 4 moving averages of variables: new/ExponentialMovingAverage;"
        with pytest.raises(CheckpointError, match=message):
            check_averages(path, variables_to_average())


def test_histograms_show_the_averages(variable_mode):
    with tf.Graph().as_default():
        _, update, averages = build(moving_average_decay=0.9, moving_average_num_updates=False)
        merged = tf.summary.merge(averages.histograms())
        with initialized_session() as session:
            session.run(update)
            summary = tf.Summary.FromString(session.run(merged))
    sums = {value.tag: value.histo.sum for value in summary.value}
    assert sums == pytest.approx(
        {
            "moving_averages/weights": 0.9 * 3 + 0.1 * 1,
            "moving_averages/moving_mean": 5,
            "moving_averages/parts/part_0": 2 * 0.9,
            "moving_averages/parts/part_1": 2 * 0.9,
        }
    )


def test_averages_are_placed_with_their_variables(variable_mode):
    config = DeploymentConfig(num_ps_tasks=2, num_replicas=2)
    with tf.Graph().as_default(), variables_placed(config):
        with tf.device(config.optimizer_device()):
            _, _, averages = build(moving_average_decay=0.9)
        devices = [variable.device for variable in averages.variables]
        assert len(set(devices)) == 2 and all("/job:ps" in device for device in devices)
        assert [averages.average.average(v).device for v in averages.variables] == devices


def test_control_flow_is_left_as_it_was():
    for enabled in (True, False):
        (tf.enable_control_flow_v2 if enabled else tf.disable_control_flow_v2)()
        try:
            with tf.Graph().as_default():
                build(moving_average_decay=0.9)
            assert tf.control_flow_v2_enabled() == enabled
        finally:
            tf.enable_control_flow_v2()

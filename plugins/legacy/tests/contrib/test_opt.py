"""Parts of tf.contrib.opt and mixed_precision beyond single steps; see test_contrib for those."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame_legacy.contrib import mixed_precision, opt


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def test_the_swapping_saver_writes_averages_as_variables(tmp_path):
    weights = tf.get_variable("weights", initializer=[1.0, 2.0])
    optimizer = opt.MovingAverageOptimizer(tf.train.GradientDescentOptimizer(1.0), 0.75)
    with pytest.raises(RuntimeError, match="before creating the swapping_saver"):
        optimizer.swapping_saver()
    step = optimizer.minimize(tf.reduce_sum(weights))
    saver = optimizer.swapping_saver()
    with pytest.raises(ValueError, match="Variable to swap weights/ExponentialMovingAverage"):
        optimizer.swapping_saver([weights])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(step)
        path = saver.save(session, str(tmp_path / "model"))
        reader = tf.train.load_checkpoint(path)
        np.testing.assert_allclose(reader.get_tensor("weights"), [0.75, 1.75])
        saved = reader.get_tensor("weights/ExponentialMovingAverage")
        np.testing.assert_allclose(saved, [0.0, 1.0])
        session.run(tf.global_variables_initializer())
        saver.restore(session, path)
        np.testing.assert_allclose(session.run(weights), [0.0, 1.0])


def test_multitask_leaves_a_variable_with_zero_gradients_alone():
    first = tf.get_variable("first", initializer=1.0)
    second = tf.get_variable("second", initializer=1.0)
    share = tf.placeholder(tf.float32, [])
    optimizer = opt.MultitaskOptimizerWrapper(tf.train.MomentumOptimizer(0.5, 0.9))
    step = optimizer.minimize(share * first + second)
    pairs, norm = opt.clip_gradients_by_global_norm([(tf.constant([3.0, 4.0]), first)], 1.0)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(step, {share: 1.0})
        session.run(step, {share: 0.0})
        # Momentum alone would have moved it on by 0.45.
        assert session.run([first, second]) == pytest.approx([0.5, 1.0 - 0.5 - 0.95])
        assert session.run([pairs[0][0], norm])[1] == 5.0
        np.testing.assert_allclose(session.run(pairs[0][0]), [0.6, 0.8], rtol=1e-6)


def test_variable_clipping_limits_rows_with_gradients():
    rows = tf.get_variable("rows", initializer=np.full([3, 2], 3.0, np.float32))
    dense = tf.get_variable("dense", initializer=[3.0, 4.0])
    optimizer = opt.VariableClippingOptimizer(
        tf.train.GradientDescentOptimizer(0.0), {rows: [1], dense: [0]}, 1.0
    )
    step = optimizer.minimize(tf.reduce_sum(tf.gather(rows, [0, 2])) + tf.reduce_sum(dense))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(step)
        side = np.sqrt(0.5)
        np.testing.assert_allclose(session.run(rows), [[side, side], [3, 3], [side, side]], 1e-6)
        np.testing.assert_allclose(session.run(dense), [0.6, 0.8], 1e-6)


def test_scipy_minimises_within_bounds():
    pytest.importorskip("scipy")
    place = tf.get_variable("place", initializer=[5.0, 5.0])
    height = tf.get_variable("height", initializer=2.0)
    loss = tf.reduce_sum(tf.square(place - [1.0, -2.0])) + tf.square(height)
    seen = []
    optimizer = opt.ScipyOptimizerInterface(loss, var_to_bounds={place: (0.0, np.inf)})
    bounded = opt.ScipyOptimizerInterface(loss, inequalities=[place[1] - 1.0], method="SLSQP")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        optimizer.minimize(session, fetches=[loss], loss_callback=seen.append)
        np.testing.assert_allclose(session.run(place), [1.0, 0.0], atol=1e-4)
        assert session.run(height) == pytest.approx(0.0, abs=1e-4)
        assert seen[0] == 69.0
        bounded.minimize(session)
        np.testing.assert_allclose(session.run(place), [1.0, 1.0], atol=1e-4)
    with pytest.raises(ValueError, match="set automatically"), tf.Session() as session:
        session.run(tf.global_variables_initializer())
        opt.ScipyOptimizerInterface(loss, jac=None).minimize(session)


def test_decay_of_some_variables():
    first = tf.get_variable("first", initializer=1.0)
    second = tf.get_variable("second", initializer=1.0)
    optimizer = opt.MomentumWOptimizer(lambda: 0.5, learning_rate=0.0, momentum=0.9)
    step = optimizer.minimize(first + second, decay_var_list=[first])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(step)
        assert session.run([first, second]) == [0.5, 1.0]


def test_the_loss_scale_grows_and_falls():
    weights = tf.get_variable("weights", initializer=[1.0])
    factor = tf.placeholder(tf.float32, [])
    manager = mixed_precision.ExponentialUpdateLossScaleManager(8.0, 2, 2, decr_ratio=0.5)
    optimizer = mixed_precision.LossScaleOptimizer(tf.train.GradientDescentOptimizer(1.0), manager)
    step = optimizer.minimize(factor * tf.reduce_sum(weights))
    scales = []
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for value in (1.0, 1.0, np.inf, 1.0, np.nan, np.nan):
            session.run(step, {factor: value})
            scales.append(float(session.run(manager.get_loss_scale())))
        assert session.run(weights) == [-2.0]
    assert scales == [8.0, 16.0, 16.0, 16.0, 8.0, 8.0]
    assert sorted(v.op.name for v in tf.global_variables()) == [
        "bad_steps",
        "good_steps",
        "loss_scale",
        "weights",
    ]


def test_with_reference_variables(reference_variables, tmp_path):
    for test in (
        test_multitask_leaves_a_variable_with_zero_gradients_alone,
        test_variable_clipping_limits_rows_with_gradients,
        test_decay_of_some_variables,
        test_the_loss_scale_grows_and_falls,
    ):
        with tf.Graph().as_default():
            test()
    with tf.Graph().as_default():
        test_the_swapping_saver_writes_averages_as_variables(tmp_path)

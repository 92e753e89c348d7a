import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from sessions import initialized_session, train_steps
from tf_frame.config.run_options import RunOptions
from tf_frame.graph.update.apply_gradients import all_ready, apply_gradients
from tf_frame.graph.update.loss_scale import LossScale, make_loss_scale
from tf_frame.testing.toy import build_toy_graph

pytestmark = pytest.mark.usefixtures("graph")


def values(session):
    return {v.op.name: session.run(v) for v in tf.global_variables()}


def scaled_pairs(loss_scale, loss):
    return tf.train.GradientDescentOptimizer(1.0).compute_gradients(loss_scale.scale(loss))


@pytest.mark.usefixtures("variable_mode")
@pytest.mark.parametrize("dynamic", [True, False])
def test_gradients_are_those_of_the_loss_itself(dynamic):
    v = tf.get_variable("v", initializer=[1.5, -2.0])
    loss_scale = LossScale(dynamic=dynamic, initial=1024.0)
    scaled = scaled_pairs(loss_scale, tf.reduce_sum(v * v))
    ((unscaled, _),) = loss_scale(scaled)
    with initialized_session() as s:
        np.testing.assert_array_equal(s.run(scaled[0][0]), [3072.0, -4096.0])
        np.testing.assert_array_equal(s.run(unscaled), [3.0, -4.0])


def test_small_gradients_survive_float16():
    v = tf.get_variable("v", initializer=tf.constant(1.0))
    loss_scale = LossScale(dynamic=False, initial=1024.0)

    def loss(scale):
        # The gradient of the cast passes through float16, whose least number is 6e-8.
        return scale(tf.cast(tf.cast(v, tf.float16), tf.float32) * 1e-8)

    (lost,) = tf.gradients(loss(lambda x: x), [v])
    (kept,) = tf.gradients(loss(loss_scale.scale), [v])
    ((unscaled, _),) = loss_scale([(kept, v)])
    with initialized_session() as s:
        assert s.run(lost) == 0.0
        assert s.run(unscaled) == pytest.approx(1e-8, rel=0.01)


def test_none_stays_none_and_sparse_stays_sparse():
    table = tf.get_variable("table", initializer=tf.ones([4, 2]))
    other = tf.get_variable("other", [2])
    loss_scale = LossScale(dynamic=True, initial=8.0)
    pairs = loss_scale(scaled_pairs(loss_scale, tf.reduce_sum(tf.gather(table, [1, 1])) * 3.0))
    by_name = {v.op.name: g for g, v in pairs}
    assert by_name["other"] is None
    assert other in [v for _, v in pairs]
    assert isinstance(by_name["table"], tf.IndexedSlices)
    with initialized_session() as s:
        np.testing.assert_array_equal(
            s.run(tf.convert_to_tensor(by_name["table"])), [[0, 0], [6, 6], [0, 0], [0, 0]]
        )
        assert s.run(loss_scale.ready())


def test_an_infinite_value_in_a_sparse_gradient_is_seen():
    table = tf.get_variable("table", initializer=tf.ones([4, 2]))
    loss_scale = LossScale(dynamic=True)
    slices = tf.IndexedSlices(tf.constant([[np.inf, 1.0]]), tf.constant([2]), tf.constant([4, 2]))
    loss_scale([(slices, table)])
    with initialized_session() as s:
        assert not s.run(loss_scale.ready())


def build_step(factor, **settings):
    """One step of `v -= factor`, through a dynamic scale."""
    v = tf.get_variable("v", initializer=tf.constant(0.0))
    step = tf.train.create_global_step()
    loss_scale = LossScale(dynamic=True, **settings)
    optimizer = tf.train.GradientDescentOptimizer(1.0)
    pairs = loss_scale(optimizer.compute_gradients(loss_scale.scale(factor * v)))
    return apply_gradients(optimizer, pairs, ready=all_ready([loss_scale]), global_step=step)


@pytest.mark.usefixtures("variable_mode")
@pytest.mark.parametrize("bad", [np.inf, -np.inf, np.nan, 1e38])
def test_an_overflow_skips_the_step_and_halves_the_scale(bad):
    factor = tf.placeholder(tf.float32, [])
    train = build_step(factor, initial=1024.0)
    with initialized_session() as s:
        s.run(train, {factor: 1.0})
        s.run(train, {factor: bad})
        after = values(s)
        assert after["v"] == -1.0
        assert after["global_step"] == 1
        assert after["loss_scale/scale"] == 512.0
        assert after["loss_scale/good_steps"] == 0.0
        s.run(train, {factor: 2.0})
        assert values(s)["v"] == -3.0


def test_it_goes_down_until_the_gradients_fit():
    factor = tf.placeholder(tf.float32, [])
    train = build_step(factor)
    with initialized_session() as s:
        for _ in range(12):
            s.run(train, {factor: 1e36})
        after = values(s)
    # 1e36 * 256 fits below 3.4e38: 7 halvings of 2 ** 15, then 5 steps.
    assert after["loss_scale/scale"] == 256.0
    assert after["global_step"] == 5
    assert after["v"] == pytest.approx(-5e36)


@pytest.mark.parametrize(
    ("settings", "factors", "scales"),
    [
        ({"initial": 4.0, "growth_steps": 3}, [1.0] * 7, [4, 4, 8, 8, 8, 16, 16]),
        # An overflow begins the count anew.
        ({"initial": 4.0, "growth_steps": 3}, [1, 1, np.inf, 1, 1, 1], [4, 4, 2, 2, 2, 4]),
        # The scale never falls below one, nor overflows itself.
        ({"initial": 2.0}, [np.inf] * 3, [1, 1, 1]),
        ({"initial": 2.0**127, "growth_steps": 1}, [1e-30], [2.0**127]),
    ],
)
def test_good_steps_double_the_scale_and_overflows_halve_it(settings, factors, scales):
    factor = tf.placeholder(tf.float32, [])
    train = build_step(factor, **settings)
    seen = []
    with initialized_session() as s:
        for value in factors:
            s.run(train, {factor: value})
            seen.append(values(s)["loss_scale/scale"])
    assert seen == scales


def test_it_begins_and_grows_as_the_literature_has_it():
    train = build_step(tf.constant(1.0))
    with initialized_session() as s:
        assert values(s)["loss_scale/scale"] == 2.0**15
        (good,) = [v for v in tf.global_variables() if v.op.name == "loss_scale/good_steps"]
        good.load(1998.0, s)
        s.run(train)
        assert values(s)["loss_scale/scale"] == 2.0**15
        s.run(train)
        assert values(s)["loss_scale/scale"] == 2.0**16


@pytest.mark.usefixtures("variable_mode")
def test_the_state_is_saved_and_not_trained(tmp_path):
    factor = tf.placeholder(tf.float32, [])
    train = build_step(factor, initial=64.0)
    saver = tf.train.Saver()
    assert [v.op.name for v in tf.trainable_variables()] == ["v"]
    with initialized_session() as s:
        s.run(train, {factor: np.inf})
        s.run(train, {factor: 1.0})
        path = saver.save(s, str(tmp_path / "model.ckpt"))
    with tf.Session() as s:
        saver.restore(s, path)
        after = values(s)
    assert (after["loss_scale/scale"], after["loss_scale/good_steps"]) == (32.0, 1.0)


def test_a_static_scale_has_no_variables_and_no_say():
    v = tf.get_variable("v", initializer=tf.constant(0.0))
    loss_scale = LossScale(dynamic=False, initial=2.0)
    loss_scale(scaled_pairs(loss_scale, v * 1.0))
    assert loss_scale.ready() is None
    assert tf.global_variables() == [v]


@pytest.mark.parametrize(
    ("options", "scale", "dynamic"),
    [
        ({"mixed_precision": "float16"}, 2.0**15, True),
        ({"mixed_precision": "float16", "loss_scale": 128.0}, 128.0, False),
        ({"loss_scale": 3.0}, 3.0, False),
    ],
)
def test_options_choose_the_scale_and_default_to_none(options, scale, dynamic):
    for precision in ("none", "bfloat16"):
        assert make_loss_scale(RunOptions(mixed_precision=precision)) is None
    loss_scale = make_loss_scale(RunOptions(**options))
    with initialized_session() as s:
        assert s.run(loss_scale.value) == scale
    assert bool(tf.global_variables()) == dynamic


def train_toy(**options):
    config = RunOptions(train_batch_size=8, learning_rate=0.1, **options)
    return train_steps(build_toy_graph(config, optimizer="sgd"), 5)


@pytest.mark.parametrize(
    ("options", "num_clones"),
    [
        ({"loss_scale": 64.0}, 1),
        pytest.param({"loss_scale": 64.0}, 2, marks=pytest.mark.slow),
        pytest.param({"mixed_precision": "float16"}, 1, marks=pytest.mark.slow),
        ({"mixed_precision": "float16"}, 2),
    ],
)
def test_a_run_learns_the_same_and_reports_the_loss_itself(num_clones, options):
    # Without the rewrite of its session, a graph for float16 computes in float32.
    variables, plain = train_toy(num_clones=num_clones)
    with_scale, scaled = train_toy(num_clones=num_clones, **options)
    assert scaled == pytest.approx(plain, rel=1e-6)
    for name, value in variables.items():
        np.testing.assert_allclose(with_scale[name], value, rtol=1e-6)

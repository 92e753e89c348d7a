"""optimize_loss by hand: the loss is 3 * w and w is 10, so the gradient is 3."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from sessions import initialized_session
from tf_frame_legacy import slim


def model():
    """A weight that is 10, the loss 3 * weight, and the global step."""
    weight = tf.get_variable("weight", [], initializer=tf.constant_initializer(10.0))
    return weight, 3.0 * weight, tf.train.create_global_step()


def one_step(**arguments):
    """The weight and the step after one training step of `optimize_loss`."""
    weight, loss, step = model()
    arguments = {"learning_rate": 0.1, "optimizer": "SGD", **arguments}
    train = slim.optimize_loss(loss, step, **arguments)
    with initialized_session() as session:
        assert session.run(train) == 30.0  # The loss before the step.
        return session.run([weight, step])


SGD = tf.train.GradientDescentOptimizer
FACTOR = {"gradient_multipliers": {"weight:0": 7.0}}


@pytest.mark.usefixtures("variable_mode")
@pytest.mark.parametrize(
    ("arguments", "change"),
    [
        *(({"optimizer": optimizer}, 0.1 * 3) for optimizer in ("SGD", "Momentum", SGD)),
        ({"optimizer": lambda rate: SGD(rate)}, 0.1 * 3),
        # Without a learning rate the function takes no argument; an instance has its own rate.
        ({"optimizer": lambda: SGD(0.2), "learning_rate": None}, 0.2 * 3),
        ({"optimizer": "instance"}, 0.3 * 3),
        (FACTOR, 0.1 * 21),
        ({**FACTOR, "clip_gradients": 2.0}, 0.1 * 2),
        ({"clip_gradients": lambda pairs: [(g * 0.5, v) for g, v in pairs]}, 0.1 * 1.5),
    ],
)
def test_a_step_of_an_optimizer_with_factors_and_clipping(arguments, change):
    if arguments.get("optimizer") == "instance":  # It belongs to one graph.
        arguments = {"optimizer": SGD(0.3)}
    assert one_step(**arguments) == [pytest.approx(10 - change), 1]


@pytest.mark.usefixtures("variable_mode")
def test_every_named_optimizer_can_be_made():
    for name in slim.OPTIMIZER_CLS_NAMES:
        with tf.Graph().as_default():
            assert one_step(optimizer=name)[0] < 10


def test_noise_is_truncated_normal_of_its_scale_and_skips_missing_gradients():
    tf.set_random_seed(1)
    used = tf.get_variable("used", [4000], initializer=tf.zeros_initializer())
    tf.get_variable("unused", [2], initializer=tf.zeros_initializer())
    train = slim.optimize_loss(
        tf.reduce_sum(used), None, 1.0, "SGD", gradient_noise_scale=0.5, summaries=["gradients"]
    )
    with initialized_session() as session:
        session.run(train)
        noise = -1.0 - session.run(used)
    # A normal distribution cut at two standard deviations has 0.8796 of its deviation.
    assert noise.std() == pytest.approx(0.5 * 0.8796, rel=0.05)
    assert np.abs(noise).max() <= 1.0001
    assert abs(noise.mean()) < 0.03


def test_sparse_gradients_stay_sparse_under_noise_and_factors():
    rows = tf.get_variable("rows", [5, 2], initializer=tf.zeros_initializer())
    loss = tf.reduce_sum(tf.gather(rows, [1, 3]))
    train = slim.optimize_loss(
        loss, None, 1.0, "SGD", gradient_noise_scale=0.01, gradient_multipliers={"rows:0": 2.0}
    )
    with initialized_session() as session:
        session.run(train)
        now = session.run(rows)
    np.testing.assert_array_equal(now[[0, 2, 4]], 0)
    np.testing.assert_allclose(now[[1, 3]], -2, atol=0.05)


def test_the_learning_rate_decays_and_the_step_may_stand_still():
    def halved(rate, step):
        return rate * tf.pow(0.5, tf.cast(step + 1, tf.float32))

    weight, step = one_step(learning_rate_decay_fn=halved, increment_global_step=False)
    assert weight == pytest.approx(10 - 0.05 * 3)
    assert step == 0


@pytest.mark.usefixtures("variable_mode")
def test_update_ops_run_in_the_step_and_those_given_replace_those_of_the_graph():
    counts = [tf.get_variable(name, initializer=0.0, trainable=False) for name in "ab"]
    ops = [tf.assign_add(count, 1.0) for count in counts]
    tf.add_to_collection(tf.GraphKeys.UPDATE_OPS, ops[0])
    _, loss, step = model()
    train_ops = [slim.optimize_loss(loss, step, 0.1, "SGD", update_ops=u) for u in (None, ops[1:])]
    with initialized_session() as session:
        for train_op, expected in zip(train_ops, ([1, 0], [1, 1]), strict=True):
            session.run(train_op)
            assert session.run(counts) == expected


def test_summaries_have_the_old_tags():
    _, loss, step = model()
    options = {"learning_rate_decay_fn": lambda rate, _: rate, "clip_gradients": 1.0}
    slim.optimize_loss(loss, step, 0.1, "SGD", summaries=slim.OPTIMIZER_SUMMARIES, **options)
    with initialized_session() as session:
        written = tf.Summary.FromString(session.run(tf.summary.merge_all()))
    values = {value.tag: value.simple_value for value in written.value}
    assert values == {
        # The variable has the name without the number, as with slim.
        "OptimizeLoss/learning_rate_1": pytest.approx(0.1),
        "OptimizeLoss/global_norm/gradient_norm": 3.0,
        "OptimizeLoss/loss": 30.0,
        "OptimizeLoss/gradients/weight_0": 0.0,
        "OptimizeLoss/gradient_norm/weight_0": 1.0,
        "OptimizeLoss/global_norm/clipped_gradient_norm": 1.0,
    }


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"optimizer": "Blah"}, "Optimizer name should be one of .* you provided Blah"),
        ({"optimizer": 3}, "Unrecognized optimizer: should be string"),
        ({"optimizer": lambda rate: None}, "function should return subclass of Optimizer"),
        ({"learning_rate": None}, r"Learning rate is None, .* optimizer is string \(SGD\)"),
        ({"learning_rate": -0.1}, "Invalid learning_rate -0.1"),
        ({"learning_rate": "fast"}, "Learning rate should be 0d Tensor or float. Got fast"),
        ({"summaries": ["loss", "bad"]}, "Summaries should be one of .* you provided bad"),
        ({"clip_gradients": "yes"}, "Unknown type .* for clip_gradients"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_wrong_is_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        one_step(**arguments)


def test_a_decay_needs_a_global_step_and_the_loss_is_a_scalar():
    weight = tf.get_variable("weight", [2], initializer=tf.zeros_initializer())
    loss, decay = tf.reduce_sum(weight), {"learning_rate_decay_fn": lambda rate, _: rate}
    with pytest.raises(ValueError, match="global_step is required for learning_rate_decay_fn"):
        slim.optimize_loss(loss, None, 0.1, "SGD", **decay)
    with pytest.raises(ValueError):
        slim.optimize_loss(weight, None, 0.1, "SGD")
    with pytest.raises(TypeError):
        slim.optimize_loss(tf.reduce_sum(weight), tf.constant(0.5), 0.1, "SGD")


@pytest.mark.usefixtures("variable_mode")
def test_adaptive_clipping_follows_the_norm_and_catches_a_spike():
    scale = tf.placeholder(tf.float32, [])
    step = tf.placeholder(tf.int64, [])
    gradient = tf.ones([3, 4]) * scale
    clip = slim.adaptive_clipping_fn(decay=0.9, global_step=step, report_summary=True)
    ((clipped, _), (missing, _)) = clip([(gradient, "a"), (None, "b")])
    assert missing is None
    names = [v.op.name for v in tf.global_variables()]
    assert names == ["AdaptiveMaxNorm/mean", "AdaptiveMaxNorm/sq_mean"]
    mean = square = 0.0
    with initialized_session() as session:
        for number, size in enumerate([1.0, -2.0] * 6 + [1000.0]):
            norm = abs(size) * np.sqrt(12)
            decay = min(0.9, number / (number + 1))
            mean += (1 - decay) * (np.log(norm) - mean)
            square += (1 - decay) * (np.log(norm) ** 2 - square)
            limit = np.exp(mean + 2 * np.sqrt(max(1e-8, square - mean**2)))
            expected = size if norm < limit else size * np.exp(mean) / norm
            feeds = {scale: size, step: number}
            values = session.run(clipped, feeds)
            np.testing.assert_allclose(values, np.full([3, 4], expected), rtol=1e-3)
        averages = session.run(tf.global_variables())
    assert abs(values[0, 0]) < 25
    np.testing.assert_allclose(averages, [mean, square], rtol=1e-4)
    tags = tf.get_collection(tf.GraphKeys.SUMMARIES)
    assert [tag.op.name for tag in tags] == ["global_norm/adaptive_max_gradient_norm"]


def test_adaptive_clipping_never_exceeds_a_static_norm():
    clip = slim.adaptive_clipping_fn(static_max_norm=0.5)
    ((clipped, _),) = clip([(tf.constant([3.0, 4.0]), "a")])
    with initialized_session() as session:
        assert np.linalg.norm(session.run(clipped)) == pytest.approx(0.5, rel=1e-5)

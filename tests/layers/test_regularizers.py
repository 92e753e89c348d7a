import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame import layers

WEIGHTS = np.array([[1.0, -2.0], [3.0, 0.0]], np.float32)


@pytest.mark.parametrize(
    ("regularizer", "expected"),
    [
        (layers.l1_regularizer(0.5), 0.5 * 6),
        (layers.l2_regularizer(0.5), 0.5 * 14 / 2),
        (layers.l1_l2_regularizer(0.5, 0.25), 0.5 * 6 + 0.25 * 14 / 2),
        (layers.l1_l2_regularizer(), 6 + 14 / 2),
        (layers.l1_l2_regularizer(0.0, 0.25), 0.25 * 14 / 2),
        (layers.l1_l2_regularizer(0.5, 0.0), 0.5 * 6),
        (layers.sum_regularizer([layers.l1_regularizer(1.0), None, tf.reduce_max]), 6 + 3),
        (layers.sum_regularizer([layers.l1_regularizer(0.0), tf.reduce_max]), 3),
    ],
)
def test_penalties_equal_numpy(evaluate, regularizer, expected):
    assert evaluate(regularizer(tf.constant(WEIGHTS))) == [pytest.approx(expected)]


@pytest.mark.parametrize(
    "regularizer",
    [layers.l1_regularizer, layers.l2_regularizer, lambda s: layers.l1_l2_regularizer(s, s)],
)
def test_gradients_equal_finite_differences(evaluate, differences, regularizer):
    weights = tf.constant(WEIGHTS[:, :1].astype(np.float64))
    gradient = tf.gradients(regularizer(0.3)(weights), weights)[0]
    values = tf.placeholder(tf.float64, [2, 1])
    penalty = regularizer(0.3)(values)
    with tf.Session() as session:
        wanted = differences(
            lambda array: session.run(penalty, {values: array}), WEIGHTS[:, :1].astype(np.float64)
        )
    np.testing.assert_allclose(evaluate(gradient)[0], wanted, rtol=1e-6)


def test_scale_zero_makes_no_penalty_and_a_scale_may_be_a_tensor(evaluate):
    nothing = [
        layers.l1_regularizer(0.0),
        layers.l2_regularizer(0.0),
        layers.l1_l2_regularizer(0.0, 0.0),
        layers.sum_regularizer([layers.l1_regularizer(0.0)]),
    ]
    layers.conv2d(tf.zeros([1, 2, 2, 1]), 1, 1, weights_regularizer=nothing[1])
    assert [penalty(tf.constant(WEIGHTS)) for penalty in nothing] == [None] * 4
    assert not tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)
    assert layers.sum_regularizer([None, None]) is None
    scale = tf.get_variable("scale", initializer=0.5, trainable=False)
    assert evaluate(layers.l2_regularizer(scale)(tf.constant(WEIGHTS))) == [0.5 * 14 / 2]


def test_names_of_ops_are_slims():
    weights = tf.constant(WEIGHTS)
    with tf.name_scope("net"):
        made = [
            layers.l1_regularizer(0.5)(weights),
            layers.l2_regularizer(0.5)(weights),
            layers.l1_l2_regularizer(0.5, 0.5)(weights),
            layers.sum_regularizer([tf.reduce_sum])(weights),
            layers.l2_regularizer(0.5, scope="mine")(weights),
        ]
    names = ["l1_regularizer", "l2_regularizer", "l1_l2_regularizer", "sum_regularizer", "mine"]
    assert [tensor.op.name for tensor in made] == [f"net/{name}" for name in names]


@pytest.mark.parametrize("regularizer", [layers.l1_regularizer, layers.l2_regularizer])
def test_integers_and_negative_scales_are_refused(regularizer):
    with pytest.raises(ValueError, match="scale cannot be an integer: 1"):
        regularizer(1)
    with pytest.raises(ValueError, match="Setting a scale less than 0 on a regularizer: -0.5"):
        regularizer(-0.5)
    for scales, name in [((1, 0.5), "scale_l1"), ((0.5, 1), "scale_l2")]:
        with pytest.raises(ValueError, match=f"{name} cannot be an integer"):
            layers.l1_l2_regularizer(*scales)


def test_apply_sums_over_weights_or_their_collection_and_collects_the_sum(evaluate):
    with pytest.raises(ValueError, match="No weights to regularize"):
        layers.apply_regularization(layers.l2_regularizer(0.5))
    weights = [tf.constant(WEIGHTS), tf.constant([2.0])]
    total = layers.apply_regularization(layers.l2_regularizer(0.5), weights)
    assert tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES) == [total]
    assert total.op.name == "get_regularization_penalty"
    tf.add_to_collection(tf.GraphKeys.WEIGHTS, weights[0])
    of_collection = layers.apply_regularization(layers.l1_regularizer(0.5))
    nothing = layers.apply_regularization(lambda _: None)
    assert evaluate(total, of_collection, nothing) == [0.5 * (14 + 4) / 2, 3, 0]
    with pytest.raises(ValueError, match="must return a scalar Tensor instead of a .* rank 2"):
        layers.apply_regularization(tf.identity)


def test_clones_that_share_a_variable_pay_once(evaluate, variable_mode):
    def clone():
        penalty = layers.l2_regularizer(0.1)
        layers.conv2d(tf.ones([1, 2, 2, 1]), 2, 1, weights_regularizer=penalty, scope="conv")

    clone()
    with tf.variable_scope("", reuse=True):
        clone()
    with tf.variable_scope("", reuse=tf.AUTO_REUSE):
        clone()
    assert len(tf.global_variables()) == 2
    (penalty,) = tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)
    weights, penalty = evaluate(tf.global_variables()[0], penalty)
    assert penalty == pytest.approx(0.1 * np.sum(weights**2) / 2, rel=1e-5)

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame.layers import arg_scope, losses

LOGITS = np.random.RandomState(0).normal(size=[4, 3]).astype(np.float32)
ONE_HOT = np.eye(3, dtype=np.float32)[[0, 2, 1, 1]]
PROBABILITIES = np.exp(LOGITS) / np.exp(LOGITS).sum(1, keepdims=True)
LOGISTIC = 1 / (1 + np.exp(-LOGITS))
BY_EXAMPLE = np.array([1.0, 0.0, 2.0, 0.5], np.float32)


def value(loss):
    with tf.Session() as session:
        return session.run(loss)


def of_elements(elements, weights):
    """The mean over the elements whose weight is not 0, weights given from the front."""
    weights = np.asarray(weights, np.float64)
    weights = weights.reshape(weights.shape + (1,) * (elements.ndim - weights.ndim))
    weights = np.broadcast_to(weights, elements.shape)
    count = np.count_nonzero(weights)
    return (elements * weights).sum() / count if count else 0.0


ELEMENTWISE = {
    "absolute_difference": (LOGITS, np.abs(LOGITS - ONE_HOT)),
    "mean_squared_error": (LOGITS, (LOGITS - ONE_HOT) ** 2),
    "log_loss": (
        LOGISTIC,
        -ONE_HOT * np.log(LOGISTIC + 1e-7) - (1 - ONE_HOT) * np.log(1 - LOGISTIC + 1e-7),
    ),
    "sigmoid_cross_entropy": (
        LOGITS,
        -ONE_HOT * np.log(LOGISTIC) - (1 - ONE_HOT) * np.log(1 - LOGISTIC),
    ),
}
WEIGHTS = [1.0, 2.5, 0.0, BY_EXAMPLE, BY_EXAMPLE[:, None], ONE_HOT + 1, ONE_HOT, 0 * BY_EXAMPLE]


def test_epsilon_bounds_the_log_loss():
    loss = losses.log_loss(tf.zeros([2]), tf.constant([1.0, 0.0]), epsilon=0.01)
    assert value(loss) == pytest.approx(-(np.log(0.01) + np.log(1.01)) / 2)


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_losses_of_elements_average_over_what_has_a_weight(name):
    predictions, elements = ELEMENTWISE[name]
    made = [getattr(losses, name)(predictions, ONE_HOT, weights) for weights in WEIGHTS]
    expected = [
        of_elements(elements, BY_EXAMPLE if np.shape(weights) == (4, 1) else weights)
        for weights in WEIGHTS
    ]
    np.testing.assert_allclose(value(made), expected, rtol=1e-5)
    assert tf.get_collection(tf.GraphKeys.LOSSES) == made


def test_softmax_cross_entropy_with_weights_and_smoothing():
    of_examples = -np.log(PROBABILITIES)[ONE_HOT > 0]
    smooth = ONE_HOT * 0.7 + 0.3 / 3
    smoothed = -(smooth * np.log(PROBABILITIES)).sum(1)
    numbers = ONE_HOT.argmax(1)
    by_column = BY_EXAMPLE[:, None]
    made = [
        losses.softmax_cross_entropy(LOGITS, ONE_HOT),
        losses.softmax_cross_entropy(LOGITS, ONE_HOT, BY_EXAMPLE, label_smoothing=0.3),
        losses.softmax_cross_entropy(LOGITS, ONE_HOT, 0.0),
        losses.sparse_softmax_cross_entropy(LOGITS, numbers, 0.4),
        losses.sparse_softmax_cross_entropy(LOGITS, numbers[:, None], by_column),
    ]
    expected = [
        of_elements(of_examples, 1),
        of_elements(smoothed, BY_EXAMPLE),
        0,
        0.4 * of_examples.mean(),
        of_elements(of_examples, BY_EXAMPLE),
    ]
    np.testing.assert_allclose(value(made), expected, rtol=1e-5)


def test_the_gradient_of_softmax_cross_entropy_is_that_of_the_smoothed_labels():
    logits = tf.constant(LOGITS)
    loss = losses.softmax_cross_entropy(logits, ONE_HOT, label_smoothing=0.3)
    expected = (PROBABILITIES - (ONE_HOT * 0.7 + 0.1)) / 4
    np.testing.assert_allclose(value(tf.gradients(loss, logits)[0]), expected, rtol=1e-4, atol=1e-6)


def test_sigmoid_cross_entropy_smooths_towards_one_half():
    smooth = ONE_HOT * 0.8 + 0.1
    elements = -smooth * np.log(LOGISTIC) - (1 - smooth) * np.log(1 - LOGISTIC)
    loss = losses.sigmoid_cross_entropy(LOGITS, ONE_HOT, label_smoothing=0.2)
    np.testing.assert_allclose(value(loss), elements.mean(), rtol=1e-5)


def test_hinge_loss_returns_its_elements_and_is_in_no_collection():
    loss = losses.hinge_loss(LOGITS, ONE_HOT)
    expected = np.maximum(0, 1 - LOGITS * (2 * ONE_HOT - 1))
    np.testing.assert_allclose(value(loss), expected, rtol=1e-6)
    assert not tf.get_collection(tf.GraphKeys.LOSSES)


def test_cosine_distance_along_an_axis():
    unit = LOGITS / np.linalg.norm(LOGITS, axis=1, keepdims=True)
    expected = of_elements(1 - (unit * ONE_HOT).sum(1), BY_EXAMPLE)
    made = [
        losses.cosine_distance(unit, ONE_HOT, 1, BY_EXAMPLE),
        losses.cosine_distance(unit, ONE_HOT, weights=BY_EXAMPLE, dim=1),
    ]
    np.testing.assert_allclose(value(made), [expected, expected], rtol=1e-5)
    with pytest.raises(ValueError, match="You must specify 'axis'"):
        losses.cosine_distance(unit, ONE_HOT)
    with pytest.raises(ValueError, match="Cannot specify both 'axis' and 'dim'"):
        losses.cosine_distance(unit, ONE_HOT, axis=1, dim=1)


def test_mean_pairwise_squared_error_counts_every_pair():
    differences = LOGITS - ONE_HOT
    pairs = (differences[:, :, None] - differences[:, None, :]) ** 2
    of_examples = pairs.mean((1, 2))
    made = [
        losses.mean_pairwise_squared_error(LOGITS, ONE_HOT, weights)
        for weights in (1.0, BY_EXAMPLE, 0.0)
    ]
    expected = [of_examples.sum(), (of_examples * BY_EXAMPLE).sum(), 0]
    np.testing.assert_allclose(value(made), expected, rtol=1e-4)
    assert tf.get_collection(tf.GraphKeys.LOSSES) == made


def test_names_of_losses_and_their_totals():
    with tf.name_scope("clone_0"):
        first = losses.softmax_cross_entropy(LOGITS, ONE_HOT, 0.4, scope="aux_loss")
    second = losses.mean_squared_error(LOGITS, ONE_HOT)
    assert (first.op.name, second.op.name) == ("clone_0/aux_loss/value", "mean_squared_error/value")
    losses.add_loss(tf.constant(10.0))
    losses.add_loss(tf.constant(99.0), None)
    tf.add_to_collection(tf.GraphKeys.REGULARIZATION_LOSSES, tf.constant(5.0))
    assert losses.get_losses("clone_0/") == [first]
    assert len(losses.get_losses()) == 3
    assert len(losses.get_regularization_losses()) == 1
    total, without = losses.get_total_loss(), losses.get_total_loss(False, name="data_loss")
    assert (total.op.name, without.op.name) == ("total_loss", "data_loss")
    total, without, penalty, *own = value(
        [total, without, losses.get_regularization_loss(), first, second]
    )
    assert penalty == 5
    np.testing.assert_allclose(without, 10 + sum(own), rtol=1e-6)
    np.testing.assert_allclose(total, without + 5, rtol=1e-6)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: losses.compute_weighted_loss(tf.placeholder(tf.float32)), "ndims cannot be None"),
        (lambda: losses.compute_weighted_loss(LOGITS, None), "weights must not be None"),
        (lambda: losses.compute_weighted_loss(LOGITS, [1.0, 2.0]), "can not be broadcast"),
        (lambda: losses.mean_squared_error(LOGITS, ONE_HOT[:2]), "incompatible|not compatible"),
        (
            lambda: losses.mean_pairwise_squared_error(LOGITS, ONE_HOT[:2]),
            "incompatible|not compatible",
        ),
        (lambda: losses.get_total_loss(), "at least one"),
    ],
)
def test_what_does_not_fit_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_arg_scope_of_add_loss_says_where_losses_go():
    zeros = tf.zeros([2, 3])
    with arg_scope([losses.add_loss], loss_collection="others"):
        made = [getattr(losses, name)(zeros, zeros) for name in ELEMENTWISE]
        made += [
            losses.cosine_distance(zeros, zeros, axis=1),
            losses.softmax_cross_entropy(zeros, zeros),
            losses.sparse_softmax_cross_entropy(zeros, tf.constant([0, 1])),
            losses.mean_pairwise_squared_error(zeros, zeros),
            losses.compute_weighted_loss(zeros),
        ]
    assert tf.get_collection("others") == made
    assert not losses.get_losses()
    with arg_scope([losses.add_loss], loss_collection=None):
        losses.mean_squared_error(zeros, zeros)
    assert len(tf.get_collection("others")) == len(made)
    assert not losses.get_losses()


def test_weights_are_from_the_front_and_may_have_sizes_that_are_not_known_yet():
    elements = np.random.RandomState(1).normal(size=[4, 3, 2]).astype(np.float32)
    weighted = losses.compute_weighted_loss(elements, BY_EXAMPLE)
    weights = tf.placeholder(tf.float32, [None, None])
    loss = losses.softmax_cross_entropy(LOGITS, ONE_HOT, weights)
    with tf.Session() as session:
        values = session.run([weighted, loss], {weights: BY_EXAMPLE[:, None]})
    of_examples = -np.log((PROBABILITIES * ONE_HOT).sum(1))
    expected = [of_elements(part, BY_EXAMPLE) for part in (elements, of_examples)]
    np.testing.assert_allclose(values, expected, rtol=1e-5)

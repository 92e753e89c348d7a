import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame_classification.model import outputs
from tf_frame_classification.model.classification import Params

pytestmark = pytest.mark.usefixtures("graph")


def log_softmax(logits):
    return logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))


def run_losses(end_points, params, labels, logits):
    tensors = {name: tf.constant(value, tf.float32) for name, value in end_points.items()}
    outputs.add_losses(tf.constant(logits, tf.float32), tensors, tf.constant(labels), params)
    with tf.Session() as session:
        return session.run(tf.get_collection(tf.GraphKeys.LOSSES))


def test_auxiliary_logits_come_first_and_are_weighted():
    random = np.random.RandomState(0)
    logits, aux = random.normal(size=[2, 3, 4])
    labels = np.array([3, 0, 1])
    target = np.eye(4)[labels] * 0.9 + 0.1 / 4
    expected = [-(target * log_softmax(values)).sum(axis=1).mean() for values in (aux, logits)]
    for options, weight in (({}, 0.4), ({"aux_loss_weight": 2.0}, 2.0)):
        params = Params(label_smoothing=0.1, **options)
        with tf.Graph().as_default():
            losses = run_losses({"AuxLogits": aux}, params, labels, logits)
        np.testing.assert_allclose(losses, [weight * expected[0], expected[1]], rtol=1e-5)


def test_a_network_without_auxiliary_logits_has_one_loss():
    assert len(run_losses({"fc": np.zeros([1, 4])}, Params(), [0], np.zeros([1, 4]))) == 1


def test_predictions_are_the_class_its_name_and_all_probabilities():
    logits = np.array([[0.0, 2.0, 1.0], [3.0, 0.0, 0.0]])
    predicted = outputs.predictions(tf.constant(logits, tf.float32))
    named = outputs.with_names(predicted, ("a", "b", "c"))
    with tf.Session() as session:
        values = session.run(named)
    np.testing.assert_array_equal(values["label"], [1, 0])
    np.testing.assert_array_equal(values["class_name"], [b"b", b"a"])
    np.testing.assert_allclose(values["probabilities"], np.exp(log_softmax(logits)), rtol=1e-5)
    assert "class_name" not in outputs.with_names(predicted, ())


def test_activations_have_a_histogram_and_a_share_of_zeros():
    outputs.summarize_activations({"conv1": tf.constant([0.0, 1.0, 0.0, 0.0])})
    with tf.Session() as session:
        summary = tf.Summary.FromString(session.run(tf.summary.merge_all()))
    values = {value.tag: value for value in summary.value}
    assert values["activations/conv1"].histo.num == 4
    assert values["sparsity/conv1"].simple_value == 0.75

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame.legacy.train_utils import get_label_weight_mask

LABELS = [0, 4, 1, 3, 2, 255]


def mask(labels, label_weights, num_classes=5, ignore_label=255):
    with tf.Graph().as_default(), tf.Session() as session:
        labels = tf.constant(labels)
        return session.run(get_label_weight_mask(labels, ignore_label, num_classes, label_weights))


def test_one_weight_for_all_labels():
    np.testing.assert_allclose(mask(LABELS, 0.5), [0.5] * 5 + [0.0])


def test_a_weight_for_each_label():
    found = mask(LABELS, [0.0, 0.1, 0.2, 0.3, 0.4])
    np.testing.assert_allclose(found, [0.0, 0.4, 0.1, 0.3, 0.2, 0.0])


def test_a_class_may_be_the_one_to_ignore():
    found = mask(LABELS[:5], [0.0, 0.1, 0.2, 0.3, 0.4], ignore_label=4)
    np.testing.assert_allclose(found, [0.0, 0.0, 0.1, 0.3, 0.2])


def test_labels_that_are_no_class_weigh_nothing():
    np.testing.assert_allclose(mask([1, 7], [0.5, 0.5], num_classes=2), [0.5, 0.0])


def test_labels_may_have_any_shape():
    np.testing.assert_allclose(mask([[0, 1], [1, 9]], [1.0, 2.0], 2, 9), [[1.0, 2.0], [2.0, 0.0]])


@pytest.mark.parametrize("label_weights", [None, 1, (0.5, 0.5), np.ones(2)])
def test_weights_of_another_type_are_an_error(label_weights):
    message = "^The type of label_weights is invalid, it must be a float or a list"
    with pytest.raises(ValueError, match=message):
        mask([0, 1], label_weights, num_classes=2)


def test_a_wrong_number_of_weights_is_an_error():
    message = (
        "^Length of label_weights must be equal to num_classes if it is a list, "
        r"label_weights: \[0.1, 0.2\], num_classes: 5"
    )
    with pytest.raises(ValueError, match=message):
        mask(LABELS, [0.1, 0.2])

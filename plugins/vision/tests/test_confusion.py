import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame_vision.confusion import (
    confusion_files,
    confusion_matrix,
    guessed_recalls,
    majority_mean_iou,
    majority_share,
    metric_names,
)


def test_batches_are_added_and_names_fit_into_metrics():
    batches = [([0, 2, 1], [0, 1, 1], [1, 1, 0]), ([2, 2], [1, 2], [1, 0.5])]
    with tf.Graph().as_default(), tf.Session() as session:
        labels, predictions = (tf.placeholder(tf.int32, [None]) for _ in range(2))
        weights = tf.placeholder(tf.float32, [None])
        total, update = confusion_matrix(labels, predictions, 3, weights=weights)
        session.run(tf.local_variables_initializer())
        assert not tf.global_variables()
        for batch in batches:
            session.run(update, dict(zip((labels, predictions, weights), batch, strict=True)))
        found = session.run(total)
    np.testing.assert_array_equal(found, [[1, 0, 0], [0, 0, 0], [0, 2, 0.5]])
    assert metric_names(("T-shirt/top", "b c"), 3) == ["T-shirt_top", "b_c", "2"]
    assert metric_names(("a b", "a/b", "c", "d"), 3) == ["a_b_0", "a_b_1", "c"]


def test_many_classes_have_files_of_their_confusions():
    with tf.Graph().as_default(), tf.Session() as session:
        assert confusion_files(tf.zeros([20, 20]), ()) == {}
        matrix = tf.constant([[0.0, 3.0] + [0.0] * 19] + [[0.0] * 21] * 20)
        files = session.run(confusion_files(matrix, ["cat", "dog"]))
    assert sorted(files) == ["confusion_matrix.html", "confusions.txt"]
    assert b"cat -> dog  3  of 3" in files["confusions.txt"]
    assert files["confusion_matrix.html"].startswith(b"<!DOCTYPE html>")


def test_what_the_most_frequent_label_alone_reaches():
    matrix = np.array([[6.0, 0, 0], [2, 1, 0], [0, 0, 0]])
    assert majority_share(matrix) == pytest.approx(6 / 9)
    # The IoU of label 0 is 6 of 9; label 2 does not occur.
    assert majority_mean_iou(matrix) == pytest.approx(6 / 9 / 2)
    assert majority_share(np.zeros([2, 2])) == majority_mean_iou(np.zeros([2, 2])) == 0


def test_recalls_of_guessing_are_the_shares_of_classes_that_are_not_the_most_frequent():
    matrix = np.array([[80.0, 0, 0, 0], [3, 1, 10, 0], [0, 0, 4, 0], [0, 0, 1, 1]])
    assert guessed_recalls(matrix, ("rest", "T-shirt/top", "c")) == {"recall_T-shirt_top": 0.14}
    assert guessed_recalls(np.eye(2) * 5, ()) == {"recall_0": 0.5, "recall_1": 0.5}
    assert guessed_recalls(np.zeros([2, 2]), ()) == {}

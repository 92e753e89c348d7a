import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame_deeplab.outputs import segmentation_metrics


def evaluate(batches, **settings):
    """Runs the metrics over (labels, predictions) pairs."""
    with tf.Graph().as_default(), tf.Session() as session:
        labels = tf.placeholder(tf.int32, [None, None, None])
        predictions = tf.placeholder(tf.int32, [None, None, None])
        metrics = segmentation_metrics(labels, predictions, **settings)
        session.run(tf.local_variables_initializer())
        for label, prediction in batches:
            session.run([u for _, u in metrics.values()], {labels: label, predictions: prediction})
        return session.run({name: value for name, (value, _) in metrics.items()})


@pytest.fixture
def batches():
    random = np.random.RandomState(0)
    labels = random.choice([0, 1, 2, 255], size=[3, 2, 5, 4])
    return list(zip(labels, random.randint(0, 3, size=labels.shape), strict=True))


def test_values_equal_numpy(batches):
    found = evaluate(batches, num_classes=3, class_names=("a", "b"), ignore_label=255)
    labels, predictions = (np.concatenate(part) for part in zip(*batches, strict=True))
    keep = labels != 255
    labels, predictions = labels[keep], predictions[keep]
    iou = [
        np.sum((labels == c) & (predictions == c)) / np.sum((labels == c) | (predictions == c))
        for c in range(3)
    ]
    matrix = np.zeros([3, 3])
    np.add.at(matrix, (labels, predictions), 1)
    np.testing.assert_array_equal(found.pop("confusion_matrix"), matrix)
    found.pop("confusion_matrix_image")
    hits, rows, columns = np.diag(matrix), matrix.sum(axis=1), matrix.sum(axis=0)
    of_classes = {"precision": hits / columns, "recall": hits / rows, "pixels": rows}
    expected = {
        f"{kind}_{name}": value
        for kind, values in of_classes.items()
        for name, value in zip("ab2", values, strict=True)
    }
    assert found == pytest.approx(
        expected
        | {
            "mean_iou": np.mean(iou),
            "pixel_accuracy": np.mean(labels == predictions),
            "iou_a": iou[0],
            "iou_b": iou[1],
            "iou_2": iou[2],
        }
    )


def test_the_mean_is_over_classes_that_occur():
    labels = np.array([[[0, 0], [0, 1]]])
    found = evaluate([(labels, np.zeros_like(labels))], num_classes=5)
    assert found["mean_iou"] == pytest.approx((0.75 + 0) / 2)
    assert found["iou_4"] == 0


def test_nothing_but_ignored_pixels_gives_zero():
    labels = np.full([1, 2, 2], 255)
    found = evaluate([(labels, np.zeros_like(labels))], num_classes=2, ignore_label=255)
    assert {value for name, value in found.items() if "confusion" not in name} == {0.0}
    assert not found["confusion_matrix"].any()


def test_the_count_is_one_local_variable():
    with tf.Graph().as_default():
        labels = tf.zeros([1, 2, 2], tf.int32)
        segmentation_metrics(labels, labels, num_classes=2)
        (variable,) = tf.get_collection(tf.GraphKeys.METRIC_VARIABLES)
        assert tf.local_variables() == [variable]
        assert tf.global_variables() == []
        assert tf.trainable_variables() == []

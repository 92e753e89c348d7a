import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame.runs.evaluation.printing import metrics_table
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


def test_values_equal_numpy():
    random = np.random.RandomState(0)
    labels = random.choice([0, 1, 2, 255], size=[3, 2, 5, 4])
    predictions = random.randint(0, 3, size=labels.shape)
    batches = list(zip(labels, predictions, strict=True))
    values = evaluate(batches, num_classes=3, class_names=("a", "b"), ignore_label=255)
    keep = labels != 255
    labels, predictions = labels[keep], predictions[keep]
    iou = [
        np.sum((labels == c) & (predictions == c)) / np.sum((labels == c) | (predictions == c))
        for c in range(3)
    ]
    matrix = np.zeros([3, 3])
    np.add.at(matrix, (labels, predictions), 1)
    np.testing.assert_array_equal(values.pop("confusion_matrix"), matrix)
    values.pop("confusion_matrix_image")
    hits, rows, columns = np.diag(matrix), matrix.sum(axis=1), matrix.sum(axis=0)
    by_class = {"precision": hits / columns, "recall": hits / rows, "pixels": rows, "iou": iou}
    expected = {
        f"{kind}_{name}": value
        for kind, row in by_class.items()
        for name, value in zip("ab2", row, strict=True)
    }
    expected |= {"mean_iou": np.mean(iou), "pixel_accuracy": np.mean(labels == predictions)}
    assert values == pytest.approx(expected)


def test_the_mean_is_over_classes_that_occur():
    labels = np.array([[[0, 0], [0, 1]]])
    values = evaluate([(labels, np.zeros_like(labels))], num_classes=5)
    assert values["mean_iou"] == pytest.approx((0.75 + 0) / 2)
    assert (values["iou_1"], values["precision_0"], values["recall_1"]) == (0, 0.75, 0)
    assert np.isnan([values[name] for name in ("iou_4", "pixels_4", "precision_1")]).all()
    table = metrics_table(values)
    assert "mean_iou                0.3750  over 2 of 5 classes\n" in table
    assert table.endswith("  3 classes without an example are left out")
    # Nothing but ignored pixels gives no figure.
    labels = np.full([1, 2, 2], 255)
    values = evaluate([(labels, np.zeros_like(labels))], num_classes=2, ignore_label=255)
    figures = {name: value for name, value in values.items() if "confusion" not in name}
    assert figures.pop("pixel_accuracy") == 0
    assert np.isnan([*figures.values()]).all()
    assert not values["confusion_matrix"].any()


def test_the_count_is_one_local_variable():
    with tf.Graph().as_default():
        labels = tf.zeros([1, 2, 2], tf.int32)
        segmentation_metrics(labels, labels, num_classes=2)
        (variable,) = tf.get_collection(tf.GraphKeys.METRIC_VARIABLES)
        assert tf.local_variables() == [variable]
        assert tf.global_variables() == tf.trainable_variables() == []

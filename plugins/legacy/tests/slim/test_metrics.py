"""slim's metrics against counts made by hand, over two batches."""

import inspect

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from sessions import initialized_session
from tf_frame_legacy import slim

pytestmark = pytest.mark.usefixtures("variable_mode")

LABELS = np.array([[1, 1, 0, 0], [1, 0, 0, 1]])
SCORES = np.array([[0.9, 0.2, 0.6, 0.1], [0.7, 0.8, 0.3, 0.4]], np.float32)
WEIGHTS = np.array([[1, 2, 0, 1], [1, 1, 3, 1]], np.float32)


def streamed(metrics, batches):
    """Values and last updates of metrics after the batches, dicts of placeholder -> rows."""
    results, updates = slim.metrics.aggregate_metric_map(metrics)
    with initialized_session() as session:
        for batch in batches:
            last = session.run(updates, dict(batch))
        values = session.run(results)
    for name in values:  # The last update has the value after it.
        np.testing.assert_allclose(last[name], values[name], rtol=1e-6, err_msg=name)
    return values


@pytest.mark.slow
def test_counts_rates_and_f1_are_those_of_the_confusion_matrix():
    labels, scores = tf.placeholder(tf.int64, [4]), tf.placeholder(tf.float32, [4])
    weights = tf.placeholder(tf.float32, [4])
    predictions = tf.cast(scores > 0.5, tf.int64)
    metrics = {
        "accuracy": slim.metrics.streaming_accuracy(predictions, labels, weights),
        "precision": slim.metrics.streaming_precision(predictions, labels),
        "recall": slim.metrics.streaming_recall(predictions, labels, weights),
        "fp": slim.metrics.streaming_false_positives(predictions, labels),
        "fn": slim.metrics.streaming_false_negatives(predictions, labels, weights),
        "fpr": slim.metrics.streaming_false_positive_rate(predictions, labels, weights),
        "fnr": slim.metrics.streaming_false_negative_rate(predictions, labels, weights),
        "fpr_t": slim.metrics.streaming_false_positive_rate_at_thresholds(
            scores, labels, [0.25, 0.65], weights
        ),
        "fnr_t": slim.metrics.streaming_false_negative_rate_at_thresholds(
            scores, labels, [0.25, 0.65]
        ),
        "f1": slim.metrics.f1_score(labels, scores, weights, num_thresholds=11),
    }
    rows = zip(LABELS, SCORES, WEIGHTS, strict=True)
    values = streamed(metrics, [{labels: a, scores: b, weights: c} for a, b, c in rows])
    truth, score, weight = LABELS.ravel() == 1, SCORES.ravel(), WEIGHTS.ravel()

    def counted(threshold, weight):
        positive = score > threshold
        return [
            float(weight[chosen].sum())
            for chosen in (
                truth & positive,
                ~truth & positive,
                ~truth & ~positive,
                truth & ~positive,
            )
        ]

    ones = np.ones(8)
    tp, fp, tn, fn = counted(0.5, weight)
    assert values["accuracy"] == pytest.approx((tp + tn) / weight.sum())
    assert values["recall"] == pytest.approx(tp / (tp + fn))
    assert values["fn"] == fn
    assert values["fpr"] == pytest.approx(fp / (fp + tn))
    assert values["fnr"] == pytest.approx(fn / (fn + tp))
    tp1, fp1, _, _ = counted(0.5, ones)
    assert (values["fp"], values["precision"]) == (fp1, pytest.approx(tp1 / (tp1 + fp1)))
    at = [counted(threshold, weight) for threshold in (0.25, 0.65)]
    np.testing.assert_allclose(values["fpr_t"], [c[1] / (c[1] + c[2]) for c in at], rtol=1e-5)
    at = [counted(threshold, ones) for threshold in (0.25, 0.65)]
    np.testing.assert_allclose(values["fnr_t"], [c[3] / (c[3] + c[0]) for c in at], rtol=1e-5)
    best = 0.0
    for threshold in [-1e-7, *np.arange(1, 10) / 10, 1 + 1e-7]:
        tp, fp, _, fn = counted(np.float32(threshold), weight)
        best = max(best, 2 * tp / (2 * tp + fp + fn))
    assert values["f1"] == pytest.approx(best, abs=1e-5)


def test_metrics_of_the_best_k_take_scores_or_classes():
    labels = tf.constant([0, 1, 2], tf.int64)
    scores = tf.constant([[3.0, 2.0, 1.0], [3.0, 2.0, 1.0], [3.0, 2.0, 1.0]])
    one_label, best = labels[:, None], tf.constant([[0, 1]] * 3, tf.int64)
    metrics = {
        "recall_at_2": slim.metrics.streaming_recall_at_k(scores, labels, 2),
        "weighed": slim.metrics.streaming_recall_at_k(scores, labels, 2, tf.constant([1.0, 1, 2])),
        "sparse_recall": slim.metrics.streaming_sparse_recall_at_k(scores, one_label, 2),
        "sparse_precision": slim.metrics.streaming_sparse_precision_at_k(scores, one_label, 2),
        "top_precision": slim.metrics.streaming_sparse_precision_at_top_k(best, one_label),
        "top_recall": slim.metrics.sparse_recall_at_top_k(one_label, best),
        "average": slim.metrics.streaming_sparse_average_precision_at_k(scores, one_label, 2),
    }
    assert any("recall_at_2" in v.op.name for v in tf.local_variables())
    values = streamed(metrics, [{}])
    expected = {
        "recall_at_2": 2 / 3,
        "weighed": 2 / 4,
        "sparse_recall": 2 / 3,
        "sparse_precision": 2 / 6,
        "top_precision": 2 / 6,
        "top_recall": 2 / 3,
        "average": (1 + 1 / 2 + 0) / 3,
    }
    assert values == {name: pytest.approx(value) for name, value in expected.items()}


def test_predictions_come_first_where_the_order_counts():
    predictions, labels = tf.constant([2.0, 3.0]), tf.constant([1.0, 5.0])
    metrics = {
        "relative": slim.metrics.streaming_mean_relative_error(predictions, labels, labels),
        "squared": slim.metrics.streaming_mean_squared_error(predictions, labels=labels),
        "absolute": slim.metrics.streaming_mean_absolute_error(
            labels=labels, predictions=predictions
        ),
        "less": slim.metrics.streaming_percentage_less(predictions, 2.5),
        "mean": slim.metrics.streaming_mean(predictions),
    }
    values = streamed(metrics, [{}, {}])
    assert values["relative"] == pytest.approx((1 / 1 + 2 / 5) / 2)
    assert (values["squared"], values["absolute"]) == (2.5, 1.5)
    assert (values["less"], values["mean"]) == (0.5, 2.5)
    signature = inspect.signature(slim.metrics.streaming_mean_iou)
    assert list(signature.parameters)[:4] == ["predictions", "labels", "num_classes", "weights"]
    assert slim.metrics.streaming_auc.__name__ == "streaming_auc"


def test_values_are_counted_and_kept_over_batches():
    rows = tf.placeholder(tf.float32, [None, 2])
    weights = tf.placeholder(tf.float32, [None, 1])
    rows_kept, size = slim.metrics.streaming_concat(rows)
    first, _ = limited = slim.metrics.streaming_concat(rows, max_size=3)
    flat, flat_size = slim.metrics.streaming_concat(tf.transpose(rows), axis=-1)
    number, number_update = slim.metrics.count(rows)
    weighed, weighed_update = slim.metrics.count(rows, weights)
    batches = [np.arange(4.0).reshape(2, 2), np.arange(4.0, 10.0).reshape(3, 2)]
    with initialized_session() as session:
        assert session.run(rows_kept).shape == (0, 2)
        for batch in batches:
            feeds = {rows: batch, weights: np.full([len(batch), 1], 0.5)}
            updates = [size, limited[1], flat_size, number_update, weighed_update]
            last = session.run(updates, feeds)
        values = session.run([rows_kept, first, flat, number, weighed])
    all_rows = np.concatenate(batches)
    assert last == [5, 3, 5, 10.0, 5.0]
    np.testing.assert_array_equal(values[0], all_rows)
    np.testing.assert_array_equal(values[1], all_rows[:3])
    np.testing.assert_array_equal(values[2], all_rows.T)
    assert values[3:] == [10.0, 5.0]
    with pytest.raises(ValueError, match="axis = 2 not in"):
        slim.metrics.streaming_concat(rows, axis=2)
    with pytest.raises(ValueError, match="statically known size"):
        slim.metrics.streaming_concat(rows, axis=1)
    with pytest.raises(ValueError, match="statically known rank"):
        slim.metrics.streaming_concat(tf.placeholder(tf.float32))


def test_metrics_go_into_the_collections_that_are_named():
    labels = predictions = tf.constant([1, 0])
    pairs = [
        slim.metrics.streaming_accuracy(predictions, labels, None, ["values"], ["updates"]),
        slim.metrics.streaming_false_positive_rate(
            predictions, labels, metrics_collections="values", updates_collections="updates"
        ),
        slim.metrics.count(labels, metrics_collections=["values"], updates_collections=["updates"]),
    ]
    values, updates = slim.metrics.aggregate_metrics(*pairs)
    assert tf.get_collection("values") == values
    assert tf.get_collection("updates") == updates
    with pytest.raises(ValueError, match="Expected at least one value_tensor/update_op pair"):
        slim.metrics.aggregate_metrics()


def test_accuracy_of_a_batch_may_be_weighed_and_checks_types():
    labels, predictions = tf.constant([1, 2, 3]), tf.constant([1, 0, 3])
    weights = tf.constant([1.0, 2.0, 3.0])
    plain, weighed = (
        slim.metrics.accuracy(predictions, labels),
        slim.metrics.accuracy(predictions, labels, weights),
    )
    with tf.Session() as session:
        assert session.run([plain, weighed]) == [pytest.approx(2 / 3), pytest.approx(4 / 6)]
    with pytest.raises(ValueError, match="Labels should have bool, integer, or string dtype"):
        slim.metrics.accuracy(weights, weights)
    with pytest.raises(ValueError, match="Dtypes of predictions and labels should match"):
        slim.metrics.accuracy(weights, labels)


def test_covariance_and_correlation_are_numpys_over_all_batches():
    predictions, labels = (tf.placeholder(tf.float32, [None]) for _ in range(2))
    weights = tf.placeholder(tf.float32, [None])
    metrics = {
        "covariance": slim.metrics.streaming_covariance(predictions, labels),
        "weighed": slim.metrics.streaming_covariance(predictions, labels, weights),
        "correlation": slim.metrics.streaming_pearson_correlation(predictions, labels),
    }
    random = np.random.RandomState(0)
    rows = random.randn(2, 12).astype(np.float32) + np.array([[5.0], [-3.0]])
    rows[1] += 0.5 * rows[0]
    repeats = np.array([1, 2, 3] * 4)
    feeds = zip(*(np.split(values, [4, 9]) for values in (*rows, repeats)), strict=True)
    values = streamed(metrics, [{predictions: a, labels: b, weights: c} for a, b, c in feeds])
    assert values["covariance"] == pytest.approx(np.cov(rows)[0, 1], rel=1e-4)
    assert values["weighed"] == pytest.approx(np.cov(rows, fweights=repeats)[0, 1], rel=1e-4)
    assert values["correlation"] == pytest.approx(np.corrcoef(rows)[0, 1], rel=1e-4)


def test_the_covariance_of_a_single_pair_is_not_a_number():
    value, update = slim.metrics.streaming_covariance(tf.constant([1.0]), tf.constant([2.0]))
    with initialized_session() as session:
        assert np.isnan(session.run(value))
        assert np.isnan(session.run(update))
        assert session.run(update) == 0  # Twice the same pair.


def test_kappa_is_the_agreement_beyond_chance():
    labels = tf.placeholder(tf.int64, [4])
    predictions = tf.placeholder(tf.int64, [4, 1])
    metrics = {
        "kappa": slim.metrics.cohen_kappa(labels, predictions, 3),
        "weighed": slim.metrics.cohen_kappa(labels, predictions, 3, tf.constant([1.0, 0, 0, 2])),
    }
    batches = [
        {labels: [0, 1, 2, 1], predictions: [[0], [1], [1], [1]]},
        {labels: [2, 2, 0, 0], predictions: [[2], [0], [0], [2]]},
    ]
    values = streamed(metrics, batches)
    # Both agree in 5 of 8; labels are 3, 2, 3 times a class, predictions 3, 3, 2 times.
    by_chance = (3 * 3 + 2 * 3 + 3 * 2) / 64
    assert values["kappa"] == pytest.approx((5 / 8 - by_chance) / (1 - by_chance))
    # Weights 1 + 2 + 1 agree of 6: labels 3, 2, 1, predictions 1, 2, 3.
    by_chance = (3 * 1 + 2 * 2 + 1 * 3) / 36
    assert values["weighed"] == pytest.approx((4 / 6 - by_chance) / (1 - by_chance))
    with pytest.raises(ValueError, match="`num_classes` must be >= 2"):
        slim.metrics.cohen_kappa(labels, predictions, 1)


@pytest.mark.parametrize(
    "kind", [list, *(pytest.param(k, marks=pytest.mark.slow) for k in (tuple, np.array))]
)
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("true_positives", [2, 1]),
        ("false_positives", [1, 1]),
        ("true_negatives", [1, 1]),
        ("false_negatives", [0, 1]),
        ("precision", [2 / 3, 1 / 2]),
        ("recall", [1, 1 / 2]),
        ("false_positive_rate", [1 / 2, 1 / 2]),
        ("false_negative_rate", [0, 1 / 2]),
    ],
)
def test_thresholds_take_values_that_are_no_tensors(kind, name, expected):
    metric = getattr(slim.metrics, f"streaming_{name}_at_thresholds")
    pair = metric(kind([0.9, 0.2, 0.6, 0.4]), kind([1, 0, 0, 1]), (0.3, 0.5))
    values = streamed({"metric": pair}, [{}])
    assert pair[0].shape.as_list() == [2]
    np.testing.assert_allclose(values["metric"], expected, rtol=1e-4)

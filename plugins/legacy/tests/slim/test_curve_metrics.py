"""slim's metrics of curves and of ranks against NumPy, over two batches."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from sessions import initialized_session
from tf_frame_legacy import slim

pytestmark = pytest.mark.usefixtures("variable_mode")

LABELS = np.array([1, 0, 1, 1, 0, 0, 1, 0, 1, 0])
SCORES = np.array([0.9, 0.8, 0.8, 0.6, 0.55, 0.3, 0.3, 0.2, 0.7, 0.05], np.float32)
WEIGHTS = np.array([1, 2, 1, 1, 1, 0, 3, 1, 1, 1], np.float32)
THRESHOLDS = [-1e-7, 0.25, 0.5, 0.75, 1 + 1e-7]


def feeds(*sizes):
    """Placeholders of labels, scores and weights, and the batches of these sizes for them."""
    columns = (LABELS, tf.int64), (SCORES, tf.float32), (WEIGHTS, tf.float32)
    tensors = [tf.placeholder(dtype, [None]) for _, dtype in columns]
    parts = [np.split(values, np.cumsum(sizes)[:-1]) for values, _ in columns]
    return tensors, [dict(zip(tensors, batch, strict=True)) for batch in zip(*parts, strict=True)]


def run(metrics, batches):
    values, updates = slim.metrics.aggregate_metric_map(metrics)
    with initialized_session() as session:
        for batch in batches:
            last = session.run(updates, batch)
        return session.run(values, batches[-1]), last


def counts(weights=WEIGHTS, at_least=False):
    """True and false positives, true and false negatives at each threshold."""
    rows = []
    for threshold in THRESHOLDS:
        positive = threshold <= SCORES if at_least else threshold < SCORES
        masks = [positive & (LABELS == 1), positive & (LABELS == 0)]
        masks += [~positive & (LABELS == 0), ~positive & (LABELS == 1)]
        rows.append([weights[mask].sum() for mask in masks])
    return np.array(rows).T


def pairwise_area(scores, weights):
    """The weighed share of pairs of a positive and a negative in the right order; half if equal."""
    right, wrong = LABELS == 1, LABELS == 0
    above = scores[right][:, None] - scores[wrong]
    pairs = weights[right][:, None] * weights[wrong]
    return (((above > 0) + 0.5 * (above == 0)) * pairs).sum() / pairs.sum()


@pytest.mark.slow
def test_points_of_curves():
    (labels, scores, weights), batches = feeds(6, 4)
    arguments = {"weights": weights, "num_thresholds": 5}
    metric = slim.metrics
    metrics = {
        "roc": metric.streaming_curve_points(labels, scores, **arguments),
        "pr": metric.streaming_curve_points(labels, scores, curve="PR", **arguments),
        "precision": metric.precision_at_recall(labels, scores, 0.5, **arguments),
        "recall": metric.recall_at_precision(labels, scores, 0.6, **arguments),
        "strict": metric.recall_at_precision(labels, scores, 0.65, strict_mode=True, **arguments),
        "none": metric.recall_at_precision(labels, scores, 0.99, strict_mode=True, **arguments),
        "data": metric.precision_recall_at_equal_thresholds(
            tf.cast(labels, tf.bool), scores, **arguments
        ),
    }
    values, last = run(metrics, batches)
    tp, fp, tn, fn = counts()
    recalls, precisions = tp / (tp + fn), tp / np.maximum(tp + fp, 1e-9)
    np.testing.assert_allclose(values["roc"], np.stack([fp / (fp + tn), recalls], 1), atol=1e-5)
    # Without any positive prediction the precision counts as 1.
    shown = np.append(precisions[:-1], 1.0)
    np.testing.assert_allclose(values["pr"], np.stack([recalls, shown], 1), atol=1e-5)
    assert values["precision"] == pytest.approx(precisions[recalls >= 0.5][-1], rel=1e-5)
    nearest = recalls[np.abs(precisions - 0.6).argmin()]
    assert values["recall"] == last["recall"] == pytest.approx(nearest, rel=1e-5)
    least = min((p, r) for p, r in zip(precisions, recalls, strict=True) if p >= 0.65)
    assert values["strict"] == pytest.approx(least[1], rel=1e-5)
    assert values["none"] == 0.0
    np.testing.assert_allclose(values["data"][:4], counts(at_least=True)[[0, 1, 2, 3]], rtol=1e-6)
    np.testing.assert_allclose(values["data"].thresholds, [0, 0.25, 0.5, 0.75, 1.0])
    for call in (metric.recall_at_precision, metric.precision_at_recall):
        with pytest.raises(ValueError, match=r"must be in the range \[0, 1\]"):
            call(labels, scores, 1.1)
    with pytest.raises(ValueError, match="curve must be either ROC or PR, X unknown"):
        metric.streaming_curve_points(labels, scores, curve="X")


def delong(alpha_quantile):
    """Area and interval of DeLong et al. 1988, without weights."""
    right, wrong = SCORES[LABELS == 1], SCORES[LABELS == 0]
    above = right[:, None] - wrong
    order = (above > 0) + 0.5 * (above == 0)
    variance = sum(order.mean(axis=a).var(ddof=1) / order.shape[1 - a] for a in (0, 1))
    step = alpha_quantile * np.sqrt(variance)
    return order.mean(), order.mean() - step, order.mean() + step


@pytest.mark.slow
def test_areas_of_all_examples():
    (labels, scores, weights), batches = feeds(7, 3)
    metric = slim.metrics
    bins = np.floor(SCORES * 8) / 8
    metrics = {
        "roc": metric.streaming_dynamic_auc(labels, scores, weights=weights),
        "pr": metric.streaming_dynamic_auc(labels, scores, curve="PR"),
        "interval": metric.auc_with_confidence_intervals(
            labels, scores, alpha=0.9, logit_transformation=False
        ),
        "logit": metric.auc_with_confidence_intervals(labels, scores, alpha=0.9),
        "bins": metric.auc_using_histogram(tf.cast(labels, tf.bool), scores, [0.0, 1.0], 8),
    }
    values, _ = run(metrics, batches)
    ones = np.ones(10)
    assert values["roc"] == pytest.approx(pairwise_area(SCORES, WEIGHTS), rel=1e-6)
    # Trapezoids between the five points of recall and precision.
    recall = np.array([0, 1, 2, 3, 4, 4, 5, 5, 5]) / 5
    precision = np.array([1, 1, 2 / 3, 3 / 4, 4 / 5, 4 / 6, 5 / 8, 5 / 9, 5 / 10])
    assert values["pr"] == pytest.approx(np.trapezoid(precision, recall), rel=1e-6)
    expected = delong(1.6448536)
    np.testing.assert_allclose(values["interval"], expected, rtol=1e-5)
    area, _, upper = expected
    logit, step = np.log(area / (1 - area)), (upper - area) / (area * (1 - area))
    limits = [1 / (1 + np.exp(-x)) for x in (logit - step, logit + step)]
    np.testing.assert_allclose(values["logit"], [area, *limits], rtol=1e-5)
    assert values["bins"] == pytest.approx(pairwise_area(bins, ones), rel=1e-6)


def test_areas_of_what_cannot_be_ranked():
    (labels, scores, _), batches = feeds(10)
    pair = slim.metrics.streaming_dynamic_auc(labels, scores)
    interval = slim.metrics.auc_with_confidence_intervals(labels, scores)
    with initialized_session() as session:
        batch = {**batches[0], labels: np.ones(10)}
        session.run([pair[1], interval[1]], batch)
        assert session.run([pair[0], *interval[0]], batch) == [0.0] * 4
        for value, sign in ((-1, "<0"), (2, ">1")):
            message = f"labels must be 0 or 1, at least one is {sign}"
            with pytest.raises(tf.errors.InvalidArgumentError, match=message):
                session.run(pair[1], {**batch, labels: np.full(10, value)})
    with pytest.raises(ValueError, match="curve must be either ROC or PR, X unknown"):
        slim.metrics.streaming_dynamic_auc(labels, scores, curve="X")
    with pytest.raises(ValueError, match=r"alpha must be between 0 and 1; currently 1.00"):
        slim.metrics.auc_with_confidence_intervals(labels, scores, alpha=1.0)
    with pytest.raises(ValueError, match="should have dtype bool"):
        slim.metrics.auc_using_histogram(scores, scores, [0.0, 1.0])


def test_average_precision_of_classes_that_are_chosen_already():
    best = tf.constant([[5, 3, 1, 2], [0, 6, 4, 2]])
    labels = tf.constant([[3, 2], [7, 4]], tf.int64)
    pair = slim.metrics.streaming_sparse_average_precision_at_top_k(best, labels)
    values, _ = run({"average": pair}, [{}])
    expected = [(1 / 2 + 2 / 4) / 2, (1 / 3) / 2]
    assert values["average"] == pytest.approx(np.mean(expected))
    with pytest.raises(ValueError, match="last dimension"):
        slim.metrics.streaming_sparse_average_precision_at_top_k(
            tf.placeholder(tf.int64, [2, None]), labels
        )

"""Heads against the figures in the tests of tensorflow_estimator 1.15, canned/head_test.py."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from refusals import refusal
from tf_frame_legacy import estimator
from tf_frame_legacy.estimator import heads

TEN = np.array([[10, 0, 0], [0, 10, 0], [0, 0, 10]], np.float32)
SUM = tf.losses.Reduction.SUM


def run(spec, *fetches):
    """Initialises and runs fetches; metrics are updated first."""
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        session.run(tf.tables_initializer())
        session.run([update for _, update in (spec.eval_metric_ops or {}).values()])
        return session.run(fetches if len(fetches) > 1 else fetches[0])


def evaluated(head, logits, labels, features=None):
    spec = head.create_estimator_spec(features or {}, "eval", tf.constant(logits), labels)
    values = {name: value for name, (value, _) in spec.eval_metric_ops.items()}
    return run(spec, {**values, "loss": spec.loss})


def close(expected):
    return {name: pytest.approx(value, rel=1e-3, abs=1e-3) for name, value in expected.items()}


def test_multi_class_weights_of_any_rank(graph):
    head = heads.MultiClassHead(3, "w", loss_reduction=SUM, name="one")
    features = {"w": np.array([1.0, 2.0, 3.0])}
    metrics = evaluated(head, TEN, np.array([1, 2, 2]), features)
    assert metrics == close({"loss": 30, "average_loss/one": 5, "accuracy/one": 0.5})
    logits = np.array([[[10, 0, 0], [12, 0, 0]], [[0, 10, 0], [0, 15, 0]]], np.float32)
    labels = np.array([[[0], [1]], [[1], [2]]])
    features = {"w": np.array([[1, 1.5], [2, 2.5]], np.float32)}
    metrics = evaluated(head, logits, labels, features)
    assert metrics["loss"] == pytest.approx(55.5, rel=1e-3)
    mean = heads.MultiClassHead(3, "w")
    assert evaluated(mean, logits, labels, features)["loss"] == pytest.approx(55.5 / 4, rel=1e-3)


def test_training_step_and_summaries(graph):
    tf.train.create_global_step()
    head = heads.MultiClassHead(3, "w", loss_reduction=SUM)
    weights = tf.get_variable("weights", initializer=TEN)
    arguments = ({"w": np.array([1.0, 2.0, 3.0])}, "train", weights, np.array([1, 2, 2]))
    average = tf.get_variable("average", [])
    tf.add_to_collection(tf.GraphKeys.UPDATE_OPS, tf.assign(average, 7.0))
    spec = head.create_estimator_spec(
        *arguments,
        optimizer=tf.train.GradientDescentOptimizer(1.0),
        regularization_losses=[tf.constant(2.0), tf.constant(3.0)],
    )
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        text, loss = session.run([tf.summary.merge_all(), spec.loss])
        session.run(spec.train_op)
        assert loss == pytest.approx(35, rel=1e-4)
        assert session.run(tf.train.get_global_step()) == 1
        assert session.run(average) == 7.0
        # The gradient of an example is its weight times (probabilities - one-hot label).
        assert session.run(weights)[1] == pytest.approx([0, 8, 2], abs=1e-2)
    summary = tf.Summary.FromString(text)
    tags = {value.tag: value.simple_value for value in summary.value}
    assert tags == close({"loss": 35, "average_loss": 5, "regularization_loss": 5})
    assert "both be None" in refusal(head.create_estimator_spec, *arguments)[1]
    both = {"optimizer": tf.train.AdamOptimizer(), "train_op_fn": tf.identity}
    assert "both be set" in refusal(head.create_estimator_spec, *arguments, **both)[1]


@pytest.mark.slow
def test_binary_class_metrics_and_thresholds(graph):
    head = heads.BinaryClassHead(thresholds=[0.25, 0.5], loss_reduction=SUM)
    logits = np.array([[-1.0], [1.0]], np.float32)
    metrics = evaluated(head, logits, np.array([[1.0], [1.0]]))
    # loss = -log(sigmoid(-1)) - log(sigmoid(1)) = 1.3133 + 0.3133
    expected = {
        "loss": 1.6265,
        "accuracy": 0.5,
        "precision": 1.0,
        "recall": 0.5,
        "prediction/mean": 0.5,
        "label/mean": 1.0,
        "accuracy_baseline": 1.0,
        "accuracy/positive_threshold_0.25": 1.0,
        "recall/positive_threshold_0.25": 1.0,
        "precision/positive_threshold_0.5": 1.0,
        "recall/positive_threshold_0.5": 0.5,
    }
    assert {name: metrics[name] for name in expected} == close(expected)
    named = heads.BinaryClassHead(label_vocabulary=["no", "yes"])
    loss = evaluated(named, logits, np.array([["yes"], ["yes"]]))["loss"]
    assert loss == pytest.approx(1.6265 / 2, rel=1e-3)
    with pytest.raises(tf.errors.InvalidArgumentError):
        evaluated(named, logits, np.array([["yes"], ["perhaps"]]))


@pytest.mark.slow
def test_multi_label(graph):
    head = heads.MultiLabelHead(
        2, thresholds=[0.5], classes_for_class_based_metrics=[1], loss_reduction=SUM
    )
    logits = np.array([[-1.0, 1.0], [-1.5, 1.5]], np.float32)
    dense = np.array([[1, 0], [1, 1]])
    sparse = tf.SparseTensor([[0, 0], [1, 0], [1, 1]], tf.constant([0, 0, 1], tf.int64), [2, 2])
    losses = np.log1p(np.exp(np.where(dense, -logits, logits))).mean()
    sigmoid = 1 / (1 + np.exp(-logits[:, 1]))
    for labels in (dense, sparse):
        metrics = evaluated(head, logits, labels)
        assert metrics["loss"] == pytest.approx(2 * losses, rel=1e-5)
        assert metrics["probability_mean/class1"] == pytest.approx(sigmoid.mean(), rel=1e-5)
        assert metrics["accuracy/positive_threshold_0.5"] == 0.25
        assert metrics["auc/class1"] == pytest.approx(1.0, abs=1e-3)


def test_regression_and_its_links(graph):
    logits = np.array([[0.0], [-1.0], [1.0]], np.float32)
    labels = np.array([1, 2, 3], np.int32)
    poisson = heads.PoissonRegressionHead(loss_reduction=SUM, compute_full_loss=False)
    metrics = evaluated(poisson, logits, labels)
    expected = np.sum(np.exp(logits[:, 0]) - labels * logits[:, 0])
    assert metrics["loss"] == pytest.approx(expected, rel=1e-5)
    assert metrics["prediction/mean"] == pytest.approx(np.exp(logits).mean(), rel=1e-5)
    logistic = heads.LogisticRegressionHead()
    fractions = np.array([0.4, 0.6, 0.8], np.float32)
    metrics = evaluated(logistic, logits, fractions)
    expected = np.mean(np.log1p(np.exp(logits[:, 0])) - fractions * logits[:, 0])
    assert metrics["loss"] == pytest.approx(expected, rel=1e-5)
    each = heads.RegressionHead(2, "w")
    features = {"w": np.array([[1.0, 0.0], [0.0, 3.0]], np.float32)}
    metrics = evaluated(each, np.zeros([2, 2], np.float32), [[1.0, 5.0], [7.0, 2.0]], features)
    assert metrics == close(
        {"loss": 13 / 4, "average_loss": 13 / 4, "prediction/mean": 0, "label/mean": 7 / 4}
    )


def test_own_loss(graph):
    def loss_fn(labels, logits, features):
        return tf.cast(labels, tf.float32) * features["scale"] + tf.reduce_sum(logits)

    head = heads.MultiClassHead(3, loss_fn=loss_fn, loss_reduction=SUM)
    features = {"scale": tf.constant(2.0)}
    assert evaluated(head, TEN, np.array([0, 1, 2]), features)["loss"] == 2 * 3 + 3 * 30
    wrong = heads.MultiClassHead(3, loss_fn=lambda labels, logits: logits)
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError), match="must return|incompat"):
        evaluated(wrong, TEN, np.array([0, 1, 2]))


@pytest.mark.slow
def test_several_heads(graph):
    tf.train.create_global_step()
    first = heads.multi_label_head(2, name="first", loss_reduction=SUM)
    second = heads.regression_head(name="second", loss_reduction=SUM)
    head = heads.multi_head([first, second], head_weights=[1.0, 2.0])
    assert (head.name, head.logits_dimension) == ("first_second", 3)
    logits = np.array([[-10.0, 10.0, 5.0]], np.float32)
    labels = {"first": np.array([[1, 0]]), "second": np.array([[3.0]])}
    metrics = evaluated(head, logits, labels)
    expected = {"loss": 10 + 2 * 4, "loss/first": 10, "loss/second": 4, "average_loss/second": 4}
    assert {name: metrics[name] for name in expected} == close(expected)
    spec = head.create_estimator_spec({}, "infer", tf.constant(logits))
    assert ("second", "predictions") in spec.predictions
    names = {"serving_default", "first", "first/classification", "first/predict", "predict"}
    names |= {"second", "second/regression", "second/predict"}
    assert set(spec.export_outputs) == names
    assert "first/logits" in spec.export_outputs["predict"].outputs
    spec = head.create_estimator_spec(
        {}, "train", tf.constant(logits), labels, train_op_fn=lambda loss: tf.as_string(loss)
    )
    assert float(run(spec, spec.train_op)) == pytest.approx(18, rel=1e-3)
    assert "labels" in refusal(head.loss, {"first": 1}, tf.constant(logits))[1]


@pytest.mark.slow
def test_loss_of_then_and_loss_of_later(graph):
    head = heads.BinaryClassHead(loss_reduction="sum")
    logits, labels = tf.constant([[-1.0], [1.0]]), np.array([[1.0], [1.0]])
    spec = head.create_loss({}, "train", logits, labels)
    pair = run(
        estimator.EstimatorSpec("infer", logits), spec.training_loss, head.loss(labels, logits)
    )
    assert pair[0] == pair[1] == pytest.approx(1.6265, rel=1e-3)
    assert head.metrics() == {}
    assert "auc" in head.update_metrics({}, {}, logits, labels)
    assert set(head.predictions(logits, ["logits"])) == {"logits"}
    assert "wrong" in refusal(head.predictions, logits, ["wrong"])[1]


@pytest.mark.parametrize(
    "head, arguments",
    [
        (heads.BinaryClassHead, {"thresholds": [0.0]}),
        (heads.BinaryClassHead, {"label_vocabulary": "ab"}),
        (heads.BinaryClassHead, {"loss_reduction": "none"}),
        (heads.BinaryClassHead, {"loss_fn": lambda logits: logits}),
        (heads.BinaryClassHead, {"loss_fn": lambda labels, logits, other: logits}),
        (heads.MultiClassHead, {"n_classes": 2}),
        (heads.MultiClassHead, {"n_classes": 3, "label_vocabulary": ["a"]}),
        (heads.MultiLabelHead, {"n_classes": 1}),
        (heads.MultiLabelHead, {"n_classes": 3, "classes_for_class_based_metrics": [3]}),
        (heads.RegressionHead, {"label_dimension": 0}),
        (heads.MultiHead, {"heads": []}),
        (heads.MultiHead, {"heads": [heads.RegressionHead()]}),
    ],
)
def test_refused_arguments(head, arguments):
    with pytest.raises(ValueError):
        head(**arguments)


def test_refused_labels(graph):
    head, logits = heads.MultiClassHead(3), tf.constant(TEN)
    sparse = tf.SparseTensor([[0, 0]], tf.constant([0], tf.int64), [3, 1])
    for labels in (None, sparse, np.ones([3, 2], np.int32), np.ones([3, 1], np.float32)):
        with pytest.raises(ValueError):
            head.create_loss({}, "train", logits, labels)
    with pytest.raises(tf.errors.InvalidArgumentError):
        evaluated(head, TEN, np.array([0, 1, 3]))
    assert "logits shape" in refusal(head.predictions, tf.zeros([3, 4]))[1]

"""replicate_model_fn and TowerOptimizer: the values of the original's own tests."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame_legacy import estimator as tf_estimator
from tf_frame_legacy.contrib import estimator as contrib_estimator

SUM, MEAN = tf.losses.Reduction.SUM, tf.losses.Reduction.MEAN
DEVICES = ["/cpu:0", "/cpu:1"]
ROWS = np.array([[1.0], [2.0]])


def model_fn(mode, features, labels, params, optimizer=contrib_estimator.TowerOptimizer):
    """The model of the original's tests: |c * x - y|, where c begins at 10."""
    c = tf.get_variable("c", initializer=tf.constant(10.0, tf.float64), dtype=tf.float64)
    predictions = features * c
    if labels is None:
        return tf_estimator.EstimatorSpec(mode, {"probabilities": predictions})
    loss = tf.losses.absolute_difference(labels, predictions, reduction=SUM)
    rate = params["learning_rate"]
    return tf_estimator.EstimatorSpec(
        mode,
        loss=loss,
        predictions={"probabilities": predictions},
        eval_metric_ops={"accuracy": tf.metrics.accuracy(labels, predictions)},
        train_op=optimizer(tf.train.MomentumOptimizer(rate, 0.0)).minimize(
            loss, tf.train.get_global_step()
        ),
    )


def replicated(mode, rows=ROWS, labels=ROWS, function=model_fn, devices=DEVICES, **arguments):
    function = contrib_estimator.replicate_model_fn(function, devices=devices, **arguments)
    return function(rows, labels, mode, {"learning_rate": 1.0})


def session():
    config = tf.ConfigProto(device_count={"CPU": 2})
    opened = tf.Session(config=config)
    opened.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
    return opened


# |10 * 1 - 1| + |10 * 2 - 2|; the gradient is 3.
@pytest.mark.parametrize(
    "devices, reduction, loss, trained",
    [
        (DEVICES, SUM, 27.0, 7.0),
        (DEVICES, MEAN, 13.5, 8.5),
        (DEVICES[:1], MEAN, 27.0, 7.0),
    ],
)
def test_training(graph, variable_mode, devices, reduction, loss, trained):
    unused = tf.get_variable("unused", [])
    spec = replicated("train", devices=devices, loss_reduction=reduction)
    names = {v.op.name: v for v in tf.global_variables()}
    assert sorted(names) == ["c", "c/Momentum", "unused"]
    assert names["c"].device == "/device:CPU:0" and unused is names["unused"]
    assert not [key for key in graph.get_all_collection_keys() if "tower" in str(key)]
    with session() as opened:
        assert opened.run(spec.loss) == loss
        opened.run(spec.train_op)
        assert opened.run(names["c"]) == trained


def test_towers_have_their_devices_and_names(graph):
    replicated("train")
    products = {op.name: op.device for op in graph.get_operations() if op.type == "Mul"}
    assert products["mul"] == "/device:CPU:0"
    assert products["tower_1/mul"] == "/device:CPU:1"


@pytest.mark.parametrize("reduction, loss", [(SUM, 0.09), (MEAN, 0.045)])
def test_evaluation(graph, variable_mode, reduction, loss):
    rows, labels = np.array([[0.01], [0.002]]), np.array([[0.01], [0.02]])
    spec = replicated("eval", rows, labels, loss_reduction=reduction)
    value, update = spec.eval_metric_ops["accuracy"]
    with session() as opened:
        for _ in range(3):  # A value of a replica counts once.
            opened.run(update)
        total, count = opened.run(tf.get_collection(tf.GraphKeys.METRIC_VARIABLES)[:2])
        assert (total, count, opened.run(value)) == (3.0, 6.0, 0.5)
        assert opened.run(spec.loss) == pytest.approx(loss)


def test_prediction(graph):
    rows = np.array([[0.01], [0.002]])
    spec = replicated("infer", rows, labels=None)
    with session() as opened:
        outputs = opened.run(spec.predictions)
    np.testing.assert_allclose(outputs["probabilities"], [[0.1], [0.02]])


def test_exports_are_concatenated(graph):
    export = tf_estimator.export

    def exporting(features, labels, mode):
        name = "serving_default"
        outputs = {
            name: export.PredictOutput({"x": features}),
            "regression": export.RegressionOutput(features),
            "classes": export.ClassificationOutput(classes=tf.as_string(features)),
        }
        return tf_estimator.EstimatorSpec(mode, {"x": features}, export_outputs=outputs)

    spec = replicated("infer", labels=None, function=exporting)
    with session() as opened:
        outputs = spec.export_outputs
        np.testing.assert_array_equal(opened.run(outputs["serving_default"].outputs["x"]), ROWS)
        np.testing.assert_array_equal(opened.run(outputs["regression"].value), ROWS)
        assert opened.run(outputs["classes"].classes).shape == (2, 1)


def test_features_of_any_kind_are_split(graph):
    sparse = tf.sparse.from_dense([[1.0, 0.0], [0.0, 2.0]])
    seen = []

    def collecting(features, labels, mode):
        seen.append((features["sparse"], features["dense"], labels["y"]))
        return tf_estimator.EstimatorSpec(mode, {"x": features["dense"]})

    features = {"sparse": sparse, "dense": ROWS}
    replicated("infer", features, {"y": ROWS}, collecting)
    with session() as opened:
        for index, (part, dense, label) in enumerate(seen):
            values, row, target = opened.run([part.values, dense, label])
            assert (values, row, target) == (index + 1, ROWS[index], ROWS[index])


def test_sparse_gradients_stay_sparse(graph):
    def embedding(features, labels, mode):
        table = tf.get_variable("table", [3, 1], initializer=tf.ones_initializer())
        loss = tf.reduce_sum(tf.gather(table, features))
        optimizer = contrib_estimator.TowerOptimizer(lambda: tf.train.GradientDescentOptimizer(1.0))
        return tf_estimator.EstimatorSpec(mode, loss=loss, train_op=optimizer.minimize(loss))

    spec = replicated("train", np.array([0, 2]), None, embedding, loss_reduction=SUM)
    with session() as opened:
        opened.run(spec.train_op)
        np.testing.assert_array_equal(opened.run(tf.global_variables()[0]), [[0], [1], [0]])


def test_wrong_models(graph):
    def plain(mode, features, labels, params):
        return model_fn(mode, features, labels, params, optimizer=lambda optimizer: optimizer)

    calls = []

    def uneven(mode, features, labels, params):
        calls.append(0)
        spec = model_fn(mode, features, labels, params)
        if len(calls) > 1:
            model_fn(mode, features, labels, params)
        return spec

    with pytest.raises(ValueError, match="needs to be divisible by the number of GPUs, which is 2"):
        replicated("train", np.ones([3, 1]), np.ones([3, 1]))
    with pytest.raises(ValueError, match="Please wrap optimizers with TowerOptimizer"):
        replicated("train", function=plain)
    with tf.Graph().as_default(), pytest.raises(ValueError, match="same optimizer calls"):
        replicated("train", function=uneven)
    with pytest.raises(ValueError, match="Tower losses need to be reduced"):
        contrib_estimator.replicate_model_fn(plain, tf.losses.Reduction.NONE)


@pytest.mark.slow
def test_in_an_estimator(tmp_path):
    config = tf_estimator.RunConfig(
        str(tmp_path / "model"), session_config=tf.ConfigProto(device_count={"CPU": 2})
    )
    function = contrib_estimator.replicate_model_fn(model_fn, SUM, DEVICES)
    estimator = tf_estimator.Estimator(function, config=config, params={"learning_rate": 0.5})

    def input_fn():
        return tf.data.Dataset.from_tensors((ROWS, ROWS))

    def predict_input_fn():
        return tf.data.Dataset.from_tensors(ROWS)

    estimator.train(input_fn)
    assert estimator.get_variable_value("c") == 8.5
    result = estimator.evaluate(input_fn)
    assert (result["loss"], result["accuracy"]) == (22.5, 0.0)
    predictions = [row["probabilities"] for row in estimator.predict(predict_input_fn)]
    np.testing.assert_array_equal(predictions, 8.5 * ROWS)


def test_without_towers_the_optimizer_is_the_one_that_it_wraps(graph):
    weight = tf.get_variable("weight", [], initializer=tf.ones_initializer())
    wrapped = tf.train.MomentumOptimizer(0.5, 0.9)
    optimizer = contrib_estimator.TowerOptimizer(wrapped)
    step = optimizer.minimize(weight)
    assert optimizer.get_slot(weight, "momentum") is wrapped.get_slot(weight, "momentum")
    assert (optimizer.get_name(), optimizer.get_slot_names()) == ("Momentum", ["momentum"])
    assert len(optimizer.variables()) == 1
    with session() as opened:
        opened.run(step)
        assert opened.run(weight) == 0.5

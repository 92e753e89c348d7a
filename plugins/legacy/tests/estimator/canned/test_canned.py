"""Canned estimators against the figures in the tests of tensorflow_estimator 1.15.

Those tests give the variables; the losses and metrics follow by hand.
"""

import glob

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from refusals import refusal
from sessions import save_variables
from tf_frame_legacy import estimator

AGE = tf.feature_column.numeric_column("age")
DNN = {
    "dnn/hiddenlayer_0/kernel": [[0.6, 0.5]],
    "dnn/hiddenlayer_0/bias": [0.1, -0.1],
    "dnn/hiddenlayer_1/kernel": [[1.0, 0.8], [-0.8, -1.0]],
    "dnn/hiddenlayer_1/bias": [0.2, -0.2],
    "dnn/logits/kernel": [[-1.0], [1.0]],
    "dnn/logits/bias": [0.3],
}
DNN_3 = {
    **DNN,
    "dnn/hiddenlayer_0/kernel": [[0.6, 0.5], [-0.6, -0.5]],
    "dnn/logits/kernel": [[-1.0, 1.0, 0.5], [-1.0, 1.0, 0.5]],
    "dnn/logits/bias": [0.3, -0.3, 0.0],
}
LINEAR = {"linear/linear_model/age/weights": [[11.0]], "linear/linear_model/bias_weights": [2.0]}


def slots(variables, suffix, start=0.1):
    """Slots of an optimizer, under the names in checkpoints of TensorFlow 1.15."""
    return {f"{name}/{suffix}": np.full_like(values, start) for name, values in variables.items()}


@pytest.fixture
def restored(tmp_path):
    """Writes variables at step 100 and returns the folder."""

    def restored(variables):
        arrays = {name: np.array(value, np.float32) for name, value in variables.items()}
        arrays["global_step"] = np.int64(100)
        save_variables(tmp_path / "model.ckpt", arrays, global_step=100)
        return str(tmp_path)

    return restored


def data(features, labels=None):
    arrays = {name: np.array(value, np.float32) for name, value in features.items()}
    labels = None if labels is None else np.array(labels)
    return estimator.inputs.numpy_input_fn(arrays, labels, batch_size=8, shuffle=False)


def numbers(metrics):
    return {name: pytest.approx(value, abs=1e-4) for name, value in metrics.items()}


@pytest.mark.slow
def test_dnn_classifier_metrics(restored):
    classifier = estimator.DNNClassifier((2, 2), [AGE], restored(DNN))
    evaluated = classifier.evaluate(data({"age": [10, 10]}, [[1], [0]]))
    # The logits are -2.08, so the loss is -log(0.111) - log(0.889).
    assert evaluated == numbers(
        {
            "loss": 2.315442,
            "average_loss": 2.315442 / 2,
            "accuracy": 0.5,
            "precision": 0.0,
            "recall": 0.0,
            "prediction/mean": 0.11105597,
            "label/mean": 0.5,
            "accuracy_baseline": 0.5,
            "auc": 0.5,
            "auc_precision_recall": 0.75,
            "global_step": 100,
        }
    )
    (predicted,) = classifier.predict(data({"age": [10]}))
    assert predicted["logits"] == pytest.approx([-2.08], abs=1e-5)
    assert predicted["class_ids"] == [0] and predicted["all_classes"].tolist() == [b"0", b"1"]
    assert predicted["probabilities"] == pytest.approx([0.88894403, 0.11105597], abs=1e-5)


@pytest.mark.slow
def test_dnn_classifier_with_names_and_weights(restored):
    classifier = estimator.DNNClassifier(
        (2, 2),
        [tf.feature_column.numeric_column("age", shape=[2])],
        restored(DNN_3),
        n_classes=3,
        label_vocabulary=["low", "middle", "high"],
        weight_column="w",
    )
    batch = data({"age": [[10, 8], [10, 8]], "w": [[10], [100]]}, [["middle"], ["low"]])
    losses = np.array([0.83152, 1.79153])  # -log of 0.43538380 and 0.16670536
    loss = losses @ [10, 100]
    assert classifier.evaluate(batch) == pytest.approx(
        {"loss": loss, "average_loss": loss / 110, "accuracy": 10 / 110, "global_step": 100},
        rel=1e-4,
    )
    (predicted,) = classifier.predict(data({"age": [[10, 8]], "w": [1]}))
    assert predicted["classes"] == [b"middle"]
    assert refusal(classifier.evaluate, data({"age": [[1, 1]], "w": [1]}, [1]))


@pytest.mark.slow
def test_dnn_regressor_trains_with_the_names_of_then(restored, tmp_path):
    variables = {**DNN, **slots(DNN, "t_0/Adagrad")}
    regressor = estimator.DNNRegressor((2, 2), [AGE], restored(variables))
    assert regressor.evaluate(data({"age": [10]}, [1.0]))["loss"] == pytest.approx(9.4864, rel=1e-5)
    regressor.train(data({"age": [10]}, [1.0]), steps=1)
    assert set(regressor.get_variable_names()) == {"global_step", *variables}
    # Adagrad with 0.05: d loss / d bias = 2 (-2.08 - 1) = -6.16, its square is added to 0.1.
    bias = 0.3 + 0.05 * 6.16 / np.sqrt(0.1 + 6.16**2)
    assert regressor.get_variable_value("dnn/logits/bias") == pytest.approx([bias], rel=1e-5)
    summaries = {
        value.tag: value.simple_value
        for path in glob.glob(str(tmp_path / "events*"))
        for event in tf.train.summary_iterator(path)
        for value in event.summary.value
    }
    expected = {
        "loss": 9.4864,
        "average_loss": 9.4864,
        "dnn/dnn/hiddenlayer_0/fraction_of_zero_values": 0.0,
        "dnn/dnn/hiddenlayer_1/fraction_of_zero_values": 0.5,
        "dnn/dnn/logits/fraction_of_zero_values": 0.0,
    }
    assert {tag: summaries[tag] for tag in expected} == pytest.approx(expected, rel=1e-5)


def test_batch_norm_in_training_and_otherwise():
    values = {
        "dnn/hiddenlayer_0/kernel": [[0.6, 0.5]],
        "dnn/hiddenlayer_0/bias": [1.0, -1.0],
        "dnn/logits/kernel": [[-1.0], [2.0]],
        "dnn/logits/bias": [0.3],
    }
    from tf_frame_legacy.estimator.canned.dnn import dnn_logit_fn_builder

    expected = {"train": [-0.699895571, 1.299895571], "eval": [1.299500375, 5.297501873]}
    for mode, logits in expected.items():
        with tf.Graph().as_default(), tf.Session() as session:
            with tf.variable_scope("dnn"):
                logit_fn = dnn_logit_fn_builder(1, [2], [AGE], tf.nn.relu, None, None, True)
                outputs = logit_fn({"age": tf.constant([[10.0], [20.0]])}, mode)
            session.run(tf.global_variables_initializer())
            for variable in tf.global_variables():
                if variable.op.name in values:
                    variable.load(np.array(values[variable.op.name], np.float32), session)
            names = {variable.op.name for variable in tf.global_variables()}
            assert "dnn/hiddenlayer_0/batchnorm_0/moving_variance" in names
            np.testing.assert_allclose(session.run(outputs)[:, 0], logits, rtol=1e-5)


@pytest.mark.slow
def test_linear_regressor(restored):
    variables = {**LINEAR, **slots(LINEAR, "part_0/Ftrl"), **slots(LINEAR, "part_0/Ftrl_1", 0.0)}
    regressor = estimator.LinearRegressor([AGE], restored(variables), weight_column="w")
    # 1 * 11 + 2 = 13; the label is 10.
    assert regressor.evaluate(data({"age": [1, 1], "w": [1, 2]}, [10.0, 10.0])) == {
        "loss": 27.0,
        "average_loss": 9.0,
        "prediction/mean": 13.0,
        "label/mean": 10.0,
        "global_step": 100,
    }
    regressor.train(data({"age": [1], "w": [1]}, [10.0]), steps=1)
    assert set(regressor.get_variable_names()) == {"global_step", *variables}


@pytest.mark.slow
def test_weights_in_parts(tmp_path):
    wide = tf.feature_column.numeric_column("age", shape=[8])
    regressor = estimator.LinearRegressor(
        [wide], str(tmp_path), partitioner=tf.fixed_size_partitioner(2, axis=0)
    )
    batch = data({"age": np.ones((2, 8))}, [8.0, 8.0])
    losses = [
        regressor.train(batch, steps=1).evaluate(batch)["loss"],
        regressor.train(batch, steps=1).evaluate(batch)["loss"],
    ]
    assert losses[1] < losses[0] < 128
    assert regressor.get_variable_value("linear/linear_model/age/weights").shape == (8, 1)


@pytest.mark.slow
def test_linear_classifier(restored):
    variables = {**LINEAR, "linear/linear_model/age/weights": [[2.0]]}
    variables["linear/linear_model/bias_weights"] = [-35.0]
    classifier = estimator.LinearClassifier([AGE], restored(variables))
    evaluated = classifier.evaluate(data({"age": [17, 18]}, [1, 0]))
    expected = {"loss": 2.6266, "accuracy": 0.0, "auc": 0.0, "auc_precision_recall": 0.25}
    assert {name: evaluated[name] for name in expected} == numbers(expected)


def test_wide_and_deep(restored):
    wide = {"linear/linear_model/age/weights": [[10.0]], "linear/linear_model/bias_weights": [5.0]}
    variables = {**DNN, **wide, **slots(DNN, "Adagrad")}
    combined = estimator.DNNLinearCombinedRegressor(
        restored(variables), [AGE], "SGD", [AGE], "Adagrad", (2, 2)
    )
    (predicted,) = combined.predict(data({"age": [10]}))
    assert predicted["predictions"] == pytest.approx([105.0 - 2.08], rel=1e-5)
    combined.train(data({"age": [10]}, [100.0]), steps=1)
    assert combined.get_variable_value("global_step") == 101
    # SGD with 0.005: the gradient of the bias is 2 (102.92 - 100); Adagrad has 0.001.
    gradient = 2 * 2.92
    bias = combined.get_variable_value("linear/linear_model/bias_weights")
    assert bias == pytest.approx([5.0 - 0.005 * gradient], rel=1e-5)
    bias = combined.get_variable_value("dnn/logits/bias")
    step = 0.001 * gradient / np.sqrt(0.1 + gradient**2)
    assert bias == pytest.approx([0.3 - step], rel=1e-5)
    assert set(combined.get_variable_names()) == {"global_step", *variables}


@pytest.mark.slow
def test_baseline(restored):
    variables = {"baseline/bias": [13.0]}
    regressor = estimator.BaselineRegressor(restored(variables), optimizer="SGD")
    assert regressor.evaluate(data({"age": [1, 1]}, [10.0, 10.0]))["loss"] == 18.0
    regressor.train(data({"age": [1, 1]}, [10.0, 10.0]), steps=1)
    # The learning rate is 0.3, the gradient of the sum 12.
    assert regressor.get_variable_value("baseline/bias") == pytest.approx([13 - 3.6], rel=1e-5)


@pytest.mark.slow
def test_columns_dropout_warm_start_and_export(tmp_path):
    word = tf.feature_column.categorical_column_with_vocabulary_list("word", ["a", "b", "c"])
    embedding = tf.feature_column.embedding_column(word, 2)
    rows = {"age": np.zeros((4, 1), np.float32), "word": np.array(["a", "b", "c", "a"])}
    batch = estimator.inputs.numpy_input_fn(rows, np.array([0, 1, 1, 0]), shuffle=False)
    classifier = estimator.DNNClassifier(
        [3], [AGE, embedding], str(tmp_path / "first"), optimizer="Adam", dropout=0.5
    ).train(batch, steps=1)
    table = "dnn/input_from_feature_columns/input_layer/word_embedding/embedding_weights"
    names = set(classifier.get_variable_names())
    assert {table, f"{table}/t_0/Adam_1", "dnn/head/beta1_power"} <= names
    warm = estimator.DNNClassifier(
        [3],
        [AGE, embedding],
        str(tmp_path / "second"),
        optimizer=lambda: tf.train.GradientDescentOptimizer(0.0),
        warm_start_from=classifier.model_dir,
    ).train(batch, steps=1)
    np.testing.assert_array_equal(
        warm.get_variable_value(table), classifier.get_variable_value(table)
    )
    spec = tf.feature_column.make_parse_example_spec([AGE, embedding])
    receiver = estimator.export.build_parsing_serving_input_receiver_fn(spec)
    path = classifier.export_saved_model(str(tmp_path / "export"), receiver)
    with tf.Graph().as_default(), tf.Session() as session:
        signatures = tf.saved_model.loader.load(session, ["serve"], path.decode()).signature_def
    methods = {name: signature.method_name for name, signature in signatures.items()}
    assert methods == {
        "serving_default": "tensorflow/serving/classify",
        "classification": "tensorflow/serving/classify",
        "regression": "tensorflow/serving/regress",
        "predict": "tensorflow/serving/predict",
    }


def test_refusals():
    assert refusal(estimator.DNNLinearCombinedClassifier)
    from tf_frame_legacy.estimator.canned.optimizers import get_optimizer_instance

    assert "'Adagrad'" in refusal(get_optimizer_instance, "Rprop", 0.1)[1]
    assert "learning_rate" in refusal(get_optimizer_instance, "SGD")[1]
    assert "tf.train" in refusal(get_optimizer_instance, object())[1]
    head = estimator.RegressionHead()
    spec = estimator.DNNEstimator(head, [2], [AGE]).model_fn
    assert "dictionary" in refusal(spec, np.zeros(2), None, "infer", None)[1]


def test_parse_example_spec():
    spec = estimator.classifier_parse_example_spec([AGE], "y", tf.string, "x", "w")
    assert spec == {
        "age": tf.io.FixedLenFeature((1,), tf.float32),
        "y": tf.io.FixedLenFeature((1,), tf.string, "x"),
        "w": tf.io.FixedLenFeature((1,), tf.float32),
    }
    spec = estimator.regressor_parse_example_spec([AGE], "y", label_dimension=3)
    assert spec["y"] == tf.io.FixedLenFeature((3,), tf.float32)
    assert refusal(estimator.regressor_parse_example_spec, [AGE], "age")
    assert refusal(estimator.classifier_parse_example_spec, [AGE], "y", weight_column="age")

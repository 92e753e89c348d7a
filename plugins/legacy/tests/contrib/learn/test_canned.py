"""The canned estimators of tf.contrib.learn."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame_legacy.contrib.feature_columns import real_valued_column
from tf_frame_legacy.contrib.learn import RunConfig, SKCompat, canned
from tf_frame_legacy.contrib.learn.monitors import ValidationMonitor

X = np.random.RandomState(0).randn(48, 3).astype(np.float32)
CLASSES = X.argmax(axis=1)
NUMBERS = X @ np.array([[1.0], [-2.0], [0.5]], np.float32) + 1.0
PLAIN = [real_valued_column("", dimension=3)]


CLASSIFIERS = {
    "dnn": lambda **options: canned.DNNClassifier([8], PLAIN, n_classes=3, **options),
    "linear": lambda **options: canned.LinearClassifier(PLAIN, n_classes=3, **options),
    "combined": lambda **options: canned.DNNLinearCombinedClassifier(
        n_classes=3,
        linear_feature_columns=PLAIN,
        dnn_feature_columns=PLAIN,
        dnn_hidden_units=[8],
        **options,
    ),
}
REGRESSORS = {
    "dnn": lambda columns, **options: canned.DNNRegressor([8], columns, **options),
    "linear": lambda columns, **options: canned.LinearRegressor(columns, **options),
    "combined": lambda columns, **options: canned.DNNLinearCombinedRegressor(
        linear_feature_columns=columns,
        dnn_feature_columns=columns,
        dnn_hidden_units=[8],
        **options,
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("make", CLASSIFIERS.values(), ids=CLASSIFIERS)
def test_classifiers_on_arrays(tmp_path, make):
    classifier = make(model_dir=str(tmp_path), gradient_clip_norm=5.0)
    classifier.fit(x=X, y=CLASSES, steps=5, batch_size=16)
    before = classifier.evaluate(x=X, y=CLASSES)
    metrics = classifier.fit(x=X, y=CLASSES, steps=80, batch_size=16).evaluate(x=X, y=CLASSES)
    assert metrics["loss"] < before["loss"] < 3  # A mean, not a sum.
    predicted = list(classifier.predict(x=X))
    assert np.mean(predicted == CLASSES) == pytest.approx(metrics["accuracy"])
    probabilities = np.array(list(classifier.predict_proba(x=X)))
    np.testing.assert_array_equal(probabilities.argmax(axis=1), predicted)
    (row, *_) = classifier.predict(x=X, outputs=["logits"])
    assert row["logits"].shape == (3,)


@pytest.mark.slow
@pytest.mark.parametrize("make", REGRESSORS.values(), ids=REGRESSORS)
def test_regressors_with_input_functions(tmp_path, make):
    def input_fn():
        return {"left": tf.constant(X[:, :2]), "right": tf.constant(X[:, 2:])}, tf.constant(NUMBERS)

    columns = canned.infer_real_valued_columns_from_input_fn(input_fn)
    assert [(column.key, column.shape) for column in columns] == [("left", (2,)), ("right", (1,))]
    regressor = make(columns, model_dir=str(tmp_path))
    regressor.fit(input_fn=input_fn, steps=2)
    before = regressor.evaluate(input_fn=input_fn, steps=1)["loss"]
    after = regressor.fit(input_fn=input_fn, steps=40).evaluate(input_fn=input_fn, steps=1)["loss"]
    assert after < before
    scores = [score for score, _ in zip(regressor.predict(input_fn=input_fn), X, strict=False)]
    assert np.mean((np.array(scores) - NUMBERS[:, 0]) ** 2) == pytest.approx(after, rel=1e-4)


def test_columns_of_arrays_and_feature_engineering(tmp_path):
    (column,) = canned.infer_real_valued_columns_from_input(X)
    assert column.shape == (3,)
    estimator = canned.LinearRegressor(
        [column],
        str(tmp_path),
        optimizer=tf.train.GradientDescentOptimizer(0.2),
        feature_engineering_fn=lambda features, labels: (features * 0.5, labels),
    )
    compatible = SKCompat(estimator)
    compatible.fit(X, NUMBERS, steps=300, batch_size=48)
    weights = estimator.get_variable_value("linear/linear_model/features/weights")
    np.testing.assert_allclose(weights, [[2.0], [-4.0], [1.0]], atol=0.2)
    assert compatible.predict(X).shape == (48,)


@pytest.mark.slow
def test_a_monitor_ends_the_training(tmp_path):
    classifier = canned.LinearClassifier(
        PLAIN, str(tmp_path), 3, config=RunConfig(save_checkpoints_steps=5)
    )
    monitor = ValidationMonitor(
        X, CLASSES, every_n_steps=5, early_stopping_rounds=10, early_stopping_metric="global_step"
    )
    classifier.fit(x=X, y=CLASSES, steps=200, batch_size=16, monitors=[monitor])
    # The step only grows, so that the first evaluation is the best.
    assert monitor.early_stopped and monitor.best_value <= 5
    assert 10 <= classifier.get_variable_value("global_step") <= 30
    with pytest.raises(ValueError, match="x or input_fn"):
        ValidationMonitor()


def test_a_centered_bias_is_refused():
    with pytest.raises(ValueError, match="enable_centered_bias"):
        canned.DNNClassifier([8], PLAIN, enable_centered_bias=True)

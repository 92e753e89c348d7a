"""Scripts as users have them, run as they would run them; the numbers are NumPy's."""

import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest

import forked

SCRIPTS = Path(__file__).parent / "estimator_scripts"
V1 = pytest.mark.parametrize(
    "v1",
    [
        pytest.param((), id="resource", marks=pytest.mark.slow),
        pytest.param(("--v1",), id="v2_behavior_off"),
    ],
)

pytestmark = [pytest.mark.process, pytest.mark.timeout(240)]


def run(script, *arguments):
    """Runs a script; returns the last line of output, parsed, and the log."""
    command = [sys.executable, str(SCRIPTS / script), *map(str, arguments)]
    result = forked.run(command, capture_output=True, text=True, timeout=200)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout.splitlines()[-1]), result.stderr


class Linear:
    """Least squares by gradient descent, with momentum."""

    def __init__(self, weights, bias, rate, momentum=0.0):
        self.weights, self.bias = np.array(weights, np.float64), float(bias)
        self.rate, self.momentum = rate, momentum
        self.speed = np.zeros(len(self.weights) + 1)

    def errors(self, x, y):
        return x @ self.weights + self.bias - y

    def step(self, x, y):
        errors = self.errors(x, y)
        gradient = 2 * np.append(x.T @ errors, errors.sum()) / len(y)
        self.speed = self.momentum * self.speed + gradient
        self.weights -= self.rate * self.speed[:-1]
        self.bias -= self.rate * self.speed[-1]


def regression_data(seed):
    random = np.random.RandomState(seed)
    x = random.randn(32, 3).astype(np.float32)
    noise = 0.1 * random.randn(32)
    return x, (x @ [1.5, -2.0, 0.5] + 3.0 + noise).astype(np.float32)


def check_regression(results, model):
    """Compares weights, and metrics of batches of 12, 12 and 8."""
    np.testing.assert_allclose(results["weights"], model.weights, atol=1e-5)
    assert results["bias"] == pytest.approx(model.bias, abs=1e-5)
    errors = model.errors(*regression_data(seed=1))
    of_batches = [np.mean(part**2) for part in np.split(errors, [12, 24])]
    assert results["loss"] == pytest.approx(np.mean(of_batches), abs=1e-5)
    assert results["mae"] == pytest.approx(np.abs(errors).mean(), abs=1e-5)
    assert results["rmse"] == pytest.approx(np.sqrt(np.mean(errors**2)), abs=1e-5)


@pytest.mark.slow
@V1
def test_linear_regression_makes_the_steps_of_gradient_descent(tmp_path, v1):
    results, _ = run(
        "linear_regression.py", "--model_dir", tmp_path / "m", "--train_steps", 20, *v1
    )
    model, (x, y) = Linear(np.zeros(3), 0, rate=0.1), regression_data(seed=0)
    for step in range(20):
        rows = np.arange(8) + 8 * (step % 4)
        model.step(x[rows], y[rows])
    check_regression(results, model)
    assert results["global_step"] == 20
    assert results["names"] == ["global_step", "linear/bias", "linear/weights"]


@pytest.mark.slow
def test_each_call_of_train_reads_the_input_from_its_beginning(tmp_path):
    results, _ = run(
        "linear_regression.py", "--model_dir", tmp_path / "m", "--train_steps", 3, "--num_calls", 3
    )
    model, (x, y) = Linear(np.zeros(3), 0, rate=0.1), regression_data(seed=0)
    for step in range(9):
        rows = np.arange(8) + 8 * (step % 3)
        model.step(x[rows], y[rows])
    check_regression(results, model)
    assert results["global_step"] == 9


@pytest.mark.slow
def test_linear_regression_ends_at_the_least_squares(tmp_path):
    results, _ = run(
        "linear_regression.py", "--model_dir", tmp_path, "--batch_size", 32, "--train_steps", 300
    )
    x, y = regression_data(seed=0)
    best = np.linalg.lstsq(np.column_stack([x, np.ones(32)]), y, rcond=None)[0]
    np.testing.assert_allclose([*results["weights"], results["bias"]], best, atol=1e-4)


@pytest.mark.slow
@V1
def test_a_warm_start_is_trained_evaluated_and_exported(tmp_path, v1):
    old, _ = run("linear_regression.py", "--model_dir", tmp_path / "old", "--train_steps", 5)
    folder = tmp_path / "new"
    results, _ = run(
        "train_and_export.py",
        f"--model_dir={folder}",
        f"--warm_start_from={tmp_path / 'old'}",
        *v1,
    )
    model = Linear(old["weights"], 1.0, rate=0.05, momentum=0.5)
    (x, y), (eval_x, eval_y) = tuning_data(seed=2), tuning_data(seed=3)
    for _ in range(30):
        model.step(x, y)
    np.testing.assert_allclose(results["kernel"], model.weights, atol=1e-5)
    assert results["bias"] == pytest.approx(model.bias, abs=1e-5)
    errors = model.errors(eval_x, eval_y)
    of_batches = [np.mean(part**2) for part in np.split(errors, [10, 20])]
    assert results["metrics"]["loss"] == pytest.approx(np.mean(of_batches), abs=1e-5)
    assert results["metrics"]["mae"] == pytest.approx(np.abs(errors).mean(), abs=1e-5)
    assert results["metrics"]["global_step"] == 30
    check_exports(folder, results, model)


def tuning_data(seed):
    random = np.random.RandomState(seed)
    x = random.randn(24, 3).astype(np.float32)
    return x, (x @ [1.0, -2.0, 1.0] + 2.0).astype(np.float32)


def check_exports(folder, results, model):
    """Each exporter has kept what it should, and the last exports are of the last step."""
    kept = {
        name: [path for path in (folder / "export" / name).iterdir() if path.name.isdecimal()]
        for name in ("latest", "best", "final")
    }
    assert {name: len(paths) for name, paths in kept.items()} == {
        "latest": 2,
        "best": 1,
        "final": 1,
    }
    assert len(results["exports"]) == 3
    for path in results["exports"]:
        assert Path(path) in [p for paths in kept.values() for p in paths]
        rows = tuning_data(seed=3)[0][:5]
        expected = rows @ model.weights + model.bias
        np.testing.assert_allclose(served(path, rows), expected, atol=1e-4)


def served(path, rows):
    import tensorflow.compat.v1 as tf

    examples = [
        tf.train.Example(
            features=tf.train.Features(
                feature={"x": tf.train.Feature(float_list=tf.train.FloatList(value=row))}
            )
        ).SerializeToString()
        for row in rows
    ]
    with tf.Graph().as_default(), tf.Session() as session:
        loaded = tf.saved_model.load(session, ["serve"], path)
        signature = loaded.signature_def["serving_default"]
        assert "regress" in loaded.signature_def
        return session.run(
            signature.outputs["price"].name, {signature.inputs["examples"].name: examples}
        )


@V1
def test_a_classifier_with_hooks_predicts(tmp_path, v1):
    results, log = run("iris_with_hooks.py", "--model_dir", tmp_path, *v1)
    losses, weights = adagrad(*iris_data(seed=0, rows=30), steps=12, rate=0.5)
    np.testing.assert_allclose(results["losses"], losses, atol=1e-5)
    assert results["calls"] == ["begin", "after_create_session", "end"]
    assert results["global_step"] == 12
    logged = [float(value) for value in re.findall(r"mean_loss = ([0-9.]+)", log)]
    np.testing.assert_allclose(logged, losses[[0, 5, 10]], atol=1e-5)

    x, y = iris_data(seed=1, rows=7)
    probabilities = softmax(with_one(x) @ weights)
    found = [each["probabilities"] for each in results["predictions"]]
    np.testing.assert_allclose(found, probabilities, atol=1e-5)
    classes = probabilities.argmax(axis=1)
    assert [each["class"] for each in results["predictions"]] == classes.tolist()
    assert results["accuracy"] == pytest.approx(np.mean(classes == y))
    assert results["loss"] == pytest.approx(-np.log(probabilities[range(7), y]).mean(), abs=1e-5)


def iris_data(seed, rows):
    random = np.random.RandomState(seed)
    y = random.randint(0, 3, rows)
    lengths = np.array([[1.0, 0.5], [4.0, 1.5], [6.0, 2.0]], np.float32)
    return lengths[y] + 0.1 * random.randn(rows, 2).astype(np.float32), y


def with_one(x):
    return np.column_stack([x, np.ones(len(x))]).astype(np.float64)


def softmax(logits):
    exponentials = np.exp(logits - logits.max(axis=1, keepdims=True))
    return exponentials / exponentials.sum(axis=1, keepdims=True)


def adagrad(x, y, *, steps, rate):
    """Losses before each step of a softmax regression, and its weights at the end."""
    inputs, weights = with_one(x), np.zeros([3, 3])
    squares, losses = np.full([3, 3], 0.1), []
    for _ in range(steps):
        probabilities = softmax(inputs @ weights)
        losses.append(-np.log(probabilities[range(len(y)), y]).mean())
        gradient = inputs.T @ (probabilities - np.eye(3)[y]) / len(y)
        squares += gradient**2
        weights -= rate * gradient / np.sqrt(squares)
    return np.array(losses), weights

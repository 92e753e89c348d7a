"""Scripts as users have them, run as they would run them; the numbers are NumPy's."""

import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

import forked
from sessions import save_variables
from tfrecords import make_example

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


def descend(x, y, weights, *, steps, rate, momentum):
    """Weights of a linear regression after steps of momentum; the last weight is the bias."""
    inputs, speed = with_one(x), 0.0
    for _ in range(steps):
        speed = momentum * speed + 2 * inputs.T @ (inputs @ weights - y) / len(y)
        weights = weights - rate * speed
    return weights


@pytest.mark.slow
@V1
def test_a_warm_start_is_trained_evaluated_and_exported(tmp_path, v1):
    weights = [1.5, -2.0, 0.5]
    values = {"linear/weights": np.float32(weights)[:, np.newaxis]}
    save_variables(tmp_path / "old" / "model.ckpt", values)
    folder = tmp_path / "new"
    results, _ = run(
        "train_and_export.py",
        f"--model_dir={folder}",
        f"--warm_start_from={tmp_path / 'old'}",
        *v1,
    )
    weights = descend(*tuning_data(seed=2), [*weights, 1.0], steps=30, rate=0.05, momentum=0.5)
    np.testing.assert_allclose([*results["kernel"], results["bias"]], weights, atol=1e-5)
    x, y = tuning_data(seed=3)
    errors = with_one(x) @ weights - y
    losses = [np.mean(part**2) for part in np.split(errors, [10, 20])]
    assert results["metrics"]["loss"] == pytest.approx(np.mean(losses), abs=1e-5)
    assert results["metrics"]["mae"] == pytest.approx(np.abs(errors).mean(), abs=1e-5)
    assert results["metrics"]["global_step"] == 30
    check_exports(folder, results, weights)


def tuning_data(seed):
    random = np.random.RandomState(seed)
    x = random.randn(24, 3).astype(np.float32)
    return x, (x @ [1.0, -2.0, 1.0] + 2.0).astype(np.float32)


def check_exports(folder, results, weights):
    """Each exporter has kept what it should, and the last exports are of the last step."""
    exports = {
        name: [path for path in (folder / "export" / name).iterdir() if path.name.isdecimal()]
        for name in ("latest", "best", "final")
    }
    counts = {name: len(paths) for name, paths in exports.items()}
    assert counts == {"latest": 2, "best": 1, "final": 1}
    assert len(results["exports"]) == 3
    for path in results["exports"]:
        assert Path(path) in [p for paths in exports.values() for p in paths]
        rows = tuning_data(seed=3)[0][:5]
        np.testing.assert_allclose(served(path, rows), with_one(rows) @ weights, atol=1e-4)


def served(path, rows):
    examples = [make_example({"x": list(row)}) for row in rows]
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
    predicted = [row["probabilities"] for row in results["predictions"]]
    np.testing.assert_allclose(predicted, probabilities, atol=1e-5)
    classes = probabilities.argmax(axis=1)
    assert [row["class"] for row in results["predictions"]] == classes.tolist()
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

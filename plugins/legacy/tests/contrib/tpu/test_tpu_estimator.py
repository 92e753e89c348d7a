"""TPUEstimator without a TPU: a linear model, whose numbers are computed by hand."""

import glob

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame.errors import ConfigError
from tf_frame_legacy import estimator as tf_estimator
from tf_frame_legacy.contrib import tpu
from tf_frame_legacy.hparams import HParams

X = np.array([[1.0], [2.0], [3.0], [4.0], [5.0]], np.float32)
RATE = 0.01


class Program:
    """A program with a TPUEstimator; notes the parameters that its functions get."""

    def __init__(self, folder):
        self.folder = folder
        self.seen = []
        self.called = []

    def estimator(self, **arguments):
        config = tpu.RunConfig(
            model_dir=self.folder,
            save_checkpoints_steps=3,
            tpu_config=tpu.TPUConfig(iterations_per_loop=1000, num_shards=8),
        )
        sizes = {"train_batch_size": 2, "eval_batch_size": 4, "predict_batch_size": 3}
        given = {"config": config, "use_tpu": False, "params": {"rate": RATE}, **sizes}
        return tpu.TPUEstimator(self.model_fn, **{**given, **arguments})

    def input_fn(self, mode, params):
        self.seen.append(("input", mode, dict(params)))
        data = tf.data.Dataset.from_tensor_slices((X, 2 * X + 1))
        data = data.repeat() if mode == "train" else data
        return data.batch(params["batch_size"])

    def model_fn(self, features, labels, mode, params):
        self.seen.append(("model", mode, dict(params)))
        weight = tf.get_variable("weight", [1], initializer=tf.ones_initializer())
        predictions = features * weight
        if mode == tf_estimator.ModeKeys.PREDICT:
            return tpu.TPUEstimatorSpec(mode, predictions={"value": predictions})
        loss = tf.reduce_mean(tf.square(predictions - labels))
        optimizer = tpu.CrossShardOptimizer(tf.train.GradientDescentOptimizer(params["rate"]))

        def metric_fn(labels, predictions):
            return {"mae": tf.metrics.mean_absolute_error(labels, predictions)}

        return tpu.TPUEstimatorSpec(
            mode,
            loss=loss,
            train_op=optimizer.minimize(loss, tf.train.get_global_step()),
            eval_metrics=(metric_fn, {"labels": labels, "predictions": predictions}),
            scaffold_fn=lambda: self.called.append("scaffold") or tf.train.Scaffold(),
        )

    def receiver(self):
        x = tf.placeholder(tf.float32, [None, 1])
        return tf_estimator.export.TensorServingInputReceiver(x, x)


@pytest.fixture
def program(tmp_path):
    return Program(str(tmp_path / "model"))


def test_trains_evaluates_predicts_and_exports_with_the_batch_size_of_each_mode(program):
    estimator = program.estimator()
    assert isinstance(estimator, tf_estimator.Estimator)
    assert estimator.train(program.input_fn, max_steps=3) is estimator
    weight = 1.0
    data = np.tile(X[:, 0].astype(np.float64), 3)
    for x in (data[0:2], data[2:4], data[4:6]):
        weight -= RATE * np.mean(2 * x * (x * weight - (2 * x + 1)))
    assert estimator.get_variable_value("weight") == pytest.approx([weight], rel=1e-5)

    result = estimator.evaluate(program.input_fn)
    assert result["mae"] == pytest.approx(np.mean(np.abs(X * weight - (2 * X + 1))), rel=1e-5)
    assert result["global_step"] == 3

    values = [row["value"] for row in estimator.predict(program.input_fn)]
    np.testing.assert_allclose(values, X * weight, rtol=1e-5)
    batches = estimator.predict(program.input_fn, yield_single_examples=False)
    assert [len(batch["value"]) for batch in batches] == [3, 2]

    path = tpu.export_estimator_savedmodel(estimator, program.folder + "/out", program.receiver)
    assert glob.glob(path.decode() + "/saved_model.pb")

    def sizes(function, mode):
        return {p.get("batch_size") for f, m, p in program.seen if (f, m) == (function, mode)}

    for mode, size in {"train": 2, "eval": 4}.items():
        assert sizes("input", mode) == sizes("model", mode) == {size}
    assert sizes("input", "infer") == {3}
    assert sizes("model", "infer") == {3, None}  # An export has no batch size.
    assert all(p["use_tpu"] is False for f, _, p in program.seen if f == "model")
    assert program.called.count("scaffold") == 2


@pytest.mark.slow
def test_train_and_evaluate_with_an_exporter_and_evaluation_in_memory(program):
    estimator = program.estimator()
    hook = tf_estimator.experimental.InMemoryEvaluatorHook(estimator, program.input_fn)
    exporter = tf_estimator.FinalExporter("last", program.receiver)
    metrics, exports = tf_estimator.train_and_evaluate(
        estimator,
        tf_estimator.TrainSpec(program.input_fn, max_steps=3, hooks=[hook]),
        tf_estimator.EvalSpec(program.input_fn, steps=None, exporters=exporter),
    )
    assert metrics["global_step"] == 3
    assert glob.glob(exports[0].decode() + "/saved_model.pb")


def test_parameters_may_be_hparams_and_sizes_may_be_missing(program):
    def model_fn(features, labels, mode, params):
        program.seen.append((params.batch_size, params.use_tpu, params.rate))
        return program.model_fn(features, labels, mode, params.values())

    def input_fn(params):
        assert "batch_size" not in params or params.batch_size == 2
        return program.input_fn("train", {"batch_size": 2})

    config = tpu.RunConfig(model_dir=program.folder)
    params = HParams(rate=RATE, use_tpu=True)
    estimator = tpu.TPUEstimator(
        model_fn, config=config, params=params, use_tpu=False, train_batch_size=2
    )
    estimator.train(input_fn, steps=1)
    assert (2, False, RATE) in program.seen
    assert params.use_tpu is True and "batch_size" not in params


def test_wrong_arguments(program):
    with pytest.raises(ConfigError, match="--use_tpu=False"):
        program.estimator(use_tpu=True)
    with pytest.raises(ConfigError, match="use_tpu=True"):
        tpu.TPUEstimator(program.model_fn, config=tpu.RunConfig(), train_batch_size=1)
    for config in (None, tf_estimator.RunConfig()):
        with pytest.raises(ValueError, match="`config` must be provided with type"):
            program.estimator(config=config)
    with pytest.raises(ValueError, match="are reserved keys"):
        program.estimator(params={"batch_size": 1})
    with pytest.raises(ValueError, match=r"input_fn .* does not include params argument"):
        program.estimator().train(lambda: None, steps=1)
    without_params = tpu.TPUEstimator(
        lambda features, labels, mode: None,
        config=tpu.RunConfig(model_dir=program.folder),
        use_tpu=False,
        train_batch_size=1,
    )
    with pytest.raises(ValueError, match=r"model_fn .* does not include params argument"):
        without_params.train(program.input_fn, steps=1)


def test_subclasses_of_programs_may_not_override(program):
    class Mine(tpu.TPUEstimator):
        def train(self, *args, **kwargs):
            return None

    with pytest.raises(ValueError, match="cannot override members"):
        Mine(program.model_fn, config=tpu.RunConfig(), use_tpu=False)

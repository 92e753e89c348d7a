import numpy as np
import tensorflow as tf2
import tensorflow.compat.v1 as tf

from tf_frame import Mode
from tf_frame.estimator import export
from tf_frame.estimator.model_function.model_factory import ModelFn
from tf_frame.estimator.model_function.spec import EstimatorSpec

from .conftest import (
    PARSING,
    WEIGHTS,
    Linear,
    LoadedModel,
    X,
    Y,
    save,
    serialized,
    signature_names,
    supervised,
)


def model_fn(features, labels, mode, params):
    """A model function that trains itself by steps of `params["rate"]`."""
    output = Linear().build(features, labels, mode)
    if mode == "infer":
        value = output.predictions["value"]
        exports = {"number": export.RegressionOutput(value)} if params.get("exports") else None
        return EstimatorSpec(mode, predictions=value, export_outputs=exports)
    optimizer = tf.train.MomentumOptimizer(params["rate"], 0.9)
    return EstimatorSpec(
        mode,
        predictions=output.predictions,
        loss=output.loss,
        train_op=optimizer.minimize(output.loss, tf.train.get_global_step()),
        eval_metric_ops=output.metrics,
    )


def test_a_model_function_is_served_by_its_predictions_or_its_exports(exported):
    for params, outputs in (({}, {"serving_default"}), ({"exports": True}, {"number"})):
        model = ModelFn(model_fn, params=params, config=None)
        with LoadedModel(exported(model, {"infer": PARSING})) as loaded:
            assert signature_names(loaded.meta) == {"serving_default", *outputs}
            if not params:
                np.testing.assert_allclose(loaded.run("output", examples=serialized(X)), Y)


def test_the_evaluation_graph_offers_loss_predictions_and_metrics(exported):
    path = exported(receivers={Mode.EVAL: supervised})
    with LoadedModel(path, "eval") as loaded:
        assert signature_names(loaded.meta) == {"eval"}
        signature = loaded.meta.signature_def["eval"]
        assert signature.method_name == "tensorflow/supervised/eval"
        assert set(signature.inputs) == {"x", "y"}
        assert set(signature.outputs) == {
            "loss",
            "predictions/value",
            "metrics/error/value",
            "metrics/error/update_op",
        }
        loss, value = loaded.run(["loss", "predictions/value"], "eval", x=X, y=Y - 2)
        for offset in (1.0, 4.0):
            loaded.run("metrics/error/update_op", "eval", x=X, y=Y + offset)
        mean = loaded.run("metrics/error/value", "eval")
    np.testing.assert_allclose(value, Y)
    np.testing.assert_allclose([loss, mean], [4.0, 2.5], rtol=1e-5)
    evaluate = tf2.saved_model.load(path, ["eval"]).signatures["eval"]
    loss = evaluate(x=tf2.constant(X), y=tf2.constant(Y - 2))["loss"]
    np.testing.assert_allclose(loss, 4.0, rtol=1e-5)


def test_the_training_graph_of_a_model_function_still_trains(exported, tmp_path, variable_mode):
    slots = {"w/Momentum": np.zeros_like(WEIGHTS), "b/Momentum": np.float32([0.5])}
    path = save(tmp_path, **slots)
    model = ModelFn(model_fn, params={"rate": 0.1}, config=None)
    with LoadedModel(exported(model, {Mode.TRAIN: supervised}, path=path), "train") as loaded:
        signature = loaded.meta.signature_def["train"]
        assert signature.method_name == "tensorflow/supervised/training"
        assert {"loss", "predictions/value"} <= set(signature.outputs)
        (train_op,) = loaded.graph.get_collection("saved_model_train_op")
        fed = {signature.inputs["x"].name: X, signature.inputs["y"].name: Y - 1.0}
        loaded.session.run(train_op, fed)
        with loaded.graph.as_default():
            found = {v.op.name: v for v in tf.global_variables()}
            step, bias = loaded.session.run([found["global_step"], found["b"]])
    gradient = 2.0 * 1.0
    assert step == 8
    np.testing.assert_allclose(bias, 3.0 - 0.1 * (0.9 * 0.5 + gradient), rtol=1e-5)


def test_a_model_without_a_train_op_exports_its_training_graph_without_one(exported):
    with LoadedModel(exported(receivers={Mode.TRAIN: supervised}), "train") as loaded:
        np.testing.assert_allclose(loaded.run("loss", "train", x=X, y=Y - 3), 9.0, rtol=1e-5)
        assert not loaded.graph.get_collection("saved_model_train_op")


def test_all_modes_share_the_variables_of_one_export(exported, tmp_path):
    slots = {"w/Momentum": np.zeros_like(WEIGHTS), "b/Momentum": np.float32([0])}
    receivers = {"infer": PARSING, Mode.EVAL: supervised, "train": supervised}
    model = ModelFn(model_fn, params={"rate": 0.1}, config=None)
    path = exported(model, receivers, path=save(tmp_path, **slots))
    names = {name for name, _ in tf.train.list_variables(path + "/variables/variables")}
    assert names == {"w", "b", "global_step", "w/Momentum", "b/Momentum"}
    with LoadedModel(path) as loaded:
        np.testing.assert_allclose(loaded.run("output", examples=serialized(X)), Y)
        assert not loaded.graph.get_collection("saved_model_train_op")
        assert loaded.meta.meta_info_def.stripped_default_attrs is True
    for tag in ("eval", "train"):
        with LoadedModel(path, tag) as loaded:
            assert signature_names(loaded.meta) == {tag}
            assert loaded.meta.meta_info_def.stripped_default_attrs is True
            np.testing.assert_allclose(loaded.run("loss", tag, x=X, y=Y - 1), 1.0, rtol=1e-5)


def test_a_receiver_without_labels_may_evaluate(exported):
    def receiver():
        x = tf.placeholder(tf.float32, [None, 3])
        return export.UnsupervisedInputReceiver({"x": x}, {"x": x})

    with LoadedModel(exported(receivers={Mode.EVAL: receiver}), "eval") as loaded:
        np.testing.assert_allclose(loaded.run("predictions/value", "eval", x=X), Y)

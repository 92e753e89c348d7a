import pytest
import tensorflow.compat.v1 as tf

from tf_frame.runs.export.export_outputs import (
    ClassificationOutput,
    EvalOutput,
    ExportOutput,
    PredictOutput,
    RegressionOutput,
    TrainOutput,
)

pytestmark = pytest.mark.usefixtures("graph")

FLOAT, STRING = int(tf.float32), int(tf.string)


@pytest.fixture
def examples():
    return {"examples": tf.placeholder(tf.string, [None], name="examples")}


def described(signature):
    """Method name, inputs and outputs of a signature: name -> (tensor name, type)."""
    sides = (signature.inputs, signature.outputs)
    named = [{key: (info.name, info.dtype) for key, info in side.items()} for side in sides]
    return signature.method_name, *named


@pytest.mark.parametrize("names", [("scores", "classes"), ("scores",), ("classes",)])
def test_scores_classes_or_both_make_a_classify_signature(examples, names):
    tensors = {
        "scores": tf.constant([[0.5]], name="scores"),
        "classes": tf.constant([["cat"]], name="classes"),
    }
    fields = {name: tensors[name] for name in names}
    output = ClassificationOutput(**fields)
    assert (output.scores, output.classes) == (fields.get("scores"), fields.get("classes"))
    assert described(output.as_signature_def(examples)) == (
        "tensorflow/serving/classify",
        {"inputs": ("examples:0", STRING)},
        {name: (f"{name}:0", int(tensors[name].dtype)) for name in names},
    )


def test_a_value_makes_a_regress_signature(examples):
    value = tf.constant([1.5], name="v")
    output = RegressionOutput(value)
    assert output.value is value
    assert described(output.as_signature_def(examples)) == (
        "tensorflow/serving/regress",
        {"inputs": ("examples:0", STRING)},
        {"outputs": ("v:0", FLOAT)},
    )


def test_any_tensors_make_a_predict_signature():
    inputs = {"x": tf.placeholder(tf.float32, name="x"), "n": tf.placeholder(tf.int32, name="n")}
    output = PredictOutput(
        {"v": tf.constant(1.5, name="v"), ("head", "w"): tf.constant("", name="w")}
    )
    assert described(output.as_signature_def(inputs)) == (
        "tensorflow/serving/predict",
        {"x": ("x:0", FLOAT), "n": ("n:0", int(tf.int32))},
        {"v": ("v:0", FLOAT), "head/w": ("w:0", STRING)},
    )


def test_all_kinds_are_export_outputs():
    kinds = (ClassificationOutput, RegressionOutput, PredictOutput)
    assert all(issubclass(kind, ExportOutput) for kind in kinds)
    with pytest.raises(TypeError, match="abstract"):
        ExportOutput()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ClassificationOutput(), "At least one of `scores` and `classes` must be defined"),
        (lambda: ClassificationOutput(scores=[0.5]), r"^Classification scores .*; got \[0\.5\]$"),
        (
            lambda: ClassificationOutput(scores=tf.constant(1)),
            "scores must be a float32 Tensor; got T",
        ),
        (lambda: ClassificationOutput(classes="cat"), "^Classification classes .*; got cat$"),
        (
            lambda: ClassificationOutput(classes=tf.constant(1)),
            "classes must be a string Tensor; got T",
        ),
        (lambda: RegressionOutput(1.5), r"^Regression output value .*; got 1\.5$"),
        (lambda: RegressionOutput(tf.constant(1)), "value must be a float32 Tensor; got Tensor"),
        (lambda: PredictOutput({"a": 1}), r"^Prediction output value must be a Tensor; got 1\.$"),
        (
            lambda: PredictOutput({1: tf.constant(1)}),
            "^Prediction output key must be a string; got 1",
        ),
    ],
)
def test_outputs_of_a_wrong_kind_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("kind", ["Classification", "Regression"])
def test_serialised_examples_must_be_the_only_input(examples, kind):
    value = tf.constant([1.5])
    output = {"Classification": ClassificationOutput, "Regression": RegressionOutput}[kind](value)
    message = rf"^{kind} signatures can only accept a single tensor .* tensors\.\n Received: {{"
    wrong = [{}, {**examples, "more": examples["examples"]}, {"x": tf.placeholder(tf.float32)}]
    for inputs in wrong:
        with pytest.raises(ValueError, match=message):
            output.as_signature_def(inputs)


@pytest.mark.parametrize(
    ("kind", "method"),
    [(EvalOutput, "tensorflow/supervised/eval"), (TrainOutput, "tensorflow/supervised/training")],
)
def test_loss_predictions_and_metrics_make_one_signature(kind, method):
    inputs = {"x": tf.placeholder(tf.float32, [None], name="x")}
    output = kind(
        loss=tf.constant(1.0, name="l"),
        predictions={"p": tf.constant(1, name="p"), "predictions_q": tf.constant(2, name="q")},
        metrics={"m": (tf.constant(3.0, name="v"), tf.constant(4.0, name="u"))},
    )
    assert isinstance(output, ExportOutput)
    signature = output.as_signature_def(inputs)
    assert signature.method_name == method
    assert {key: info.name for key, info in signature.inputs.items()} == {"x": "x:0"}
    assert {key: info.name for key, info in signature.outputs.items()} == {
        "loss": "l:0",
        "predictions/p": "p:0",
        "predictions_q": "q:0",
        "metrics/m/value": "v:0",
        "metrics/m/update_op": "u:0",
    }
    assert signature.outputs["predictions/p"].dtype == int(tf.int32)


def test_single_predictions_and_a_single_metric_have_the_name_of_their_kind():
    one = tf.constant(1.0)
    output = EvalOutput(loss={"total": one}, predictions=one, metrics=(one, one))
    assert output.loss == {"loss/total": one}
    assert output.predictions == {"predictions": one}
    assert output.metrics == {"metrics/value": one, "metrics/update_op": one}


def test_what_is_missing_is_not_in_the_signature():
    output = EvalOutput()
    assert (output.loss, output.predictions, output.metrics) == (None, None, None)
    assert not output.as_signature_def({"x": tf.constant(1.0)}).outputs


def test_an_update_that_is_no_tensor_gets_one_that_runs_it():
    total = tf.get_variable("total", initializer=0.0)
    updates = {"op": tf.group(total.assign_add(1.0)), "variable": total.assign_add(10.0)}
    metrics = {name: (tf.identity(total), update) for name, update in updates.items()}
    found = EvalOutput(metrics=metrics).metrics
    wrapped = [found[f"metrics/{name}/update_op"] for name in updates]
    assert all(isinstance(tensor, tf.Tensor) for tensor in wrapped)
    with tf.Session() as session:
        session.run(total.initializer)
        session.run(wrapped[0])
        assert session.run(total) == 1.0
        session.run(wrapped[1])
        assert session.run(total) == 11.0


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"loss": 1.0}, r"^loss output value must be a Tensor; got 1\.0\.$"),
        ({"predictions": {"p": 1}}, r"^predictions output value must be a Tensor; got 1\.$"),
        ({"predictions": {1: "constant"}}, r"^predictions output key must be a string; got 1\.$"),
        ({"metrics": {1: ("constant", "constant")}}, r"^metrics output key must be a string; go"),
        ({"metrics": {"m": (1, "constant")}}, r"^metrics/m output value must be a Tensor; got 1"),
        (
            {"metrics": {"m": ("constant", 1)}},
            "^metrics/m update_op must be a Tensor or Operation; ",
        ),
    ],
)
def test_what_is_no_tensor_is_refused(fields, message):
    constant = tf.constant(1.0)
    made = tf.nest.map_structure(lambda v: constant if v == "constant" else v, fields)
    with pytest.raises(ValueError, match=message):
        EvalOutput(**made)


def test_a_signature_needs_an_input():
    with pytest.raises(ValueError, match=r"tensorflow/supervised/eval `inputs` cannot be None"):
        EvalOutput(loss=tf.constant(1.0)).as_signature_def({})

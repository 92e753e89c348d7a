import pytest
import tensorflow.compat.v1 as tf

from tf_frame.estimator.export.outputs import (
    ClassificationOutput,
    ExportOutput,
    PredictOutput,
    RegressionOutput,
)

FLOAT, STRING = int(tf.float32), int(tf.string)


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


@pytest.fixture
def examples():
    return {"examples": tf.placeholder(tf.string, [None], name="examples")}


def described(signature):
    """Method name, inputs and outputs of a signature: name -> (tensor name, type)."""
    sides = (signature.inputs, signature.outputs)
    named = [{key: (info.name, info.dtype) for key, info in side.items()} for side in sides]
    return signature.method_name, *named


def test_scores_and_classes_make_a_classify_signature(examples):
    output = ClassificationOutput(
        scores=tf.constant([[0.5]], name="s"), classes=tf.constant([["cat"]], name="c")
    )
    assert described(output.as_signature_def(examples)) == (
        "tensorflow/serving/classify",
        {"inputs": ("examples:0", STRING)},
        {"scores": ("s:0", FLOAT), "classes": ("c:0", STRING)},
    )


def test_scores_or_classes_alone_are_enough(examples):
    scores = ClassificationOutput(scores=tf.constant([[0.5]], name="s"))
    assert scores.classes is None
    assert described(scores.as_signature_def(examples))[2] == {"scores": ("s:0", FLOAT)}
    classes = ClassificationOutput(classes=tf.constant([["cat"]], name="c"))
    assert classes.scores is None
    assert described(classes.as_signature_def(examples))[2] == {"classes": ("c:0", STRING)}


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


def test_one_tensor_to_predict_is_called_output():
    value = tf.constant(1.5)
    assert PredictOutput(value).outputs == {"output": value}


def test_all_kinds_are_export_outputs():
    kinds = (ClassificationOutput, RegressionOutput, PredictOutput)
    assert all(issubclass(kind, ExportOutput) for kind in kinds)
    with pytest.raises(TypeError, match="abstract"):
        ExportOutput()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: ClassificationOutput(),
            r"^Cannot create a ClassificationOutput with empty arguments\. At least one of "
            r"`scores` and `classes` must be defined\.$",
        ),
        (
            lambda: ClassificationOutput(scores=[0.5]),
            r"^Classification scores must be a float32 Tensor; got \[0\.5\]$",
        ),
        (
            lambda: ClassificationOutput(scores=tf.constant(1)),
            r"^Classification scores must be a float32 Tensor; got Tensor",
        ),
        (
            lambda: ClassificationOutput(classes="cat"),
            r"^Classification classes must be a string Tensor; got cat$",
        ),
        (
            lambda: ClassificationOutput(classes=tf.constant(1)),
            r"^Classification classes must be a string Tensor; got Tensor",
        ),
        (
            lambda: RegressionOutput(1.5),
            r"^Regression output value must be a float32 Tensor; got 1\.5$",
        ),
        (
            lambda: RegressionOutput(tf.constant(1)),
            r"^Regression output value must be a float32 Tensor; got Tensor",
        ),
        (
            lambda: PredictOutput({"a": 1}),
            r"^Prediction output value must be a Tensor; got 1\.$",
        ),
        (
            lambda: PredictOutput({1: tf.constant(1)}),
            r"^Prediction output key must be a string; got 1\.$",
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
    message = (
        f"^{kind} signatures can only accept a single tensor input of type tf.string. Please "
        "check to make sure that you have structured the serving_input_receiver_fn so that it "
        "creates a single string placeholder. If your model function expects multiple inputs, "
        "then use `tf.io.parse_example\\(\\)` to parse the string into multiple tensors.\n "
        "Received: {"
    )
    wrong = [{}, {**examples, "more": examples["examples"]}, {"x": tf.placeholder(tf.float32)}]
    for inputs in wrong:
        with pytest.raises(ValueError, match=message):
            output.as_signature_def(inputs)

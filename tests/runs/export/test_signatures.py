import logging

import pytest
import tensorflow.compat.v1 as tf

from tf_frame import Mode, ModelOutput
from tf_frame.errors import PluginError
from tf_frame.runs.export.export_outputs import (
    ClassificationOutput,
    EvalOutput,
    ExportOutput,
    PredictOutput,
    RegressionOutput,
    TrainOutput,
)
from tf_frame.runs.export.input_receivers import ServingInputReceiver, SupervisedInputReceiver
from tf_frame.runs.export.signatures import find_exports, make_signatures

pytestmark = pytest.mark.usefixtures("graph")


X = "the tensor"


@pytest.fixture
def x():
    return tf.placeholder(tf.float32, [None, 3], name="x")


@pytest.fixture
def examples():
    return tf.placeholder(tf.string, [None], name="examples")


def serve(x, exports):
    """Signatures of exports with one input."""
    return make_signatures(ServingInputReceiver(x, x), exports, serving=True)


def warnings_of_ours(caplog):
    """TensorFlow has some of its own, once in a process."""
    records = [record for record in caplog.records if record.name == "tf_frame"]
    return [record for record in records if record.levelno > logging.INFO]


def test_without_exports_the_predictions_are_the_default_signature(x):
    (key,) = (found := find_exports(ModelOutput(predictions={"p": x}), Mode.PREDICT))
    assert key == "serving_default" and isinstance(found[key], PredictOutput)
    assert found[key].outputs == {"p": x}
    found = find_exports(ModelOutput(predictions=x), Mode.PREDICT)
    assert found["serving_default"].outputs == {"output": x}


def test_a_mapping_or_tensor_among_the_exports_is_a_predict_output(x):
    head = RegressionOutput(x)
    exports = {"serving_default": head, "map": {"a": x}, "one": x}
    found = find_exports(ModelOutput(predictions={"p": x}, exports=exports), Mode.PREDICT)
    assert found["serving_default"] is head and set(found) == set(exports)
    assert found["map"].outputs == {"a": x} and found["one"].outputs == {"output": x}


def test_a_single_export_is_the_default_too(x):
    found = find_exports(ModelOutput(exports={"a": {"v": x}}), Mode.PREDICT)
    assert set(found) == {"a", "serving_default"} and found["a"] is found["serving_default"]


@pytest.mark.parametrize(
    ("exports", "kind", "message"),
    [
        (
            {"a": {"v": X}, "b": {"v": X}},
            ValueError,
            "^Multiple `export_outputs` were provided, but",
        ),
        ({}, PluginError, r"nothing to serve.*return ModelOutput\(predictions="),
        ({"a": 5}, ValueError, r"^Prediction output value must be a Tensor; got 5\.$"),
    ],
)
def test_exports_that_cannot_be_served_are_refused(x, exports, kind, message):
    exports = tf.nest.map_structure(lambda value: x if value is X else value, exports)
    with pytest.raises(kind, match=message):
        find_exports(ModelOutput(exports=exports), Mode.PREDICT)


@pytest.mark.parametrize(
    ("mode", "key", "kind"), [(Mode.EVAL, "eval", EvalOutput), (Mode.TRAIN, "train", TrainOutput)]
)
def test_evaluation_and_training_export_loss_predictions_and_metrics(mode, key, kind, x):
    loss, metrics = tf.reduce_sum(x), {"m": (x, x)}
    output = ModelOutput(loss=loss, predictions={"p": x}, metrics=metrics, exports={"a": {"v": x}})
    (found,) = (exports := find_exports(output, mode))
    assert found == key and type(exports[key]) is kind
    assert exports[key].loss == {"loss": loss}
    assert exports[key].predictions == {"predictions/p": x}
    assert exports[key].metrics == {"metrics/m/value": x, "metrics/m/update_op": x}


def test_losses_of_the_collection_are_the_loss_of_a_model_that_names_none(x):
    assert find_exports(ModelOutput(predictions={"p": x}), Mode.EVAL)["eval"].loss is None
    for value in (2.0, 3.0):
        tf.losses.add_loss(tf.constant(value))
    loss = find_exports(ModelOutput(), Mode.EVAL)["eval"].loss["loss"]
    with tf.Session() as session:
        assert session.run(loss) == 5.0


def test_each_output_makes_a_signature(x, caplog):
    exports = {"serving_default": PredictOutput({"a": x * 2}), "b": PredictOutput({"c": x})}
    with caplog.at_level(logging.INFO, "tf_frame"):
        found = make_signatures(ServingInputReceiver(x, {"in": x}), exports, serving=True)
    assert set(found) == {"serving_default", "b"}
    assert found["b"].inputs["in"].name == "x:0" and set(found["b"].outputs) == {"c"}
    assert "exported signature 'b' for tensorflow/serving/predict" in caplog.text
    assert not warnings_of_ours(caplog)


def test_a_single_receiver_tensor_is_called_input(x):
    class Receiver:
        receiver_tensors = x

    found = make_signatures(Receiver(), {"serving_default": PredictOutput(x)}, serving=True)
    assert set(found["serving_default"].inputs) == {"input"}


def test_alternative_inputs_make_signatures_more(x, examples):
    parsed = tf.io.parse_example(examples, {"x": tf.io.FixedLenFeature([3], tf.float32)})["x"]
    doubled = parsed * 2
    receiver = ServingInputReceiver({"x": parsed}, examples, {"raw": {"x": parsed}})
    exports = {"serving_default": PredictOutput(doubled), "score": RegressionOutput(doubled)}
    found = make_signatures(receiver, exports, serving=True)
    assert set(found) == {"serving_default", "score", "raw:serving_default"}
    assert found["raw:serving_default"].inputs["x"].name == parsed.name
    assert found["serving_default"].inputs["input"].name == "examples:0"


def test_an_output_that_does_not_fit_the_inputs_is_left_out_and_told(x, caplog):
    exports = {"serving_default": PredictOutput(x), "scores": ClassificationOutput(scores=x)}
    assert set(serve(x, exports)) == {"serving_default"}
    assert "signature 'scores' is not exported: Classification signatures can only" in caplog.text


def test_an_output_that_needs_what_nobody_feeds_is_left_out_and_told(x, caplog):
    other = tf.placeholder(tf.float32, [], name="other")
    exports = {"serving_default": PredictOutput({"p": x}), "more": PredictOutput({"p": x * other})}
    assert set(serve(x, exports)) == {"serving_default"}
    assert "signature 'more' is not exported: its inputs ['x:0'] are insufficient" in caplog.text
    assert "'p' (mul:0), which depends on the placeholder other" in caplog.text


def test_what_must_only_run_first_counts_as_well(x, caplog):
    with tf.control_dependencies([tf.placeholder(tf.float32, [], name="other")]):
        exports = {"serving_default": PredictOutput(tf.identity(x))}
    assert not serve(x, exports)
    assert "which depends on the placeholder other" in caplog.text


def test_what_lies_before_the_fed_tensors_does_not_count(x):
    middle = tf.identity(x, name="middle")
    exports = {"serving_default": PredictOutput({"same": middle, "more": middle + 1})}
    assert set(serve({"x": middle}, exports)) == {"serving_default"}


def test_the_parts_of_a_sparse_input_are_fed():
    sparse = tf.sparse_placeholder(tf.float32, [None, 3], name="s")
    exports = {"serving_default": PredictOutput(tf.sparse.to_dense(sparse))}
    found = serve({"s": sparse}, exports)
    assert found["serving_default"].inputs["s"].coo_sparse.values_tensor_name == "s/values:0"


class Composite(ExportOutput):
    """An output of a kind that only its author knows."""

    def __init__(self, tensor):
        self.tensor = tensor

    def as_signature_def(self, receiver_tensors):
        return tf.saved_model.predict_signature_def(receiver_tensors, {"out": self.tensor})


@pytest.mark.parametrize("kind", ["sparse", "ragged"])
def test_the_parts_of_a_sparse_or_ragged_output_are_checked_too(x, kind, caplog):
    other = tf.placeholder(tf.float32, [None, 3], name="other")
    make = tf.sparse.from_dense if kind == "sparse" else tf.RaggedTensor.from_tensor
    exports = {"serving_default": Composite(make(x)), "more": Composite(make(other))}
    assert set(serve(x, exports)) == {"serving_default"}
    assert "'more' is not exported" in caplog.text and "the placeholder other" in caplog.text


def test_an_export_without_any_signature_or_its_default_is_told(x, caplog):
    assert not serve(x, {})
    assert "Export includes no signatures!" in caplog.text
    assert set(serve(x, {"serving_default": RegressionOutput(x), "b": PredictOutput(x)})) == {"b"}
    assert "Export includes no default signature!" in caplog.text


def test_an_output_that_cannot_be_served_is_left_out_and_told(x, caplog):
    exports = {"a": PredictOutput({}), "b": EvalOutput(predictions=x)}
    assert not serve(x, exports)
    assert "signature 'a' is not exported: Prediction `outputs` cannot be None or" in caplog.text
    assert "signature 'b' is not exported: it has no inputs, no outputs, or some" in caplog.text


def test_signatures_that_are_not_for_serving_may_be_of_any_method(x, caplog):
    receiver = SupervisedInputReceiver(x, x, {"x": x})
    found = make_signatures(receiver, {"eval": EvalOutput(predictions=x)}, serving=False)
    assert found["eval"].method_name == "tensorflow/supervised/eval"
    assert not warnings_of_ours(caplog)

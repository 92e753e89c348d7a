import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame import ModelOutput
from tf_frame.errors import PluginError
from tf_frame.estimator.export import ClassificationOutput, PredictOutput, RegressionOutput
from tf_frame.plugin.fault import find_fault
from tf_frame.plugin.kinds import MODEL
from tf_frame.runs.export.serving import (
    choose_signature,
    named_outputs,
    outputs_by_signature,
    restore_serving,
)
from tf_frame.testing.toy import configured_plugin

from .conftest import B, Classifier, W, X, changed


def test_the_restored_model_is_fed_by_name(request_of, variable_mode):
    with restore_serving(request_of()) as serving:
        logits = serving.run(serving.signatures["serving_default"]["logits"], {"x": X})
    np.testing.assert_allclose(logits, X @ W + B, rtol=1e-6)


def test_its_tensors_have_names_of_their_own(request_of):
    with restore_serving(request_of()) as serving:
        assert serving.inputs["x"].name == "inputs/x:0"
        outputs = serving.signatures["serving_default"]
        assert {name: tensor.name for name, tensor in outputs.items()} == {
            "class": "outputs/class:0",
            "logits": "outputs/logits:0",
        }


@pytest.mark.parametrize(
    "loss",
    [
        lambda logits, labels: tf.reduce_mean(logits - labels),
        lambda logits, labels: tf.reduce_mean(labels["x"]),
        lambda logits, labels: tf.reduce_mean(tf.cast(labels, tf.float32)),
        lambda logits, labels: labels.shape,
    ],
)
def test_a_model_that_needs_labels_to_predict_is_refused(request_of, loss):
    class Learner(Classifier):
        def build(self, features, labels, mode):
            logits = super().build(features, labels, mode).predictions["logits"]
            return ModelOutput(loss=loss(logits, labels), predictions=logits)

    configured_plugin(MODEL, "learner", Learner, {}, "model.")
    request = request_of(Learner)
    with pytest.raises(Exception, match="None") as caught, restore_serving(request):
        pass
    fault = find_fault(caught.value)
    assert fault.hint == "in Mode.PREDICT labels are None, and build() must not use them"


def test_other_errors_of_a_model_keep_their_kind(request_of):
    class Broken(Classifier):
        def build(self, features, labels, mode):
            raise ValueError("wrong shape (None, 3)")

    request = request_of(Broken)
    with pytest.raises(ValueError, match=r"^wrong shape \(None, 3\)$"), restore_serving(request):
        pass


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({}, "nothing to serve: .* neither exports nor predictions"),
        ({"end_points": {"a": 1}}, "nothing to serve: .* neither exports nor predictions"),
        ({"predictions": {"a": [1, 2]}}, "the exports of the model are wrong: .* must be a Tens"),
    ],
)
def test_a_model_without_predictions_or_with_wrong_outputs_is_refused(fields, message):
    with pytest.raises(PluginError, match=message):
        outputs_by_signature(ModelOutput(**fields))


def test_exports_come_before_predictions():
    with tf.Graph().as_default():
        a, b = tf.constant([1.0]), tf.constant([2.0])
        found = outputs_by_signature(
            ModelOutput(predictions={"a": a}, exports={"serving_default": b})
        )
        assert found == {"serving_default": {"output": b}}
        assert outputs_by_signature(ModelOutput(predictions=a)) == {
            "serving_default": {"output": a}
        }


def test_outputs_of_a_known_kind_have_the_names_of_a_saved_model():
    with tf.Graph().as_default():
        number, text = tf.constant([1.0]), tf.constant(["a"])
        assert named_outputs(RegressionOutput(number)) == {"outputs": number}
        assert named_outputs(ClassificationOutput(number, text)) == {
            "scores": number,
            "classes": text,
        }
        assert named_outputs(ClassificationOutput(classes=text)) == {"classes": text}
        assert named_outputs(PredictOutput({"a": number})) == {"a": number}


def test_signatures_that_are_the_same_count_as_one():
    tensor, other = object(), object()
    same = {"only": {"a": tensor}, "serving_default": {"a": tensor}}
    assert choose_signature(same, None, "frozen_graph") == "serving_default"
    assert choose_signature({"only": {"a": tensor}}, None, "frozen_graph") == "only"
    assert choose_signature({**same, "b": {"a": other}}, "b", "frozen_graph") == "b"


def test_one_export_is_the_default_signature_too(export):
    def one(predictions):
        return ModelOutput(exports={"only": PredictOutput(predictions)})

    assert list(export("frozen_graph", model=changed(one)).signatures) == ["serving_default"]

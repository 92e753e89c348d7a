import numpy as np
import pytest
import tensorflow as tf2

from tf_frame import ModelOutput
from tf_frame.errors import PluginError
from tf_frame.estimator.export import ClassificationOutput
from tf_frame.runs.export.formats import saved_model_format
from tf_frame.runs.export.verify import DifferenceError

from ..conftest import B, Classifier, Data, TwoHeads, W, X, changed


def served(exported, **inputs):
    """Outputs as TensorFlow 2 computes them."""
    serve = tf2.saved_model.load(exported.path).signatures["serving_default"]
    return serve(**{name: tf2.constant(value) for name, value in inputs.items()})


def test_tensorflow_2_loads_it_and_computes_the_model(export, tmp_path, variable_mode):
    exported = export("saved_model")
    folder, number = exported.path.rsplit("/", 1)
    assert (folder, number.isdecimal()) == (str(tmp_path / "out"), True)
    found = served(exported, x=X)
    np.testing.assert_allclose(found["logits"].numpy(), X @ W + B, rtol=1e-6)
    assert found["class"].numpy().tolist() == np.argmax(X @ W + B, axis=1).tolist()
    assert [path.name for path in (tmp_path / "out").iterdir()] == [number]
    assert exported.inputs["x"].shape.as_list() == [None, 3]
    (outputs,) = exported.signatures.values()
    assert list(exported.signatures) == ["serving_default"]
    assert {name: spec.dtype.name for name, spec in outputs.items()} == {
        "class": "int64",
        "logits": "float32",
    }
    assert int(export("saved_model").path.rsplit("/", 1)[1]) > int(number)


def test_every_signature_is_written_and_compared(export, monkeypatch):
    assert sorted(export("saved_model", model=TwoHeads).signatures) == [
        "class",
        "logits",
        "serving_default",
    ]
    run = saved_model_format.run

    def one_is_wrong(*arguments):
        found, signatures = run(*arguments)
        found["logits"]["logits"] = found["logits"]["logits"] + 1
        return found, signatures

    monkeypatch.setattr(saved_model_format, "run", one_is_wrong)
    with pytest.raises(DifferenceError, match="output logits differ"):
        export("saved_model", model=TwoHeads)


class Nested(Data):
    def dataset(self, mode, context):
        data = super().dataset(mode, context)
        return data.map(lambda features, labels: (({"a": features["x"]}, (features["x"],)), labels))


class OfNested(Classifier):
    def build(self, features, labels, mode):
        first, second = features
        assert isinstance(features, tuple) and isinstance(second, tuple)
        return super().build({"x": first["a"] - 2 * second[0]}, labels, mode)


def test_features_may_be_nested(export):
    exported = export("saved_model", model=OfNested, source=Nested)
    assert sorted(exported.inputs) == ["input_0/a", "input_1_0"]
    found = served(exported, **{"input_0/a": X, "input_1_0": X})
    np.testing.assert_allclose(found["logits"].numpy(), -X @ W + B, rtol=1e-5)


def classify(predictions):
    return ModelOutput(exports={"serving_default": ClassificationOutput(predictions["logits"])})


def test_outputs_that_need_serialised_examples_are_refused(export, tmp_path):
    with pytest.raises(PluginError, match="no export of the model fits these inputs"):
        export("saved_model", model=changed(classify))
    assert not (tmp_path / "out").exists()

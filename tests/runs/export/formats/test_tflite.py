import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame import ModelOutput
from tf_frame.errors import ConfigError, TfFrameError
from tf_frame.runs.export.formats import TFLITE_TOLERANCE, tflite
from tf_frame.runs.export.verify import DifferenceError

from ..conftest import B, Classifier, Data, TwoHeads, W, X, changed

pytestmark = pytest.mark.filterwarnings("ignore:.*Interpreter is deprecated:UserWarning")


def load_interpreter(path):
    interpreter = tf.compat.v2.lite.Interpreter(str(path))
    interpreter.allocate_tensors()
    return interpreter


def test_the_file_takes_one_example_by_the_names_of_the_model(export, tmp_path, variable_mode):
    exported = export("tflite")
    assert exported.path == str(tmp_path / "out" / "model.tflite")
    files = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert files == ["README.json", "model.tflite"]
    assert exported.inputs["x"].shape.as_list() == [1, 3]
    assert exported.tolerance == TFLITE_TOLERANCE
    run = load_interpreter(exported.path).get_signature_runner("serving_default")
    for x in X:
        found = run(x=x[np.newaxis])
        np.testing.assert_allclose(found["logits"][0], x @ W + B, rtol=1e-5)
        assert found["class"].tolist() == [np.argmax(x @ W + B)]


class Tall(Data):
    """Images of a height that the specs do not know."""

    def dataset(self, mode, context):
        data = super().dataset(mode, context)

        def grown(features, labels):
            return {"x": tf.tile(features["x"][:, None], [1, tf.size(labels) + 1, 1])}, labels

        return data.map(grown)


class Mean(Classifier):
    def build(self, features, labels, mode):
        return super().build({"x": tf.reduce_mean(features["x"], axis=1)}, labels, mode)


@pytest.mark.slow
def test_sizes_that_the_specs_leave_open_are_those_of_the_data(export):
    exported = export("tflite", model=Mean, source=Tall)
    assert exported.inputs["x"].shape.as_list() == [1, 5, 3]


def test_inputs_without_a_batch_come_with_each_example():
    batch = {"x": np.arange(6).reshape(3, 2), "scale": np.float32(2)}
    found = list(tflite.examples(batch))
    assert [each["x"].tolist() for each in found] == [[[0, 1]], [[2, 3]], [[4, 5]]]
    assert [each["scale"] for each in found] == [2, 2, 2]


@pytest.mark.slow
def test_every_example_of_the_batch_is_compared(request_of, tmp_path, monkeypatch):
    def last_is_wrong(folder, batches):
        found = list(run(folder, batches))
        found[-1]["logits"] += 1
        return found

    run = tflite.run
    monkeypatch.setattr(tflite, "run", last_is_wrong)
    with pytest.raises(DifferenceError, match="output logits differ"):
        tflite.export(request_of(), str(tmp_path))


def unknown_operation(predictions):
    logits = predictions["logits"]
    return ModelOutput(predictions={"value": tf.raw_ops.Betainc(a=logits, b=logits, x=logits)})


def test_an_operation_that_it_lacks_is_named(export, tmp_path):
    with pytest.raises(TfFrameError) as error:
        export("tflite", model=changed(unknown_operation))
    assert "TensorFlow Lite cannot convert this model: it has no operation of" in str(error.value)
    assert "Betainc" in str(error.value)
    assert "saved_model or frozen_graph" in str(error.value)
    assert not (tmp_path / "out").exists()


def test_without_tensorflow_lite_the_error_says_so(export, monkeypatch):
    monkeypatch.setattr(tf.compat.v2, "lite", None, raising=False)
    with pytest.raises(ConfigError, match=r"TensorFlow 2\..* has no tf.lite, which --format tfl"):
        export("tflite")


def test_without_eager_execution_the_error_says_so(export, monkeypatch):
    monkeypatch.setattr(tf, "executing_eagerly", lambda: False)
    with pytest.raises(ConfigError, match="eager execution is disabled in this process"):
        export("tflite")


@pytest.mark.slow
def test_it_can_be_called_within_a_graph(export):
    with tf.Graph().as_default() as graph:
        exported = export("tflite")
    assert exported.comparison.output == "logits"
    assert not graph.get_operations()


def test_of_several_signatures_one_has_to_be_chosen(export):
    with pytest.raises(ConfigError, match=r"3 signatures .* and a tflite holds one; choose"):
        export("tflite", model=TwoHeads)
    exported = export("tflite", model=TwoHeads, signature="class")
    runner = load_interpreter(exported.path).get_signature_runner("serving_default")
    assert list(runner.get_output_details()) == ["class"]

"""A trained deeplab as a TensorFlow Lite model that computes in 8-bit integers."""

import types

import numpy as np
import pytest
import tensorflow as tf

from tf_frame.cli.main import main
from tf_frame.errors import ConfigError
from tf_frame.runs.export.formats import tflite_int8

pytestmark = pytest.mark.process


@pytest.mark.slow
def test_weights_and_features_are_integers_and_outputs_about_the_same(trained, tmp_path, capsys):
    argv = ["export", str(trained), "--format", "tflite_int8", "--output", str(tmp_path / "int8")]
    assert main([*argv, "--calibration_examples", "2"]) == 0
    assert "mean difference from the restored session" in capsys.readouterr().out
    with pytest.warns(UserWarning, match="deprecated"):
        interpreter = tf.lite.Interpreter(str(tmp_path / "int8" / "model.tflite"))
    details = interpreter.get_tensor_details()
    types = [d["dtype"] for d in details if len(d["shape"]) == 4 and d["shape"][-1] > 3]
    assert np.mean([dtype == np.int8 for dtype in types]) > 0.9
    image = np.zeros([1, 128, 128, 3], np.uint8)
    outputs = interpreter.get_signature_runner("serving_default")(image=image)
    assert outputs["semantic"].shape == (1, 128, 128)


def test_ranges_are_not_measured_on_random_data(tmp_path):
    request = types.SimpleNamespace(inputs=types.SimpleNamespace(is_real=False))
    with pytest.raises(ConfigError, match="measures the ranges of activations on evaluation data"):
        tflite_int8.export(request, str(tmp_path))

import importlib
import re

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from export_formats import HAS_ONNX
from tf_frame import ModelOutput
from tf_frame.errors import ConfigError, TfFrameError
from tf_frame.runs.export.formats import onnx
from tf_frame.runs.export.verify import DifferenceError

from ..conftest import B, W, X, changed

needs_onnx = pytest.mark.skipif(not HAS_ONNX, reason="needs the extra onnx")


@needs_onnx
def test_onnx_runtime_computes_the_model_by_the_names_of_the_model(export, tmp_path, variable_mode):
    exported = export("onnx")
    assert exported.path == str(tmp_path / "out" / "model.onnx")
    assert exported.inputs["x"].shape.as_list() == [None, 3]
    runtime = importlib.import_module("onnxruntime")
    session = runtime.InferenceSession(exported.path, providers=["CPUExecutionProvider"])
    logits, classes = session.run(["logits", "class"], {"x": X})
    np.testing.assert_allclose(logits, X @ W + B, rtol=1e-5)
    assert classes.tolist() == np.argmax(X @ W + B, axis=1).tolist()
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == ["README.json", "model.onnx"]


def singular_values(predictions):
    return ModelOutput(predictions={"x": tf.linalg.svd(predictions["logits"], compute_uv=False)})


@needs_onnx
def test_an_operation_that_onnx_has_not_is_one_clear_error(export, tmp_path):
    with pytest.raises((TfFrameError, DifferenceError)) as caught:
        export("onnx", model=changed(singular_values))
    assert "Svd" in str(caught.value)
    assert not (tmp_path / "out").exists()


def test_without_the_extra_nothing_is_built(export, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    message = (
        "--format onnx needs tf2onnx, onnxruntime, which are not installed: pip install "
        "'tf-frame[onnx]'"
    )
    with pytest.raises(ConfigError, match=f"^{re.escape(message)}$"):
        export("onnx", model=changed(lambda predictions: pytest.fail("a graph is built")))


def test_an_extra_that_cannot_be_imported_is_named(monkeypatch):
    def missing(name):
        raise ImportError(f"No module named {name!r}")

    monkeypatch.setattr(onnx.importlib, "import_module", missing)
    with pytest.raises(ConfigError, match=r"No module named .*; pip install \"tf-frame\[onnx\]\""):
        onnx._tools()

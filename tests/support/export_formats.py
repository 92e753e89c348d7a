"""The export formats that this environment can write: ONNX needs the extra `onnx`."""

import importlib.util

from tf_frame.estimator.export.formats import FORMATS

HAS_ONNX = all(importlib.util.find_spec(name) for name in ("tf2onnx", "onnxruntime"))
WRITABLE = [name for name in FORMATS if name != "onnx" or HAS_ONNX]

"""The export formats that this environment can write: ONNX needs the extra `onnx`.

Without `tflite_int8`, which rounds: its outputs are no others' to some digits.
"""

import importlib.util

from tf_frame.runs.export.formats import FORMATS

HAS_ONNX = all(importlib.util.find_spec(name) for name in ("tf2onnx", "onnxruntime"))
_LEFT_OUT = {"tflite_int8"} if HAS_ONNX else {"tflite_int8", "onnx"}
WRITABLE = [name for name in FORMATS if name not in _LEFT_OUT]

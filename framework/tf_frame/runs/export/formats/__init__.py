"""Table of the export formats, with the allowed differences from the outputs of the checkpoint.

    from tf_frame.runs.export.export import export_model

    exported = export_model(
        "frozen_graph", model=model, source=source, config=config,
        checkpoint="runs/first/model.ckpt-500", output="exported",
    )

This table does not import TensorFlow, so that `tf-frame export --help` answers at once.
"""

from __future__ import annotations

import dataclasses

from tf_frame.optional_packages import require_packages

# With constants instead of variables, batch norm is folded into the weights before it, and
# TensorFlow fuses operations, so float32 is rounded (to 6e-8 of a value) at other points than in
# the session. The probabilities of a trained deeplab differ by 2.6e-6.
TOLERANCE = 1e-5

# TensorFlow Lite does the same and adds up in another order in the kernels of every layer. The
# probabilities of a trained deeplab differ by 2.9e-6. The tolerance is thirty times as large, for
# models with errors that grow more from layer to layer, and for the kernels of other processors.
TFLITE_TOLERANCE = 1e-4

# A model that was trained with --quantize_delay_step rounds every layer to 256 levels, so the last
# bit of float32 can decide between two levels, in each layer. Single probabilities of a deeplab
# differ by 0.033 between sessions with and without TensorFlow's graph rewriting, and by 0.055 in
# TensorFlow Lite. Graph formats are compared without rewriting, and have no difference then.
TFLITE_QUANTIZED_TOLERANCE = 0.1


# Largest mean difference after rounding to 8 bits; single elements may differ by any amount.
INT8_TOLERANCE = 0.05
# Number of examples for the ranges of activations.
CALIBRATION_EXAMPLES = 100

# Values of `--serve`: an export takes raw data, such as image files, or the features of the model.
RAW, FEATURES = "raw", "features"


@dataclasses.dataclass(frozen=True)
class Format:
    """An export format.

    Attributes:
      module: a module with `export(request, folder)`, which writes and verifies an export.
      text: description for `--help`.
      tolerance: largest difference from the outputs of the restored session, in
        units of an output's scale; see `tf_frame.runs.export.verify`.
      holds_one_signature: whether an export contains only one signature of the model.
      quantized_tolerance: the tolerance for models that round to 256 levels, if it
        differs.
      has_inputs: whether an export is a graph that can be fed.
      fixed_size: whether an export takes one example of fixed size, and no text.
      calibrates: whether the format needs many examples.
      packages: modules that write and verify an export, beside TensorFlow.
    """

    module: str
    text: str
    tolerance: float = TOLERANCE
    holds_one_signature: bool = False
    quantized_tolerance: float | None = None
    has_inputs: bool = True
    fixed_size: bool = False
    calibrates: bool = False
    packages: tuple[str, ...] = ()

    def tolerance_for(self, *, quantized: bool) -> float:
        """Returns the tolerance for a model, quantised or not."""
        if quantized and self.quantized_tolerance is not None:
            return self.quantized_tolerance
        return self.tolerance


def check_packages(format_name: str) -> None:
    """Raises a `ConfigError` if packages that a format needs are not installed."""
    require_packages(
        f"--format {format_name}",
        *FORMATS[format_name].packages,
        install=f"'tf-frame[{format_name}]'",
    )


_HERE = "tf_frame.runs.export.formats"

FORMATS = {
    "saved_model": Format(
        f"{_HERE}.saved_model_format", "a folder for TensorFlow Serving and tf.saved_model.load"
    ),
    "frozen_graph": Format(
        f"{_HERE}.frozen_graph",
        "frozen_graph.pb, variables as constants; frozen_graph.json",
        holds_one_signature=True,
    ),
    "tflite": Format(
        f"{_HERE}.tflite",
        "model.tflite for TensorFlow Lite: float32, batches of one example",
        TFLITE_TOLERANCE,
        holds_one_signature=True,
        quantized_tolerance=TFLITE_QUANTIZED_TOLERANCE,
        fixed_size=True,
    ),
    "tflite_int8": Format(
        f"{_HERE}.tflite_int8",
        "the same in 8-bit integers, with ranges from --calibration_examples",
        INT8_TOLERANCE,
        holds_one_signature=True,
        fixed_size=True,
        calibrates=True,
    ),
    "onnx": Format(
        f"{_HERE}.onnx",
        'model.onnx for ONNX Runtime: float32; needs pip install "tf-frame[onnx]"',
        TFLITE_TOLERANCE,
        holds_one_signature=True,
        quantized_tolerance=TFLITE_QUANTIZED_TOLERANCE,
        fixed_size=True,
        packages=("tf2onnx", "onnxruntime"),
    ),
    "checkpoint": Format(
        f"{_HERE}.checkpoint",
        "the model's variables alone, for --warm_start_from and trainers",
        has_inputs=False,
    ),
}

"""The formats in which a trained model can be exported.

    from tf_frame.estimator.export.checkpoint_export import export_model

    exported = export_model(
        "frozen_graph", model=model, source=source, config=config,
        checkpoint="runs/first/model.ckpt-500", output="exported",
    )

This table needs no TensorFlow, so that `tf-frame export --help` answers at once.
"""

from __future__ import annotations

import dataclasses

# Where variables have become constants, TensorFlow folds batch norm into the weights before it and
# fuses operations, which rounds float32 (to 6e-8 of a value) elsewhere than the session does. The
# probabilities of a trained deeplab then differ by 2.6e-6.
TOLERANCE = 1e-5

# TensorFlow Lite does the same and adds up in kernels of its own, so in another order in every
# layer. The probabilities of a trained deeplab differ by 2.9e-6; models whose errors grow more
# from layer to layer, and other processors' kernels, get room for thirty times that.
TFLITE_TOLERANCE = 1e-4

# A model that was trained with --quantize_delay_step rounds every layer to 256 levels, so that the
# last bit of float32 may decide between two levels, in every layer once more. Single probabilities
# of a deeplab then differ by 0.033 between sessions with and without TensorFlow's rewriting of
# graphs, and by 0.055 in TensorFlow Lite. The graph formats are compared without the rewriting,
# which leaves no difference at all.
TFLITE_QUANTIZED_TOLERANCE = 0.1


@dataclasses.dataclass(frozen=True)
class Format:
    """One format.

    Attributes:
      module: the module whose `export(request, folder)` writes and verifies it.
      text: what it is, for the help.
      tolerance: how far outputs may be from those of the restored session, in
        units of an output's scale; see `tf_frame.estimator.export.verify`.
      holds_one_signature: whether one of the model's signatures has to be chosen.
      quantized_tolerance: the tolerance for models that round to 256 levels, where
        it is another.
    """

    module: str
    text: str
    tolerance: float = TOLERANCE
    holds_one_signature: bool = False
    quantized_tolerance: float | None = None

    def tolerance_of(self, *, quantized: bool) -> float:
        """The tolerance for a model, quantised or not."""
        if quantized and self.quantized_tolerance is not None:
            return self.quantized_tolerance
        return self.tolerance


_HERE = "tf_frame.estimator.export.formats"

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
    ),
    "checkpoint": Format(
        f"{_HERE}.checkpoint", "the model's variables alone, for --warm_start_from and trainers"
    ),
}

"""The format `tflite_int8`: a model for TensorFlow Lite that computes in 8-bit integers.

Weights are rounded for each channel, activations in the ranges that they have on examples of the
evaluation data (https://ai.google.dev/edge/litert/conversion/tensorflow/quantization/post_training_quantization,
"full integer quantization"). The rounding of a model of --quantize_delay_step is part of the graph
that is converted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tf_frame.errors import ConfigError, TfFrameError
from tf_frame.runs.export.folder import Written
from tf_frame.runs.export.formats import tflite
from tf_frame.runs.export.outputs import DEFAULT_KEY
from tf_frame.runs.export.rounded import compare_rounded
from tf_frame.runs.export.serving import Request

_LOOPS = ("While", "StatelessWhile", "Enter")


def export(request: Request, folder: str) -> Written:
    """Writes `model.tflite` into a folder; its outputs may differ a little everywhere.

    Raises:
      ConfigError: there is no evaluation data; or one of those of `tflite.export`.
      TfFrameError: TensorFlow Lite cannot compute an operation of the model in integers; or the
        model has a loop.
      DifferenceError: the outputs differ by more on average; see `rounded`.
    """
    if not request.inputs.is_real:
        raise ConfigError(
            "--format tflite_int8 measures the ranges of activations on evaluation data, which is "
            "not there; give its folder (such as --input.data_dir), or take --format tflite"
        )
    return tflite.export(
        request, folder, configure=_configured, compare=compare_rounded, check=_check_loops
    )


def _check_loops(graph_def: Any) -> None:
    """Refuses loops, at which TensorFlow Lite ends the process (TensorFlow 2.21)."""
    loops = [node.name for node in graph_def.node if node.op in _LOOPS]
    if loops:
        raise TfFrameError(
            f"the model has a loop, {loops[0]}, of which TensorFlow Lite cannot measure ranges for "
            "8-bit integers; take --format tflite, or an option of the model that leaves it out"
        )


def _configured(converter: Any, examples: Sequence[Mapping[str, Any]]) -> None:
    lite = tflite.tensorflow_lite()

    def representative() -> Iterator[tuple[str, Mapping[str, Any]]]:
        for example in examples:
            yield DEFAULT_KEY, example

    converter.optimizations = [lite.Optimize.DEFAULT]
    converter.representative_dataset = representative
    converter.target_spec.supported_ops = [lite.OpsSet.TFLITE_BUILTINS_INT8]

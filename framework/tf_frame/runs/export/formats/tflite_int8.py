"""The format `tflite_int8`: a model for TensorFlow Lite that computes in 8-bit integers.

Weights are rounded per channel, and activations in ranges that are measured on evaluation data
(https://ai.google.dev/edge/litert/conversion/tensorflow/quantization/post_training_quantization,
"full integer quantization"). With --quantize_delay_step, the graph keeps its fake quantization.

Rounding every layer to 256 levels may change a single element by any amount. So means are compared:
for floats, the mean absolute difference in units of the output's scale; for integers and truth
values, the share of elements that differ, without ties of classes (see `verify`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tf_frame.errors import ConfigError, TfFrameError
from tf_frame.runs.export.export_outputs import DEFAULT_KEY
from tf_frame.runs.export.formats import tflite
from tf_frame.runs.export.row_order import align_tied_rows
from tf_frame.runs.export.serving import Request
from tf_frame.runs.export.staging import Written
from tf_frame.runs.export.verify import (
    Comparison,
    DifferenceError,
    check_shape,
    find_ties,
    output_scale,
)

_LOOPS = ("While", "StatelessWhile", "Enter")


def export(request: Request, folder: str) -> Written:
    """Writes `model.tflite` into a folder; its outputs may differ a little everywhere.

    Raises:
      ConfigError: there is no evaluation data; or see `tflite.export`.
      TfFrameError: TensorFlow Lite cannot compute an operation of the model in integers; or the
        model has a loop.
      DifferenceError: the mean difference of an output is too large.
    """
    if not request.inputs.is_real:
        raise ConfigError(
            "--format tflite_int8 measures the ranges of activations on evaluation data, which is "
            "not there; give its folder (such as --input.data_dir), or take --format tflite"
        )
    return tflite.export(
        request, folder, configure=_configure, compare=compare_rounded, check=_check_loops
    )


def _check_loops(graph_def: Any) -> None:
    """Refuses loops: TensorFlow Lite would end the process (TensorFlow 2.21)."""
    loops = [node.name for node in graph_def.node if node.op in _LOOPS]
    if loops:
        raise TfFrameError(
            f"the model has a loop, {loops[0]}, and TensorFlow Lite cannot measure its ranges for "
            "8-bit integers; take --format tflite, or an option of the model that leaves it out"
        )


def _configure(converter: Any, examples: Sequence[Mapping[str, Any]]) -> None:
    lite = tflite.tensorflow_lite()

    def representative() -> Iterator[tuple[str, Mapping[str, Any]]]:
        for example in examples:
            yield DEFAULT_KEY, example

    converter.optimizations = [lite.Optimize.DEFAULT]
    converter.representative_dataset = representative
    converter.target_spec.supported_ops = [lite.OpsSet.TFLITE_BUILTINS_INT8]


def compare_rounded(
    expected: Iterable[tuple[Mapping[str, Any], Mapping[str, Any]]],
    found: Iterable[Mapping[str, Any]],
    *,
    tolerance: float,
    ranked_by: str = "",
) -> Comparison:
    """Compares the means of all batches with a tolerance.

    For the arguments see `verify.compare_batches`.

    Raises:
      DifferenceError: an output differs by more, or has another shape.
    """
    differences: dict[str, list[float]] = {}
    for (arrays, more), outputs in zip(expected, found, strict=True):
        if ranked_by in arrays:
            allowed = 2 * tolerance * output_scale(np.asarray(arrays[ranked_by]))
            outputs = align_tied_rows(arrays, outputs, ranked_by, allowed)
        scores = [np.asarray(array) for array in (*arrays.values(), *more.values())]
        for name, array in arrays.items():
            pair = np.asarray(array), np.asarray(outputs[name])
            value = _mean_difference(name, *pair, tolerance, scores)
            differences.setdefault(name, []).append(value)
    means = {name: float(np.mean(values)) for name, values in differences.items()}
    worst = max(means, key=lambda name: means[name])
    if not means[worst] <= tolerance:
        raise DifferenceError(
            f"rounded to 8 bits the output {worst} differs by {means[worst]:.2g} on average, "
            f"allowed: {tolerance:g}; train with --quantize_delay_step, or export as tflite"
        )
    return Comparison(means[worst], worst, kind="mean")


def _mean_difference(
    name: str, expected: Any, found: Any, tolerance: float, scores: list[Any]
) -> float:
    check_shape(name, expected, found)
    if expected.dtype.kind != "f":
        differs = expected != found
        if np.issubdtype(expected.dtype, np.integer):
            differs &= ~find_ties(expected, found, tolerance, scores)
        return float(np.mean(differs))
    return float(np.mean(np.abs(expected - found))) / output_scale(expected)

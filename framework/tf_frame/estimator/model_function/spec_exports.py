"""The export outputs of a spec or model: checked, and one of them the default."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.estimator.export.outputs import ExportOutput, PredictOutput

DEFAULT_KEY = tf.saved_model.DEFAULT_SERVING_SIGNATURE_DEF_KEY


def checked_exports(export_outputs: Any, predictions: Any) -> dict[str, ExportOutput]:
    """Returns the export outputs of a spec; a single one is the default too.

    Types and texts are those of tensorflow, saved_model/model_utils/export_utils.py.

    Args:
      export_outputs: signature name -> `ExportOutput`; None for the predictions.
      predictions: a tensor or a dict of them.

    Raises:
      TypeError: it is no dict of `ExportOutput`.
      ValueError: of several, none is called `serving_default`.
    """
    if export_outputs is None:
        export_outputs = {DEFAULT_KEY: PredictOutput(predictions)}
    if not isinstance(export_outputs, dict):
        raise TypeError(f"`export_outputs` must be dict, received: {export_outputs}.")
    if not all(isinstance(output, ExportOutput) for output in export_outputs.values()):
        raise TypeError(
            f"Values in `export_outputs` must be ExportOutput objects, received: {export_outputs}."
        )
    return with_default(export_outputs)


def with_default(outputs: dict[str, ExportOutput]) -> dict[str, ExportOutput]:
    """Returns outputs of which one is the default: a single one is.

    Raises:
      ValueError: of several, none is called `serving_default`.
    """
    if len(outputs) == 1:
        return {**outputs, DEFAULT_KEY: next(iter(outputs.values()))}
    if outputs and DEFAULT_KEY not in outputs:
        raise ValueError(
            "Multiple `export_outputs` were provided, but none of them are specified as the "
            "default. Use`tf.saved_model.DEFAULT_SERVING_SIGNATURE_DEF_KEY` to specify a default."
        )
    return dict(outputs)

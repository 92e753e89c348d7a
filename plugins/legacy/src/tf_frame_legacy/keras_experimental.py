"""tf.keras.experimental on the part of Keras 2 in TensorFlow."""

from __future__ import annotations

import contextlib
from typing import Any

import tensorflow.compat.v1 as tf
from tensorflow.python.keras import backend
from tensorflow.python.keras.layers.recurrent import PeepholeLSTMCell as PeepholeLSTMCell
from tensorflow.python.keras.optimizer_v2.learning_rate_schedule import (
    CosineDecay as CosineDecay,
    CosineDecayRestarts as CosineDecayRestarts,
    LinearCosineDecay as LinearCosineDecay,
    NoisyLinearCosineDecay as NoisyLinearCosineDecay,
)
from tensorflow.python.keras.saving import saved_model_experimental


def export_saved_model(
    model: Any,
    saved_model_path: str,
    custom_objects: Any = None,
    as_text: bool = False,
    input_signature: Any = None,
    serving_only: bool = False,
) -> None:
    """Writes a model as a SavedModel with graphs for training, evaluation and serving."""
    with _session():
        saved_model_experimental.export_saved_model(
            model, saved_model_path, custom_objects, as_text, input_signature, serving_only
        )


def load_from_saved_model(saved_model_path: str, custom_objects: Any = None) -> Any:
    """Returns the model that `export_saved_model` has written."""
    with _session():
        return saved_model_experimental.load_from_saved_model(saved_model_path, custom_objects)


def _session() -> Any:
    """Makes the session of Keras the default one, which its checkpoints need in graphs."""
    if tf.executing_eagerly():
        return contextlib.nullcontext()
    return backend.get_session().as_default()

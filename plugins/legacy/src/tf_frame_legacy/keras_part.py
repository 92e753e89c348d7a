"""The part of Keras 2 in TensorFlow, with what the rest of TensorFlow asks of it today."""

from __future__ import annotations

import functools
from typing import Any

import tensorflow.compat.v1 as tf
from tensorflow.python import keras
from tensorflow.python.keras import backend
from tensorflow.python.keras.engine import training, training_v1
from tensorflow.python.keras.engine.functional import Functional


@functools.cache
def completed() -> Any:
    """Returns `tensorflow.python.keras`, whose models write and read checkpoints in graphs, too."""
    look_up = Functional._lookup_dependency

    def with_children(model: Any, name: str, cached_dependencies: Any = None) -> Any:
        del cached_dependencies  # TensorFlow gives them since 2.14; the model finds its own.
        return look_up(model, name)

    Functional._lookup_dependency = with_children
    for model in (training.Model, training_v1.Model):
        for name in {"save_weights", "load_weights"} & vars(model).keys():
            setattr(model, name, _in_session(getattr(model, name)))
    return keras


def _in_session(method: Any) -> Any:
    """Returns a method within the session of Keras, for which checkpoints of objects ask."""

    @functools.wraps(method)
    def call(model: Any, *arguments: Any, **options: Any) -> Any:
        if tf.executing_eagerly():
            return method(model, *arguments, **options)
        with backend.get_session().as_default():
            return method(model, *arguments, **options)

    return call

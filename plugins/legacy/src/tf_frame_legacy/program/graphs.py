"""Functions that build graphs and accept what TensorFlow 2 has ceased to accept."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf


class name_scope(tf.name_scope):
    """`tf.name_scope`, in which a second argument that is no text counts as `values`.

    TensorFlow 1 ignored the default name whenever there was a name.
    """

    def __init__(self, name: str | None, default_name: Any = None, values: Any = None) -> None:
        if not isinstance(default_name, (str, type(None))):
            default_name, values = None, default_name if values is None else values
        super().__init__(name, default_name, values)

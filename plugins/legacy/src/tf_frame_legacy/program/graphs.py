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


def conv2d_transpose(
    value: Any = None,
    filter: Any = None,
    output_shape: Any = None,
    strides: Any = None,
    padding: str = "SAME",
    data_format: str = "NHWC",
    name: str | None = None,
    input: Any = None,
    filters: Any = None,
    dilations: Any = None,
) -> Any:
    """`tf.nn.conv2d_transpose`, whose result has the static shape `output_shape`.

    TensorFlow 2 takes the size of the batch from `value`, and forgets it if that is unknown.
    """
    output = tf.nn.conv2d_transpose(
        value, filter, output_shape, strides, padding, data_format, name, input, filters, dilations
    )
    sizes = tf.get_static_value(tf.convert_to_tensor(output_shape), partial=True)
    if sizes is not None:
        output.set_shape([None if size is None else int(size) for size in sizes])
    return output

"""Private functions of tf.contrib.layers that programs call to make variables of layers theirs.

with tf.variable_scope(scope, custom_getter=_build_variable_getter({"kernel": "weights"})):
    layer = tf.layers.Conv2D(...)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame_legacy.slim import utils
from tf_frame_legacy.slim.variables import model_variable

_ARGUMENTS = (
    "shape",
    "dtype",
    "initializer",
    "regularizer",
    "trainable",
    "collections",
    "caching_device",
    "partitioner",
    "use_resource",
)


def _build_variable_getter(rename: Mapping[str, str] | None = None) -> Callable[..., Any]:
    """Returns a `custom_getter` that makes model variables, under other names.

    Args:
      rename: last part of a name -> the new one.
    """

    def getter_of_model_variables(getter: Any, name: str, *args: Any, **kwargs: Any) -> Any:
        scope, _, last = name.rpartition("/")
        new = (rename or {}).get(last, last)
        arguments = dict(zip(_ARGUMENTS, args, strict=False)) | kwargs
        chosen = {key: arguments[key] for key in _ARGUMENTS if key in arguments}
        full = f"{scope}/{new}" if scope else new
        return model_variable(full, custom_getter=getter, **chosen)

    return getter_of_model_variables


def _add_variable_to_collections(
    variable: Any, collections_set: Any, collections_name: str
) -> None:
    """Adds a variable, or the parts of a partitioned one, to collections.

    Args:
      variable: the variable.
      collections_set: list of collections, or kind of the variable -> such a list.
      collections_name: kind of the variable, such as `weights`.
    """
    parts = [variable] if hasattr(variable, "op") else list(variable)
    for collection in utils.get_variable_collections(collections_set, collections_name) or []:
        present = {id(part) for part in tf.get_collection(collection)}
        for part in parts:
            if id(part) not in present:
                tf.add_to_collection(collection, part)

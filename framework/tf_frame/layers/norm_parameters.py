"""Factor and offset of the layers that normalise each example by itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.layers.outputs import get_variable_collections
from tf_frame.layers.variables import model_variable

_INITIALIZERS = {"beta": tf.zeros_initializer(), "gamma": tf.ones_initializer()}


def beta_and_gamma(
    shape: Any,
    dtype: Any,
    *,
    center: bool,
    scale: bool,
    trainable: bool,
    initializers: Mapping[str, Any] | None = None,
    collections: Any = None,
) -> tuple[Any, Any]:
    """Gets or creates `beta`, then `gamma`, in the current variable scope.

    Args:
      shape: of both.
      dtype: of both.
      center: whether there is a beta; None is returned without.
      scale: whether there is a gamma; None is returned without.
      trainable: whether they are trained.
      initializers: of "beta" and "gamma"; zeros and ones when not given.
      collections: list of collections, or a dictionary of such lists.
    """
    initializers = {**_INITIALIZERS, **(initializers or {})}

    def make(name: str) -> Any:
        return model_variable(
            name,
            shape,
            dtype,
            initializer=initializers[name],
            trainable=trainable,
            collections=get_variable_collections(collections, name),
        )

    return make("beta") if center else None, make("gamma") if scale else None

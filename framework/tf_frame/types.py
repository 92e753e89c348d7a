"""Type aliases for objects of TensorFlow, which has no types for static checks.

The module does not import TensorFlow, so that modules that must load quickly can use the aliases.
"""

from __future__ import annotations

from typing import Any, TypeAlias

# A `tf.Tensor`, or a value that TensorFlow converts to a tensor.
Tensor: TypeAlias = Any
# The features or labels of a batch: a tensor, or tensors in dicts, lists and tuples.
Features: TypeAlias = Any
Labels: TypeAlias = Any
# A `tf.compat.v1.Session` or `tf.compat.v1.train.MonitoredSession`.
Session: TypeAlias = Any

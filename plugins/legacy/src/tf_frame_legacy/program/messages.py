"""Messages of `tf.train` that accept what they have ceased to accept."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf


class _WholeNumbers:
    """`tf.train.Int64List`, which takes `True` and `False` for 1 and 0, as until protobuf 4.

    Its messages and the other attributes are those of the class.
    """

    def __call__(self, **fields: Any) -> Any:
        if "value" in fields and not isinstance(fields["value"], (list, tuple, np.ndarray)):
            fields["value"] = list(fields["value"] or ())
        try:
            return tf.train.Int64List(**fields)
        except TypeError:
            fields["value"] = [_number(value) for value in fields.get("value", ())]
            return tf.train.Int64List(**fields)

    def __getattr__(self, name: str) -> Any:
        return getattr(tf.train.Int64List, name)

    def __instancecheck__(self, instance: Any) -> bool:
        return isinstance(instance, tf.train.Int64List)


def _number(value: Any) -> Any:
    return int(value) if isinstance(value, (bool, np.bool_)) else value


Int64List = _WholeNumbers()

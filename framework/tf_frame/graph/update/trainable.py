"""Which variables are trained."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.errors import ConfigError, UnmatchedPatternWarning


def variables_to_train(scopes: Sequence[str] = ()) -> list[Any]:
    """Lists the variables that get gradients.

    Args:
      scopes: beginnings of variable names, as slim's `--trainable_scopes` takes
        them; `Logits` means what is in the scope `Logits` and in `LogitsAux`.
        Empty: every trainable variable.

    Returns:
      Trainable variables, scope by scope, none of them twice.

    Raises:
      ConfigError: no variable is in any of the scopes.
    """
    trainable: list[Any] = tf.trainable_variables()
    if not scopes:
        return trainable
    chosen: dict[str, Any] = {}
    for scope in scopes:
        inside = {v.op.name: v for v in trainable if v.op.name.startswith(scope)}
        if not inside:
            known = ", ".join(sorted({v.op.name.split("/")[0] for v in trainable}))
            warnings.warn(
                UnmatchedPatternWarning(
                    f"--trainable_scopes: {scope!r} has no trainable variable; there are {known}"
                ),
                stacklevel=2,
            )
        chosen.update(inside)
    if not chosen:
        raise ConfigError(f"--trainable_scopes {','.join(scopes)}: no variable is left to train")
    return list(chosen.values())

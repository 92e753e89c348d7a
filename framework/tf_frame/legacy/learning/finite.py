"""Whether the variables of a graph may be saved."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

from tf_frame.errors import NonFiniteError

_COLLECTION = "tf_frame/check_finite"


class FiniteModel(tf.train.CheckpointSaverListener):
    """Refuses to save a model that diverged.

    A NaN may not stand in any variable, and an infinity in none that is
    trainable; others may begin with one, such as the best loss so far.
    """

    def begin(self) -> None:
        """Adds to the default graph what is looked at, unless it has that."""
        floats = [v for v in tf.global_variables() if v.dtype.base_dtype.is_floating]
        self._names = [variable.op.name for variable in floats]
        self._good = tf.get_collection_ref(_COLLECTION)
        if len(self._good) != len(floats):
            with tf.name_scope("check_finite"):
                # One scalar a variable: small to fetch, and run only when saving.
                self._good[:] = [_is_good(variable) for variable in floats]

    def before_save(self, session: Any, global_step_value: int) -> None:
        """Looks at the variables.

        Raises:
          NonFiniteError: the model must not be saved.
        """
        good = np.array(session.run(self._good), dtype=bool)
        bad = [name for name, ok in zip(self._names, good, strict=True) if not ok]
        if bad:
            raise NonFiniteError(
                f"{len(bad)} variables hold NaN or infinity at global step {global_step_value}, "
                f"first {', '.join(bad[:3])}; the step was not saved. Use a lower learning rate"
            )


def _is_good(variable: Any) -> Any:
    trainable = any(variable is other for other in tf.trainable_variables())
    # Beside the variable, so that one bit travels and not all of its values.
    with tf.device(variable.device):
        if trainable:
            return tf.reduce_all(tf.is_finite(variable))
        return tf.logical_not(tf.reduce_any(tf.is_nan(variable)))

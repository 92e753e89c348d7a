"""The check of `tf_frame.legacy` that a model may be saved."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.checkpoint.write.snapshot import FiniteCheck


class FiniteModel(tf.train.CheckpointSaverListener):
    """Refuses to save a model that diverged.

    No variable may hold NaN, and no trainable one infinity. Others may begin with infinity,
    such as the best loss so far; `tf-frame run` refuses those as well.
    """

    def begin(self) -> None:
        """Adds the check to the default graph, unless the graph has it."""
        self._check = FiniteCheck(allow_infinite_state=True)

    def before_save(self, session: Any, global_step_value: int) -> None:
        """Checks the variables.

        Raises:
          NonFiniteError: the model must not be saved.
        """
        self._check.check(session.run(self._check.fetch), global_step_value)

"""Hook that ends the training of a worker once the chief has saved the last step.

When a worker sees the last global step, the checkpoint of that step may not be on disk yet.
"""

from __future__ import annotations

import dataclasses
import logging
import time
from collections.abc import Callable
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.checkpoint.find.newest import listed_checkpoints, read_step
from tf_frame.hooks.base import Hook, Phase
from tf_frame.hooks.cadence import Cadence
from tf_frame.hooks.stock.stop_at_step import StopAtStepHook

_LOG = logging.getLogger("tf_frame")


def make_stop_at_checkpoint_step_hook(
    estimator: Any, last_step: int, wait_after_file_check_secs: float = 30
) -> Hook:
    """Returns the hook that ends training at a step, for the chief or for a worker.

    Args:
      estimator: the `Estimator` to train.
      last_step: global step at the end.
      wait_after_file_check_secs: seconds that a worker waits after each look at the folder, which
        many workers may share.

    Returns:
      A `StopAtStepHook` for the chief, a `StopAtCheckpointStepHook` for a worker.
    """
    if estimator.config.is_chief:
        return StopAtStepHook(last_step=last_step)
    return StopAtCheckpointStepHook(
        estimator.model_dir, last_step, wait_after_file_check_secs=wait_after_file_check_secs
    )


@dataclasses.dataclass(eq=False)
class StopAtCheckpointStepHook(Hook):
    """Ends training when the newest checkpoint is of the last step or a later one.

    No worker ends before the chief has saved. From the last step on, the hook looks into the
    folder after each step, and waits (tensorflow_estimator, hooks.py).

    Args:
      model_dir: folder of the chief's checkpoints.
      wait_after_file_check_secs: seconds to wait after each look at the folder,
        which many workers may share.
      sleep: sleeps for some seconds.

    Raises:
      ValueError: `model_dir` or `last_step` is None.
    """

    phase = Phase.STOP

    model_dir: str
    last_step: int
    wait_after_file_check_secs: float = 30
    sleep: Callable[[float], None] = time.sleep

    def __post_init__(self) -> None:
        for name in ("last_step", "model_dir"):
            if getattr(self, name) is None:
                raise ValueError(f"{name} must be specified.")
        super().__init__(_StepsFrom(self.last_step))

    def begin(self) -> None:
        if tf.train.get_global_step() is None:
            raise RuntimeError("Global step should be created to use StopAtCheckpointStepHook.")

    def after_step(self, run_context: Any, run_values: Any, step: int) -> None:
        if self._saved_step() >= self.last_step:
            run_context.request_stop()
        else:
            self.sleep(self.wait_after_file_check_secs)

    def _saved_step(self) -> int:
        paths = listed_checkpoints(self.model_dir)
        try:
            return read_step(paths[-1]) if paths else 0
        except (tf.errors.OpError, ValueError) as error:
            # The chief may be replacing the checkpoint. The hook looks again after the next step.
            _LOG.info("%s cannot be read now: %s", paths[-1], error)
            return 0


class _StepsFrom(Cadence):
    """Cadence of all steps from a given step on."""

    def __init__(self, step: int) -> None:
        self._from = step
        super().__init__()

    def next_step(self) -> float:
        return max(self._from, self._last_step + 1)

    def __bool__(self) -> bool:
        return True

    def __str__(self) -> str:
        return f"every step from {self._from} on"

"""Evaluates the checkpoints of a folder as they come."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, TypeVar

from tf_frame.checkpoint.find.iterator import checkpoints_iterator
from tf_frame.checkpoint.find.newest import damage_of
from tf_frame.checkpoint.find.reader import Checkpoint
from tf_frame.errors import CheckpointError

_LOG = logging.getLogger("tf_frame")
_Result = TypeVar("_Result")


def evaluate_repeatedly(
    evaluate: Callable[[str], _Result],
    model_dir: str,
    *,
    min_interval_secs: float = 0,
    timeout: float | None = None,
    timeout_fn: Callable[[], bool] | None = None,
    max_evaluations: int | None = None,
    last_step: int | None = None,
    stop: Callable[[], bool] = lambda: False,
    **waiting: Any,
) -> _Result | None:
    """Calls an evaluation with each new checkpoint.

    One that training has deleted, or that was damaged, before it could be
    restored is passed over with a warning.

    Args:
      evaluate: takes a path prefix.
      model_dir: the folder.
      min_interval_secs, timeout, timeout_fn, stop: as for `checkpoints_iterator`.
      max_evaluations: evaluations at most.
      last_step: the global step whose evaluation is the last one.
      **waiting: more for `checkpoints_iterator`.

    Returns:
      What the last evaluation returned; None if there was none.

    Raises:
      CheckpointError: a checkpoint belongs to another model.
    """
    result: _Result | None = None
    count = 0
    if max_evaluations is not None and max_evaluations <= 0:
        return result
    for path in checkpoints_iterator(
        model_dir, min_interval_secs, timeout, timeout_fn, stop=stop, **waiting
    ):
        try:
            step = Checkpoint(path).global_step or 0
            result = evaluate(path)
        except CheckpointError:
            if not damage_of(path):
                raise
            _LOG.warning("passing over %s, which is gone or damaged by now", path)
            continue
        count += 1
        if count == max_evaluations or (last_step is not None and step >= last_step):
            break
    return result

"""The names of `tf.estimator.experimental`, for scripts that were written for tf.estimator."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.estimator.early_stopping import (
    make_early_stopping_hook as make_early_stopping_hook,
    stop_if_higher_hook as stop_if_higher_hook,
    stop_if_lower_hook as stop_if_lower_hook,
    stop_if_no_decrease_hook as stop_if_no_decrease_hook,
    stop_if_no_increase_hook as stop_if_no_increase_hook,
)
from tf_frame.estimator.export import (
    build_raw_supervised_input_receiver_fn as build_raw_supervised_input_receiver_fn,
    build_supervised_input_receiver_fn_from_input_fn,  # noqa: F401
)
from tf_frame.estimator.in_memory_evaluator import InMemoryEvaluatorHook as InMemoryEvaluatorHook
from tf_frame.estimator.train_and_eval.stop_at_checkpoint import (
    make_stop_at_checkpoint_step_hook as make_stop_at_checkpoint_step_hook,
)


def call_logit_fn(
    logit_fn: Callable[..., Any], features: Any, mode: str, params: Any, config: Any
) -> Any:
    """Calls a function of `features` and any of `mode`, `params` and `config`.

    Returns:
      Its logits: a tensor, or a dictionary of them.

    Raises:
      ValueError: the function returns something else.
    """
    names = inspect.signature(logit_fn).parameters
    arguments = {"mode": mode, "params": params, "config": config}
    wanted = {name: value for name, value in arguments.items() if name in names}
    logits = logit_fn(features=features, **wanted)
    if isinstance(logits, dict):
        valid = all(isinstance(k, str) and isinstance(v, tf.Tensor) for k, v in logits.items())
    else:
        valid = isinstance(logits, tf.Tensor)
    if not valid:
        raise ValueError(
            "logit_fn should return a Tensor or a dictionary mapping strings to Tensors.  logit_fn "
            f"returned: {logits}"
        )
    return logits

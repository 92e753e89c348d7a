"""What the arguments of a `RunConfig` may be; errors are those of tensorflow_estimator."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping
from typing import Any

import tensorflow.compat.v1 as tf

_Check = tuple[str, Callable[[Any], bool], str]


def _takes_only_op(function: Any) -> bool:
    """Whether `function(op)` is its one way to be called, also a method or a partial."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # No function, or one in C that does not say.
        return False
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [each.name for each in parameters if each.kind in positional] == ["op"]


# Name, what holds for any value but None, and what is said where it does not hold.
_CHECKS: tuple[_Check, ...] = (
    ("model_dir", bool, "model_dir should be non-empty"),
    ("save_summary_steps", lambda steps: steps >= 0, "save_summary_steps should be >= 0"),
    ("save_checkpoints_steps", lambda steps: steps >= 0, "save_checkpoints_steps should be >= 0"),
    ("save_checkpoints_secs", lambda secs: secs >= 0, "save_checkpoints_secs should be >= 0"),
    (
        "session_config",
        lambda proto: isinstance(proto, tf.ConfigProto),
        "session_config must be instance of ConfigProto",
    ),
    ("keep_checkpoint_max", lambda most: most >= 0, "keep_checkpoint_max should be >= 0"),
    (
        "keep_checkpoint_every_n_hours",
        lambda hours: hours > 0,
        "keep_checkpoint_every_n_hours should be > 0",
    ),
    ("log_step_count_steps", lambda steps: steps > 0, "log_step_count_steps should be > 0"),
    ("tf_random_seed", lambda seed: isinstance(seed, int), "tf_random_seed must be integer."),
    (
        "experimental_max_worker_delay_secs",
        lambda delay: isinstance(delay, int),
        "experimental_max_worker_delay_secs must be an integer if set.",
    ),
    (
        "session_creation_timeout_secs",
        lambda secs: secs > 0,
        "session_creation_timeout_secs should be > 0",
    ),
    ("device_fn", _takes_only_op, 'device_fn must be callable with exactly one argument "op".'),
    (
        "protocol",
        lambda protocol: protocol in ("grpc", "grpc+verbs"),
        "protocol should be grpc or grpc+verbs",
    ),
)
_STRATEGIES = ("train_distribute", "eval_distribute", "experimental_distribute")


def check_fields(fields: Mapping[str, Any]) -> None:
    """Checks arguments, each for itself.

    Raises:
      ValueError: one is out of range, or a distribution strategy, which there are none of.
    """
    for name in _STRATEGIES:
        if fields[name] is not None:
            raise ValueError(
                f"{name} is {fields[name]!r}, but tf-frame has no distribution strategies; use "
                'RunConfig(options={"num_clones": N}) for N copies of the model on one machine, '
                "and TF_CONFIG for several machines"
            )
    for name, holds, message in _CHECKS:
        if fields[name] is not None and not holds(fields[name]):
            raise ValueError(message)


def checked_model_dir(model_dir: Any, in_tf_config: str | None) -> Any:
    """The folder that the argument or TF_CONFIG names, None if neither does.

    Raises:
      ValueError: one is empty, or they differ.
    """
    if model_dir == "":
        raise ValueError("model_dir should be non-empty.")
    if in_tf_config == "":
        raise ValueError("model_dir in TF_CONFIG should be non-empty.")
    if in_tf_config and model_dir and in_tf_config != model_dir:
        raise ValueError(
            "`model_dir` provided in RunConfig construct, if set, "
            "must have the same value as the model_dir in TF_CONFIG. "
            f'model_dir: {model_dir}\nTF_CONFIG["model_dir"]: {in_tf_config}.\n'
        )
    return model_dir or in_tf_config


def path_text(path: Any) -> Any:
    """A `pathlib.Path` as text, anything else as it is."""
    return os.fsdecode(path) if isinstance(path, os.PathLike) else path

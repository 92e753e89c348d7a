"""Variables that begin with a value of a checkpoint as it is."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.checkpoint.find.match import saved_as
from tf_frame.checkpoint.find.reader import Checkpoint
from tf_frame.checkpoint.warm_start.warm_start import WarmStart, plan_warm_start
from tf_frame.config.option_groups import WarmStartOptions


def restore_whole(
    variables: Mapping[str, Sequence[Any]], sources: Mapping[str, str], checkpoint: Checkpoint
) -> WarmStart:
    """Plans to restore every one of some variables.

    Args:
      variables: name -> the variable, or its parts.
      sources: name -> name in the checkpoint.
      checkpoint: where values come from.

    Raises:
      ValueError: the checkpoint lacks one, or has another shape or type of it.
    """
    for name, parts in variables.items():
        check_there(name, sources[name], checkpoint)
        _check_fits(parts, sources[name], checkpoint)
    flat = [part for parts in variables.values() for part in parts]
    step = tf.train.get_global_step()
    plan = plan_warm_start(
        WarmStartOptions(
            warm_start_from=checkpoint.path,
            warm_start_map=tuple(_rule(n, sources[n]) for n in variables if sources[n] != n),
            warm_start_global_step=any(part is step for part in flat),
            warm_start_allow_nothing=True,
        ),
        flat,
    )
    assert plan is not None
    return plan


def check_there(name: str, source: str, checkpoint: Checkpoint) -> None:
    """Refuses a variable that the checkpoint does not have.

    Raises:
      ValueError: with the words of `tf.compat.v1.train.init_from_checkpoint`.
    """
    if source not in checkpoint:
        shapes = {each: checkpoint.shape(each) for each in checkpoint.names}
        raise ValueError(
            f"Tensor {source} is not found in {checkpoint.path} checkpoint {shapes}: the variable "
            f"{name} has no value there; map its name with var_name_to_prev_var_name, or leave it "
            "out of vars_to_warm_start"
        )


def _check_fits(parts: Sequence[Any], source: str, checkpoint: Checkpoint) -> None:
    shape, found = saved_as(parts)[1], checkpoint.shape(source)
    if shape != found:
        raise ValueError(
            f"Shape of variable {parts[0].name} ({tuple(shape)}) doesn't match with shape of "
            f"tensor {source} ({found}) from checkpoint reader."
        )
    check_type(parts, source, checkpoint)


def check_type(parts: Sequence[Any], source: str, checkpoint: Checkpoint) -> None:
    """Refuses a variable that has another type in the checkpoint.

    Raises:
      ValueError: it has.
    """
    dtype, found = parts[0].dtype.base_dtype, checkpoint.dtype(source)
    if dtype != found:
        raise ValueError(
            f"Type of variable {parts[0].name} ({dtype.name}) doesn't match with type of tensor "
            f"{source} ({found.name}) from checkpoint reader."
        )


def _rule(name: str, source: str) -> str:
    return f"{re.escape(name)}=" + source.replace("\\", r"\\")

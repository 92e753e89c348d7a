"""Selection of variables by name, for users of the Object Detection API's variables_helper.

Trainers restore or freeze the selected variables, or train them at another rate. Same behaviour as
tensorflow/models, research/object_detection/utils/variables_helper.py, with one exception: patterns
that match no variable are not an error when gradients are multiplied.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterable
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.checkpoint.find.path import resolve_checkpoint
from tf_frame.checkpoint.find.reader import Checkpoint, saved_name, saved_name_and_shape
from tf_frame.gradient_transforms.multiply import multiply_gradients
from tf_frame.gradient_transforms.values import GradsAndVars

logger = logging.getLogger("tf_frame")

_OLD_DETECTOR = re.compile("feature_extractor")


def filter_variables(
    variables: Iterable[Any], filter_regex_list: Iterable[str], invert: bool = False
) -> list[Any]:
    """Returns the variables with op names that match none of the regular expressions.

    Args:
      variables: the variables.
      filter_regex_list: regular expressions that match from the start of a name; "" and None are
        ignored.
      invert: return the variables that match instead.
    """
    patterns = [re.compile(regex) for regex in filter_regex_list if regex]
    return [
        variable
        for variable in variables
        if any(pattern.match(variable.op.name) for pattern in patterns) == invert
    ]


def multiply_gradients_matching_regex(
    grads_and_vars: GradsAndVars, regex_list: Iterable[str], multiplier: float
) -> GradsAndVars:
    """Multiplies the gradients of variables with op names that match.

    Args:
      grads_and_vars: pairs.
      regex_list: see `filter_variables`; a variable that several expressions match is
        multiplied once.
      multiplier: the factor.

    Returns:
      The pairs; unchanged if no variable matches.

    Raises:
      ValueError: a variable that matches has no gradient.
    """
    matching = filter_variables([v for _, v in grads_and_vars], regex_list, invert=True)
    for variable in matching:
        logger.info("Applying multiplier %f to variable [%s]", multiplier, variable.op.name)
    if not matching:
        return grads_and_vars
    factors = {variable.op.name: float(multiplier) for variable in matching}
    return multiply_gradients(grads_and_vars, factors)


def freeze_gradients_matching_regex(
    grads_and_vars: GradsAndVars, regex_list: Iterable[str]
) -> GradsAndVars:
    """Returns the pairs of variables with op names that do not match.

    Args:
      grads_and_vars: pairs.
      regex_list: see `filter_variables`.
    """
    frozen = filter_variables([v for _, v in grads_and_vars], regex_list, invert=True)
    names = [variable.op.name for variable in frozen]
    for name in names:
        logger.info("Freezing variable [%s]", name)
    return [pair for pair in grads_and_vars if pair[1].op.name not in names]


def get_variables_available_in_checkpoint(
    variables: list[Any] | dict[str, Any], checkpoint_path: str, include_global_step: bool = True
) -> list[Any] | dict[str, Any]:
    """Returns the variables that a checkpoint has with the same shape; warns of the others.

    Args:
      variables: a list, or name in the checkpoint -> variable. The parts of a partitioned
        variable go by its full name.
      checkpoint_path: the checkpoint, one of its files, or a folder (its newest one).
      include_global_step: whether to include `global_step`.

    Returns:
      A list or dictionary like `variables`, ordered by name.

    Raises:
      ValueError: `variables` is neither a list nor a dictionary.
      ConfigError: the checkpoint does not exist.
      CheckpointError: the checkpoint cannot be read.
    """
    if isinstance(variables, dict):
        named = list(variables.items())
    elif isinstance(variables, list):
        named = [(saved_name(variable), variable) for variable in variables]
    else:
        raise ValueError("`variables` is expected to be a list or dict.")
    checkpoint = Checkpoint(resolve_checkpoint(checkpoint_path))
    available = [
        (name, variable)
        for name, variable in sorted(named, key=lambda item: item[0])
        if _is_available(name, variable, checkpoint, include_global_step)
    ]
    return dict(available) if isinstance(variables, dict) else [v for _, v in available]


def get_global_variables_safely() -> list[Any]:
    """Returns the global variables of the default graph.

    Raises:
      ValueError: operations are executed eagerly, so there is no graph.
    """
    with tf.init_scope():
        if tf.executing_eagerly():
            raise ValueError(
                "Global variables collection is not tracked when executing eagerly. "
                "Use a Keras model's `.variables` attribute instead."
            )
    return list(tf.global_variables())


def ensure_checkpoint_supported(checkpoint_path: str, checkpoint_type: str, model_dir: str) -> None:
    """Checks that a checkpoint can begin a training.

    Args:
      checkpoint_path: the checkpoint.
      checkpoint_type: its kind, such as `detection` or `classification`.
      model_dir: folder of the training.

    Raises:
      RuntimeError: the checkpoint is in this folder, or is one of the API's old detectors for
        TensorFlow 2, with variables `feature_extractor...`.
      ConfigError, CheckpointError: see `get_variables_available_in_checkpoint`.
    """
    names = Checkpoint(resolve_checkpoint(checkpoint_path)).names
    if checkpoint_type == "detection" and any(map(_OLD_DETECTOR.match, names)):
        raise RuntimeError(
            "The checkpoint type 'detection' is not supported when it contains variable names "
            "with 'feature_extractor'. Please download the new checkpoint file from model zoo."
        )
    folders = [os.path.abspath(path) for path in (os.path.dirname(checkpoint_path), model_dir)]
    if folders[0] == folders[1]:
        raise RuntimeError(
            f"Checkpoint dir ({folders[0]}) and model_dir ({folders[1]}) cannot be same. Please "
            "set model_dir to a different path."
        )


def _is_available(
    name: str, variable: Any, checkpoint: Checkpoint, include_global_step: bool
) -> bool:
    left_out = name == tf.GraphKeys.GLOBAL_STEP and not include_global_step
    if name not in checkpoint or left_out:
        logger.warning("Variable [%s] is not available in checkpoint", name)
        return False
    saved_shape, shape = checkpoint.shape(name), saved_name_and_shape(variable)[1]
    if saved_shape != shape:
        logger.warning(
            "Variable [%s] is available in checkpoint, but has an incompatible shape with model "
            "variable. Checkpoint shape: [%s], model variable shape: [%s]. This variable will "
            "not be initialized from the checkpoint.",
            name,
            saved_shape,
            shape,
        )
        return False
    return True

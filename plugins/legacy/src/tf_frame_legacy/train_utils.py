"""Functions of DeepLab's trainer, for scripts that import them from its utils/train_utils.py.

Same behaviour as tensorflow/models, research/deeplab/utils/train_utils.py, which
identifies the variables of the last layers in two ways: gradient multipliers apply to
names that contain the name of a layer, restoring omits names that begin with one.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.checkpoint.find.path import resolve_checkpoint
from tf_frame.checkpoint.find.reader import Checkpoint, saved_name_and_shape
from tf_frame_legacy.model_learning_rate import get_model_learning_rate as get_model_learning_rate
from tf_frame_legacy.scale_losses import (
    add_softmax_cross_entropy_loss_for_each_scale as add_softmax_cross_entropy_loss_for_each_scale,
    get_label_weight_mask as get_label_weight_mask,
)

logger = logging.getLogger("tf_frame")


def get_model_gradient_multipliers(
    last_layers: Sequence[str], last_layer_gradient_multiplier: float
) -> dict[str, float]:
    """Returns factors on the gradients of model variables: of biases and of last layers.

    Args:
      last_layers: names of layers; the op names of their variables contain these names.
      last_layer_gradient_multiplier: factor for the last layers; twice that for their
        biases. Other biases have the factor 2.

    Returns:
      Op name -> factor, for `multiply_gradients`; other variables are omitted.
    """
    multipliers = {}
    for name in (variable.op.name for variable in tf.model_variables()):
        factor = 2.0 if "biases" in name else 1.0
        if any(layer in name for layer in last_layers):
            multipliers[name] = factor * last_layer_gradient_multiplier
        elif "biases" in name:
            multipliers[name] = factor
    return multipliers


def get_model_init_fn(
    train_logdir: str,
    tf_initial_checkpoint: str | None,
    initialize_last_layer: bool,
    last_layers: Sequence[str],
    ignore_missing_vars: bool = False,
) -> Callable[..., None] | None:
    """Returns the function that initialises the model from a checkpoint of another model.

    Args:
      train_logdir: folder of the run; a checkpoint in it takes precedence.
      tf_initial_checkpoint: the checkpoint, or None.
      initialize_last_layer: whether to restore the last layers.
      last_layers: prefixes of the names of the variables of the last layers.
      ignore_missing_vars: skip variables that the checkpoint does not have.

    Returns:
      A function of a session, or of a scaffold and a session; None if there is nothing
      to restore. The global step is not restored.

    Raises:
      ValueError: a variable is missing in the checkpoint, or has another shape there.
      ConfigError: the checkpoint does not exist.
      CheckpointError: the checkpoint cannot be read.
    """
    if tf_initial_checkpoint is None:
        logger.info("Not initializing the model from a checkpoint.")
        return None
    if tf.train.latest_checkpoint(train_logdir):
        logger.info("Ignoring initialization; other checkpoint exists")
        return None
    logger.info("Initializing model from path: %s", tf_initial_checkpoint)
    excluded = (tf.GraphKeys.GLOBAL_STEP, *(() if initialize_last_layer else last_layers))
    wanted = [v for v in tf.global_variables() if not v.op.name.startswith(excluded)]
    checkpoint = Checkpoint(resolve_checkpoint(tf_initial_checkpoint))
    restored = _present(wanted, checkpoint, ignore_missing_vars)
    if not restored:
        return None
    saver = tf.train.Saver(restored, name="init_fn")

    def restore(*scaffold_and_session: Any) -> None:
        saver.restore(scaffold_and_session[-1], checkpoint.path)

    return restore


def _present(variables: Sequence[Any], checkpoint: Checkpoint, ignore_missing: bool) -> list[Any]:
    """Returns the variables that the checkpoint has."""
    present = []
    for variable in variables:
        name, shape = saved_name_and_shape(variable)
        if name in checkpoint:
            _check_shape(name, shape, checkpoint)
            present.append(variable)
        elif ignore_missing:
            logger.warning("Checkpoint is missing variable [%s]", name)
        else:
            raise ValueError(
                f"Checkpoint is missing variable [{name}]: {checkpoint.path}. "
                "Use ignore_missing_vars=True to skip the variable"
            )
    return present


def _check_shape(name: str, shape: list[int], checkpoint: Checkpoint) -> None:
    if checkpoint.shape(name) != shape:
        raise ValueError(
            f"{name} has shape {shape}, and {checkpoint.shape(name)} in the checkpoint "
            f"{checkpoint.path}; to skip the variable, use initialize_last_layer=False and a "
            "prefix of its name in last_layers"
        )

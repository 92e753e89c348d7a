"""Checks that published values are those of the network that their plugin names."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.checkpoint.find.reader import Checkpoint
from tf_frame.config.option import resolve
from tf_frame.config.yaml_file import to_settings
from tf_frame.errors import DataError
from tf_frame.plugin import InputInfo, Mode, NetworkContext
from tf_frame.plugin.kinds import MODEL
from tf_frame.plugin.load import load_network, load_plugin
from tf_frame.plugin.model_settings import find_variant, model_settings, preset_settings
from tf_frame.plugin.weights_contract import Weights


def check_structure(name: str, weights: Weights, prefix: str) -> None:
    """Checks that a checkpoint has every variable that a prediction with the weights restores.

    Args:
      name: the name of the plugin.
      weights: the plugin.
      prefix: path prefix of the checkpoint.

    Raises:
      DataError: variables are missing, or have another shape.
    """
    expected = network_variables(weights)
    different = missing_variables(expected, Checkpoint(prefix))
    if different:
        raise DataError(
            f"the file of {name} is not the published one, or this version of tf-frame has another "
            f"network: {len(different)} of {len(expected)} variables of {weights.network} are not "
            f"in the file, or have another shape, such as {different[0]}"
        )


def missing_variables(expected: dict[str, list[int]], checkpoint: Checkpoint) -> list[str]:
    """Returns name and shape of the variables that a checkpoint does not have with the shape."""
    return [
        f"{name} {shape}"
        for name, shape in expected.items()
        if name not in checkpoint or checkpoint.shape(name) != shape
    ]


def network_variables(weights: Weights) -> dict[str, list[int]]:
    """Returns name -> shape of the variables of the model of weights, or of a backbone alone.

    The model predicts for one image, the feature `image`, with the options and the number of
    classes of the weights.
    """
    with tf.Graph().as_default():
        size = [1, *weights.image_size]
        if weights.model:
            _model(weights).build({"image": tf.zeros([*size, 3])}, None, Mode.PREDICT)
        else:
            network = load_network(weights.network)
            context = NetworkContext(num_classes=weights.num_classes or None, is_training=False)
            images = tf.zeros([*size, network.channels or 3])
            (network if weights.num_classes else network.features)(images, context)
        return {v.op.name: v.shape.as_list() for v in tf.global_variables()}


def _model(weights: Weights) -> Any:
    """Returns the model of weights with their options."""
    cls = load_plugin(MODEL, weights.model).cls
    options = dict(weights.options)
    preset = preset_settings(cls, weights.model, options.pop("preset", None)).values
    values = [preset, to_settings(options, "options of weights").values]
    defaults = model_settings(cls, weights.model, find_variant(cls, values)).values
    params = resolve(cls.Params, [defaults, *values], prefix="model")
    return cls(params=params, info=InputInfo(num_classes=weights.num_classes))

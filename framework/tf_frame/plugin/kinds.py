"""The kinds of plugins, with their entry-point groups."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class Kind:
    """A kind of plugin.

    Attributes:
      word: its name in messages.
      group: its entry-point group.
      method: the method that a class of this kind must define.
    """

    word: str
    group: str
    method: str


MODEL = Kind("model", "tf_frame.models", "build")
INPUT = Kind("input", "tf_frame.inputs", "dataset")
GRADIENT_TRANSFORM = Kind("gradient transform", "tf_frame.gradient_transforms", "__call__")
OPTIMIZER = Kind("optimizer", "tf_frame.optimizers", "__call__")
LEARNING_RATE = Kind("learning rate", "tf_frame.learning_rates", "__call__")
HOOK = Kind("hook", "tf_frame.hooks", "__call__")
NETWORK = Kind("network", "tf_frame.networks", "__call__")
PREPROCESSING = Kind("preprocessing", "tf_frame.preprocessing", "__call__")

# In the order of `tf-frame plugins list`.
KINDS = (
    MODEL,
    INPUT,
    GRADIENT_TRANSFORM,
    OPTIMIZER,
    LEARNING_RATE,
    HOOK,
    NETWORK,
    PREPROCESSING,
)

"""Preparation of an image for a network: slim's families of preprocessing.

A published checkpoint predicts well only on images that are prepared as those of its training;
therefore the behaviour is that of slim, preprocessing/. A family is a `tf_frame.Preprocessing`,
named by an entry point of the group `tf_frame.preprocessing`.
"""

from typing import Any

import tf_frame
from tf_frame import Preprocessing
from tf_frame.errors import ConfigError
from tf_frame.text import short_word
from tf_frame_vision import DISTRIBUTION
from tf_frame_vision.resizing import ALIGN_CORNERS, HALF_PIXEL


def load_preprocessing(name: str, *, resizing: str = HALF_PIXEL) -> Preprocessing:
    """Loads a preprocessing plugin by name; tf-frame-vision's wins over other packages'.

    Args:
      name: name of a preprocessing plugin.
      resizing: a key of `tf_frame_vision.resizing.PLACES`, for a family with the attribute
        `resizing`, as `none` has it. Those of slim that resize always do it as `LEGACY`.

    Raises:
      PluginError: there is no such preprocessing; the message has near names.
      ConfigError: the family has no such attribute, and `ALIGN_CORNERS` is asked for.
    """
    preprocessing: Any = tf_frame.load_preprocessing(name, prefer=DISTRIBUTION)
    if hasattr(preprocessing, "resizing"):
        preprocessing.resizing = resizing
    elif resizing == ALIGN_CORNERS:
        raise ConfigError(
            f"--input.resizing {resizing} has no effect with --input.preprocessing "
            f"{short_word(name)}, which resizes in its own way; leave --input.resizing out"
        )
    return preprocessing  # type: ignore[no-any-return]

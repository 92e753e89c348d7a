"""Preparation of an image for a network: slim's families of preprocessing.

A published checkpoint predicts well only on images that are prepared as those of its training;
therefore the behaviour is that of slim, preprocessing/. A family is a `tf_frame.Preprocessing`,
named by an entry point of the group `tf_frame.preprocessing`.
"""

import tf_frame
from tf_frame import Preprocessing
from tf_frame_vision import DISTRIBUTION


def load_preprocessing(name: str) -> Preprocessing:
    """Loads a preprocessing plugin by name; tf-frame-vision's wins over other packages'.

    Args:
      name: name of a preprocessing plugin.

    Raises:
      PluginError: there is no such preprocessing; the message has near names.
    """
    return tf_frame.load_preprocessing(name, prefer=DISTRIBUTION)

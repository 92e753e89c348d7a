"""The losses of `tf_frame.layers.losses` as `slim.losses`."""

from __future__ import annotations

from tf_frame.layers.losses import *  # noqa: F403
from tf_frame.layers.losses import __all__ as __all__

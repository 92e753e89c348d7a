"""Image sizes of networks: the published size, and a check of the smallest one.

Scripts for slim read the published size off a network's function. The check says which size to
give, where TensorFlow would only report a negative dimension of some layer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tf_frame.errors import ConfigError


def default_image_size(size: int) -> Callable[[Any], Any]:
    """Sets the attribute `default_image_size` of a function: the published height and width.

    Args:
      size: in pixels.
    """

    def note(network: Any) -> Any:
        network.default_image_size = size
        return network

    return note


def check_image_size(images: Any, *, least: int, network: str, advice: str) -> None:
    """Refuses images that the layers would reduce to nothing.

    Args:
      images: `[batch, height, width, channels]`; an unknown size passes.
      least: smallest height and width, in pixels.
      network: name of the network, for the message.
      advice: what to do, for the message.

    Raises:
      ConfigError: height or width is known and smaller.
    """
    height, width = images.shape.as_list()[1:3]
    if min(height or least, width or least) < least:
        raise ConfigError(
            f"{network} got images of {height} x {width} pixels, and needs at least "
            f"{least} x {least}: {advice} (--input.image_size {least})"
        )

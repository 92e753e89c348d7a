"""Options of inputs that decode images; imports neither TensorFlow nor Pillow."""

from __future__ import annotations

import dataclasses
from typing import Any

from tf_frame import option
from tf_frame.errors import ConfigError

# The number of pixels beyond which Pillow refuses to decode an image.
MAX_PIXELS = 178_956_970


@dataclasses.dataclass(frozen=True)
class ImageOptions:
    """Options of all inputs that decode images."""

    max_pixels: int = option(
        MAX_PIXELS, "largest number of pixels of an image; a larger one is not decoded", min=1
    )
    image_range: tuple[float, ...] = option(
        (),
        "two values that become black and white in images of more than 8 bits, such as 0,4095; "
        "none: all values of their depth",
    )

    def __post_init__(self) -> None:
        if self.image_range and not (
            len(self.image_range) == 2 and self.image_range[0] < self.image_range[1]
        ):
            raise ConfigError(
                f"--input.image_range {','.join(map(str, self.image_range))}: give two values, the "
                "smaller first, such as 0,4095"
            )


def image_options(params: Any) -> ImageOptions:
    """Returns the parameters of an input as image options, the defaults if it has none."""
    return params if isinstance(params, ImageOptions) else ImageOptions()

"""slim's item handler `Image`, which decodes the images of a `tf.train.Example`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame_legacy.slim.tfexample_decoder.item_handlers import ItemHandler


class Image(ItemHandler):
    """Decodes an image: PNG, JPEG, BMP, GIF, or raw values for the format `raw` or `RAW`.

    The first bytes of an image determine its format; the format feature only
    distinguishes raw images.

    Args:
      image_key: key of the feature with the image; None: `image/encoded`.
      format_key: key of the feature with the format; None: `image/format`.
      shape: shape of each image, `[height, width, channels]`; required for raw images.
      channels: number of channels to decode.
      dtype: type of the result. Values are cast, not scaled: the range stays 0 to 255.
      repeated: whether the feature has several images, `[images]` string.
      dct_method: DCT method of JPEG: `INTEGER_FAST`, `INTEGER_ACCURATE`, or empty for the
        library's default.
    """

    def __init__(
        self,
        image_key: str | None = None,
        format_key: str | None = None,
        shape: Any = None,
        channels: int = 3,
        dtype: Any = tf.uint8,
        repeated: bool = False,
        dct_method: str = "",
    ) -> None:
        self._image_key = image_key or "image/encoded"
        self._format_key = format_key or "image/format"
        super().__init__([self._image_key, self._format_key])
        self._shape = shape
        self._channels = channels
        self._dtype = dtype
        self._repeated = repeated
        self._dct_method = dct_method

    def tensors_to_item(self, keys_to_tensors: Mapping[str, Any]) -> Any:
        """Returns `[height, width, channels]`, or `[images, height, width, channels]`."""
        encoded = keys_to_tensors[self._image_key]
        image_format = keys_to_tensors[self._format_key]
        if not self._repeated:
            return self._decode(encoded, image_format)
        return tf.map_fn(
            lambda image: self._decode(image, image_format), encoded, dtype=self._dtype
        )

    def _decode(self, encoded: Any, image_format: Any) -> Any:
        is_raw = tf.logical_or(tf.equal(image_format, "raw"), tf.equal(image_format, "RAW"))
        image = tf.case(
            [(is_raw, lambda: tf.decode_raw(encoded, out_type=self._dtype))],
            default=lambda: self._decode_compressed(encoded),
            exclusive=True,
        )
        image.set_shape([None, None, self._channels])
        return image if self._shape is None else tf.reshape(image, self._shape)

    def _decode_compressed(self, encoded: Any) -> Any:
        # decode_image has no argument for the DCT method.
        return tf.cond(
            tf.image.is_jpeg(encoded),
            lambda: self._decode_jpeg(encoded),
            lambda: self._decode_any(encoded),
            name="cond_jpeg",
        )

    def _decode_jpeg(self, encoded: Any) -> Any:
        image = tf.image.decode_jpeg(encoded, channels=self._channels, dct_method=self._dct_method)
        return tf.cast(image, self._dtype)

    def _decode_any(self, encoded: Any) -> Any:
        return tf.cast(tf.image.decode_image(encoded, channels=self._channels), self._dtype)

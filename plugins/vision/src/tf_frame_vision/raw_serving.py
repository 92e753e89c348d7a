"""Raw serving of images: exported models take image files or pixels, and prepare them in the graph.

Programs that use an export then need not repeat the preprocessing of the training.

    def raw_serving(self, *, fixed_size=False):
        return image_forms(self.prepare_image, pictures=self.pictures)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

from tf_frame import ServingForm
from tf_frame_vision.reading.examples import without_autograph
from tf_frame_vision.reading.export_decoding import ACCEPTED, decode_in_export

_VALUES = "RGB, 0 to 255"
_RANDOM_SIZES = ((48, 64), (64, 48), (56, 56))


def image_forms(
    prepare: Callable[[Any], Any],
    pictures: Callable[[int], Sequence[Any]],
    *,
    fixed_size: Sequence[int] | None = None,
    are_real: bool = False,
    of_one_size: bool = False,
    signature: Any = tf.float32,
    options: Any = None,
) -> dict[str, ServingForm]:
    """Returns the forms for features `{"image": [batch, ...]}`; see `tf_frame.Input.raw_serving`.

    Args:
      prepare: from `[height, width, 3]` uint8 of any size to the image of the features, or to
        a mapping of features.
      pictures: takes a number; returns at most so many arrays `[height, width, 3]` uint8.
      fixed_size: height and width, for formats that need them; None: images of any size.
      are_real: whether the pictures are evaluation data.
      of_one_size: whether all images of a batch must have one size, as `prepare` keeps it.
      signature: type of what `prepare` returns, or a mapping of its `tf.TensorSpec`s.
      options: see `tf_frame_vision.reading.decoding.image_decoders`.
    """

    def features(function: Callable[[Any], Any], batch: Any) -> Mapping[str, Any]:
        prepared = _each(function, batch, signature)
        return prepared if isinstance(prepared, Mapping) else {"image": prepared}

    def sized_pictures(count: int) -> Any:
        images = pictures(count)
        sizes = [fixed_size or images[0].shape[:2]] * len(images)
        return [_cut(picture, size) for picture, size in zip(images, sizes, strict=True)]

    def pixels(size: Sequence[int | None]) -> ServingForm:
        return ServingForm(
            specs={"image": tf.TensorSpec([None, *size, 3], tf.uint8)},
            features=lambda tensors: features(prepare, tensors["image"]),
            values={"image": _VALUES},
            examples=lambda count: {"image": np.stack(sized_pictures(count))},
            are_real=are_real,
        )

    if fixed_size is not None:
        return {"pixels": pixels(fixed_size)}
    encoded = ServingForm(
        specs={"image_bytes": tf.TensorSpec([None], tf.string)},
        features=lambda tensors: features(
            lambda data: prepare(decode_in_export(data, options)), tensors["image_bytes"]
        ),
        values={"image_bytes": ACCEPTED + ("; in a batch all of one size" if of_one_size else "")},
        examples=lambda count: {
            "image_bytes": _encoded(sized_pictures(count) if of_one_size else pictures(count))
        },
        are_real=are_real,
    )
    return {"encoded": encoded, "pixels": pixels([None, None])}


def size_of_pixels(fixed_size: bool | tuple[int, int], own: Sequence[int]) -> Sequence[int] | None:
    """Returns the `fixed_size` of `image_forms`: the one asked for, the input's own, or None."""
    return fixed_size if isinstance(fixed_size, tuple) else own if fixed_size else None


def first_pictures(images: Callable[[], Any], count: int) -> list[Any]:
    """Returns the first images of a data set as `[height, width, 3]` uint8.

    Args:
      images: makes a data set of images `[height, width, 1 or 3]`, 0 to 255.
      count: number of images at most.
    """
    with tf.Graph().as_default(), tf.Session() as session:
        iterator = tf.data.make_initializable_iterator(images().take(count))
        session.run(iterator.initializer)
        following, pictures = iterator.get_next(), []
        while True:
            try:
                pictures.append(session.run(following))
            except tf.errors.OutOfRangeError:
                break
    return [np.repeat(image, 3 // image.shape[-1], axis=-1).astype(np.uint8) for image in pictures]


def random_pictures(count: int) -> list[Any]:
    """Returns random images of different sizes."""
    random = np.random.RandomState(0)
    sizes = [_RANDOM_SIZES[number % len(_RANDOM_SIZES)] for number in range(count)]
    return [random.randint(0, 256, [*size, 3]).astype(np.uint8) for size in sizes]


def _each(prepare: Callable[[Any], Any], batch: Any, signature: Any) -> Any:
    """Prepares every image of a batch; a batch of known size one without a loop."""
    if batch.shape[0] == 1:
        return tf.nest.map_structure(lambda part: part[tf.newaxis], prepare(batch[0]))
    return tf.map_fn(without_autograph(prepare), batch, fn_output_signature=signature)


def _cut(picture: Any, size: Sequence[int]) -> Any:
    """Returns a picture of a size: cuts rows and columns off, or repeats them."""
    rows, columns = (np.arange(new) % old for new, old in zip(size, picture.shape, strict=False))
    return picture[rows][:, columns]


def _encoded(pictures: Sequence[Any]) -> Any:
    """Returns the pictures as PNG files, `[count]` bytes."""
    with tf.Graph().as_default(), tf.Session() as session:
        files = session.run([tf.io.encode_png(picture) for picture in pictures])
    return np.array(files, object)

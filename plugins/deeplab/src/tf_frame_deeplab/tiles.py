"""Examples of the input `nuclei`: tiles of one labelled image; for training, random crops of them.

Every training example is a function of the seed and of its number in an endless stream, which all
replicas share. So the position of a replica is one integer, nothing is buffered, and a resumed run
sees the same crops as an uninterrupted run.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame import InputContext
from tf_frame_vision import augmentation
from tf_frame_vision.augmentation import Sample
from tf_frame_vision.reading import pipeline


@dataclasses.dataclass(frozen=True, kw_only=True)
class Tiles:
    """Tiles of an image and of its instances, numbered row by row.

    Attributes:
      image_path: the image, a PNG file.
      instances_path: number of the object of each pixel, 0 for none, a PNG file.
      columns: tiles in a row.
      size: height and width of a tile, in pixels.
      ignore_label: label of pixels beyond the tile.
      targets: makes further labels of the instances, see `panoptic.targets.Targets`; or None.
    """

    image_path: str
    instances_path: str
    columns: int
    size: int
    ignore_label: int
    targets: Callable[[Any, Any], dict[str, Any]] | None = None

    def training_dataset(self, numbers: range, params: Any, context: InputContext) -> Any:
        """Returns endless batches of random crops; replica k takes examples k, k + n, ...

        Args:
          numbers: the tiles.
          params: `tf_frame_deeplab.nuclei.Params`.
          context: batch size, seed and shard.
        """
        picture, instances = self._decoded()

        def example(number: Any) -> Any:
            tile = shuffled(number, count=len(numbers), seed=context.seed)
            seed = tf.stack([tf.constant(context.seed, tf.int64), number])
            sample = _augmented(self._cut(picture, tile), params, seed, self.ignore_label)
            if instances is None:
                return _named(sample)
            # The same seed moves the instances as it moved the image.
            return self._with_targets(
                sample, _augmented(self._cut(instances, tile), params, seed, 0)
            )

        examples = pipeline.mapped(pipeline.training_numbers(context), example)
        return pipeline.batched(examples, context.batch_size, drop_remainder=True)

    def validation_dataset(self, numbers: range, context: InputContext) -> Any:
        """Returns every tile once, whole and in order; the last batch may be smaller.

        Args:
          numbers: the tiles.
          context: batch size and shard.
        """
        picture, instances = self._decoded()

        def example(tile: Any) -> Any:
            sample = self._cut(picture, tile)
            if instances is None:
                return _named(sample)
            return self._with_targets(sample, self._cut(instances, tile))

        tiles = tf.data.Dataset.range(numbers.start, numbers.stop)
        tiles = tiles.shard(context.num_shards, context.shard_index)
        examples = pipeline.mapped(tiles, example)
        return pipeline.batched(examples, context.batch_size, drop_remainder=False)

    def _decoded(self) -> tuple[Sample, Sample | None]:
        """Decodes the files: pixels uint8 with a mask of the objects, and numbers of the objects.

        The numbers are a separate sample, because scaling depends on the type of a mask; None
        without `targets`. The ops stand outside the data set, so that it holds one decoded copy.
        """
        image = tf.io.decode_png(tf.io.read_file(self.image_path), channels=3)
        # Decoded to 8 bits, the numbers 1 to 255 of a 16-bit file would become 0.
        instances = tf.io.decode_png(
            tf.io.read_file(self.instances_path), channels=1, dtype=tf.uint16
        )
        numbers = tf.cast(instances, tf.int32)
        picture = Sample(image, masks=numbers > 0)
        return picture, None if self.targets is None else Sample(instances, masks=numbers)

    def _with_targets(self, sample: Sample, numbered: Sample) -> Any:
        """Adds the further labels; an instance has no pixels outside of its class."""
        features, labels = _named(sample)
        numbers = tf.squeeze(numbered.masks, axis=2)
        numbers = tf.where(tf.equal(labels["semantic"], 1), numbers, tf.zeros_like(numbers))
        counts = tf.not_equal(labels["semantic"], self.ignore_label)
        return features, {**labels, **self.targets(numbers, counts)}  # type: ignore[misc]

    def _cut(self, picture: Sample, tile: Any) -> Sample:
        """Returns a tile: image `[size, size, 3]` float32, mask `[size, size, 1]` bool."""
        row, column = tile // self.columns, tile % self.columns
        top, first = row * self.size, column * self.size
        cut = augmentation.crop(picture, top, first, self.size, self.size)
        return cut._replace(image=tf.cast(cut.image, tf.float32))


def shuffled(number: Any, *, count: int, seed: int) -> Any:
    """Returns the tile with this number in the endless stream.

    Every `count` numbers in a row are a new permutation of all tiles. The order of
    `tf_frame_vision.reading.pipeline.shuffled` differs, and would change the published figures.

    Args:
      number: scalar int64, 0 or more.
      count: number of tiles.
      seed: seed of the permutations.
    """
    epoch, position = number // count, number % count
    key = tf.stack([tf.constant(seed, tf.int64), epoch])
    return tf.random.experimental.index_shuffle(position, seed=key, max_index=count - 1)


def _augmented(sample: Sample, params: Any, seed: Any, ignore_label: int) -> Sample:
    """Scales, crops, mirrors and turns a tile at random.

    Args:
      sample: the tile.
      params: `tf_frame_deeplab.nuclei.Params`.
      seed: `[2]` integers, the only source of randomness.
      ignore_label: label of the black pixels beyond the tile.

    Returns:
      The image and its labels, each with `crop_size` rows and columns.
    """
    draws = tf.unstack(tf.random.stateless_uniform([6], seed))
    low, high = params.min_scale_factor, params.max_scale_factor
    sample = augmentation.scale(sample, low + draws[0] * (high - low))
    sample = augmentation.crop_or_pad(
        sample._replace(masks=tf.cast(sample.masks, tf.int32)),
        params.crop_size,
        params.crop_size,
        down=draws[1],
        across=draws[2],
        mask_fill=ignore_label,
    )
    if params.flip:
        # The eight symmetries of the square.
        flips = (augmentation.flip_left_right, augmentation.flip_up_down, augmentation.transpose)
        for draw, flip in zip(draws[3:], flips, strict=True):
            sample = augmentation.apply_if(draw < 0.5, flip, sample)
    return sample


def _named(sample: Sample) -> tuple[dict[str, Any], dict[str, Any]]:
    labels = tf.cast(tf.squeeze(sample.masks, axis=2), tf.int32)
    return {"image": sample.image}, {"semantic": labels}

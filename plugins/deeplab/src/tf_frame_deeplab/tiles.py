"""The pipeline of the input `nuclei`.

Every training example is a function of the seed and of its number in an
endless stream that all replicas share. So a replica's position is one integer,
an iterator can be saved and restored exactly, and nothing is buffered.
"""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame import InputContext, Mode
from tf_frame_deeplab.augment import augment
from tf_frame_deeplab.nuclei import TILE_SIZE, Nuclei

_INT64_MAX = 2**63 - 1
_PARALLEL_CALLS = 2


def training_dataset(source: Nuclei, context: InputContext) -> Any:
    """Returns endless batches of random crops; replica k takes examples k, k + n, ...

    Args:
      source: the data and its options.
      context: batch size, seed and shard.
    """
    tiles = source.tiles(Mode.TRAIN)
    picture = _read(source)

    def example(number: Any) -> Any:
        tile = shuffled(number, count=len(tiles), seed=context.seed)
        image, mask = _cut(picture, tile, source.columns)
        seed = tf.stack([tf.constant(context.seed, tf.int64), number])
        return _named(*augment(image, mask, params=source.params, seed=seed))

    numbers = tf.data.Dataset.range(context.shard_index, _INT64_MAX, context.num_shards)
    examples = _map(numbers, example)
    return examples.batch(context.batch_size, drop_remainder=True)


def validation_dataset(source: Nuclei, context: InputContext, mode: Mode) -> Any:
    """Returns every tile once, whole and in order; the last batch may be smaller.

    Args:
      source: the data and its options.
      context: batch size and shard.
      mode: `EVAL` or `PREDICT`.
    """
    tiles = source.tiles(mode)
    picture = _read(source)

    def example(tile: Any) -> Any:
        image, mask = _cut(picture, tile, source.columns)
        return _named(image, tf.cast(mask, tf.int32))

    numbers = tf.data.Dataset.range(tiles.start, tiles.stop)
    numbers = numbers.shard(context.num_shards, context.shard_index)
    return _map(numbers, example).batch(context.batch_size)


def shuffled(number: Any, *, count: int, seed: int) -> Any:
    """Returns which of `count` tiles has this number in the stream.

    Every `count` numbers in a row are a permutation of all tiles, another one
    each time.

    Args:
      number: scalar int64, 0 or more.
      count: number of tiles.
      seed: seed of the permutations.
    """
    epoch, position = number // count, number % count
    key = tf.stack([tf.constant(seed, tf.int64), epoch])
    return tf.random.experimental.index_shuffle(position, seed=key, max_index=count - 1)


def _map(numbers: Any, function: Any) -> Any:
    function = tf.autograph.experimental.do_not_convert(function)
    examples = numbers.map(function, num_parallel_calls=_PARALLEL_CALLS, deterministic=True)
    options = tf.data.Options()
    # Closing a session may wait for the tuner's thread, up to 40 s (TF 2.21).
    options.autotune.enabled = False
    return examples.with_options(options)


def _read(source: Nuclei) -> Any:
    """Decodes the files: pixels `[height, width, 3]` uint8 and a mask `[height, width, 1]`.

    The ops stand outside the data set, which thus holds one decoded copy.
    """
    image = tf.io.decode_png(tf.io.read_file(str(source.image_path)), channels=3)
    # Decoded to 8 bits, the numbers 1 to 255 of a 16-bit file would become 0.
    instances = tf.io.decode_png(
        tf.io.read_file(str(source.instances_path)), channels=1, dtype=tf.uint16
    )
    return image, tf.cast(instances, tf.int32) > 0


def _cut(picture: Any, tile: Any, columns: int) -> tuple[Any, Any]:
    """Returns a tile's image `[128, 128, 3]` float32 and mask `[128, 128]` bool."""
    begin = [tile // columns * TILE_SIZE, tile % columns * TILE_SIZE, tf.zeros_like(tile)]
    image, mask = (
        tf.slice(whole, tf.stack(begin), [TILE_SIZE, TILE_SIZE, channels])
        for whole, channels in zip(picture, (3, 1), strict=True)
    )
    return tf.cast(image, tf.float32), tf.squeeze(mask, axis=2)


def _named(image: Any, semantic: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    return {"image": image}, {"semantic": semantic}

"""tensorflow.examples.tutorials.mnist.input_data: the MNIST reader of TensorFlow 1's tutorials.

    mnist = input_data.read_data_sets("MNIST_data", one_hot=True)
    images, labels = mnist.train.next_batch(100)

It reads `train-images-idx3-ubyte.gz` and its three siblings from the folder and downloads nothing.
"""

from __future__ import annotations

import collections
import gzip
import os
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

Datasets = collections.namedtuple("Datasets", ["train", "validation", "test"])
_IMAGE_MAGIC, _LABEL_MAGIC = 2051, 2049


class DataSet:
    """Images and labels, in batches.

    Args:
      images: uint8 `[examples, height, width, 1]`.
      labels: `[examples]`, or `[examples, classes]`.
      fake_data: 10,000 examples of ones instead.
      one_hot: whether the labels of fake data have a column for each class.
      dtype: `tf.float32` for images of 0 to 1, or `tf.uint8`.
      reshape: whether images become rows.
      seed: of the shuffling; None: NumPy's.
    """

    def __init__(
        self,
        images: Any,
        labels: Any,
        fake_data: bool = False,
        one_hot: bool = False,
        dtype: Any = tf.float32,
        reshape: bool = True,
        seed: int | None = None,
    ) -> None:
        dtype = tf.as_dtype(dtype).base_dtype
        if dtype not in (tf.uint8, tf.float32):
            raise TypeError(f"Invalid image dtype {dtype!r}, expected uint8 or float32")
        if fake_data:
            images = np.full([10000, 28, 28, 1], 255, np.uint8)
            labels = np.eye(10)[np.zeros(10000, int)] if one_hot else np.zeros(10000, np.uint8)
        if reshape:
            images = images.reshape(len(images), -1)
        if dtype == tf.float32:
            images = images.astype(np.float32) * np.float32(1 / 255)
        self._images, self._labels = images, labels
        self._random: Any = np.random.RandomState(seed) if seed is not None else np.random
        self._epochs_completed = self._index = 0

    @property
    def images(self) -> Any:
        return self._images

    @property
    def labels(self) -> Any:
        return self._labels

    @property
    def num_examples(self) -> int:
        return len(self._images)

    @property
    def epochs_completed(self) -> int:
        return self._epochs_completed

    def next_batch(
        self, batch_size: int, fake_data: bool = False, shuffle: bool = True
    ) -> tuple[Any, Any]:
        """Returns the next examples; a batch may go over the end of an epoch."""
        if self._epochs_completed == self._index == 0 and shuffle:
            self._shuffle()
        end = self._index + batch_size
        images, labels = self._images[self._index : end], self._labels[self._index : end]
        self._index = end
        if end > self.num_examples:
            self._epochs_completed += 1
            if shuffle:
                self._shuffle()
            self._index = end - self.num_examples
            images = np.concatenate([images, self._images[: self._index]])
            labels = np.concatenate([labels, self._labels[: self._index]])
        return images, labels

    def _shuffle(self) -> None:
        order = self._random.permutation(self.num_examples)
        self._images, self._labels = self._images[order], self._labels[order]


def read_data_sets(
    train_dir: str,
    fake_data: bool = False,
    one_hot: bool = False,
    dtype: Any = tf.float32,
    reshape: bool = True,
    validation_size: int = 5000,
    seed: int | None = None,
    source_url: str = "",
) -> Any:
    """Returns `train`, `validation` and `test` of MNIST.

    Args:
      train_dir: folder with the four files.
      validation_size: number of training examples that are the validation.
      fake_data, one_hot, dtype, reshape, seed: see `DataSet`.
      source_url: not used.

    Raises:
      FileNotFoundError: a file is missing.
      ValueError: a file is no MNIST file, or `validation_size` is too large.
    """
    options: dict[str, Any] = {"dtype": dtype, "reshape": reshape, "seed": seed}
    if fake_data:
        fakes = [DataSet([], [], fake_data=True, one_hot=one_hot, **options) for _ in range(3)]
        return Datasets(*fakes)
    images, labels = (_read(train_dir, f"train-{file}", one_hot) for file in _FILES)
    test = [_read(train_dir, f"t10k-{file}", one_hot) for file in _FILES]
    if not 0 <= validation_size <= len(images):
        raise ValueError(
            f"Validation size should be between 0 and {len(images)}. Received: {validation_size}."
        )
    parts = (
        (images[validation_size:], labels[validation_size:]),
        (images[:validation_size], labels[:validation_size]),
        test,
    )
    return Datasets(*(DataSet(*part, **options) for part in parts))


def extract_images(f: Any) -> Any:
    """Returns the images of a gzip file object, uint8 `[examples, height, width, 1]`."""
    return _array(f, _IMAGE_MAGIC, 3)[..., None]


def extract_labels(f: Any, one_hot: bool = False, num_classes: int = 10) -> Any:
    """Returns the labels of a gzip file object: uint8 `[examples]`, or a column for each class."""
    labels = _array(f, _LABEL_MAGIC, 1)
    return np.eye(num_classes)[labels] if one_hot else labels


_FILES = ("images-idx3-ubyte.gz", "labels-idx1-ubyte.gz")


def _read(folder: str, name: str, one_hot: bool) -> Any:
    path = os.path.join(folder, name)
    if not os.path.exists(path):
        raise FileNotFoundError(
            f"{path} is missing: put the four files of MNIST there; nothing is downloaded"
        )
    with open(path, "rb") as file:
        return extract_images(file) if "images" in name else extract_labels(file, one_hot)


def _array(file: Any, magic: int, rank: int) -> Any:
    with gzip.GzipFile(fileobj=file) as stream:
        data = stream.read()
    header = np.frombuffer(data, ">u4", rank + 1)
    if header[0] != magic:
        raise ValueError(f"Invalid magic number {header[0]} in MNIST file: {file.name}")
    return np.frombuffer(data, np.uint8, offset=4 * (rank + 1)).reshape(header[1:])

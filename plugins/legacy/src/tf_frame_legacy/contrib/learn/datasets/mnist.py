"""MNIST in memory: `read_data_sets` reads the four files of the data set."""

from __future__ import annotations

import gzip
import struct
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

from tf_frame_legacy.contrib.learn.datasets.base import Datasets, maybe_download

DEFAULT_SOURCE_URL = "https://storage.googleapis.com/cvdf-datasets/mnist/"
_IMAGE_MAGIC, _LABEL_MAGIC = 2051, 2049
_FAKE_EXAMPLES = 10000


class DataSet:
    """Images and labels, with batches in a shuffled order.

    Args:
      images: `[examples, height, width, 1]` of uint8.
      labels: `[examples]`, or one-hot `[examples, classes]`.
      fake_data: whether all examples are the same; `images` and `labels` have no effect then.
      one_hot: for fake data.
      dtype: uint8, or float32 for values from 0 to 1.
      reshape: whether images become rows `[examples, height * width]`.
      seed: seed of NumPy's order.

    Raises:
      TypeError: another `dtype`.
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
        graph_seed, op_seed = tf.get_seed(seed)
        np.random.seed(graph_seed if seed is None else op_seed)
        dtype = tf.as_dtype(dtype).base_dtype
        if dtype not in (tf.uint8, tf.float32):
            raise TypeError(f"Invalid image dtype {dtype!r}, expected uint8 or float32")
        self.one_hot = one_hot
        self.num_examples = _FAKE_EXAMPLES
        if not fake_data:
            assert images.shape[0] == labels.shape[0], (images.shape, labels.shape)
            self.num_examples = images.shape[0]
            if reshape:
                images = images.reshape(images.shape[0], -1)
            if dtype == tf.float32:
                images = images.astype(np.float32) * np.float32(1.0 / 255.0)
        self.images, self.labels = images, labels
        self.epochs_completed = 0
        self._index = 0

    def next_batch(
        self, batch_size: int, fake_data: bool = False, shuffle: bool = True
    ) -> tuple[Any, Any]:
        """Returns the next images and labels; a batch may contain the beginning of an epoch."""
        if fake_data:
            label = [1] + [0] * 9 if self.one_hot else 0
            return [[1] * 784] * batch_size, [label] * batch_size
        start = self._index
        if self.epochs_completed == 0 and start == 0 and shuffle:
            self._shuffle()
        self._index = start + batch_size
        if self._index <= self.num_examples:
            return self.images[start : self._index], self.labels[start : self._index]
        rest = self.images[start:], self.labels[start:]
        self.epochs_completed += 1
        if shuffle:
            self._shuffle()
        self._index = batch_size - len(rest[0])
        begin = self.images[: self._index], self.labels[: self._index]
        return np.concatenate([rest[0], begin[0]]), np.concatenate([rest[1], begin[1]])

    def _shuffle(self) -> None:
        order = np.arange(self.num_examples)
        np.random.shuffle(order)
        self.images, self.labels = self.images[order], self.labels[order]


def extract_images(f: Any) -> Any:
    """Returns the images in an open gzip file, `[examples, height, width, 1]` of uint8.

    Raises:
      ValueError: the file has another format.
    """
    content, (count, height, width) = _read(f, _IMAGE_MAGIC, 3, "image")
    return np.frombuffer(content, np.uint8).reshape(count, height, width, 1)


def extract_labels(f: Any, one_hot: bool = False, num_classes: int = 10) -> Any:
    """Returns the labels in an open gzip file, `[examples]` of uint8, or one-hot.

    Raises:
      ValueError: the file has another format.
    """
    content, _ = _read(f, _LABEL_MAGIC, 1, "label")
    labels = np.frombuffer(content, np.uint8)
    return dense_to_one_hot(labels, num_classes) if one_hot else labels


def dense_to_one_hot(labels_dense: Any, num_classes: int) -> Any:
    """Returns `[examples, num_classes]` with a one for each label."""
    return np.eye(num_classes)[labels_dense.ravel()]


def read_data_sets(
    train_dir: str,
    fake_data: bool = False,
    one_hot: bool = False,
    dtype: Any = tf.float32,
    reshape: bool = True,
    validation_size: int = 5000,
    seed: int | None = None,
    source_url: str = DEFAULT_SOURCE_URL,
) -> Datasets:
    """Reads MNIST from a folder; downloads files that are missing.

    Args:
      train_dir: the folder.
      fake_data, one_hot, dtype, reshape, seed: see `DataSet`.
      validation_size: number of training examples for the data set `validation`.
      source_url: address of the files.

    Returns:
      `train`, `validation` and `test`, each a `DataSet`.

    Raises:
      ValueError: there are fewer training examples than `validation_size`.
    """
    options = {"dtype": dtype, "reshape": reshape, "seed": seed}
    if fake_data:
        return Datasets(*(DataSet([], [], True, one_hot, dtype, seed=seed) for _ in range(3)))

    def read(name: str, extract: Any, **arguments: Any) -> Any:
        path = maybe_download(name, train_dir, (source_url or DEFAULT_SOURCE_URL) + name)
        with tf.io.gfile.GFile(path, "rb") as file:
            return extract(file, **arguments)

    images = read("train-images-idx3-ubyte.gz", extract_images)
    labels = read("train-labels-idx1-ubyte.gz", extract_labels, one_hot=one_hot)
    test_images = read("t10k-images-idx3-ubyte.gz", extract_images)
    test_labels = read("t10k-labels-idx1-ubyte.gz", extract_labels, one_hot=one_hot)
    size = validation_size
    if not 0 <= size <= len(images):
        raise ValueError(
            f"Validation size should be between 0 and {len(images)}. Received: {size}."
        )
    return Datasets(
        train=DataSet(images[size:], labels[size:], **options),
        validation=DataSet(images[:size], labels[:size], **options),
        test=DataSet(test_images, test_labels, **options),
    )


def load_mnist(train_dir: str = "MNIST-data") -> Datasets:
    """Reads MNIST; see `read_data_sets`."""
    return read_data_sets(train_dir)


def _read(file: Any, expected: int, num_sizes: int, kind: str) -> tuple[bytes, tuple[int, ...]]:
    """Returns the data and the sizes of an IDX file."""
    with gzip.GzipFile(fileobj=file) as stream:
        (magic,) = struct.unpack(">I", stream.read(4))
        if magic != expected:
            raise ValueError(f"Invalid magic number {magic} in MNIST {kind} file: {file.name}")
        sizes = struct.unpack(f">{num_sizes}I", stream.read(4 * num_sizes))
        return stream.read(), sizes

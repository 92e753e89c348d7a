"""Data sets in memory, from files."""

from __future__ import annotations

import collections
import csv
import os
import urllib.request
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

Dataset = collections.namedtuple("Dataset", ["data", "target"])
Datasets = collections.namedtuple("Datasets", ["train", "validation", "test"])


def load_csv_with_header(
    filename: str, target_dtype: Any, features_dtype: Any, target_column: int = -1
) -> Dataset:
    """Reads a table whose first line has the numbers of rows and of features.

    Args:
      filename: the file.
      target_dtype, features_dtype: NumPy types.
      target_column: column of the target.

    Returns:
      `data`, an array `[rows, features]`, and `target`, `[rows]`.
    """
    with tf.io.gfile.GFile(filename) as file:
        lines = csv.reader(file)
        num_rows, num_features = map(int, next(lines)[:2])
        data = np.zeros((num_rows, num_features), features_dtype)
        target = np.zeros((num_rows,), target_dtype)
        for index, row in enumerate(lines):
            target[index] = np.asarray(row.pop(target_column), dtype=target_dtype)
            data[index] = np.asarray(row, dtype=features_dtype)
    return Dataset(data, target)


def load_csv_without_header(
    filename: str, target_dtype: Any, features_dtype: Any, target_column: int = -1
) -> Dataset:
    """Reads a table of rows alone; see `load_csv_with_header`."""
    data, target = [], []
    with tf.io.gfile.GFile(filename) as file:
        for row in csv.reader(file):
            target.append(row.pop(target_column))
            data.append(np.asarray(row, dtype=features_dtype))
    return Dataset(np.array(data), np.array(target, dtype=target_dtype))


def maybe_download(filename: str, work_directory: str, source_url: str) -> str:
    """Returns the path of a file in a folder; downloads the file if it is missing."""
    tf.io.gfile.makedirs(work_directory)
    path = os.path.join(work_directory, filename)
    if not tf.io.gfile.exists(path):
        downloaded, _ = urllib.request.urlretrieve(source_url)
        tf.io.gfile.copy(downloaded, path)
    return path

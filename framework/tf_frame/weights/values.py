"""Reads the values of variables from files that are no checkpoints: arrays, graphs, Keras's."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf
from google.protobuf.message import DecodeError

from tf_frame.errors import DataError
from tf_frame.plugin.weights_contract import GRAPH, KERAS
from tf_frame.text import short, short_word
from tf_frame.weights.keras_file import read_keras

# What reads a variable in a graph: its constant stands for the variable in a frozen one.
_READS = ("Identity", "ReadVariableOp")


def read_values(path: str) -> Iterator[tuple[str, Any, Any]]:
    """Yields name, `tf.DType` and array of each variable in a file.

    Floats of 16 bits, in which arrays are published to save room, become floats of 32 bits.

    Raises:
      DataError: the file cannot be read, or holds no variable.
    """
    found = False
    read = _graph_values if path.endswith(GRAPH) else _arrays
    for name, value in (read_keras if path.endswith(KERAS) else read)(path):
        found = True
        value = value.astype(np.float32) if value.dtype == np.float16 else value
        yield name, tf.as_dtype(value.dtype), value
    if not found:
        raise DataError(f"{short(path)} holds no values of variables")


def _arrays(path: str) -> Iterator[tuple[str, Any]]:
    try:
        with np.load(path, allow_pickle=False) as arrays:
            for name in arrays.files:
                yield name, arrays[name]
    except (OSError, ValueError, EOFError, zipfile.BadZipFile) as error:
        raise DataError(
            f"{short(path)} is no archive of NumPy arrays: {short_word(error)}"
        ) from None


def _graph_values(path: str) -> Iterator[tuple[str, Any]]:
    """Yields the constants of a frozen graph that stand for variables."""
    graph = tf.GraphDef()
    try:
        with open(path, "rb") as file:
            graph.ParseFromString(file.read())
    except OSError as error:
        raise DataError(f"{short(path)} cannot be read: {error.strerror}") from None
    except DecodeError:
        raise DataError(f"{short(path)} is no graph of TensorFlow") from None
    read = {
        node.input[0].partition(":")[0] for node in graph.node if node.op in _READS and node.input
    }
    for node in graph.node:
        if node.op == "Const" and node.name in read:
            yield node.name, tf.make_ndarray(node.attr["value"].tensor)

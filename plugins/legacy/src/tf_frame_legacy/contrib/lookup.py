"""tf.contrib.lookup: `HashTable` with a shared name, and the deprecated functions.

The other names are TensorFlow's (tensorflow.python.ops.lookup_ops).
"""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf
from tensorflow.python.ops import lookup_ops


class HashTable(lookup_ops.StaticHashTableV1):
    """A table that is filled by its initialiser, `tf.tables_initializer()`, and not changed later.

    Args:
      initializer: fills it: a `KeyValueTensorInitializer` or `TextFileInitializer`.
      default_value: value of missing keys.
      shared_name: tables with this name are one table, in all graphs of a session.
      name: op name.
    """

    def __init__(
        self,
        initializer: Any,
        default_value: Any,
        shared_name: str | None = None,
        name: str | None = None,
    ) -> None:
        self._name_to_share = shared_name
        super().__init__(initializer, default_value, name)

    def _create_resource(self) -> Any:
        if self._name_to_share:
            self._shared_name = self._name_to_share
        return super()._create_resource()

    @property
    def init(self) -> Any:
        """The operation that fills the table."""
        return self.initializer


def index_table_from_tensor(
    mapping: Any,
    num_oov_buckets: int = 0,
    default_value: int = -1,
    hasher_spec: Any = lookup_ops.FastHashSpec,
    dtype: Any = tf.string,
    name: str | None = None,
) -> Any:
    """Returns a table from the values of `mapping` to their positions.

    Args:
      mapping: tensor `[size]` of distinct values.
      num_oov_buckets: number of further positions, for missing values by their hash.
      default_value: position of missing values, without such buckets.
      hasher_spec: hash function.
      dtype: type of the values.
      name: op name.

    Raises:
      ValueError: `mapping` is None.
    """
    if mapping is None:
        raise ValueError("mapping must be specified.")
    return lookup_ops.index_table_from_tensor(
        mapping, num_oov_buckets, default_value, hasher_spec, dtype, name
    )


def index_to_string_table_from_tensor(
    mapping: Any, default_value: str = "UNK", name: str | None = None
) -> Any:
    """Returns a table from positions in `mapping` to its strings.

    Raises:
      ValueError: `mapping` is None.
    """
    if mapping is None:
        raise ValueError("mapping must be specified.")
    return lookup_ops.index_to_string_table_from_tensor(mapping, default_value, name)


def string_to_index(
    tensor: Any, mapping: Any, default_value: int = -1, name: str | None = None
) -> Any:
    """Returns the positions of strings in `mapping`."""
    return index_table_from_tensor(mapping, default_value=default_value, name=name).lookup(tensor)


def index_to_string(
    tensor: Any, mapping: Any, default_value: str = "UNK", name: str | None = None
) -> Any:
    """Returns the strings at positions of `mapping`."""
    return index_to_string_table_from_tensor(mapping, default_value, name).lookup(tensor)


def string_to_index_table_from_file(
    vocabulary_file: Any = None,
    num_oov_buckets: int = 0,
    vocab_size: int | None = None,
    default_value: int = -1,
    hasher_spec: Any = lookup_ops.FastHashSpec,
    name: str | None = None,
) -> Any:
    """Returns a table from the lines of a file to their numbers."""
    return lookup_ops.index_table_from_file(
        vocabulary_file, num_oov_buckets, vocab_size, default_value, hasher_spec, name=name
    )


def string_to_index_table_from_tensor(
    mapping: Any,
    num_oov_buckets: int = 0,
    default_value: int = -1,
    hasher_spec: Any = lookup_ops.FastHashSpec,
    name: str | None = None,
) -> Any:
    """Returns `index_table_from_tensor` of strings.

    Raises:
      ValueError: `mapping` has other values.
    """
    if tf.convert_to_tensor(mapping).dtype.base_dtype != tf.string:
        raise ValueError("string_to_index_table_from_tensor requires string.")
    return index_table_from_tensor(mapping, num_oov_buckets, default_value, hasher_spec, name=name)

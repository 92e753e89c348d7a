"""`KeyValueStore`: numbers and texts that the tasks of a job share, on a server of the job.

The store consists of two hash tables on the server, which exist from their first use until the
server ends. A key without a value reads as -1 or "".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.types import Tensor

_NUMBERS, _TEXTS = "tf_frame/numbers", "tf_frame/texts"
# TensorFlow has no table from text to text, so the key of a text is a hash.
_HASHES = 2**62
NO_NUMBER = -1
_TIMEOUT_MS = 10_000


def read_numbers(keys: Sequence[str] | Tensor, device: str) -> Tensor:
    """Adds a read of numbers to the default graph; returns an int64 tensor, shaped like `keys`.

    Args:
      keys: the keys.
      device: device of the table, such as `/job:ps/task:0/device:CPU:0`.
    """
    with tf.device(None), tf.device(device):
        default = tf.constant(NO_NUMBER, tf.int64)
        keys = tf.convert_to_tensor(keys)
        return _find(_table(_NUMBERS, tf.int64), keys, default, keys.shape)


def store_number(key: str | Tensor, value: Any, device: str) -> Any:
    """Adds an operation that stores a number; see `read_numbers`."""
    with tf.device(None), tf.device(device):
        return _insert(_table(_NUMBERS, tf.int64), tf.convert_to_tensor(key), value)


def read_text(key: str | Tensor, device: str) -> Tensor:
    """Adds a read of a text to the default graph; returns a scalar string tensor."""
    with tf.device(None), tf.device(device):
        return _find(_table(_TEXTS, tf.string), _hash(key), tf.constant(b""), [])


class KeyValueStore:
    """Reads and writes the numbers and texts of a job, in a separate session.

    A server that is restarted loses them; the next call connects to the new server.

    Args:
      target: the server of this process.
      device: device of the tables, a CPU of a server.
      config: the `ConfigProto` of the session.
    """

    def __init__(self, target: str, device: str, config: Any) -> None:
        self._target, self._config = target, tf.ConfigProto(operation_timeout_in_ms=_TIMEOUT_MS)
        self._config.MergeFrom(config)
        self._session: Any = None
        self._graph = tf.Graph()
        with self._graph.as_default(), tf.device(device):
            self._key = tf.placeholder(tf.string, [])
            self._number, self._text = tf.placeholder(tf.int64, []), tf.placeholder(tf.string, [])
            self._put_text = _insert(_table(_TEXTS, tf.string), _hash(self._key), self._text)
            self._put_number = store_number(self._key, self._number, device)
            self._get_number = read_numbers(self._key, device)
            self._get_text = read_text(self._key, device)

    def put(self, values: Mapping[str, int | bytes]) -> None:
        """Stores numbers and texts."""
        for key, value in values.items():
            if isinstance(value, bytes):
                self._run(self._put_text, {self._key: key, self._text: value})
            else:
                self._run(self._put_number, {self._key: key, self._number: value})

    def number(self, key: str) -> int:
        """Returns a number, `NO_NUMBER` without one."""
        return int(self._run(self._get_number, {self._key: key}))

    def text(self, key: str) -> bytes:
        """Returns a text, empty without one."""
        return bytes(self._run(self._get_text, {self._key: key}))

    def close(self) -> None:
        """Closes the session."""
        session, self._session = self._session, None
        if session is not None:
            session.close()

    def _run(self, fetch: Any, feeds: Mapping[Any, Any]) -> Any:
        try:
            return self._connected().run(fetch, feeds)
        except (tf.errors.AbortedError, tf.errors.UnavailableError):
            self.close()  # The server was restarted; a new session finds it.
        try:
            return self._connected().run(fetch, feeds)
        except tf.errors.DeadlineExceededError as error:
            # This error makes TensorFlow open a new training session as well.
            raise tf.errors.UnavailableError(None, None, error.message) from None

    def _connected(self) -> Any:
        if self._session is None:
            self._session = tf.Session(self._target, graph=self._graph, config=self._config)
        return self._session


def _table(name: str, value_type: Any) -> Any:
    return tf.raw_ops.MutableHashTableV2(
        container="",
        shared_name=name,
        use_node_name_sharing=False,
        key_dtype=tf.string if value_type == tf.int64 else tf.int64,
        value_dtype=value_type,
    )


def _hash(key: Any) -> Any:
    return tf.strings.to_hash_bucket_fast(key, _HASHES)


def _insert(table: Any, key: Any, value: Any) -> Any:
    return tf.raw_ops.LookupTableInsertV2(table_handle=table, keys=key, values=value)


def _find(table: Any, keys: Any, default: Any, shape: Sequence[int]) -> Any:
    values = tf.raw_ops.LookupTableFindV2(table_handle=table, keys=keys, default_value=default)
    return tf.reshape(values, shape)

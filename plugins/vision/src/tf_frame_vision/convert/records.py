"""Contract between a converter and the shards it fills: pictures, and records made of them."""

from __future__ import annotations

from typing import Any, Protocol


class Picture(Protocol):
    """One picture of a source, not read yet: a data set may not fit into memory."""

    @property
    def filename(self) -> str:
        """Its name in the source, which no other picture has."""


class Records(Protocol):
    """Maker of the records of a conversion; the same picture becomes the same bytes each time."""

    def record(self, picture: Any) -> bytes:
        """Reads a picture, and returns its serialized `tf.train.Example`.

        Raises:
          CorruptImage: it cannot be decoded, or does not belong to the data set.
        """

    def identity(self, picture: Any) -> str:
        """Returns a text that only this picture has, without reading the picture."""

    def record_identity(self, record: bytes) -> str:
        """Returns the identity of the picture that a record was made of.

        Raises:
          ValueError: it was not made by `record`.
        """


class CorruptImage(Exception):
    """A file cannot be decoded; the text says why."""

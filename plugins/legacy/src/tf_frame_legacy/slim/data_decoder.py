"""slim's `DataDecoder`, the base class of decoders of records such as `TFExampleDecoder`."""

from __future__ import annotations

import abc
from collections.abc import Iterable, Sequence
from typing import Any


class DataDecoder(abc.ABC):
    """Decodes a record of a file to a tensor for each requested item."""

    @abc.abstractmethod
    def decode(self, data: Any, items: Sequence[str]) -> list[Any]:
        """Returns a tensor for each item, in the order of `items`.

        Args:
          data: the record, a scalar string tensor.
          items: names from `list_items()`.

        Raises:
          ValueError: the decoder does not have an item.
        """

    @abc.abstractmethod
    def list_items(self) -> Iterable[str]:
        """Returns the names of the items that `decode` can return."""

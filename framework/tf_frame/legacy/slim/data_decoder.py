"""What decodes one record into items: slim's `DataDecoder`."""

from __future__ import annotations

import abc
from collections.abc import Iterable, Sequence
from typing import Any


class DataDecoder(abc.ABC):
    """Turns one record, as it is read from disk, into a tensor for each item asked for."""

    @abc.abstractmethod
    def decode(self, data: Any, items: Sequence[str]) -> list[Any]:
        """Returns a tensor for each item, in the order of `items`.

        Args:
          data: the record, a scalar string tensor.
          items: names out of `list_items()`.

        Raises:
          ValueError: an item is none of this decoder's.
        """

    @abc.abstractmethod
    def list_items(self) -> Iterable[str]:
        """Names of the items that `decode` can return."""

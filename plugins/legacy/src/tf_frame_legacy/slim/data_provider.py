"""slim's `DataProvider`, which returns tensors by the names of items.

For input code written for slim: `image, label = provider.get(["image", "label"])`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any


class DataProvider:
    """The items of a data set as tensors.

    Args:
      items_to_tensors: item -> tensor.
      num_samples: number of examples in the data set.
    """

    def __init__(self, items_to_tensors: Mapping[str, Any], num_samples: int) -> None:
        self._items_to_tensors = items_to_tensors
        self._num_samples = num_samples

    def get(self, items: Sequence[str]) -> list[Any]:
        """Returns the tensor of each item, all of the same example.

        Raises:
          ValueError: `items` is not a list or tuple, or has an unknown name.
        """
        if not isinstance(items, list | tuple):
            raise ValueError(
                f"items must be a list or tuple, not {items!r}; for one item write [item]"
            )
        valid_items = self.list_items()
        for item in items:
            if item not in valid_items:
                raise ValueError(
                    f"Item [{item}] is invalid. Valid entries include: {list(valid_items)}"
                )
        return [self._items_to_tensors[item] for item in items]

    def list_items(self) -> Iterable[str]:
        """Returns the names of the items that `get` can return."""
        return self._items_to_tensors.keys()

    def num_samples(self) -> int:
        """Returns the number of examples in the data set."""
        return self._num_samples

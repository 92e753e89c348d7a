"""Format of the tables of published data sets."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

Colour = tuple[int, int, int]


@dataclasses.dataclass(frozen=True)
class KnownDataset:
    """Classes of a published data set.

    Attributes:
      class_names: the name of each class.
      colours: red, green and blue of each class, as DeepLab paints it.
      ignore_label: value of pixels that do not count.
      ids: the data set's own id of each class; empty: the numbers of the classes.
      num_ids: number of ids in the masks; ids without a class are ignored.
    """

    class_names: Sequence[str]
    colours: Sequence[Colour]
    ignore_label: int
    ids: Sequence[int] = ()
    num_ids: int = 0

    @property
    def num_classes(self) -> int:
        """Number of classes, with the background if there is one."""
        return len(self.class_names)


def parse_colours(text: str) -> tuple[Colour, ...]:
    """Returns the colours of a text such as `ff0000 804080`."""
    red_green_blue = [bytes.fromhex(word) for word in text.split()]
    return tuple((red, green, blue) for red, green, blue in red_green_blue)

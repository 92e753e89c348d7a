"""Parts of the data that cannot be used: the first ends a run, or all are left out and counted.

Does not import TensorFlow.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from tf_frame.errors import DataError

_NUMBER = re.compile(r"-?\d+(\.\d+)?(e[+-]?\d+)?")


class Damage(str):
    """A line about a part of the data that cannot be used.

    Attributes:
      reason: why it cannot be used, the same text for all such parts.
    """

    reason: str

    def __new__(cls, place: str, clause: str, reason: str = "") -> Damage:
        """Makes a line.

        Args:
          place: the file, perhaps with the record.
          clause: why it cannot be used, such as `it is empty`.
          reason: the same without values; empty: the clause. Its numbers are left out.
        """
        line = super().__new__(cls, f"{place}: {clause}")
        line.reason = _NUMBER.sub("N", reason or clause)
        return line

    @classmethod
    def of_file(cls, path: object, clause: str, reason: str = "") -> Damage:
        """Makes the line of a file, such as `a.xml is empty` of the clause `it is empty`."""
        line = super().__new__(cls, f"{path} {clause.removeprefix('it ')}")
        line.reason = _NUMBER.sub("N", reason or clause)
        return line


def check_damage(damaged: Sequence[str], *, skip_corrupt: bool) -> None:
    """Names the first part that cannot be used, unless these parts may be left out.

    Raises:
      DataError: there is one.
    """
    if damaged and not skip_corrupt:
        more = f" ({len(damaged) - 1} more in this split)" if len(damaged) > 1 else ""
        raise DataError(f"{damaged[0]}{more}; mend or remove it, or give --input.skip_corrupt")


def count_reasons(damaged: Sequence[str]) -> Mapping[str, int]:
    """Returns the number of parts for each reason, the most frequent first."""
    counts = Counter(getattr(line, "reason", "it cannot be used") for line in damaged)
    return dict(counts.most_common())

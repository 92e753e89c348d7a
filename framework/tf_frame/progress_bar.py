"""`ProgressBar`: a bar on a terminal that leaves out figures where the line is too short.

with ProgressBar(total=100, unit="file", desc="checking") as bar:
    bar.update()
"""

from __future__ import annotations

import sys
from typing import Any, TextIO

from tqdm import tqdm

from tf_frame.text_width import cell_width

_COUNT = "{desc}: {percentage:3.0f}%|{bar}| {n_fmt}/{total_fmt}"
# The longest one that leaves the bar enough cells is shown, or else the last one.
_FORMATS = (
    _COUNT + " [{elapsed}<{remaining}, {rate_fmt}{postfix}]",
    _COUNT + " [{elapsed}<{remaining}, {rate_fmt}]",
    _COUNT + " [{remaining} left]",
    _COUNT,
    "{desc}: {bar}",
)
_LEAST_BAR = 10


class ProgressBar(tqdm):  # type: ignore[type-arg]
    """A bar of tqdm that is drawn on a terminal only, and always as a bar.

    A narrow terminal first loses the postfix, such as examples/s, then the elapsed time and
    the rate, then the time left, and last the numbers.

    Args:
      iterable: elements to count; None: `update` counts.
      file: the output; default: standard output.
      more: other arguments of `tqdm`.
    """

    def __init__(self, iterable: Any = None, *, file: TextIO | None = None, **more: Any) -> None:
        out = file or sys.stdout
        super().__init__(iterable, file=out, disable=not out.isatty(), dynamic_ncols=True, **more)

    @staticmethod
    def format_meter(  # type: ignore[override]
        n: float, total: float, elapsed: float, ncols: int | None = None, **more: Any
    ) -> str:
        """Returns the line; called by tqdm.

        Args:
          n: number of elements up to now.
          total: number of all elements.
          elapsed: seconds since the begin.
          ncols: width of the line in cells; None: without a bar.
          more: other arguments of `tqdm.format_meter`.
        """
        if not total or not ncols:
            return str(tqdm.format_meter(n, total, elapsed, ncols=ncols, **more))
        for bar_format in _FORMATS:
            more["bar_format"] = bar_format.replace("{bar}", f"{{bar:{_LEAST_BAR}}}")
            if cell_width(tqdm.format_meter(n, total, elapsed, **more)) <= ncols:
                break
        more["bar_format"] = bar_format
        return str(tqdm.format_meter(n, total, elapsed, ncols=ncols, **more))

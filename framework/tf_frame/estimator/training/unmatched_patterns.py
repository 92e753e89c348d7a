"""Handling of `UnmatchedPatternWarning`: a line for the user, or an error with `--strict`.

The warning says that a pattern of variable names in an option matches no variable.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from tf_frame.errors import ConfigError, UnmatchedPatternWarning


@contextlib.contextmanager
def unmatched_patterns(*, strict: bool, report: Callable[[str], None]) -> Iterator[None]:
    """Reports patterns that match no variable; with `strict`, the first one ends the run.

    Args:
      strict: end the run.
      report: takes a line for the user.

    Raises:
      ConfigError: a pattern matched nothing, and `strict` is set.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("error" if strict else "always", UnmatchedPatternWarning)
        show = warnings.showwarning

        def show_or_report(message: Any, category: Any, *place: Any, **more: Any) -> None:
            if issubclass(category, UnmatchedPatternWarning):
                report(f"warning: {message}")
            else:
                show(message, category, *place, **more)

        warnings.showwarning = show_or_report
        try:
            yield
        except UnmatchedPatternWarning as unmatched:
            raise ConfigError(f"{unmatched} (an error because of --strict)") from None

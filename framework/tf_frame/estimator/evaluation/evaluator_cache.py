"""The evaluators of an estimator, one for each name of an evaluation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tf_frame.estimator.evaluation.evaluator import Evaluator


class EvaluatorCache:
    """Keeps evaluators, with their graphs and sessions, as long as they fit."""

    def __init__(self) -> None:
        self._kept: dict[str | None, tuple[Any, Evaluator]] = {}

    def get(self, name: str | None, key: Any, make: Callable[[], Evaluator]) -> Evaluator:
        """The evaluator of a name.

        Args:
          name: of the evaluation.
          key: what it must have been made for; for another one it is closed and made anew.
          make: makes it.
        """
        known, kept = self._kept.get(name, (None, None))
        if kept is not None and known == key:
            return kept
        if kept is not None:
            del self._kept[name]
            kept.close()
        self._kept[name] = (key, make())
        return self._kept[name][1]

    def close(self) -> None:
        """Closes all of them."""
        while self._kept:
            self._kept.popitem()[1][1].close()

"""Which predictions are computed, and the examples of a batch of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np


def chosen(outputs: Any, predict_keys: Sequence[str] | str | None) -> Any:
    """The predictions with these keys.

    Args:
      outputs: a mapping, or one tensor.
      predict_keys: names; those that do not exist are passed over. None or empty: all.

    Raises:
      ValueError: none exists, or the outputs have no names; the texts are those of
        tensorflow_estimator, estimator.py.
    """
    if not predict_keys:
        return dict(outputs) if isinstance(outputs, Mapping) else outputs
    if not isinstance(outputs, Mapping):
        raise ValueError("predict_keys argument is not valid in case of non-dict predictions.")
    keys = [predict_keys] if isinstance(predict_keys, str) else predict_keys
    found = {key: value for key, value in outputs.items() if key in keys}
    if not found:
        raise ValueError(
            f"Expected to run at least one output from {outputs.keys()}, provided {predict_keys}."
        )
    return found


def examples_of(features: Any, outputs: Any) -> Iterator[tuple[Any, Any]]:
    """Takes a batch apart.

    Args:
      features: a mapping of arrays, or one array; one that belongs to the whole
        batch, by its length, goes with each example.
      outputs: predictions; a mapping of `[batch, ...]` arrays, or one.

    Yields:
      Features and prediction of each example.

    Raises:
      ValueError: predictions differ in length, or one has none.
    """
    length = _length(outputs)
    for index in range(length):
        yield _example(features, index, length), _example(outputs, index, length)


def _length(outputs: Any) -> int:
    named = outputs if isinstance(outputs, Mapping) else {"the prediction": outputs}
    length = None
    for key, value in named.items():
        # The text is that of tensorflow_estimator, estimator.py.
        if not np.ndim(value):
            raise ValueError(
                f"Batch length of predictions should be same. {key} is a scalar and has no batch "
                "to take apart; pass yield_single_examples=False."
            )
        length = len(value) if length is None else length
        if len(value) != length:
            raise ValueError(
                f"Batch length of predictions should be same. {key} has different batch length "
                "than others."
            )
    return length or 0


def _example(batch: Any, index: int, length: int) -> Any:
    if isinstance(batch, Mapping):
        return {key: _example(value, index, length) for key, value in batch.items()}
    return batch[index] if np.ndim(batch) and len(batch) == length else batch

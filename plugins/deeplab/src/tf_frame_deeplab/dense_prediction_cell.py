"""Dense prediction cells (https://arxiv.org/abs/1809.04184): files that describe a pyramid.

    [{"op": "conv", "kernel": 3, "rate": [1, 6], "input": -1},
     {"op": "conv", "kernel": 3, "rate": [18, 15], "input": 0},
     {"op": "pyramid_pooling", "grid_size": [1, 1], "input": -1}]

The cell concatenates a list of branches. `input` is the number of an earlier branch, or -1 for
the features of the backbone; `kernel` and `rate` are of a convolution at output stride 16, in
rows and columns; `grid_size` is the number of pooling windows along height and width. Format:
tensorflow/models, research/deeplab/core/dense_prediction_cell.py. `kernel` and `target_size` of a
pooling branch have no effect there, nor here.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from typing import Any

from tf_frame.errors import ConfigError, DataError
from tf_frame.text import brief
from tf_frame.text_file import read_json

CONV, POOLING = "conv", "pyramid_pooling"
_KEYS = {
    CONV: ({"op", "kernel", "input"}, {"rate"}),
    POOLING: ({"op", "grid_size", "input"}, {"kernel", "target_size"}),
}


@dataclasses.dataclass(frozen=True)
class Branch:
    """One branch of a cell.

    Attributes:
      op: `conv` or `pyramid_pooling`.
      input: number of the branch that it reads; -1: the features.
      kernel, rate: rows and columns of a convolution.
      grid: pooling windows along height and width.
    """

    op: str
    input: int
    kernel: tuple[int, int] = (1, 1)
    rate: tuple[int, int] = (1, 1)
    grid: tuple[int, int] = (1, 1)


def read_cell(path: str) -> tuple[Branch, ...]:
    """Reads the branches of a cell.

    Args:
      path: the file.

    Raises:
      ConfigError: the file cannot be read, or a branch is wrong; branches are counted from 0.
    """
    option = f"--model.dense_prediction_cell {path}"
    try:
        content = read_json(path)
    except DataError as error:
        raise ConfigError(f"--model.dense_prediction_cell {error}") from None
    if not isinstance(content, list) or not content:
        raise ConfigError(f"{option} must hold a list of branches, such as the published cells")
    return tuple(_branch(f"{option}: branch {i}", i, values) for i, values in enumerate(content))


def _branch(where: str, number: int, values: Any) -> Branch:
    """Makes a branch.

    Args:
      where: the beginning of a message.
      number: number of branches before this one.
      values: the branch as the file has it.
    """
    op = values.get("op") if isinstance(values, Mapping) else None
    if op not in _KEYS:
        raise ConfigError(f'{where}: its "op" must be {" or ".join(map(json.dumps, _KEYS))}')
    needed, possible = _KEYS[op]
    for key in sorted(needed - values.keys()):
        raise ConfigError(f"{where}, {op}: {json.dumps(key)} is missing")
    for key in sorted(values.keys() - needed - possible):
        raise ConfigError(f"{where}, {op}: {json.dumps(key)} is unknown")
    source = values["input"]
    if type(source) is not int or not -1 <= source < number:
        raise ConfigError(
            f'{where}: its "input" {brief(source)} must be -1, the features, or the number of an '
            "earlier branch"
        )
    if op == POOLING:
        return Branch(op, source, grid=_pair(where, values, "grid_size"))
    kernel = _pair(where, values, "kernel")
    if kernel != (1, 1) and "rate" not in values:
        raise ConfigError(f'{where}, {op}: "rate" is missing')
    return Branch(op, source, kernel, _pair(where, {"rate": 1, **values}, "rate"))


def _pair(where: str, values: Mapping[str, Any], key: str) -> tuple[int, int]:
    """Returns rows and columns; one number stands for both."""
    value = values[key]
    pair = value if isinstance(value, list) else [value, value]
    if len(pair) != 2 or any(type(side) is not int or side < 1 for side in pair):
        raise ConfigError(
            f"{where}: its {json.dumps(key)} {brief(value)} must be a whole number or two"
        )
    return (pair[0], pair[1])

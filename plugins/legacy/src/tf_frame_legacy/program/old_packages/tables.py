"""Attributes and methods of pandas' tables that are gone: `ix`, `append`, `as_matrix` ..."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import pandas as pd

_KINDS = (pd.DataFrame, pd.Series)


def restore_methods() -> None:
    """Gives tables what they had in pandas 0.20."""
    members: dict[str, Any] = {
        "append": _append,
        "as_matrix": lambda table, columns=None: (
            table if columns is None else table[columns]
        ).to_numpy(),
        "get_value": lambda table, *place, takeable=False: table.at[_place(place)],
        "get_values": lambda table: table.to_numpy(),
        "iteritems": lambda table: table.items(),
        "ix": property(_Mixed),
        "set_value": _set_value,
        "sort": _sort,
        "order": lambda series, **options: series.sort_values(**options),
    }
    for kind in _KINDS:
        for name, member in members.items():
            if not hasattr(kind, name):
                setattr(kind, name, member)
    for name, value in (("np", np), ("datetime", datetime.datetime)):
        if not hasattr(pd, name):
            setattr(pd, name, value)


class _Mixed:
    """`table.ix[rows, columns]`: by label; numbers are places where the labels are no integers."""

    def __init__(self, table: Any) -> None:
        self._table = table

    def __getitem__(self, key: Any) -> Any:
        return self._table.loc[self._labels(key)]

    def __setitem__(self, key: Any, value: Any) -> None:
        self._table.loc[self._labels(key)] = value

    def _labels(self, key: Any) -> Any:
        if isinstance(key, tuple) and len(key) == self._table.ndim:
            return tuple(map(_labels, self._table.axes, key))
        return _labels(self._table.axes[0], key)


def _labels(index: Any, key: Any) -> Any:
    """Returns the labels that `key` means on an axis."""
    if pd.api.types.is_integer_dtype(index.dtype):
        return key
    parts = [key.start, key.stop, key.step] if isinstance(key, slice) else np.ravel(key)
    is_place = [isinstance(part, (int, np.integer)) for part in parts if part is not None]
    is_bool = any(isinstance(part, (bool, np.bool_)) for part in parts)
    return index[key] if is_place and all(is_place) and not is_bool else key


def _place(place: tuple[Any, ...]) -> Any:
    return place if len(place) > 1 else place[0]


def _set_value(table: Any, *place: Any, takeable: bool = False) -> Any:
    """Sets a value by its labels; returns the table."""
    *labels, value = place
    table.at[_place(tuple(labels))] = value
    return table


def _sort(table: Any, columns: Any = None, **options: Any) -> Any:
    """Returns a table in the order of columns, or of its index; a Series is sorted in place."""
    if isinstance(table, pd.Series):
        return table.sort_values(inplace=True, **options)
    columns = options.pop("by", columns)
    if columns is None:
        return table.sort_index(**options)
    return table.sort_values(columns, **options)


def _append(
    table: Any,
    other: Any,
    ignore_index: bool = False,
    verify_integrity: bool = False,
    sort: bool = False,
) -> Any:
    """Returns a table with the rows of another, or of several; a Series or a dict is a row."""
    others = other if isinstance(other, (list, tuple)) else [other]
    if isinstance(table, pd.DataFrame):
        others = [_rows(one) for one in others]
    options = {"ignore_index": ignore_index, "verify_integrity": verify_integrity, "sort": sort}
    if isinstance(table, pd.Series):
        del options["sort"]
    tables = [one for one in (table, *others) if len(one)] or [table]
    return pd.concat(tables, **options)


def _rows(row: Any) -> Any:
    if isinstance(row, dict):
        row = pd.Series(row)
    return row.to_frame().T.infer_objects() if isinstance(row, pd.Series) else row

"""The exports in a folder, and the removal of old ones."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Sequence

import tensorflow.compat.v1 as tf

_LOG = logging.getLogger("tf_frame")
# Exports are named after the second they were made in; those of less than ten digits are
# somebody else's (tensorflow_estimator, exporter.py).
_DIGITS = 10


def exports_in(export_path: str) -> Sequence[str]:
    """Names of the exports in a folder, oldest first; none where there is no folder.

    Args:
      export_path: the folder with one folder for each export.
    """
    if not tf.io.gfile.isdir(export_path):
        return []
    names = [name.rstrip("/") for name in tf.io.gfile.listdir(export_path)]
    return sorted(name for name in names if len(name) == _DIGITS and name.isdecimal())


def remove_exports(export_path: str, names: Iterable[str]) -> None:
    """Removes exports; one that is gone already is only logged.

    Args:
      export_path: the folder.
      names: of the exports in it.
    """
    for name in names:
        path = os.path.join(export_path, name)
        try:
            tf.io.gfile.rmtree(path)
        except tf.errors.NotFoundError as error:
            _LOG.warning("Can not delete %s recursively: %s", path, error)

"""Results of earlier runs for `BestExporter`: event files and `.best.json`.

The file `.best.json` lies beside the exports and lists them, the best one last:

    {"exports": [{"export": "1763692800", "metrics": {"loss": 0.5, "global_step": 20}}]}
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.atomic_output import write_file
from tf_frame.estimator.evaluation.results import numbers
from tf_frame.estimator.exporters.exporter import exports_in
from tf_frame.hooks.early_stopping import EvalMetricsReader

_LOG = logging.getLogger("tf_frame")
# Hidden from scripts that take the last name in the folder as the newest export.
_FILE = ".best.json"


def earlier_results(
    model_dir: str | None, pattern: str | None, current: Mapping[str, Any]
) -> Sequence[Mapping[str, float]]:
    """Reads the results of evaluations, except of the current step, from event files.

    Args:
      model_dir: the model's folder.
      pattern: path pattern of event files below it; all event files in the
        folders of matching files are read. None reads none.
      current: metric -> value of the current evaluation, whose events are written already.
    """
    if model_dir is None or not pattern:
        return []
    files = tf.io.gfile.glob(os.path.join(model_dir, pattern))
    folders = sorted({os.path.dirname(file) for file in files})
    step = current.get("global_step")
    return [
        metrics
        for folder in folders
        for at, metrics in EvalMetricsReader(folder).read().items()
        if at != step
    ]


class KeptExports:
    """The exports in a folder and their evaluation results.

    An export is better than all exports before it, so the order is by quality.

    Args:
      export_path: the folder of the exporter; it need not exist.
    """

    def __init__(self, export_path: str) -> None:
        self._folder = export_path
        self._file = os.path.join(export_path, _FILE)
        self._entries = self._read()

    def results(self) -> Sequence[Mapping[str, float]]:
        """Returns metric -> value for each known export."""
        return [entry["metrics"] for entry in self._entries]

    def in_order(self) -> Sequence[str]:
        """Returns the names of the exports in the folder, the best one last.

        Exports without a known result come first, the oldest one before the others.
        """
        there = exports_in(self._folder)
        known = [entry["export"] for entry in self._entries if entry["export"] in there]
        return [*(name for name in there if name not in known), *known]

    def add(self, path: Any, metrics: Mapping[str, Any]) -> None:
        """Adds a new export, which is the best one.

        Args:
          path: path of the export, text or bytes.
          metrics: its evaluation result; values that are not numbers are left out.
        """
        last = os.path.basename(tf.compat.as_str_any(path).rstrip("/"))
        # A name can be used again, in the second in which an export was removed.
        others = [name for name in exports_in(self._folder) if name != last]
        self._entries = [entry for entry in self._entries if entry["export"] in others]
        self._entries.append({"export": last, "metrics": numbers(metrics)})
        if tf.io.gfile.isdir(self._folder):
            write_file(self._file, json.dumps({"exports": self._entries}, indent=2) + "\n")

    def _read(self) -> list[dict[str, Any]]:
        if not tf.io.gfile.exists(self._file):
            return []
        try:
            with tf.io.gfile.GFile(self._file) as file:
                entries = json.loads(file.read())["exports"]
            return [{"export": str(e["export"]), "metrics": dict(e["metrics"])} for e in entries]
        except (ValueError, KeyError, TypeError) as error:
            _LOG.warning("%s cannot be read and is ignored: %s", self._file, error)
            return []

"""`FinalExporter`: one export at the end of training."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from tf_frame.estimator.exporters.exporter import SavedModelExporter

_LOG = logging.getLogger("tf_frame")


class FinalExporter(SavedModelExporter):
    """Exports the last checkpoint, once training has reached `TrainSpec.max_steps`.

    Args:
      name, serving_input_receiver_fn, assets_extra, as_text: see `SavedModelExporter`.
    """

    def export(
        self,
        estimator: Any,
        export_path: str,
        checkpoint_path: str,
        eval_result: Mapping[str, Any],
        is_the_final_export: bool,
    ) -> Any:
        if not is_the_final_export:
            return None
        _LOG.info("Performing the final export in the end of training.")
        return self._write(estimator, export_path, checkpoint_path)

"""`LatestExporter`: an export after every evaluation; the newest ones are kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tf_frame.estimator.exporters.exporter import (
    SavedModelExporter,
    exports_in,
    remove_exports,
)


class LatestExporter(SavedModelExporter):
    """Exports every checkpoint that is evaluated.

    Args:
      name, serving_input_receiver_fn, assets_extra, as_text: see `SavedModelExporter`.
      exports_to_keep: number of newest exports to keep; None for all.

    Raises:
      ValueError: `exports_to_keep` is not positive.
    """

    def __init__(
        self,
        name: str,
        serving_input_receiver_fn: Callable[[], Any] | None,
        assets_extra: Mapping[str, str] | None = None,
        as_text: bool = False,
        exports_to_keep: int | None = 5,
    ) -> None:
        super().__init__(name, serving_input_receiver_fn, assets_extra, as_text)
        self._exports_to_keep = exports_to_keep
        if exports_to_keep is not None and exports_to_keep <= 0:
            raise ValueError("`exports_to_keep`, if provided, must be positive number")

    def export(
        self,
        estimator: Any,
        export_path: str,
        checkpoint_path: str,
        eval_result: Mapping[str, Any],
        is_the_final_export: bool,
    ) -> Any:
        path = self._write(estimator, export_path, checkpoint_path)
        if self._exports_to_keep is not None:
            remove_exports(export_path, exports_in(export_path)[: -self._exports_to_keep])
        return path

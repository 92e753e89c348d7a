"""`ExportStrategy`: writes a SavedModel at the end of an `Experiment`."""

from __future__ import annotations

import collections
from collections.abc import Callable, Mapping
from typing import Any

from tf_frame.estimator.argument_checks import argument_names
from tf_frame.estimator.exporters.exporter import remove_exports
from tf_frame.runs.export.staging import list_exports

_Fields = collections.namedtuple("_Fields", ["name", "export_fn", "strip_default_attrs"])


class ExportStrategy(_Fields):
    """A kind of export.

    Args:
      name: name of the folder below `MODEL_DIR/export`.
      export_fn: a function of `(estimator, export_path)` and any of `checkpoint_path`,
        `eval_result` and `strip_default_attrs` that returns the path of the export.
      strip_default_attrs: argument of the function.
    """

    __slots__ = ()

    def __new__(
        cls, name: str, export_fn: Callable[..., Any], strip_default_attrs: bool | None = None
    ) -> ExportStrategy:
        return super().__new__(cls, name, export_fn, strip_default_attrs)

    def export(
        self,
        estimator: Any,
        export_path: str,
        checkpoint_path: str | None = None,
        eval_result: Any = None,
    ) -> Any:
        """Returns the path of the export of a checkpoint, the newest one by default."""
        offered = {
            "checkpoint_path": checkpoint_path,
            "eval_result": eval_result,
            "strip_default_attrs": self.strip_default_attrs,
        }
        names = argument_names(self.export_fn)
        optional = {name: value for name, value in offered.items() if name in names}
        return self.export_fn(estimator, export_path, **optional)


def make_export_strategy(
    serving_input_fn: Callable[[], Any],
    default_output_alternative_key: str | None = None,
    assets_extra: Mapping[str, str] | None = None,
    as_text: bool = False,
    exports_to_keep: int | None = 5,
    strip_default_attrs: bool | None = None,
) -> ExportStrategy:
    """Returns the strategy `Servo`, which calls `export_saved_model` and keeps the newest exports.

    Args:
      serving_input_fn: returns a `ServingInputReceiver`.
      default_output_alternative_key: must be None, as for an estimator of tf.estimator.
      assets_extra, as_text: see `Estimator.export_saved_model`.
      exports_to_keep: number of exports; None for all.
      strip_default_attrs: without effect; default attributes are always left out.

    Raises:
      ValueError: `default_output_alternative_key` is given.
    """
    if default_output_alternative_key is not None:
        raise ValueError(
            "default_output_alternative_key is not supported in core Estimator. Given: "
            f"{default_output_alternative_key}"
        )

    def export_fn(estimator: Any, export_path: str, checkpoint_path: str | None = None) -> Any:
        path = estimator.export_savedmodel(
            export_path,
            serving_input_fn,
            assets_extra=assets_extra,
            as_text=as_text,
            checkpoint_path=checkpoint_path,
        )
        if exports_to_keep is not None:
            remove_exports(export_path, list_exports(export_path)[:-exports_to_keep])
        return path

    return ExportStrategy("Servo", export_fn, strip_default_attrs)

"""`Estimator` with the arguments of `tf.estimator.Estimator`."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.estimator import estimator
from tf_frame.estimator.argument_checks import check_not_overridden
from tf_frame.legacy.estimator.log import follow_tensorflow


class Estimator(estimator.Estimator):
    """Trains, evaluates, predicts and exports by a model function.

    Args:
      model_fn: a function of `features` and any of `labels`, `mode`, `params`,
        `config` that returns an `EstimatorSpec`.
      model_dir, config, params, warm_start_from: see `tf_frame.Estimator`.

    Raises:
      ValueError: the arguments do not fit together, or a subclass overrides a member.
    """

    def __init__(
        self,
        model_fn: Callable[..., Any],
        model_dir: str | os.PathLike[str] | None = None,
        config: Any = None,
        params: Any = None,
        warm_start_from: Any = None,
    ) -> None:
        check_not_overridden(Estimator, self)
        follow_tensorflow()
        super().__init__(
            model_fn,
            model_dir=model_dir,
            config=config,
            params=params,
            warm_start_from=warm_start_from,
        )

    def export_savedmodel(
        self,
        export_dir_base: str,
        serving_input_receiver_fn: Callable[[], Any],
        assets_extra: Mapping[str, str] | None = None,
        as_text: bool = False,
        checkpoint_path: str | None = None,
        strip_default_attrs: bool = False,
    ) -> bytes:
        """The old name of `export_saved_model`.

        Attributes of ops that have their default value are always left out, as
        `export_saved_model` does; the old default of `strip_default_attrs` kept them.
        """
        tf.logging.warn(
            "Estimator.export_savedmodel is deprecated: use `export_saved_model` instead."
        )
        del strip_default_attrs
        return self.export_saved_model(
            export_dir_base,
            serving_input_receiver_fn,
            assets_extra=assets_extra,
            as_text=as_text,
            checkpoint_path=checkpoint_path,
        )

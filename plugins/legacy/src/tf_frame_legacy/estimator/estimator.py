"""`Estimator` with the arguments of `tf.estimator.Estimator`.

In addition to `tf_frame.Estimator`, it has the old `export_savedmodel`, refuses subclasses that
override methods, as tf.estimator does, and its log follows level and handlers of `tf.logging`.
"""

from __future__ import annotations

import dataclasses
import logging
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.estimator import estimator
from tf_frame.estimator.argument_checks import argument_names, called_with, check_not_overridden
from tf_frame.estimator.model_function.spec import ModeKeys
from tf_frame.hooks.status import StatusHook
from tf_frame.hooks.stock.checkpoint_saver import CheckpointSaverHook
from tf_frame.runs.setup.run_context import RunObserver
from tf_frame_legacy.estimator.graph_files import GraphFiles
from tf_frame_legacy.program.watch.options import Watch, active

_STATUS_SECS = 10.0


class Estimator(estimator.Estimator):
    """Trains, evaluates, predicts and exports with a model function.

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
        self._model_fn = model_fn
        if type(self)._call_model_fn is not Estimator._call_model_fn:
            model_fn = self._overridden_model_fn
        follow_tensorflow()
        watch = active()
        super().__init__(
            model_fn,
            model_dir=model_dir,
            config=config,
            params=params,
            warm_start_from=warm_start_from,
            observer=RunObserver(interrupts=watch.interrupts) if watch else None,
        )
        if watch is not None:
            options = dataclasses.replace(self.setup.config, **watch.run_options())
            self.setup = dataclasses.replace(self.setup, config=options)

    def train(
        self,
        input_fn: Any,
        hooks: Sequence[Any] | None = None,
        steps: int | None = None,
        max_steps: int | None = None,
        saving_listeners: Sequence[Any] | None = None,
    ) -> Estimator:
        """See `tf_frame.Estimator.train`; with the additions of `tf-frame legacy run`.

        Writes `graph.pbtxt` and the `.meta` files of checkpoints, unless the configuration has
        `checkpoint_save_graph_def=False`.

        Raises:
          Interrupted: a signal ended the training, which is saved.
        """
        watch, config = active(), self._config
        listeners = tuple(saving_listeners or ())
        saves = not config.checkpoints_disabled and not _has_saver(hooks)
        if saves and config.checkpoint_save_graph_def:
            listeners += (GraphFiles(self.model_dir),)
        if watch is None:
            super().train(input_fn, hooks, steps, max_steps, listeners)
            return self
        added = _status_hooks(watch, self.model_dir, max_steps or 0)
        all_hooks = [*hooks, *added] if added and hooks else hooks or added
        with watch.paused():
            super().train(input_fn, all_hooks, steps, max_steps, listeners)
        watch.interrupts.raise_if_received("the training is saved")
        return self

    def source(self, input_fn: Any) -> Any:
        """Returns the input plugin of an input function.

        The function gets an `input_context` with a strategy only, as with tf.estimator.
        """
        is_overridden = type(self)._call_input_fn is not Estimator._call_input_fn
        is_plugin = hasattr(input_fn, "dataset") and hasattr(input_fn, "info")
        if is_plugin or not callable(input_fn):
            return super().source(input_fn)
        if not is_overridden and "input_context" not in argument_names(input_fn):
            return super().source(input_fn)
        return super().source(lambda mode: self._called_input_fn(input_fn, mode))

    def _called_input_fn(self, input_fn: Any, mode: str) -> Any:
        config = self._config
        strategy = config.train_distribute if mode == ModeKeys.TRAIN else config.eval_distribute
        replicas = getattr(strategy, "num_replicas_in_sync", None)
        if replicas is None or "input_context" not in argument_names(self._call_input_fn):
            return self._call_input_fn(input_fn, mode)
        context = tf.distribute.InputContext(num_replicas_in_sync=replicas)
        return self._call_input_fn(input_fn, mode, input_context=context)

    def _call_input_fn(self, input_fn: Any, mode: str, input_context: Any = None) -> Any:
        """Returns the result of an input function; a TPUEstimator of a program overrides it."""
        arguments = {"mode": mode, "params": self.params, "config": self.config}
        return called_with(input_fn, input_context=input_context, **arguments)

    def _call_model_fn(self, features: Any, labels: Any, mode: str, config: Any) -> Any:
        """Returns the result of the model function; see `_call_input_fn`."""
        arguments = {"labels": labels, "mode": mode, "params": self.params, "config": config}
        return called_with(self._model_fn, features=features, **arguments)

    def _overridden_model_fn(
        self, features: Any, labels: Any, mode: str, params: Any, config: Any
    ) -> Any:
        del params  # The overriding method takes those of the estimator.
        return self._call_model_fn(features, labels, mode, config)

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

        Op attributes with default values are always omitted, as by `export_saved_model`;
        the old default of `strip_default_attrs` kept them.
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


def _has_saver(hooks: Sequence[Any] | None) -> bool:
    """Returns whether a hook of the program saves, instead of the estimator's own."""
    savers = (tf.train.CheckpointSaverHook, CheckpointSaverHook)
    return any(isinstance(hook, savers) for hook in hooks or ())


def _status_hooks(watch: Watch, model_dir: str, max_steps: int) -> list[Any]:
    """Returns the hook by whose file `tf-frame profile attach` finds this process."""
    if not watch.options.attach:
        return []
    return [StatusHook(model_dir, task="chief-0", max_steps=max_steps, every_secs=_STATUS_SECS)]


def follow_tensorflow() -> None:
    """Gives tf-frame's log the level and, if it has none, the handlers of TensorFlow's log.

    Scripts that call `tf.logging.set_verbosity(tf.logging.INFO)` then see tf-frame's messages. The
    level is never raised, because the command line silences TensorFlow's log.
    """
    tf_frame, tensorflow = logging.getLogger("tf_frame"), tf.get_logger()
    if logging.NOTSET < tensorflow.level < tf_frame.getEffectiveLevel():
        tf_frame.setLevel(tensorflow.level)
    if not tf_frame.hasHandlers():
        for handler in tensorflow.handlers:
            tf_frame.addHandler(handler)

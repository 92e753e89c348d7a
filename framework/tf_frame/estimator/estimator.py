"""`Estimator`: train, evaluate, predict and export by a model plugin or a model function.

    estimator = Estimator(model_fn, model_dir="runs/first", params={"units": 8})
    estimator.train(train_input_fn, max_steps=1000)
    estimator.evaluate(eval_input_fn)
    estimator.export_saved_model("exported", serving_input_receiver_fn)

For Python scripts: a façade over the functions that `tf-frame run` calls as well. The names of
tf.estimator have their old meaning; docs/estimator.md lists the differences.
"""

from __future__ import annotations

import copy
import dataclasses
import logging
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.checkpoint.find.newest import newest_checkpoint, read_step
from tf_frame.checkpoint.find.reader import INPUT_POSITION
from tf_frame.cluster import Cluster
from tf_frame.cluster.cluster import cluster_from_tf_config
from tf_frame.cluster.find import find_cluster
from tf_frame.config.run_options import UNLIMITED_STEPS
from tf_frame.errors import NonFiniteError
from tf_frame.estimator.argument_checks import (
    check_not_overridden,
    check_steps,
    checked_hooks,
    checked_listeners,
)
from tf_frame.estimator.input_fn import as_source
from tf_frame.estimator.model_function.model_factory import ModelFactory
from tf_frame.estimator.run_config.run_config import RunConfig, maybe_overwrite_model_dir
from tf_frame.plugin import Mode
from tf_frame.runs.evaluation.evaluator import Evaluator, EvaluatorCache
from tf_frame.runs.evaluation.progress import evaluate_watched
from tf_frame.runs.evaluation.results import log_result
from tf_frame.runs.export.saved_model import export_saved_models
from tf_frame.runs.prediction.predictions import predictions
from tf_frame.runs.setup.model_dir import completed_step, write_completed_step
from tf_frame.runs.setup.run_context import RunContext, RunObserver
from tf_frame.runs.setup.training_setup import TrainingSetup
from tf_frame.runs.training.training import Trained, Training
from tf_frame.runs.warm_start.apply import WarmStartedModel, warm_start_checkpoint
from tf_frame.runs.warm_start.settings import as_settings

_LOG = logging.getLogger("tf_frame")


class NanLossError(NonFiniteError, tf.train.NanLossDuringTrainingError):
    """The loss became NaN or infinite; an error of both tf-frame's and TensorFlow's kind."""

    # TensorFlow's `__str__` is a fixed text without the details.
    __str__ = NonFiniteError.__str__


class Estimator:
    """A model with the folder that it is trained in and the configuration of its training.

    Args:
      model: a model function `model_fn(features, labels, mode, params, config)`,
        of which it may take any subset with `features`, that returns an
        `EstimatorSpec`; or a `tf_frame.Model`, its class or an object.
      model_dir: where everything is written; default: that of `config`, else a
        temporary folder.
      config: a `RunConfig`; default: `RunConfig()`.
      params: what the model function and input functions get under this name;
        for the class of a model, the values of its options.
      warm_start_from: path of a checkpoint, a folder or a SavedModel, or
        `WarmStartSettings`; used while the folder has no checkpoint of its own.
      observer: who hears of a run and may stop it; default: the log.

    Raises:
      ValueError: the arguments do not fit together, or a subclass overrides a
        member, as tf.estimator's does.
      ConfigError: an option of `config` does not exist, or has a wrong value.
    """

    def __init__(
        self,
        model: Any,
        *,
        model_dir: str | os.PathLike[str] | None = None,
        config: RunConfig | None = None,
        params: Any = None,
        warm_start_from: Any = None,
        observer: RunObserver | None = None,
    ) -> None:
        check_not_overridden(Estimator, self)
        if model is None:
            raise ValueError("model_fn must be provided to Estimator.")
        self._config = maybe_overwrite_model_dir(config, model_dir)
        # The session configuration of a script, without the default that RunConfig shows.
        self._session_config = None if config is None else config.session_config
        self._params = copy.deepcopy(params)
        self._model_factory = ModelFactory(model, params=self._params, config=self._config)
        self._setup = self._model_factory.setup()
        self._warm_start_from = as_settings(warm_start_from)
        self._observer = observer or RunObserver()
        self._evaluators = EvaluatorCache()
        self._latest: str | None = None

    @property
    def model_dir(self) -> str:
        """The folder of checkpoints, events and evaluations."""
        return self._setup.model_dir

    @property
    def config(self) -> RunConfig:
        """A copy of the configuration."""
        return copy.deepcopy(self._config)

    @property
    def params(self) -> Any:
        """A copy of the parameters; an empty dict if none were given."""
        return copy.deepcopy({} if self._params is None else self._params)

    @property
    def setup(self) -> TrainingSetup:
        """The setup of a training, made of the configuration and the model's defaults."""
        return self._setup

    @property
    def maker(self) -> ModelFactory:
        """The factory that constructs the model once the input has described its data."""
        return self._model_factory

    @property
    def model_fn(self) -> Callable[..., Any]:
        """The model function, bound to the parameters: `model_fn(features, labels, mode, config)`.

        Raises:
          ValueError: the model is no function.
        """
        return self._model_factory.bound_function()

    def train(
        self,
        input_fn: Any,
        hooks: Sequence[Any] | None = None,
        steps: int | None = None,
        max_steps: int | None = None,
        saving_listeners: Sequence[Any] | None = None,
    ) -> Estimator:
        """Trains from the newest checkpoint in the folder, or anew.

        An input function is read from its beginning, as by tf.estimator, unless
        the training before was killed: then the input goes on where the
        checkpoint was saved, as a `tf_frame.Input` always does.

        Args:
          input_fn: a function that returns a `tf.data.Dataset` of `(features,
            labels)` or such tensors, and may take `mode`, `params`, `config`; or
            a `tf_frame.Input`.
          hooks: session hooks of this training.
          steps: steps to train beyond those already made; default: no limit.
          max_steps: global step to end at; give one of the two or none.
          saving_listeners: told of each checkpoint before and after it is saved.

        Returns:
          The estimator.

        Raises:
          ValueError: `steps` and `max_steps` are both given, or not positive.
          TypeError: `hooks` or `saving_listeners` hold something else.
          NanLossError: the loss became NaN or infinite.
        """
        self._check_role()
        check_steps(steps, max_steps)
        hooks, listeners = checked_hooks(hooks), checked_listeners(saving_listeners)
        checkpoint = newest_checkpoint(self.model_dir, self._observer.report)
        done = read_step(checkpoint)
        if max_steps is not None and max_steps <= done:
            _LOG.info("Skipping training since max_steps has already saved.")
            return self
        last_step = max_steps if steps is None else done + steps
        restarts_at = completed_step(self.model_dir) if callable(input_fn) else None
        context = RunContext(
            observer=self._observer,
            cluster=self._cluster(),
            checkpoint=checkpoint,
            hooks=hooks,
            listeners=listeners,
            saves_checkpoints=not self._config.checkpoints_disabled,
            session_config=self._session_config,
            warm_start_from=self._warm_start_from,
            input_restarts_at=restarts_at,
        )
        trained = self._trained_to(last_step, context, input_fn)
        completed = not self._observer.interrupts.received
        if completed and callable(input_fn) and self._config.is_chief:
            write_completed_step(self.model_dir, trained.global_step)
        if trained.loss is None:
            _LOG.warning(
                "Training with estimator made no steps. Perhaps input is empty or misspecified."
            )
        _LOG.info("Loss for final step: %s.", trained.loss)
        return self

    def evaluate(
        self,
        input_fn: Any,
        steps: int | None = None,
        hooks: Sequence[Any] | None = None,
        checkpoint_path: str | None = None,
        name: str | None = None,
    ) -> dict[str, Any]:
        """Evaluates a checkpoint and writes the figures under `eval_dir(name)`.

        The graph and the session are kept: the next evaluation with the same
        `input_fn` object, `steps` and `name` only restores other variables. The
        input begins anew each time, but `input_fn` is not called again.

        Args:
          input_fn: as for `train`.
          steps: batches at most; default: all there are.
          hooks: session hooks of this evaluation.
          checkpoint_path: default: the newest; without any, the variables have
            the values that the model begins with, those of `warm_start_from` among them.
          name: of this evaluation, where there are several.

        Returns:
          Metric -> value; with `loss`, its mean over the batches, and `global_step`.

        Raises:
          ValueError: `steps` is not positive.
          TypeError: `hooks` hold something else.
          DataError: there is not one batch, or there is no end.
          CheckpointError: the checkpoint belongs to another model.
        """
        check_steps(steps)
        hooks = checked_hooks(hooks)
        checkpoint = checkpoint_path or self._trained_or_none("evaluate")
        evaluator = self._evaluator(input_fn, steps, name, trained=checkpoint is not None)
        found = evaluate_watched(evaluator, checkpoint, self._observer, hooks=hooks)
        result = {**found.metrics, "global_step": found.global_step}
        if self._model_factory.is_function:
            log_result(result)
        return result

    def predict(
        self,
        input_fn: Any,
        predict_keys: Sequence[str] | str | None = None,
        hooks: Sequence[Any] | None = None,
        checkpoint_path: str | None = None,
        yield_single_examples: bool = True,
    ) -> Iterator[Any]:
        """Yields predictions.

        Args:
          input_fn: as for `train`; labels are passed over.
          predict_keys: which of the predictions; default: all.
          hooks: session hooks.
          checkpoint_path: as for `evaluate`.
          yield_single_examples: one example at a time; else batches.

        Yields:
          Name -> array; or an array, where the model predicts a single tensor.

        Raises:
          ValueError: no prediction has one of the keys' names, or batches of
            the predictions differ in length.
          TypeError: `hooks` hold something else.
          CheckpointError: the checkpoint belongs to another model.
        """
        hooks = checked_hooks(hooks)
        source = self._source(input_fn)
        checkpoint = checkpoint_path or self._trained_or_none("predict")
        yield from predictions(
            model=self._model(source, trained=checkpoint is not None),
            source=source,
            config=self._setup.config,
            checkpoint=checkpoint,
            predict_keys=predict_keys,
            hooks=hooks,
            yield_single_examples=yield_single_examples,
            session_config=self._session_config,
            check=self._observer.interrupts.raise_if_received,
        )

    def export_saved_model(
        self,
        export_dir_base: str,
        serving_input_receiver_fn: Callable[[], Any],
        assets_extra: Mapping[str, str] | None = None,
        as_text: bool = False,
        checkpoint_path: str | None = None,
        experimental_mode: str = Mode.PREDICT.value,
    ) -> bytes:
        """Writes a SavedModel into a new folder, named after the time, in `export_dir_base`.

        Args:
          export_dir_base: made if it is not there.
          serving_input_receiver_fn: returns a `ServingInputReceiver`.
          assets_extra: path below `assets.extra` -> file to be copied there.
          as_text: whether the graph is written as text.
          checkpoint_path: default: the newest.
          experimental_mode: the mode to export.

        Returns:
          The folder, as bytes.

        Raises:
          ValueError: no model is trained yet, `serving_input_receiver_fn` is
            missing, or the model has no outputs to export.
        """
        if serving_input_receiver_fn is None:
            raise ValueError("An input_receiver_fn must be defined.")
        receivers = {experimental_mode: serving_input_receiver_fn}
        return self.experimental_export_all_saved_models(
            export_dir_base, receivers, assets_extra, as_text, checkpoint_path
        )

    def experimental_export_all_saved_models(
        self,
        export_dir_base: str,
        input_receiver_fn_map: Mapping[str, Callable[[], Any]],
        assets_extra: Mapping[str, str] | None = None,
        as_text: bool = False,
        checkpoint_path: str | None = None,
    ) -> bytes:
        """Writes one SavedModel with a graph for each mode; see `export_saved_model`.

        Args:
          export_dir_base, assets_extra, as_text, checkpoint_path: as there.
          input_receiver_fn_map: mode -> function that returns a receiver.
        """
        checkpoint = checkpoint_path or newest_checkpoint(self.model_dir)
        checkpoint = checkpoint or warm_start_checkpoint(self._warm_start_from)
        if checkpoint is None:
            raise ValueError(f"Couldn't find trained model at {self.model_dir}.")
        path = export_saved_models(
            model=self._model_factory.model(None),
            receivers=input_receiver_fn_map,
            config=self._setup.config,
            checkpoint=checkpoint,
            export_dir_base=os.fspath(export_dir_base),
            assets_extra=assets_extra,
            as_text=as_text,
            session_config=self._session_config,
        )
        return os.fsencode(path)

    def get_variable_names(self) -> list[str]:
        """The names of all variables in the newest checkpoint.

        Raises:
          ValueError: there is none.
        """
        names = tf.train.NewCheckpointReader(self._trained()).get_variable_to_shape_map()
        return [name for name in sorted(names) if not name.startswith(INPUT_POSITION)]

    def get_variable_value(self, name: str) -> Any:
        """The value of a variable in the newest checkpoint, an array.

        Raises:
          ValueError: there is no checkpoint.
        """
        return tf.train.NewCheckpointReader(self._trained()).get_tensor(name.removesuffix(":0"))

    def latest_checkpoint(self) -> str | None:
        """Path of the newest checkpoint that can be read; None without any."""
        # An evaluator calls this every second, so a checkpoint known as readable is not read again.
        self._latest = newest_checkpoint(self.model_dir, readable=self._latest)
        return self._latest

    def eval_dir(self, name: str | None = None) -> str:
        """The folder with the figures of evaluations of this name."""
        return os.path.join(self.model_dir, f"eval_{name}" if name else "eval")

    def with_model(self, model: Any) -> Estimator:
        """Returns an estimator of another model: same class, folder, configuration, warm start.

        Args:
          model: a model function, or a model plugin, that takes the same parameters.
        """
        other = copy.copy(self)
        other._model_factory = ModelFactory(model, params=self._params, config=self._config)
        other._evaluators = EvaluatorCache()
        return other

    def close(self) -> None:
        """Closes the sessions that are kept between evaluations, and frees their graphs."""
        self._evaluators.close()

    def _source(self, input_fn: Any) -> Any:
        return as_source(input_fn, params=self.params, config=self._config)

    def _cluster(self) -> Cluster:
        if self._config.cluster.cluster:
            return cluster_from_tf_config(self._config.cluster)
        return find_cluster(self._setup.config)

    def _trained_to(self, last_step: int | None, context: RunContext, input_fn: Any) -> Trained:
        source = self._source(input_fn)
        max_steps = UNLIMITED_STEPS if last_step is None else last_step
        config = dataclasses.replace(self._setup.config, max_steps=max_steps)
        if context.input_restarts_at and self._config.tf_random_seed is None:
            # Otherwise each call of train would shuffle in the same order.
            seed = config.random_seed + context.input_restarts_at
            config = dataclasses.replace(config, random_seed=seed)
        setup = dataclasses.replace(self._setup, config=config)
        model = self._model_factory.model(source.info)
        try:
            return Training(setup, context, model=model, source=source).run()
        except NonFiniteError as error:
            raise NanLossError(str(error)) from error

    def _model(self, source: Any, *, trained: bool) -> Any:
        """The model for a source; before there is a checkpoint, with the values of a warm start."""
        model = self._model_factory.model(source.info)
        if trained or self._warm_start_from is None:
            return model
        return WarmStartedModel(model, self._warm_start_from, self._observer.report)

    def _evaluator(
        self, input_fn: Any, steps: int | None, name: str | None, *, trained: bool
    ) -> Evaluator:
        def make() -> Evaluator:
            source = self._source(input_fn)
            return Evaluator(
                model=self._model(source, trained=trained),
                source=source,
                config=self._setup.config,
                steps=steps,
                session_config=self._session_config,
                summaries=self._model_factory.evaluation_has_summaries,
                eval_dir=self.eval_dir(name),
                metric_prefix=self._model_factory.metric_prefix,
            )

        return self._evaluators.get(name, (input_fn, steps, trained), make)

    def _trained_or_none(self, what: str) -> str | None:
        checkpoint = newest_checkpoint(self.model_dir)
        if checkpoint is None:
            _LOG.warning(
                "Could not find trained model in model_dir: %s, running initialization to %s.",
                self.model_dir,
                what,
            )
        return checkpoint

    def _trained(self) -> str:
        checkpoint = newest_checkpoint(self.model_dir)
        if checkpoint is None:
            raise ValueError(f"Could not find trained model in model_dir: {self.model_dir}.")
        return checkpoint

    def _check_role(self) -> None:
        if self._config.task_type in ("evaluator", "ps"):
            raise ValueError(
                "Train has been called wrong configuration. Please use "
                "tf.estimator.train_and_evaluate which calls proper API according to given "
                f"configuration. Current configuration: {self._config}."
            )

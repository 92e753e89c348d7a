"""`Estimator`: train, evaluate, predict and export by a model plugin or a model function.

    estimator = Estimator(model_fn, model_dir="runs/first", params={"units": 8})
    estimator.train(train_input_fn, max_steps=1000)
    estimator.evaluate(eval_input_fn)
    estimator.export_saved_model("exported", serving_input_receiver_fn)

For Python scripts. `tf-frame run` calls the same functions of `tf_frame.runs`. The names of
tf.estimator have their old meaning; docs/estimator/differences.md lists the differences.
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
from tf_frame.cluster.cluster import Cluster, cluster_from_tf_config
from tf_frame.cluster.find import find_cluster
from tf_frame.config.run_options import UNLIMITED_STEPS
from tf_frame.errors import NonFiniteError
from tf_frame.estimator.argument_checks import (
    check_not_overridden,
    check_steps,
    check_trains,
    checked_hooks,
    checked_listeners,
)
from tf_frame.estimator.errors import NanLossError
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
from tf_frame.runs.training.training import Trained, Training
from tf_frame.runs.warm_start.apply import WarmStartedModel, warm_start_checkpoint
from tf_frame.runs.warm_start.settings import as_settings
from tf_frame.text import short

_LOG = logging.getLogger("tf_frame")


class Estimator:
    """A model, the folder of its training, and the configuration of the training.

    Args:
      model: a model function `model_fn(features, labels, mode, params, config)` that returns an
        `EstimatorSpec` and may leave out all arguments but `features`; or a `tf_frame.Model`,
        class or object.
      model_dir: the folder; default: the folder of `config`, else a temporary one.
      config: a `RunConfig`; default: `RunConfig()`.
      params: the argument `params` of the model function and of input functions; for the
        class of a model, the values of its options.
      warm_start_from: path of a checkpoint, a folder or a SavedModel, or `WarmStartSettings`;
        used as long as the folder has no checkpoint.
      observer: takes reports of a run and may stop it; default: the log.

    Attributes:
      setup: the setup of a training: the configuration and the model's defaults.
      model_factory: constructs the model for the description of an input's data.

    Raises:
      ValueError: the arguments contradict each other, or a subclass overrides a member. In
        methods: a number of steps is not positive, or an export has no checkpoint or outputs.
      TypeError: in methods: an element of `hooks` is no session hook.
      ConfigError: an option of `config` does not exist, or has a wrong value.
      CheckpointError: in methods: the checkpoint is damaged, or belongs to another model.
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
        # None where `RunConfig` shows its default.
        self._session_config = None if config is None else config.session_config
        # Only a strategy that mirrors changes anything; see `strategy_field`.
        self._strategy = self._config.train_distribute
        if hasattr(self._strategy, "mirror_model"):
            model = self._strategy.mirror_model(model)
        self._params = copy.deepcopy(params)
        self.model_factory = ModelFactory(model, params=self._params, config=self._config)
        self.setup = self.model_factory.setup()
        self._warm_start_from = as_settings(warm_start_from)
        self._observer = observer or RunObserver()
        self._evaluators = EvaluatorCache()
        self._latest: str | None = None

    @property
    def model_dir(self) -> str:
        """The folder of checkpoints, events and evaluations."""
        return self.setup.model_dir

    @property
    def config(self) -> RunConfig:
        """A copy of the configuration."""
        return copy.deepcopy(self._config)

    @property
    def params(self) -> Any:
        """A copy of the parameters; an empty dict if none were given."""
        return copy.deepcopy({} if self._params is None else self._params)

    @property
    def model_fn(self) -> Callable[..., Any]:
        """Function `model_fn(features, labels, mode, config)`; a ValueError without one."""
        return self.model_factory.bound_function()

    def train(
        self,
        input_fn: Any,
        hooks: Sequence[Any] | None = None,
        steps: int | None = None,
        max_steps: int | None = None,
        saving_listeners: Sequence[Any] | None = None,
    ) -> Estimator:
        """Trains from the newest checkpoint in the folder, or anew.

        Reads an input function from its beginning, as tf.estimator does. After a killed training
        the input continues at the position in the checkpoint, as a `tf_frame.Input` always does.

        Args:
          input_fn: a function that returns a `tf.data.Dataset` of `(features, labels)` or such
            tensors, and may take `mode`, `params`, `config`; or a `tf_frame.Input`.
          hooks: session hooks.
          steps: number of further steps; default: no limit.
          max_steps: global step at the end; excludes `steps`.
          saving_listeners: called before and after each checkpoint is saved.

        Raises:
          NanLossError: the loss became NaN or infinite.
        """
        check_trains(self._config)
        check_steps(steps, max_steps)
        hooks, listeners = checked_hooks(hooks), checked_listeners(saving_listeners)
        checkpoint = newest_checkpoint(self.model_dir, self._observer.report)
        saved_step = read_step(checkpoint)
        if max_steps is not None and max_steps <= saved_step:
            _LOG.info("Skipping training since max_steps has already saved.")
            return self
        last_step = max_steps if steps is None else saved_step + steps
        source = self.source(input_fn)
        if hasattr(self._strategy, "mirror_source"):
            source = self._strategy.mirror_source(source)
        restarts = getattr(source, "restarts", False)
        context = RunContext(
            observer=self._observer,
            cluster=self._cluster(),
            checkpoint=checkpoint,
            hooks=hooks,
            listeners=listeners,
            saves_checkpoints=not self._config.checkpoints_disabled,
            session_config=self._session_config,
            warm_start_from=self._warm_start_from,
            input_restarts_at=completed_step(self.model_dir) if restarts else None,
        )
        trained = self._train(last_step, context, source)
        completed = not self._observer.interrupts.received
        if completed and restarts and self._config.is_chief:
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
        """Evaluates a checkpoint and writes the metrics to `eval_dir(name)`.

        Keeps graph and session: the next evaluation with the same `input_fn` object, `steps` and
        `name` restores other variables and restarts the data, but does not call `input_fn`.

        Args:
          input_fn, hooks: as for `train`.
          steps: largest number of batches; default: all data.
          checkpoint_path: default: the newest checkpoint; without any, the variables have their
            initial values, or the values of `warm_start_from`.
          name: name of the evaluation, if there are several.

        Returns:
          Metric -> value; with `loss` and `global_step`. The loss of a model function is the mean
          over the batches, as with tf.estimator; of a `tf_frame.Model`, over the examples.

        Raises:
          DataError: the data is empty or never ends.
        """
        check_steps(steps)
        hooks = checked_hooks(hooks)
        checkpoint = checkpoint_path or self._newest_or_warning("evaluate")
        evaluator = self._evaluator(input_fn, steps, name, trained=checkpoint is not None)
        evaluated = evaluate_watched(evaluator, checkpoint, self._observer, hooks=hooks)
        result = {**evaluated.metrics, "global_step": evaluated.global_step}
        if self.model_factory.is_function:
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
          input_fn, hooks, checkpoint_path: as for `evaluate`; labels are ignored.
          predict_keys: names of the predictions; default: all.
          yield_single_examples: yield single examples; else batches.

        Yields:
          Name -> array; or an array if the model predicts a single tensor.
        """
        hooks = checked_hooks(hooks)
        source = self.source(input_fn)
        checkpoint = checkpoint_path or self._newest_or_warning("predict")
        yield from predictions(
            model=self._model(source, trained=checkpoint is not None),
            source=source,
            config=self.setup.config,
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
        """Writes a SavedModel into a new folder, named by the time; returns the folder as bytes.

        Args:
          export_dir_base: the folder in which the new folder is made.
          serving_input_receiver_fn: returns a `ServingInputReceiver`.
          assets_extra: path below `assets.extra` -> file to copy there.
          as_text: whether the graph is written as text.
          checkpoint_path: default: the newest checkpoint.
          experimental_mode: the mode to export.

        Raises:
          ValueError: there is no checkpoint, or no function.
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
        """Writes one SavedModel with a graph for each mode of `input_receiver_fn_map`.

        A mode without a receiver has no graph.

        Args:
          export_dir_base: the folder in which the new folder is made.
          input_receiver_fn_map: mode -> function that returns a receiver.
          assets_extra, as_text, checkpoint_path: see `export_saved_model`.

        Raises:
          ValueError: there is no checkpoint.
        """
        checkpoint = checkpoint_path or newest_checkpoint(self.model_dir)
        checkpoint = checkpoint or warm_start_checkpoint(self._warm_start_from)
        if checkpoint is None:
            raise ValueError(f"Couldn't find trained model at {short(self.model_dir)}.")
        path = export_saved_models(
            model=self.model_factory.model(None),
            receivers=input_receiver_fn_map,
            config=self.setup.config,
            checkpoint=checkpoint,
            export_dir_base=os.fspath(export_dir_base),
            assets_extra=assets_extra,
            as_text=as_text,
            session_config=self._session_config,
        )
        return os.fsencode(path)

    def get_variable_names(self) -> list[str]:
        """Returns the names of the variables in the newest checkpoint; a ValueError without one."""
        names = sorted(self._checkpoint_reader().get_variable_to_shape_map())
        return [name for name in names if not name.startswith(INPUT_POSITION)]

    def get_variable_value(self, name: str) -> Any:
        """Returns the value of a variable in the newest checkpoint; a ValueError without one.

        Args:
          name: name of the variable, with or without `:0`.
        """
        return self._checkpoint_reader().get_tensor(name.removesuffix(":0"))

    def latest_checkpoint(self) -> str | None:
        """Returns the path of the newest checkpoint that can be read; None without any."""
        # An evaluator calls this every second, so no checkpoint is read a second time.
        self._latest = newest_checkpoint(self.model_dir, readable=self._latest)
        return self._latest

    def eval_dir(self, name: str | None = None) -> str:
        """Returns the folder with the results of the evaluations of a name."""
        return os.path.join(self.model_dir, f"eval_{name}" if name else "eval")

    def with_model(self, model: Any) -> Estimator:
        """Returns a copy of the estimator with another model, which takes the same parameters."""
        other = copy.copy(self)
        other.model_factory = ModelFactory(model, params=self._params, config=self._config)
        other._evaluators = EvaluatorCache()
        return other

    def make_evaluator(
        self, model: Any, source: Any, steps: int | None, name: str | None
    ) -> Evaluator:
        """Returns an evaluator of a constructed model.

        Args:
          model: a model that the `model_factory` has constructed.
          source: an input plugin, as `source` returns it.
          steps: largest number of batches; None: all data.
          name: name of the evaluation; None: there is only one.
        """
        # As in tf.estimator, metrics of a function have no prefix in event files; a summary of
        # one batch could have the tag of a metric.
        is_function = self.model_factory.is_function
        return Evaluator(
            model=model,
            source=source,
            config=self.setup.config,
            steps=steps,
            session_config=self._session_config,
            summaries=not is_function,
            eval_dir=self.eval_dir(name),
            metric_prefix="" if is_function else "metrics/",
        )

    def close(self) -> None:
        """Closes the sessions of the evaluations, and frees their graphs."""
        self._evaluators.close()

    def _cluster(self) -> Cluster:
        """Returns this task; a configuration may override `is_chief`."""
        config = self._config
        if config.cluster.cluster:
            cluster = cluster_from_tf_config(config.cluster)
        else:
            cluster = find_cluster(self.setup.config)
        if type(config).is_chief is not RunConfig.is_chief:
            cluster = dataclasses.replace(cluster, leads=bool(config.is_chief))
        return cluster

    def source(self, input_fn: Any) -> Any:
        """Returns the input plugin of the argument `input_fn` of a method."""
        return as_source(input_fn, params=self.params, config=self._config)

    def _train(self, last_step: int | None, context: RunContext, source: Any) -> Trained:
        max_steps = UNLIMITED_STEPS if last_step is None else last_step
        config = dataclasses.replace(self.setup.config, max_steps=max_steps)
        if context.input_restarts_at and "random_seed" not in self._config.run_options():
            # Otherwise each call of train would shuffle in the same order.
            seed = config.random_seed + context.input_restarts_at
            config = dataclasses.replace(config, random_seed=seed)
        setup = dataclasses.replace(self.setup, config=config)
        model = self.model_factory.model(source.info)
        try:
            return Training(setup, context, model=model, source=source).run()
        except NonFiniteError as error:
            raise NanLossError(str(error)) from error

    def _model(self, source: Any, *, trained: bool) -> Any:
        """Returns the model for a source; before the first training, with a warm start."""
        model = self.model_factory.model(source.info)
        if trained or self._warm_start_from is None:
            return model
        return WarmStartedModel(model, self._warm_start_from, self._observer.report)

    def _evaluator(
        self, input_fn: Any, steps: int | None, name: str | None, *, trained: bool
    ) -> Evaluator:
        def make() -> Evaluator:
            source = self.source(input_fn)
            return self.make_evaluator(self._model(source, trained=trained), source, steps, name)

        return self._evaluators.get(name, (input_fn, steps, trained), make)

    def _newest_or_warning(self, action: str) -> str | None:
        checkpoint = newest_checkpoint(self.model_dir)
        if checkpoint is None:
            text = "Could not find trained model in model_dir: %s, running initialization to %s."
            _LOG.warning(text, self.model_dir, action)
        return checkpoint

    def _checkpoint_reader(self) -> Any:
        checkpoint = newest_checkpoint(self.model_dir)
        if checkpoint is None:
            raise ValueError(f"Could not find trained model in model_dir: {short(self.model_dir)}.")
        return tf.train.NewCheckpointReader(checkpoint)

"""The smallest plugins that train (a linear model and its input), and setups of plugin classes.

For tests that need a run or a graph in seconds, without an installed package.

    setup = make_setup(ToyModel, ToyInput, model_dir, max_steps=5)
    graph = build_toy_graph(RunOptions(train_batch_size=8), optimizer="sgd")
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from tf_frame import Input, InputContext, InputInfo, Mode, Model, ModelOutput, option
from tf_frame.cluster.find import find_cluster
from tf_frame.config.option import resolve
from tf_frame.config.run_options import RunOptions
from tf_frame.plugin.configured import ConfiguredPlugin
from tf_frame.plugin.find import PluginInfo
from tf_frame.plugin.kinds import INPUT, LEARNING_RATE, MODEL, OPTIMIZER, Kind
from tf_frame.plugin.load import LoadedPlugin, load_plugin
from tf_frame.plugin.origin import register
from tf_frame.runs.setup.run_context import RunObserver
from tf_frame.runs.setup.training_setup import TrainingSetup
from tf_frame.session.interrupts import Interrupts

WEIGHTS = np.array([[1.5], [-2.0], [0.5]], np.float32)


class ToyInput(Input):
    """`[batch, 3]` features and `[batch, 1]` labels that are a linear function of them.

    Args:
      params: the values of the options, a `Params`.
    """

    @dataclasses.dataclass(frozen=True)
    class Params:
        """Options of the input."""

        num_examples: int = option(64, "examples in each split", min=0)
        shuffle: bool = option(False, "shuffle the training data")

    @property
    def info(self) -> InputInfo:
        """Returns the number of examples of both splits."""
        return InputInfo(num_examples=dict.fromkeys(Mode, self.params.num_examples))

    def dataset(self, mode: Mode, context: InputContext) -> Any:
        """Returns batches of float32 features and labels, the same in every run.

        Training data repeats for ever; other data ends after one pass.

        Args:
          mode: training, evaluation or prediction.
          context: the size of a batch, the shard of the data, and the seed of `shuffle`.
        """
        import tensorflow as tf

        features = np.random.RandomState(0).randn(self.params.num_examples, 3).astype(np.float32)
        dataset = tf.data.Dataset.from_tensor_slices((features, features @ WEIGHTS + 3.0))
        dataset = dataset.shard(context.num_shards, context.shard_index)
        if mode == Mode.TRAIN:
            if self.params.shuffle:
                dataset = dataset.shuffle(self.params.num_examples, seed=context.seed)
            dataset = dataset.repeat()
        return dataset.batch(context.batch_size, drop_remainder=mode == Mode.TRAIN)


class ToyModel(Model):
    """Linear regression by least squares.

    Args:
      params: the values of the options, a `Params`.
      info: facts about the data; not used.
    """

    @dataclasses.dataclass(frozen=True)
    class Params:
        """Options of the model."""

        l2: float = option(0.0, "weight of the L2 penalty", min=0)
        nan_at_step: int | None = option(None, "first global step with a loss of NaN", min=0)

    default_input: ClassVar[str | None] = "toy"

    def build(self, features: Any, labels: Any, mode: Mode) -> ModelOutput:
        """Builds one clone.

        Args:
          features: `[batch, 3]`, float32.
          labels: `[batch, 1]`, float32; None for prediction.
          mode: training, evaluation or prediction; not used.
        """
        import tensorflow.compat.v1 as tf

        def penalty(weights: Any) -> Any:
            return self.params.l2 * tf.nn.l2_loss(weights)

        weights = tf.get_variable(
            "linear/weights",
            [3, 1],
            initializer=tf.zeros_initializer(),
            regularizer=penalty if self.params.l2 else None,
        )
        bias = tf.get_variable("linear/biases", [1], initializer=tf.zeros_initializer())
        predictions = tf.matmul(features, weights) + bias
        if labels is None:
            return ModelOutput(predictions={"value": predictions})
        loss = tf.reduce_mean(tf.square(predictions - labels))
        if self.params.nan_at_step is not None:
            diverged = tf.train.get_global_step() >= self.params.nan_at_step
            loss *= tf.where(diverged, float("nan"), 1.0)
        metrics = {"mean_absolute_error": tf.metrics.mean_absolute_error(labels, predictions)}
        return ModelOutput(loss=loss, predictions={"value": predictions}, metrics=metrics)


def make_setup(
    model: type,
    source: type,
    model_dir: str,
    *,
    optimizer: str = "momentum",
    schedule: str = "fixed",
    values: Mapping[str, Any] | None = None,
    transforms: Sequence[ConfiguredPlugin] = (),
    **run_options: Any,
) -> TrainingSetup:
    """Returns a setup made of plugin classes that no package registers.

    Args:
      model, source: the plugin classes.
      model_dir: an existing folder.
      optimizer, schedule: names of installed plugins.
      values: plugin options by dotted name (`model.l2`, `optimizer.momentum`).
      transforms: gradient transforms with their parameters.
      **run_options: fields of `RunOptions`; by default 8 examples per batch and a learning rate
        of 0.05.

    Raises:
      ConfigError: an option has a wrong value.
      PluginError: no package registers the optimizer or the schedule.
    """
    values = values or {}
    return TrainingSetup(
        config=resolve(RunOptions, [{"train_batch_size": 8, "learning_rate": 0.05}, run_options]),
        model=configured_plugin(MODEL, "toy", model, values, "model"),
        input=configured_plugin(INPUT, "toy", source, values, "input"),
        optimizer=installed_plugin(OPTIMIZER, optimizer, values, "optimizer"),
        schedule=installed_plugin(LEARNING_RATE, schedule, values, "schedule"),
        transforms=list(transforms),
        model_dir=model_dir,
    )


def run_setup(
    setup: TrainingSetup,
    *,
    report: Callable[[str], None] = print,
    interrupts: Interrupts | None = None,
) -> dict[str, Any]:
    """Runs a setup, with an existing folder, in this process as `tf-frame run` does.

    Args:
      setup: the setup, such as one of `make_setup`.
      report: takes each line for the user.
      interrupts: the signals that stop the run; None: no signal is handled.

    Returns:
      The result, as `result.json` has it.

    Raises:
      ConfigError: the input does not declare the features that the model needs.
      DataError: the data of the input does not exist.
      Interrupted: a signal stopped the run.
      PluginError: `info` of the input is not an `InputInfo`.
    """
    from tf_frame.runs.training.run_training import run

    observer = RunObserver(report, interrupts or Interrupts(), shows_progress=True)
    return run(setup, setup.make_input(), cluster=find_cluster(setup.config), observer=observer)


def configured_plugin(
    kind: Kind, name: str, cls: Any, values: Mapping[str, Any], prefix: str
) -> ConfiguredPlugin:
    """Wraps a class as if a package `tests` had registered it, and sets its options.

    Args:
      kind: the kind of the plugin, of `tf_frame.plugin.kinds`, such as `MODEL`.
      name: the name of the plugin.
      cls: the class.
      values: options by dotted name; other names than those of the options are ignored.
      prefix: the name before the dot, such as `model` for `model.l2`.

    Raises:
      ConfigError: an option has a wrong value.
    """
    info = PluginInfo(kind, name, f"{cls.__module__}:{cls.__qualname__}", "tests", "0")
    register(cls, info)
    return ConfiguredPlugin(
        name, LoadedPlugin(info, cls), resolve(cls.Params, [values], prefix=prefix)
    )


def installed_plugin(
    kind: Kind, name: str, values: Mapping[str, Any], prefix: str
) -> ConfiguredPlugin:
    """Loads an installed plugin and sets its options.

    Args:
      kind: see `configured_plugin`.
      name: the name of the plugin; `distribution:name` where two packages share one.
      values: see `configured_plugin`.
      prefix: see `configured_plugin`.

    Raises:
      ConfigError: an option has a wrong value.
      PluginError: no package registers the plugin, or it cannot be loaded.
    """
    plugin = load_plugin(kind, name)
    return ConfiguredPlugin(name, plugin, resolve(plugin.cls.Params, [values], prefix=prefix))


def build_toy_graph(
    config: RunOptions,
    *,
    model: Any = None,
    source: Any = None,
    deployment: Any = None,
    transforms: Sequence[Any] = (),
    optimizer: Any = "momentum",
    schedule: str = "fixed",
    values: Mapping[str, Any] | None = None,
) -> Any:
    """Builds a `TrainGraph`, by default of the toy model and input.

    Args:
      config: the options of the run, such as the size of a batch, the seed and the number of
        clones.
      model, source: constructed plugins; default: `ToyModel` and `ToyInput`.
      deployment: the deployment; default: the devices of this machine.
      transforms: constructed gradient transforms.
      optimizer: name of an installed plugin, or a constructed plugin.
      schedule: name of an installed plugin.
      values: plugin options by dotted name.
    """
    from tf_frame.deploy.session_config import make_deployment
    from tf_frame.graph.train_graph import build_train_graph

    name = optimizer if isinstance(optimizer, str) else "sgd"
    setup = make_setup(ToyModel, ToyInput, "", optimizer=name, schedule=schedule, values=values)
    setup = dataclasses.replace(setup, config=config)
    source = source or setup.make_input()
    return build_train_graph(
        model=model or setup.make_model(source.info),
        source=source,
        optimizer=setup.make_optimizer() if name is optimizer else optimizer,
        schedule=setup.make_schedule(source.info),
        transforms=transforms,
        config=config,
        deployment=deployment or make_deployment(config, find_cluster(config)),
    )

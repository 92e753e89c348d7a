"""`ModelGraphs`: builds the graphs of a model for its checks.

The code of a run builds the graphs, so that a check fails if a run would fail. Only the loss and
the metrics that `build` returns are adjusted: separate checks report a wrong loss and wrong
metrics, and the other checks still get a graph.
"""

from __future__ import annotations

import contextlib
import dataclasses
import unittest
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.config.option import declared_options
from tf_frame.config.yaml_file import Settings, to_settings
from tf_frame.deploy.deployment_config import DeploymentConfig
from tf_frame.deploy.placement import variables_placed
from tf_frame.graph.inference.build_inference import build_inference
from tf_frame.graph.inference.eval_graph import build_eval_graph
from tf_frame.graph.train_graph import TrainGraph, build_train_graph, training_clones
from tf_frame.plugin import Mode, ModelOutput
from tf_frame.plugin.load import LoadedPlugin
from tf_frame.plugin.model_settings import find_variant, model_settings
from tf_frame.runs.setup.plugin_choice import choose_plugins
from tf_frame.runs.setup.training_setup import TrainingSetup
from tf_frame.testing.conformance.recorders import AdjustedModel, RecordingOptimizer

# A graph with few examples per batch is as good for the checks, and quicker.
_SMALL = {"train_batch_size": 2, "eval_batch_size": 2}
_PS_TASKS = 2
SESSION = tf.ConfigProto(allow_soft_placement=True)
# Optimising a graph takes longer than the few steps that a check runs.
SESSION.graph_options.rewrite_options.disable_meta_optimizer = True


def model_setup(
    model: LoadedPlugin, source: LoadedPlugin | None, options: Mapping[str, Any]
) -> TrainingSetup:
    """Chooses input, optimizer and so on for a model, as a run does.

    Args:
      source: its input; None: the input that `options` or the model name.
      options: values in the form of a configuration file; they win over `check_options`.

    Raises:
      ConfigError, PluginError: the options do not fit, or there is no such input.
      SkipTest: no input is named.
    """
    cls, name = model.cls, model.info.name
    defaults = to_settings(getattr(cls, "check_options", {}), f"check_options of the model {name}")
    overrides = to_settings(options, "options")
    weakest = model_settings(cls, name, find_variant(cls, [defaults.values, overrides.values]))
    weakest = dataclasses.replace(weakest, values={**weakest.values, **_SMALL})
    sources: list[Settings] = [weakest, defaults, overrides]
    if source is None and not any(settings.input for settings in sources):
        raise unittest.SkipTest(f"the model {name} has no input of its own; name one by --input")
    chosen = choose_plugins(sources, model=(name, model), source=source)
    loaded = chosen.single["input"].plugin
    input_class, is_own = loaded.cls, loaded.info.name == getattr(cls, "default_input", None)
    values = {
        f"input.{key}": value for key, value in getattr(input_class, "check_options", {}).items()
    }
    first, defaults, *stronger = chosen.sources
    # The model's options are for its own input; another one may lack some of them.
    names = {f"input.{option.name}" for option in declared_options(input_class.Params)}
    fitting = {
        key: value
        for key, value in defaults.values.items()
        if is_own or not key.startswith("input.") or key in names
    }
    stronger.insert(0, dataclasses.replace(defaults, values=fitting))
    first = dataclasses.replace(first, values={**first.values, **values})
    return dataclasses.replace(chosen, sources=[first, *stronger]).configure(model_dir="")


@dataclasses.dataclass(frozen=True)
class Training:
    """The training graph of one clone.

    Attributes:
      graph: the handles of the graph.
      model: the model that built it.
      output: the result of `build`.
      grads_and_vars: gradients, before any transform.
    """

    graph: TrainGraph
    model: AdjustedModel
    output: ModelOutput
    grads_and_vars: Sequence[tuple[Any, Any]]


@dataclasses.dataclass(frozen=True)
class ModelGraphs:
    """Builds graphs of a model; each call builds a new graph.

    Attributes:
      setup: the model with its input and options.
      source: the input, constructed.
    """

    setup: TrainingSetup
    source: Any

    def model(self) -> AdjustedModel:
        """Returns a new model."""
        return AdjustedModel(self.setup.make_model(self.source.info))

    def training(self) -> Training:
        """Builds the training graph with the update."""
        model, optimizer = self.model(), RecordingOptimizer(self.setup.make_optimizer())
        graph = build_train_graph(
            model=model,
            source=self.source,
            optimizer=optimizer,
            schedule=self.setup.make_schedule(self.source.info),
            transforms=self.setup.make_transforms(),
            config=dataclasses.replace(self.setup.config, num_clones=1),
            deployment=DeploymentConfig(clone_on_cpu=True),
        )
        return Training(graph, model, model.outputs[0], optimizer.grads_and_vars)

    def clones(self, count: int, *, servers: bool = False, model: Any = None) -> list[Any]:
        """Returns the global variables of a graph of clones, without the update.

        Args:
          servers: whether there are two parameter servers.
          model: the model; None: a new one.
        """
        config = self.setup.config
        config = dataclasses.replace(
            config, num_clones=count, train_batch_size=count * config.train_batch_size
        )
        deployment = DeploymentConfig(
            num_clones=count, clone_device_type="CPU", num_ps_tasks=_PS_TASKS if servers else 0
        )
        with tf.Graph().as_default(), variables_placed(deployment):
            tf.set_random_seed(config.random_seed)
            tf.train.create_global_step()
            training_clones(model or self.model(), self.source, config, deployment)
            variables: list[Any] = tf.global_variables()
            return variables

    def evaluation(self, source: Any) -> tuple[Any, ModelOutput]:
        """Returns the evaluation graph of an input, and the result of `build`."""
        model = self.model()
        graph = build_eval_graph(
            model=model, source=source, config=self.setup.config, summaries=False
        )
        return graph, model.outputs[0]

    def prediction(self, features: Any) -> tuple[list[Any], Any]:
        """Returns the global variables of a graph for prediction, and the predictions.

        `features` makes features in the default graph.
        """
        with tf.Graph().as_default():
            tf.set_random_seed(self.setup.config.random_seed)
            built = build_inference(
                model=self.model(),
                features=features(),
                labels=None,
                mode=Mode.PREDICT,
                config=self.setup.config,
            )
            return tf.global_variables(), built.output.predictions


@contextlib.contextmanager
def open_evaluation() -> Iterator[Any]:
    """Yields a session of the default graph, an evaluation graph, with initial values."""
    with tf.Session(config=SESSION) as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        session.run(tf.tables_initializer())
        yield session


@contextlib.contextmanager
def open_session(graph: TrainGraph, checkpoint: str | None = None) -> Iterator[Any]:
    """Yields a session of a training graph, with initial values or the values of a checkpoint.

    Args:
      checkpoint: path prefix; its position in the input is restored as well.
    """
    with graph.graph.as_default():
        creator = tf.train.ChiefSessionCreator(
            graph.scaffold, config=SESSION, checkpoint_filename_with_path=checkpoint
        )
        session, coord = creator.create_session(), tf.train.Coordinator()
        if tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS):
            tf.train.start_queue_runners(session, coord)
        try:
            yield session
        finally:
            coord.request_stop()
            session.close()

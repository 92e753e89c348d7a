"""What a plugin brings: a model, an input, a network, an optimizer, a hook and so on.

The base classes here hold the defaults; a plugin may subclass them or just
offer the same names. None of this imports TensorFlow, and neither should the
module that an entry point names: import it inside `build`, `dataset` and
`__call__`, so that `--help` and option errors stay quick.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar


class Mode(str, enum.Enum):
    """What a graph is built for; the values are those of tf.estimator.ModeKeys."""

    TRAIN = "train"
    EVAL = "eval"
    PREDICT = "infer"


@dataclasses.dataclass(frozen=True)
class NoParams:
    """Parameters of a plugin that has none."""


@dataclasses.dataclass(frozen=True)
class InputInfo:
    """Facts about a data set that a model may read before it is built.

    Attributes:
      num_examples: examples per mode; a mode that is missing is unknown.
      num_classes: number of classes, the background included.
      class_names: one name per class.
      ignore_label: label value that counts neither for loss nor for metrics.
    """

    num_examples: Mapping[Mode, int] = dataclasses.field(default_factory=dict)
    num_classes: int | None = None
    class_names: Sequence[str] = ()
    ignore_label: int | None = None


@dataclasses.dataclass(frozen=True)
class InputContext:
    """What the framework tells an input.

    Attributes:
      batch_size: examples in a batch of one clone.
      seed: seed for shuffling and for stateless augmentation.
      num_shards: number of worker replicas that read this data set.
      shard_index: which of them this is.
    """

    batch_size: int
    seed: int = 0
    num_shards: int = 1
    shard_index: int = 0


@dataclasses.dataclass(frozen=True)
class ModelOutput:
    """What building one clone yields.

    Attributes:
      loss: scalar data loss of this clone's batch, without regularisation;
        None means the sum of what the clone added to `tf.GraphKeys.LOSSES`.
      predictions: name -> tensor whose first dimension is the batch; or one such tensor.
      metrics: name -> (value tensor, update op), as `tf.compat.v1.metrics`
        gives them; used in evaluation.
      end_points: name -> tensor, for inspection and summaries.
      exports: signature name -> mapping of output name to tensor, or what
        `tf_frame.estimator.export` has for outputs of a known kind.
      train_op: the model's own update, which also moves the global step, where it
        trains itself; None lets tf-frame make one. Only one clone is possible then.
      hooks: session hooks that the graph of this mode needs.
      chief_hooks: those that only the chief's session needs, in training.
      scaffold: a `tf.compat.v1.train.Scaffold` with initialisation of the model's own.
    """

    loss: Any = None
    predictions: Any = dataclasses.field(default_factory=dict)
    metrics: Mapping[str, tuple[Any, Any]] = dataclasses.field(default_factory=dict)
    end_points: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    exports: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    train_op: Any = None
    hooks: Sequence[Any] = ()
    chief_hooks: Sequence[Any] = ()
    scaffold: Any = None


class Model:
    """One network with its loss and metrics.

    Attributes:
      Params: dataclass of the model's options.
      default_input: name of the input to use when none is named.
      default_transforms: names of the gradient transforms to use likewise.
      run_defaults: run options that this model wants other defaults for.
      presets: name -> what `--preset NAME` sets, in the form of a configuration file.
    """

    Params: ClassVar[type] = NoParams
    default_input: ClassVar[str | None] = None
    default_transforms: ClassVar[Sequence[str]] = ()
    run_defaults: ClassVar[Mapping[str, Any]] = {}
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {}

    def __init__(self, *, params: Any, info: InputInfo) -> None:
        self.params = params
        self.info = info

    @classmethod
    def input_defaults(cls, params: Any) -> Mapping[str, Any]:
        """Options of the input that this model wants other defaults for.

        Those that the input does not have are passed over.

        Args:
          params: the options of the model, a `Params`.

        Returns:
          Option name -> value, such as `{"image_size": 299}`.
        """
        return {}

    def graph_hook(self) -> None:
        """Edits the default graph once its clones are built and before any gradient.

        Only graphs that train are shown to it.
        """

    def build(self, features: Any, labels: Any, mode: Mode) -> ModelOutput:
        """Builds one clone in the current graph, name scope and device.

        Called once per clone. Variables may be made by any API; the framework
        places them. With several clones, make those that are trained by
        `tf.compat.v1.get_variable`, which the clones share. Regularisation
        losses belong in `tf.GraphKeys.REGULARIZATION_LOSSES`, updates in
        `UPDATE_OPS`.

        Args:
          features: what the input's data set yields first.
          labels: what it yields second; None to predict.
          mode: what the graph is for.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define build()")

    def prediction_writer(self, directory: str) -> Any:
        """What writes predictions to files; None: a row for each example.

        It is called with `(name, features, prediction)` of each example, arrays
        without the batch dimension; `name` can be that of a file, and no two
        examples share it. An attribute `predict_keys` names the predictions that
        it needs; `close()`, if there is one, is called at the end.

        Args:
          directory: the folder; it exists.
        """
        return None


class Input:
    """One data set and its pipeline.

    The constructor checks that the data is there and raises
    `tf_frame.errors.DataError` if not.

    Attributes:
      Params: dataclass of the input's options.
      prediction_suffixes: endings of files, in lower case, that a folder to predict
        on is searched for; empty: all that are not hidden.
    """

    Params: ClassVar[type] = NoParams
    prediction_suffixes: ClassVar[Sequence[str]] = ()

    def __init__(self, *, params: Any) -> None:
        self.params = params

    @property
    def info(self) -> InputInfo:
        """Facts about the data."""
        return InputInfo()

    def dataset(self, mode: Mode, context: InputContext) -> Any:
        """Returns the data of a mode, batched.

        One of: a `tf.data.Dataset` of `(features, labels)`; a function without
        arguments that returns `(features, labels)` tensors, called once per
        clone on the inputs device, for pipelines of queues (make the queue here
        and take one batch from it in the function; queue runners are started);
        a list or tuple of these, each with a batch size of its own: the model's
        `build` then gets lists of features and labels in the same order.

        Training data repeats for ever; evaluation data ends after one pass: a
        queue closes (`num_epochs=1`), or the run has `--eval_steps`. Random
        augmentation uses stateless ops seeded from `context.seed`.

        Args:
          mode: what the data is for.
          context: batch size per clone, seed, shard.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define dataset()")

    def serving_features(self) -> Any:
        """Returns what an exported model is fed; None: the features of the evaluation data.

        What the model's `build` takes as features, with a `tf.TensorSpec` in the
        place of each tensor, the batch dimension None.
        """
        return None

    def prediction_dataset(self, paths: Sequence[str], context: InputContext) -> Any:
        """Returns a `tf.data.Dataset` of batched features to predict on.

        Features are a dict with `name`, `[batch]` string: the path that each
        example came from. Examples come in the order of `paths`; a file may give
        several.

        Args:
          paths: files.
          context: batch size and seed.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define prediction_dataset()")


class GradientTransform:
    """A change to gradients between their averaging and the optimizer.

    Attributes:
      Params: dataclass of the transform's options.
    """

    Params: ClassVar[type] = NoParams

    def __init__(self, *, params: Any) -> None:
        self.params = params

    def __call__(self, grads_and_vars: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
        """Returns the changed pairs.

        Gradients may be None or `tf.IndexedSlices`; pass on what is not yours.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define __call__()")

    def ready(self) -> Any:
        """Whether the gradients that the last call returned are to be applied in this step.

        Returns:
          A scalar bool tensor, or None for always. The variables and the
          global step change only in a step in which every transform is ready.
        """
        return None


class Optimizer:
    """How gradients become updates.

    Attributes:
      Params: dataclass of the optimizer's options.
    """

    Params: ClassVar[type] = NoParams

    def __init__(self, *, params: Any) -> None:
        self.params = params

    def __call__(self, learning_rate: Any) -> Any:
        """Returns a `tf.compat.v1.train.Optimizer`.

        Args:
          learning_rate: scalar float32 tensor.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define __call__()")


@dataclasses.dataclass(frozen=True)
class ScheduleContext:
    """What the framework tells a learning rate.

    Attributes:
      learning_rate: `--learning_rate`, the rate before any decay.
      num_steps: steps from the schedule's first one to the end of training.
      steps_per_epoch: steps that one pass over the training data takes; None
        if the input does not say how many examples it has.
    """

    learning_rate: float
    num_steps: int
    steps_per_epoch: float | None = None


class LearningRate:
    """A learning rate as a function of the step.

    Attributes:
      Params: dataclass of its options.
    """

    Params: ClassVar[type] = NoParams

    def __init__(self, *, params: Any, context: ScheduleContext) -> None:
        self.params = params
        self.context = context

    def __call__(self, step: Any) -> Any:
        """Returns the learning rate, a scalar float32 tensor.

        Args:
          step: scalar float32 tensor, 0 at the schedule's first step; warm-up,
            which comes before it, is the framework's.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define __call__()")


@dataclasses.dataclass(frozen=True)
class HookContext:
    """What the framework tells a hook.

    Attributes:
      model_dir: the folder of the run; it exists.
      is_chief: whether this worker is the one that saves and writes summaries.
      task: number of this worker; 0 is the chief.
      max_steps: global step at which training ends.
      examples_per_step: examples in one step, over all workers.
      graph: the `tf_frame.graph.train_graph.TrainGraph`; its handles are
        tensors. It is complete, but not finalized yet.
      report: takes a line for the user.
      eval_every_n_steps: steps from one evaluation during training to the next; 0: none.
    """

    model_dir: str
    is_chief: bool
    task: int
    max_steps: int
    examples_per_step: int
    graph: Any
    report: Callable[[str], None]
    eval_every_n_steps: int = 0


class HookPlugin:
    """What makes a session hook of options and of what the run knows.

    Attributes:
      Params: dataclass of the hook's options.
    """

    Params: ClassVar[type] = NoParams

    def __init__(self, *, params: Any) -> None:
        self.params = params

    def __call__(self, context: HookContext) -> Any:
        """Returns a hook, or a list of them; called once on each worker, in the graph of the run.

        A `tf_frame.hooks.base.Hook` says which steps it wants. Any other
        `tf.compat.v1.train.SessionRunHook` is called at every step. A worker
        that needs no hook gets an empty list.

        Args:
          context: what there is to know.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define __call__()")

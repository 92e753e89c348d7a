"""Contracts of models and inputs, and the base of all plugins.

An author of a plugin implements the contracts; tf-frame calls nothing else of a plugin. The base
classes define the defaults; a plugin may subclass them or define the same names. This module does
not import TensorFlow, nor should the module that an entry point names: import TensorFlow inside
`build`, `dataset` and `__call__`, so that `--help` and errors in options stay quick.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from tf_frame.plugin.data_report import DataReport, report_from_info
from tf_frame.plugin.input_info import InputInfo, Mode

# Version of the contracts of all kinds, and the oldest version that is supported;
# docs/writing/versions.md says which changes raise the version.
API_VERSION = OLDEST_API_VERSION = 1


@dataclasses.dataclass(frozen=True)
class NoParams:
    """Parameters of a plugin without options."""


class Plugin:
    """Base of all plugins.

    Attributes:
      Params: dataclass of the plugin's options.
      check_options: option -> value (`{"size": 8}`) for `tf-frame plugins check` and the suites
        of `tf_frame.testing.conformance`: they make the check quick, or replace an unusable
        default. A model gives them in the form of a configuration file
        (`{"model.size": 8, "input.crop_size": 33, "train_batch_size": 4}`).
      everyday_options: names (`size`) of the options that `tf-frame plugins show` and `tf-frame run
        --help` show without being asked for all; empty: all options. Names that `Params` lacks have
        no effect, so that a base class can list them for its subclasses.
      api_version: the `tf_frame.plugin.API_VERSION` that the plugin is written for; None: the
        package's requirement on tf-frame decides.
      thread_safe_build: whether another thread may call `build` of a model, or `dataset` of an
        input, during training: the method changes no attribute, and uses no global state, such as
        NumPy's random generator. If model and input set it, the evaluation graph is built during
        the first steps, which makes the end of a run shorter.
      params: the values of the options, a `Params`.
    """

    Params: ClassVar[type] = NoParams
    check_options: ClassVar[Mapping[str, Any]] = {}
    everyday_options: ClassVar[Sequence[str]] = ()
    api_version: ClassVar[int | None] = None
    thread_safe_build: ClassVar[bool] = False

    def __init__(self, *, params: Any) -> None:
        self.params = params


@dataclasses.dataclass(frozen=True, kw_only=True)
class ServingForm:
    """A form of raw data that an exported model takes and prepares itself, such as image files.

    Attributes:
      specs: input name -> `tf.TensorSpec`, None as the batch dimension.
      features: from input name -> tensor to the features that the model's `build` takes; it
        adds the preparation to the default graph.
      values: input name -> description of the values, such as `RGB, 0 to 255`.
      examples: takes a number; returns input name -> array, a batch of at most so many
        examples for the verification of the export.
      are_real: whether the examples are evaluation data; else they are made up.
    """

    specs: Mapping[str, Any]
    features: Callable[[Mapping[str, Any]], Any]
    values: Mapping[str, str]
    examples: Callable[[int], Mapping[str, Any]]
    are_real: bool = False


@dataclasses.dataclass(frozen=True)
class InputContext:
    """Facts about a run that an input needs.

    Attributes:
      batch_size: examples in a batch of one clone.
      seed: seed for shuffling and for stateless augmentation.
      num_shards: number of worker replicas that read this data set.
      shard_index: index of this worker replica.
      train_batch_size: value of `--train_batch_size`, the batch of all clones together; None if
        it equals `batch_size`, or nothing is trained.
    """

    batch_size: int
    seed: int = 0
    num_shards: int = 1
    shard_index: int = 0
    train_batch_size: int | None = None


@dataclasses.dataclass(frozen=True)
class ModelOutput:
    """Tensors of one clone.

    Attributes:
      loss: scalar data loss of this clone's batch, without regularisation; None
        means the sum of the losses that the clone added to `tf.GraphKeys.LOSSES`.
      loss_terms: pairs (sum, count) of scalar tensors, for a loss that is no mean over the
        examples of the batch but over its pixels, boxes ...; the loss is the sum of the
        quotients. An evaluation adds up the sums and the counts of all batches before it
        divides. Empty: the loss is a mean over the examples.
      predictions: name -> tensor with the batch as first dimension; or one such tensor.
      metrics: name -> (value tensor, update op), as `tf.compat.v1.metrics`
        makes them; used in evaluation. The name of a metric of one class is a `ClassMetric`, that
        of a mean over classes a `ClassMean`.
      end_points: name -> tensor, for inspection and summaries.
      exports: signature name -> mapping of output name to tensor, or an output
        class of `tf_frame.estimator.export`.
      train_op: the model's own update, which also increments the global step; None
        lets tf-frame make the update. A model with its own update has one clone.
      hooks: session hooks that the graph of this mode needs.
      chief_hooks: session hooks that only the chief needs, in training.
      scaffold: a `tf.compat.v1.train.Scaffold` with the model's own initialisation.
    """

    loss: Any = None
    loss_terms: Sequence[tuple[Any, Any]] = ()
    predictions: Any = dataclasses.field(default_factory=dict)
    metrics: Mapping[str, tuple[Any, Any]] = dataclasses.field(default_factory=dict)
    end_points: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    exports: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    train_op: Any = None
    hooks: Sequence[Any] = ()
    chief_hooks: Sequence[Any] = ()
    scaffold: Any = None


class Model(Plugin):
    """A network with its loss and metrics.

    Args:
      params: the values of the options, a `Params`.
      info: facts about the data.

    Attributes:
      default_input: name of the input for runs that name none.
      default_transforms: names of the gradient transforms for runs that name none.
      run_defaults: run option -> this model's default for it; steps of `profile_at_step` beyond the
        end of a run are left out.
      variants: value of the option `name` -> further defaults where it has this value, in the form
        of a configuration file; they win over `run_defaults` and `default_input`.
      presets: name -> options that `--preset NAME` sets, in the form of a configuration file.
      feature_names: features that `build` reads by name; an input without one is refused.
      label_names: labels that `build` reads by name, in modes with labels.
      ranked_by: name of an export's output `[batch, rows]` that orders the rows of all outputs,
        such as scores of detections: rows of equal score may change places in an exported model.
      network_option: the option that names the network plugin; published weights of this network
        can be initial values.
      num_steps: number of steps in the whole run, for defaults that depend on the number; None if
        the number is unknown.
    """

    default_input: ClassVar[str | None] = None
    default_transforms: ClassVar[Sequence[str]] = ()
    run_defaults: ClassVar[Mapping[str, Any]] = {}
    variants: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    feature_names: ClassVar[Sequence[str]] = ()
    label_names: ClassVar[Sequence[str]] = ()
    ranked_by: ClassVar[str] = ""
    network_option: ClassVar[str] = ""
    num_steps: int | None = None

    def __init__(self, *, params: Any, info: InputInfo) -> None:
        super().__init__(params=params)
        self.info = info

    @classmethod
    def input_defaults(cls, params: Any) -> Mapping[str, Any]:
        """Returns this model's defaults for options of its input.

        Options that the input does not have are ignored.

        Args:
          params: the options of the model, a `Params`.

        Returns:
          Option name -> value, such as `{"image_size": 299}`.
        """
        return {}

    def notes(self) -> Sequence[str]:
        """Returns lines to show before training, such as a default that depends on the run."""
        return ()

    def warm_start_options(self, checkpoint: Mapping[str, Sequence[int]]) -> Mapping[str, Any]:
        """Returns defaults for options of a warm start; options of the user override them.

        Called before training if there is `--warm_start_from`, with the graph of the training as
        the default graph.

        Args:
          checkpoint: name -> shape of the variables there.

        Returns:
          Option name -> value, such as `{"warm_start_include": ("MobilenetV2/",)}`.
        """
        return {}

    def graph_hook(self) -> None:
        """Edits the default graph after its clones are built and before the gradients.

        It is only called for training graphs.
        """

    def build(self, features: Any, labels: Any, mode: Mode) -> ModelOutput:
        """Builds one clone in the current graph, name scope and device.

        Called once per clone. Variables may be made by any API; the framework
        places them. For several clones, make trainable variables by
        `tf.compat.v1.get_variable`, so that the clones share them.
        Regularisation losses belong in `tf.GraphKeys.REGULARIZATION_LOSSES`,
        updates in `UPDATE_OPS`.

        Args:
          features: first component of the input's elements.
          labels: second component; None for prediction.
          mode: purpose of the graph.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define build()")

    def chance_levels(self, metrics: Mapping[str, Any]) -> Mapping[str, float]:
        """Returns the values of metrics that a model reaches without having learnt anything.

        A run whose last evaluation is not above one of them ends with a hint.

        Args:
          metrics: name -> value of all metrics of an evaluation, such as a confusion matrix.

        Returns:
          Name of a metric, from 0 to 1 and at best 1 -> value: of an accuracy, the share of the
          most frequent class.
        """
        return {}

    def prediction_writer(self, directory: str) -> Any:
        """Returns a writer of prediction files; None: predictions become rows of a table.

        The writer is called with `(name, features, prediction)` of each example:
        arrays without the batch dimension, and a name that is unique and valid
        for a file. Its attribute `predict_keys`, if present, names the predictions
        that it needs; its `close()`, if present, is called at the end. Its
        `describe(name, features, prediction)`, if present, returns lines for
        people, such as the answer and the path of a picture; it is called after
        the first examples of `tf-frame predict --input` are written.

        Args:
          directory: the output folder; it exists.
        """
        return None


class Input(Plugin):
    """A data set and its pipeline.

    The constructor raises `tf_frame.errors.DataError` if the data does not exist; see
    `without_data`.

    Args:
      params: the values of the options, a `Params`.

    Attributes:
      prediction_suffixes: lower-case suffixes of the files that prediction reads from a
        folder; empty: all files that are not hidden.
      exact_resume: whether a run on this data must resume with the next batch. False declares
        that it need not, as of a generator of endless random examples: a resumed run begins a
        new pass over the data. Without that, an input whose position cannot be saved is read
        again up to the step.
      counts_examples: whether a step takes as many examples as the options of the run say; without
        that, training measures steps/s alone.
      feature_names, label_names: names of the features and labels of the data, to find an input
        for a model; empty: unknown. The class lists names that an option adds as well; an object
        without the option sets its own names.
      shared_options: options that must be equal in all sources of `--input several`, so that a
        model can join their batches.
    """

    prediction_suffixes: ClassVar[Sequence[str]] = ()
    exact_resume: ClassVar[bool] = True
    counts_examples: ClassVar[bool] = True
    feature_names: ClassVar[Sequence[str]] = ()
    label_names: ClassVar[Sequence[str]] = ()
    shared_options: ClassVar[Sequence[str]] = ()

    @classmethod
    def without_data(cls, *, params: Any, info: InputInfo) -> Input | None:
        """Constructs the input of a run that has lost its training data.

        For files to predict on and for exports; of the result only `info`,
        `prediction_dataset`, `serving_features` and `raw_serving` are used.

        Args:
          params: the options, a `Params`.
          info: the `info` of the training's input, from the folder of the run.

        Returns:
          The input; None if the constructor needs no data, or nothing works without it.
        """
        return None

    @property
    def info(self) -> InputInfo:
        """Facts about the data."""
        return InputInfo()

    def dataset(self, mode: Mode, context: InputContext) -> Any:
        """Returns the batched data of a mode.

        The result is one of:

        * a `tf.data.Dataset` of `(features, labels)`;
        * for queue pipelines, a function without arguments that returns
          `(features, labels)` tensors. It is called once per clone on the inputs
          device. Make the queue in `dataset` and dequeue one batch in the
          function; queue runners are started;
        * a list or tuple of these, each with its own batch size. The model's
          `build` then gets lists of features and labels in the same order.

        If there is no data for a mode, raise `tf_frame.errors.NoDataError` here, not in the
        constructor.

        Training data repeats for ever. Evaluation data ends after one pass: a
        queue closes (`num_epochs=1`), or the run has `--eval_steps`. Random
        augmentation uses stateless ops seeded from `context.seed`.

        Args:
          mode: purpose of the data.
          context: batch size per clone, seed, shard.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define dataset()")

    def serving_features(self) -> Any:
        """Returns the features that an exported model is fed.

        They have the structure of the features that the model's `build` takes, with
        a `tf.TensorSpec` for each tensor and None as the batch dimension.
        None: the features of the evaluation data.
        """
        return None

    @property
    def feature_values(self) -> Mapping[str, str]:
        """Feature name -> description of its values, such as `-1 to 1`, for servers."""
        return {}

    def raw_serving(
        self, *, fixed_size: bool | tuple[int, int] = False
    ) -> Mapping[str, ServingForm]:
        """Returns the forms of raw data that an exported model can take instead of features.

        The forms prepare the data as `prediction_dataset` does.

        Args:
          fixed_size: for a format that has neither text nor dimensions of any size: only
            the batch dimension of the specs may be None. A pair is the height and width of
            images that the user asks for.

        Returns:
          Form name -> form, the default one first; empty: exports take features.
        """
        return {}

    def notes(self) -> Sequence[str]:
        """Returns lines to show before training, such as files that are left out."""
        return ()

    def data_report(self) -> DataReport:
        """Returns the content of the data, for people, before the first step.

        The method is quick: it tells what the constructor knows, and does not read the data once
        more. A run adds the warnings that follow from the report.
        """
        return report_from_info(self.info)

    def draw_examples(self, features: Any, labels: Any) -> Sequence[tuple[Any, str]] | None:
        """Returns pictures of a training batch with its labels, for `data/train.png`.

        Args:
          features, labels: a batch as the model's `build` gets it, with NumPy arrays.

        Returns:
          For each example a picture, `[height, width, 3]` uint8, and a caption, which may be
          empty. tf-frame enlarges and shrinks to 240 pixels, so that lines and text look best in
          pictures of that size. None: tf-frame shows the feature `image` and the labels.
        """
        return None

    def prediction_dataset(self, paths: Sequence[str], context: InputContext) -> Any:
        """Returns a `tf.data.Dataset` of batched features to predict on.

        Features are a dict with the key `name`, `[batch]` string: the path of the
        file of each example. Examples are in the order of `paths`; a file may
        contain several.

        Args:
          paths: the files to predict on.
          context: batch size and seed.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define prediction_dataset()")


def predicts_files(cls: type) -> bool:
    """Returns whether a class of inputs, which need not inherit, has a `prediction_dataset`."""
    method = getattr(cls, "prediction_dataset", None)
    return method not in (None, Input.prediction_dataset)

"""`InputSignature`: inputs of an exported model, derived from the run's evaluation data.

`tf-frame export` needs no serving function, and verifies the export with a batch of this data.

    signature = input_signature(source, config)
    with tf.Graph().as_default():
        received = signature.receive()
        model.build(received.features, None, Mode.PREDICT)

An `Input` can define the inputs by a method `serving_features()`, which returns the features for
the model's `build`, with a `tf.TensorSpec` instead of each tensor: for data that has more features
than the model reads, or other sizes than the exported model should take.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

from tf_frame.config.run_options import RunOptions
from tf_frame.deploy.session_config import inference_session_config
from tf_frame.errors import ConfigError, DataError, NoDataError
from tf_frame.graph.inputs.pipeline import make_eval_batch
from tf_frame.plugin import InputContext
from tf_frame.plugin.origin import describe_method, describe_owner
from tf_frame.runs.export.input_receivers import RECEIVER_NAME, Received
from tf_frame.text import brief

# Height or width if neither the signature nor the data defines it.
_SIZE_OF_UNKNOWN = 32


@dataclasses.dataclass(frozen=True)
class InputSignature:
    """The inputs of a model.

    Attributes:
      specs: features for the model's `build`, with `tf.TensorSpec`s instead of tensors. The
        batch dimension is None; other dimensions may be None.
      batch: input name -> array, one batch.
      is_real: whether `batch` is evaluation data; else it is random.
      values: input name -> description of the values, for some inputs.
    """

    specs: Any
    batch: Mapping[str, Any]
    is_real: bool
    values: Mapping[str, str] = dataclasses.field(default_factory=dict)

    def receive(self) -> Received:
        """Adds a placeholder `inputs/NAME` for each input to the default graph."""

        def placeholder(name: str, spec: Any) -> Any:
            return tf.placeholder(spec.dtype, spec.shape, name=operation_name(name))

        with tf.name_scope("inputs"):
            features = map_parts(placeholder, self.specs)
        return Received(features, named_parts(features))

    def for_one_example(self) -> InputSignature:
        """Returns the same inputs with batch dimension 1 and the other dimensions of `batch`."""

        def fixed(name: str, spec: Any) -> Any:
            shape = list(np.shape(self.batch[name]))
            return tf.TensorSpec([1, *shape[1:]] if shape else [], spec.dtype)

        return dataclasses.replace(self, specs=map_parts(fixed, self.specs))


def input_signature(source: Any, config: RunOptions, *, no_data: str = "") -> InputSignature:
    """Derives the inputs of a model from the input plugin of the training.

    Args:
      source: the input plugin, constructed.
      config: evaluation batch size and seed.
      no_data: the reason why the input has no evaluation data; empty if it has.

    Raises:
      DataError: the input breaks its contract, or has neither data nor `serving_features`.
      ConfigError: a feature is sparse or ragged, or `serving_features` returned no specs.
    """
    defined = source.serving_features() if hasattr(source, "serving_features") else None
    specs, batch = None, None
    try:
        if not no_data:
            # With serving_features(), features of the data may be of a kind without a spec.
            specs, batch = _read_data(source, config, _make_spec if defined is None else _no_spec)
    except NoDataError as error:
        no_data = str(error)
    if no_data and defined is None:
        raise DataError(
            f"{describe_owner(source)} has no serving_features(), so the inputs of the export are "
            f"those of its evaluation data: {no_data}"
        )
    if defined is not None:
        origin = describe_method(source, "serving_features")
        specs = map_parts(lambda name, spec: _check_spec(name, spec, origin), defined)
    named = named_parts(specs)
    values = getattr(source, "feature_values", {})
    if batch is not None and all(_fits(batch.get(name), spec) for name, spec in named.items()):
        return InputSignature(specs, {name: batch[name] for name in named}, True, values)
    return InputSignature(specs, _random(named, config), False, values)


def operation_name(name: str) -> str:
    """Replaces the characters that the name of an operation cannot have."""
    return re.sub(r"[^A-Za-z0-9_./]", "_", name).strip("/") or "_"


def map_parts(function: Callable[[str, Any], Any], features: Any, name: str = "") -> Any:
    """Applies a function to name and value of every part of features.

    Args:
      function: takes each name (`image`, `box/height`; `input` for a single part) and
        part; returns the replacement.
      features: a part, or mappings, lists and tuples of parts.
      name: prefix of the names.
    """

    def inner(key: Any, part: Any) -> Any:
        return map_parts(function, part, f"{name}/{key}" if name else str(key))

    if isinstance(features, Mapping):
        return {key: inner(key, part) for key, part in features.items()}
    if isinstance(features, tuple) and hasattr(features, "_fields"):
        pairs = zip(features._fields, features, strict=True)
        return type(features)(*(inner(key, part) for key, part in pairs))
    if isinstance(features, (list, tuple)):
        of_list = f"{name or RECEIVER_NAME}_"
        parts = [map_parts(function, part, f"{of_list}{i}") for i, part in enumerate(features)]
        return parts if isinstance(features, list) else tuple(parts)
    return function(name or RECEIVER_NAME, features)


def named_parts(features: Any) -> dict[str, Any]:
    """Returns name -> part of features; see `map_parts`."""
    parts: dict[str, Any] = {}
    map_parts(parts.__setitem__, features)
    return parts


def _read_data(
    source: Any, config: RunOptions, make_spec: Callable[[str, Any], Any]
) -> tuple[Any, dict[str, Any] | None]:
    """Returns the specs of the evaluation data, and the first batch; None for empty data."""
    with tf.Graph().as_default(), tf.device("/device:CPU:0"):
        tf.set_random_seed(config.random_seed)
        context = InputContext(batch_size=config.eval_batch_size, seed=config.random_seed)
        features, _, _ = make_eval_batch(source, context, 1)
        specs = map_parts(make_spec, features)
        tensors = {k: v for k, v in named_parts(features).items() if isinstance(v, tf.Tensor)}
        # A monitored session fills the queues of an input.
        creator = tf.train.ChiefSessionCreator(config=inference_session_config(config))
        with tf.train.MonitoredSession(creator) as session:
            try:
                return specs, session.run(tensors)
            except tf.errors.OutOfRangeError:
                return specs, None


def _no_spec(name: str, part: Any) -> None:
    return None


def _make_spec(name: str, tensor: Any) -> Any:
    if not isinstance(tensor, tf.Tensor):
        raise ConfigError(
            f"the feature {name} is {type(tensor).__name__}, which has no placeholder of its own; "
            "give the input a method serving_features() that defines the inputs"
        )
    shape = tensor.shape
    if shape.rank:
        shape = tf.TensorShape([None]).concatenate(shape[1:])
    return tf.TensorSpec(shape, tensor.dtype)


def _check_spec(name: str, spec: Any, origin: str) -> Any:
    if not isinstance(spec, tf.TensorSpec):
        raise ConfigError(f"{origin} has {brief(spec)} for {name}; it must be a tf.TensorSpec")
    return spec


def _fits(array: Any, spec: Any) -> bool:
    if array is None or tf.as_dtype(array.dtype) not in (spec.dtype, tf.string):
        return False
    return bool(spec.shape.is_compatible_with(array.shape))


def _random(named: Mapping[str, Any], config: RunOptions) -> dict[str, Any]:
    random = np.random.RandomState(config.random_seed)
    return {name: _values(spec, config.eval_batch_size, random) for name, spec in named.items()}


def _values(spec: Any, batch_size: int, random: Any) -> Any:
    """Returns numbers between 0 and 1, integers 0 and 1 (for any vocabulary), or empty text."""
    shape = spec.shape.as_list() if spec.shape.rank is not None else [None]
    sizes = [size or (_SIZE_OF_UNKNOWN if i else batch_size) for i, size in enumerate(shape)]
    if spec.dtype == tf.string:
        return np.full(sizes, b"", object)
    values = random.rand(*sizes) if spec.dtype.is_floating else random.randint(0, 2, sizes)
    return np.asarray(values).astype(spec.dtype.as_numpy_dtype)

"""Builds the input pipeline in the graph: one batch per clone, in a fixed order.

A clone is a copy of the model on one device. The order is fixed so that each gets the same
examples when a run is repeated or resumed. An input may return, and each clone gets:

    a tf.data.Dataset of (features, labels)     the next features and labels
    a function that returns (features, labels)  its result, called once per clone
    a list or tuple of these                    a list of features, a list of labels

The function is for pipelines of queues: `dataset()` makes the queue, and the
function takes one batch from it.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.deploy.deployment_config import DeploymentConfig
from tf_frame.errors import DataError
from tf_frame.graph.inputs.streams import Batch, dataset_batches, function_batches
from tf_frame.plugin import InputContext, Mode
from tf_frame.plugin.origin import describe_method
from tf_frame.text import short_repr

# Batches per clone that are made ahead, while a step runs: the capacity of slim's prefetch queue
# (tensorflow/models, slim/train_image_classifier.py).
_PREFETCHED = 2


def make_batches(
    source: Any, mode: Mode, context: InputContext, deployment: DeploymentConfig
) -> list[Batch]:
    """Builds the input on its device and takes one batch of it for each clone.

    Args:
      source: the input plugin.
      mode: purpose of the data.
      context: batch size per clone, seed, shard.
      deployment: number of clones, and the inputs device.

    Returns:
      `(features, labels)` of each clone.

    Raises:
      DataError: the input returned something that the module does not list.
    """
    # device(None) keeps the tables of a pipeline with it, out of reach of variables_placed.
    with tf.device(None), tf.device(deployment.inputs_device()), tf.name_scope("input"):
        count = deployment.num_clones
        parts, several = _parts(source, mode, context, count=count)
        per_part = [_batches(part, source, count=count) for part in parts]
    per_clone = zip(*per_part, strict=True)
    return [_joined(batches) for batches in per_clone] if several else per_part[0]


def make_eval_batch(source: Any, context: InputContext, take: int) -> tuple[Any, Any, Any]:
    """Takes the batch of an evaluation step, in the current device scope.

    Lists of data sets end with the shortest one. The queue of a function must close after
    one pass, because nobody can know beforehand whether its batches end; or who runs the steps
    counts them.

    Args:
      source: the input plugin.
      context: batch size, seed, shard.
      take: number of batches of a data set at most; -1 for all.

    Returns:
      Features, labels, and a scalar bool tensor: whether the data is known
      never to end.

    Raises:
      DataError: the input returned something that the module does not list.
    """
    parts, several = _parts(source, Mode.EVAL, context, take=take)
    batches = [_batches(part, source)[0] for part in parts]
    features, labels = _joined(batches) if several else batches[0]
    return features, labels, _endless(parts)


def make_predict_batch(source: Any, context: InputContext) -> tuple[Any, Any]:
    """Takes the features of a batch to predict on, in the current device scope.

    Here an input may leave out labels: its data set yields features alone, or its function
    returns them alone. A pair counts as features and labels, and the labels are dropped.
    The data may repeat for ever.

    Args:
      source: the input plugin.
      context: batch size, seed, shard.

    Returns:
      The features, a list if the input returned a list; and a scalar bool
      tensor: whether the data is known never to end.

    Raises:
      DataError: the input returned something else.
    """
    parts, several = _parts(source, Mode.PREDICT, context)
    features = [_without_labels(_batches(part, source)[0], source) for part in parts]
    return features if several else features[0], _endless(parts)


def _parts(
    source: Any, mode: Mode, context: InputContext, *, take: int = -1, count: int = 1
) -> tuple[list[Any], bool]:
    """The data sets and functions of an input, and whether the input returned a list.

    Args:
      source, mode, context: the input, and the arguments of its `dataset`.
      take: number of batches of a data set at most; -1 for all.
      count: number of batches per step.
    """
    returned = source.dataset(mode, context)

    def part(one: Any) -> Any:
        if _is_dataset(one):
            if mode != Mode.PREDICT:
                _check_labelled(one.element_spec, source)
            return _prefetched(one.take(take), count)
        if not callable(one):
            raise DataError(
                f"{_origin(source)} returned {short_repr(returned)}; it must return a "
                "tf.data.Dataset of batched (features, labels), a function that returns a batch "
                "of them, or a list of these"
            )
        # To predict, a function may return features alone.
        return (lambda: (_without_labels(one(), source), None)) if mode == Mode.PREDICT else one

    several = isinstance(returned, (list, tuple)) and len(returned) > 0
    return [part(one) for one in (returned if several else [returned])], several


def _batches(part: Any, source: Any, *, count: int = 1) -> list[Batch]:
    """`count` batches of a data set or function, one after the other."""
    if _is_dataset(part):
        return dataset_batches(part, count)
    plain_values = getattr(source, "plain_values", False)
    return function_batches(part, count, origin=_origin(source), plain_values=plain_values)


def _joined(batches: Iterable[Batch]) -> Batch:
    """One batch of an input with several parts: a list of features, a list of labels."""
    features, labels = zip(*batches, strict=True)
    return list(features), list(labels)


def _endless(parts: Iterable[Any]) -> Any:
    """A scalar bool tensor: True if all data sets are known never to end."""
    infinite = tf.data.experimental.INFINITE_CARDINALITY
    return tf.reduce_all(
        [
            tf.equal(tf.data.experimental.cardinality(part), infinite)
            if _is_dataset(part)
            else tf.constant(False)
            for part in parts
        ]
    )


def _check_labelled(spec: Any, source: Any) -> None:
    if not (isinstance(spec, tuple) and len(spec) == 2):
        raise DataError(
            f"{_origin(source)} returned a data set of {spec}; it must yield (features, labels)"
        )


def _without_labels(batch: Any, source: Any) -> Any:
    """Features of a batch with labels or without.

    A pair has labels (tensorflow_estimator, util.py `parse_iterator_result`).
    """
    if not isinstance(batch, (list, tuple)):
        return batch
    if len(batch) != 2:
        raise DataError(
            f"{_origin(source)} yields {len(batch)} parts to predict on; it must yield features, "
            "or (features, labels)"
        )
    return batch[0]


def _prefetched(dataset: Any, count: int) -> Any:
    """Makes the next batches while the last ones are in use, without tf.data's autotuner.

    The autotuner's thread can keep a session from closing for half a minute (seen with
    TensorFlow 2.21). Without it `tf.data.AUTOTUNE` means one call per core. An input that
    sets the option keeps its choice.
    """
    with warnings.catch_warnings():
        # In graph mode TensorFlow warns that options set inside the graph are not seen.
        warnings.simplefilter("ignore", UserWarning)
        chosen = dataset.options().autotune.enabled is not None
    if not chosen:
        options = tf.data.Options()
        options.autotune.enabled = False
        dataset = dataset.with_options(options)
    return dataset.prefetch(_PREFETCHED * count)


def _is_dataset(value: Any) -> bool:
    # The v1 class would leave out the data sets that plugins make with TensorFlow 2's names.
    return isinstance(value, tf.compat.v2.data.Dataset)


def _origin(source: Any) -> str:
    """The name of an input in messages; a source that stands for another one has its own."""
    return getattr(source, "origin", None) or describe_method(source, "dataset")

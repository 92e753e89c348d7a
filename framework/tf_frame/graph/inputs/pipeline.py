"""Builds the input pipeline in the graph: one batch per clone, in a fixed order.

A clone is a copy of the model on one device. The order is fixed, so that each clone gets the same
examples when a run is repeated or resumed.

    result of the input's `dataset()`           batch of a clone
    a tf.data.Dataset of (features, labels)     the next features and labels
    a function that returns (features, labels)  its result, called once per clone
    a list or tuple of these                    a list of features, a list of labels

The function is for queues: `dataset()` makes the queue, and the function takes one batch.
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

# Batches per clone that are prefetched while a step runs: the capacity of slim's prefetch queue
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
      DataError: the input returned something else; see the module.
    """
    # device(None): `variables_placed` must not move the tables of a pipeline.
    with tf.device(None), tf.device(deployment.inputs_device()), tf.name_scope("input"):
        count = deployment.num_clones
        parts, several = _parts(source, mode, context, count=count)
        per_part = [_batches(part, source, count=count) for part in parts]
    per_clone = zip(*per_part, strict=True)
    return [_join_parts(batches) for batches in per_clone] if several else per_part[0]


def make_eval_batch(source: Any, context: InputContext, take: int) -> tuple[Any, Any, Any]:
    """Takes the batch of an evaluation step, in the current device scope.

    Lists of data sets end with the shortest one. The queue of a function must close after one pass,
    because its number of batches is unknown; or the caller counts the steps.

    Arguments and errors as of `make_batches`; `take` is the largest number of batches of a data
    set, -1: all.

    Returns:
      Features, labels, and a scalar bool tensor: whether the data is known never to end.
    """
    parts, several = _parts(source, Mode.EVAL, context, take=take)
    batches = [_batches(part, source)[0] for part in parts]
    features, labels = _join_parts(batches) if several else batches[0]
    return features, labels, _endless(parts)


def make_predict_batch(source: Any, context: InputContext) -> tuple[Any, Any]:
    """Takes the features of a batch to predict on, in the current device scope.

    The data set or function of the input may leave out labels. A pair counts as features and
    labels, and the labels are dropped. The data may repeat for ever. Arguments and errors as of
    `make_batches`.

    Returns:
      The features, a list if the input returned a list; and a scalar bool tensor: whether the data
      is known never to end.
    """
    parts, several = _parts(source, Mode.PREDICT, context)
    features = [_without_labels(_batches(part, source)[0], source) for part in parts]
    return features if several else features[0], _endless(parts)


def _parts(
    source: Any, mode: Mode, context: InputContext, *, take: int = -1, count: int = 1
) -> tuple[list[Any], bool]:
    """The data sets and functions of an input, and whether the input returned a list.

    At most `take` batches of a data set are taken (-1: all), `count` in each step.
    """
    returned = source.dataset(mode, context)

    def checked(part: Any) -> Any:
        if _is_dataset(part):
            if mode != Mode.PREDICT:
                _check_labelled(part.element_spec, source)
            return _prefetched(part.take(take), count)
        if not callable(part):
            raise DataError(
                f"{_origin(source)} returned {short_repr(returned)}; it must return a "
                "tf.data.Dataset of batched (features, labels), a function that returns a batch "
                f"of them, or a list of these{_iterator_advice(part)}"
            )
        # To predict, a function may return features alone.
        predicts = mode == Mode.PREDICT
        return (lambda: (_without_labels(part(), source), None)) if predicts else part

    several = isinstance(returned, (list, tuple)) and len(returned) > 0
    return [checked(part) for part in (returned if several else [returned])], several


def _iterator_advice(part: Any) -> str:
    """Returns advice for an iterator of a data set, or a tensor of its batch; else nothing."""
    if not (hasattr(part, "get_next") or tf.is_tensor(part)):
        return ""
    return "; return the data set itself, without make_one_shot_iterator() and get_next()"


def _batches(part: Any, source: Any, *, count: int = 1) -> list[Batch]:
    """The next `count` batches of a data set or function."""
    if _is_dataset(part):
        return dataset_batches(part, count)
    plain_values = getattr(source, "plain_values", False)
    return function_batches(part, count, origin=_origin(source), plain_values=plain_values)


def _join_parts(batches: Iterable[Batch]) -> Batch:
    """Joins the batches of several parts: a list of features, a list of labels."""
    features, labels = zip(*batches, strict=True)
    return list(features), list(labels)


def _endless(parts: Iterable[Any]) -> Any:
    """A scalar bool tensor: whether all parts are data sets that are known never to end."""
    infinite = tf.data.experimental.INFINITE_CARDINALITY
    if not all(map(_is_dataset, parts)):
        return tf.constant(False)
    return tf.reduce_all(
        [tf.equal(size, infinite) for size in map(tf.data.experimental.cardinality, parts)]
    )


def _check_labelled(spec: Any, source: Any) -> None:
    if not (isinstance(spec, tuple) and len(spec) == 2):
        raise DataError(
            f"{_origin(source)} returned a data set of {spec}; it must yield (features, labels)"
        )


def _without_labels(batch: Any, source: Any) -> Any:
    """Drops the labels of a pair (tensorflow_estimator, util.py `parse_iterator_result`)."""
    if not isinstance(batch, (list, tuple)):
        return batch
    if len(batch) != 2:
        raise DataError(
            f"{_origin(source)} yields {len(batch)} parts to predict on; it must yield features, "
            "or (features, labels)"
        )
    return batch[0]


def _prefetched(dataset: Any, count: int) -> Any:
    """Prefetches batches, without tf.data's autotuner unless the input chose it.

    The autotuner's thread can keep a session from closing for half a minute (seen with TensorFlow
    2.21). Without the autotuner, `tf.data.AUTOTUNE` means one call per core.
    """
    with warnings.catch_warnings():
        # In graph mode TensorFlow warns that it does not see options set inside the graph.
        warnings.simplefilter("ignore", UserWarning)
        chosen = dataset.options().autotune.enabled is not None
    if not chosen:
        options = tf.data.Options()
        options.autotune.enabled = False
        dataset = dataset.with_options(options)
    return dataset.prefetch(_PREFETCHED * count)


def _is_dataset(value: Any) -> bool:
    # The v1 class would not match the data sets that plugins make with TensorFlow 2's names.
    return isinstance(value, tf.compat.v2.data.Dataset)


def _origin(source: Any) -> str:
    """The name of an input in messages; a source that wraps an input has an `origin`."""
    return getattr(source, "origin", None) or describe_method(source, "dataset")

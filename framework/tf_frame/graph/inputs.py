"""The input pipeline in the graph: one batch per clone, in a fixed order."""

from __future__ import annotations

import warnings
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.deploy.deployment_config import DeploymentConfig
from tf_frame.errors import DataError
from tf_frame.graph.messages import seen
from tf_frame.plugin import InputContext, Mode

# Batches made ahead of their use, so that the input works while the step runs.
_PREFETCHED = 2


def make_dataset(source: Any, mode: Mode, context: InputContext, *, take: int = -1) -> Any:
    """Asks an input for its data set, prefetched.

    Args:
      source: the input plugin.
      mode: what the data is for.
      context: batch size per clone, seed, shard.
      take: batches at most; -1 for all there are.

    Raises:
      DataError: it returns no data set, or one that does not yield
        `(features, labels)`.
    """
    dataset = source.dataset(mode, context)
    _check_pairs(dataset, source)
    return _without_autotune(dataset.take(take)).prefetch(_PREFETCHED)


def _without_autotune(dataset: Any) -> Any:
    """Turns tf.data's autotuner off, unless the input has decided about it itself.

    Its thread can keep a session from closing for half a minute (seen with
    TensorFlow 2.21). Without it `tf.data.AUTOTUNE` means one call per core.
    """
    with warnings.catch_warnings():
        # In graph mode it warns that options set inside the graph are not seen.
        warnings.simplefilter("ignore", UserWarning)
        if dataset.options().autotune.enabled is not None:
            return dataset
    options = tf.data.Options()
    options.autotune.enabled = False
    return dataset.with_options(options)


def make_batches(
    source: Any, mode: Mode, context: InputContext, deployment: DeploymentConfig
) -> list[tuple[Any, Any]]:
    """Builds the input on its device and takes one batch of it for each clone.

    Args:
      source: the input plugin.
      mode: what the data is for.
      context: batch size per clone, seed, shard.
      deployment: number of clones, and the inputs device.

    Returns:
      `(features, labels)` of each clone.
    """
    with tf.device(deployment.inputs_device()), tf.name_scope("input"):
        return take_batches(make_dataset(source, mode, context), deployment.num_clones)


def take_batches(dataset: Any, count: int) -> list[tuple[Any, Any]]:
    """Takes `count` batches a step, in turns: the second is always the one after the first.

    The iterator is initialised with the tables, so a `Scaffold` does it.
    """
    iterator = tf.data.make_initializable_iterator(dataset)
    tf.add_to_collection(tf.GraphKeys.TABLE_INITIALIZERS, iterator.initializer)
    batches: list[tuple[Any, Any]] = []
    for _ in range(count):
        with tf.control_dependencies(tf.nest.flatten(batches[-1])[:1] if batches else []):
            batches.append(iterator.get_next())
    return batches


def _check_pairs(dataset: Any, source: Any) -> None:
    # The v1 class would leave out the data sets that plugins make with TensorFlow 2's names.
    if not isinstance(dataset, tf.compat.v2.data.Dataset):
        raise DataError(
            f"{type(source).__name__}.dataset() returned {seen(dataset)}; it must return a "
            "tf.data.Dataset of batched (features, labels)"
        )
    spec = dataset.element_spec
    if not (isinstance(spec, tuple) and len(spec) == 2):
        raise DataError(
            f"the input {type(source).__name__} must yield (features, labels), it yields {spec}"
        )

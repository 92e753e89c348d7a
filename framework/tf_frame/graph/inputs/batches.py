"""The input pipeline in the graph: one batch per clone, in a fixed order.

What an input may return, and what each clone gets of it:

    a tf.data.Dataset of (features, labels)     its next features and labels
    a function that returns (features, labels)  what it returns, called once per clone
    a list or tuple of these                    a list of features, a list of labels

The function is for pipelines of queues: `dataset()` makes the queue, and the
function takes one batch from it.
"""

from __future__ import annotations

import warnings
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.deploy.deployment_config import DeploymentConfig
from tf_frame.errors import DataError
from tf_frame.graph.inputs.streams import Batch, DatasetStream, FunctionStream, Stream
from tf_frame.graph.messages import seen
from tf_frame.plugin import InputContext, Mode

# Batches made ahead of their use, so that the input works while the step runs; for each clone two,
# the capacity of slim's prefetch queue (tensorflow/models, slim/train_image_classifier.py).
_PREFETCHED = 2


def make_batches(
    source: Any, mode: Mode, context: InputContext, deployment: DeploymentConfig
) -> list[Batch]:
    """Builds the input on its device and takes one batch of it for each clone.

    Args:
      source: the input plugin.
      mode: what the data is for.
      context: batch size per clone, seed, shard.
      deployment: number of clones, and the inputs device.

    Returns:
      `(features, labels)` of each clone.

    Raises:
      DataError: the input returns something else than the module says.
    """
    # device(None) keeps the tables of a pipeline beside it: variables_placed does not see them.
    with tf.device(None), tf.device(deployment.inputs_device()), tf.name_scope("input"):
        streams = _streams(source, mode, context, -1, deployment.num_clones)
        return _dealt(streams, deployment.num_clones)


def make_eval_batch(source: Any, context: InputContext, take: int) -> tuple[Any, Any, Any]:
    """Takes the batch of an evaluation step, in the current device scope.

    Lists of data sets end with the shortest one. Whether a function's batches
    end is not known beforehand: its queue has to close after one pass.

    Args:
      source: the input plugin.
      context: batch size, seed, shard.
      take: batches at most; -1 for all there are.

    Returns:
      Features, labels, and a scalar bool tensor: whether the data is known
      never to end.

    Raises:
      DataError: the input returns something else than the module says.
    """
    streams = _streams(source, Mode.EVAL, context, take, 1)
    ((features, labels),) = _dealt(streams, 1)
    return features, labels, tf.reduce_all([stream.endless for stream in _listed(streams)])


def make_predict_batch(source: Any, context: InputContext) -> tuple[Any, Any]:
    """Takes the features of a batch to predict on, in the current device scope.

    Here an input may leave labels out: its data set yields features alone, its
    function returns them alone. A pair counts as features and labels, and the
    labels are dropped. The data may repeat for ever.

    Args:
      source: the input plugin.
      context: batch size, seed, shard.

    Returns:
      The features, a list where the input returned a list; and a scalar bool
      tensor: whether the data is known never to end.

    Raises:
      DataError: the input returns something else.
    """
    returned = source.dataset(Mode.PREDICT, context)
    several = isinstance(returned, (list, tuple)) and len(returned) > 0
    streams = [
        _unlabelled_stream(part, returned, source) for part in (returned if several else [returned])
    ]
    features = [_without_labels(stream.batches(1)[0], source) for stream in streams]
    endless = tf.reduce_all([stream.endless for stream in streams])
    return features if several else features[0], endless


def _unlabelled_stream(part: Any, returned: Any, source: Any) -> Stream:
    if _is_dataset(part):
        return DatasetStream(_ahead(part, 1))
    if callable(part):
        # The stream's function returns pairs.
        return FunctionStream(
            lambda: (_without_labels(part(), source), None), origin=_origin(source), take=-1
        )
    raise _wrong(source, returned)


def _without_labels(batch: Any, source: Any) -> Any:
    """Features of a batch with labels or without.

    A pair is one with labels (tensorflow_estimator, util.py `parse_iterator_result`).
    """
    if not isinstance(batch, (list, tuple)):
        return batch
    if len(batch) != 2:
        raise DataError(
            f"{_origin(source)} yields {len(batch)} parts to predict on; it must yield features, "
            "or (features, labels)"
        )
    return batch[0]


def _streams(
    source: Any, mode: Mode, context: InputContext, take: int, num_clones: int
) -> Stream | list[Stream]:
    """What an input returned, checked; a list where it returned several."""
    returned = source.dataset(mode, context)

    def stream(part: Any) -> Stream:
        if _is_dataset(part):
            return DatasetStream(_prepared(part, source, take, num_clones))
        if callable(part):
            return FunctionStream(part, origin=_origin(source), take=take)
        raise _wrong(source, returned)

    if isinstance(returned, (list, tuple)) and returned:
        return [stream(part) for part in returned]
    return stream(returned)


def _listed(streams: Stream | list[Stream]) -> list[Stream]:
    return streams if isinstance(streams, list) else [streams]


def _dealt(streams: Stream | list[Stream], count: int) -> list[Batch]:
    """`count` batches of each stream; lists of features and labels where there are several."""
    if not isinstance(streams, list):
        return streams.batches(count)
    per_clone = zip(*(stream.batches(count) for stream in streams), strict=True)
    return [
        ([features for features, _ in parts], [labels for _, labels in parts])
        for parts in per_clone
    ]


def _prepared(dataset: Any, source: Any, take: int, num_clones: int) -> Any:
    spec = dataset.element_spec
    if not (isinstance(spec, tuple) and len(spec) == 2):
        raise DataError(
            f"the input {type(source).__name__} must yield (features, labels), it yields {spec}"
        )
    return _ahead(dataset.take(take), num_clones)


def _ahead(dataset: Any, num_clones: int) -> Any:
    """Works on the next batches while the last is in use."""
    return _without_autotune(dataset).prefetch(_PREFETCHED * num_clones)


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


def _is_dataset(value: Any) -> bool:
    # The v1 class would leave out the data sets that plugins make with TensorFlow 2's names.
    return isinstance(value, tf.compat.v2.data.Dataset)


def _origin(source: Any) -> str:
    """What a message calls an input; one that stands for another has a word of its own."""
    return getattr(source, "origin", None) or f"{type(source).__name__}.dataset()"


def _wrong(source: Any, returned: Any) -> DataError:
    return DataError(
        f"{_origin(source)} returned {seen(returned)}; it must return a "
        "tf.data.Dataset of batched (features, labels), a function that returns a batch of them, "
        "or a list of these"
    )

"""Skips examples that cannot be used, counts and reports them (`--input.skip_corrupt`).

A few damaged files then neither end a long run nor vanish unnoticed.
With `--input.skip_corrupt` every example has two more features:

    skipped        int64: number of examples that were left out so far
    skipped_first  string: the first of them, one a line, each with the reason

Of a training stream that repeats, the first pass counts. Both belong to the position in the
input, so that a run that was stopped continues the count. A model hands them to the user:

    counted = count_skipped(features)
    features = counted.features
    ModelOutput(hooks=counted.hooks, metrics={**metrics, **counted.metrics}, ...)
"""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.hooks import Cadence, Hook, Phase
from tf_frame.text import printable
from tf_frame_vision.reading.examples import without_autograph

SKIPPED = "skipped"
SKIPPED_FIRST = "skipped_first"
_LOG = logging.getLogger("tf_frame")
_NAMED = 5
_COUNTED = "tf_frame_vision/skipped"


def without_unusable(read: Any, *, count: int, damaged: Sequence[str]) -> Any:
    """Leaves out examples with a problem.

    Args:
      read: data set of `(number, example)`; see `examples`.
      count: number of examples in one pass.
      damaged: further parts of the data that cannot be read, a line each.

    Returns:
      A data set of `(number, example, skipped)`; `skipped` holds the two features.

    Raises:
      tf.errors.InvalidArgumentError: at run time: a whole pass has no example to use.
    """
    start = (
        tf.constant(len(damaged), tf.int64),
        tf.constant("\n".join(damaged[:_NAMED])),
        tf.constant(0, tf.int64),
    )

    def counted(state: Any, element: Any) -> Any:
        number, example = element
        skipped, first, in_a_row = state
        problem = example["problem"]
        is_bad = tf.not_equal(problem, "")
        is_new = is_bad & (number < count)
        longer = tf.strings.join([first, problem], separator="\n")
        longer = tf.where(tf.equal(first, ""), problem, longer)
        first = tf.where(is_new & (skipped < _NAMED), longer, first)
        skipped += tf.cast(is_new, tf.int64)
        in_a_row = tf.where(is_bad, in_a_row + 1, tf.zeros_like(in_a_row))
        message = as_utf8(tf.strings.join(["not one example can be used, such as ", problem]))
        with tf.control_dependencies([tf.Assert(in_a_row < 2 * count, [message])]):
            state = tuple(map(tf.identity, (skipped, first, in_a_row)))
        return state, (number, example, {SKIPPED: state[0], SKIPPED_FIRST: state[1]}, is_bad)

    scanned = read.scan(start, without_autograph(counted))
    usable = scanned.filter(without_autograph(lambda number, example, skipped, is_bad: ~is_bad))
    return usable.map(
        without_autograph(lambda number, example, skipped, is_bad: (number, example, skipped))
    )


@dataclasses.dataclass(frozen=True)
class Counted:
    """Features, hooks and metrics that a model passes on.

    Attributes:
      features: to be used instead of those that the model was given.
      hooks: session hooks for training and evaluation, which report what was left out.
      metrics: the metric `skipped_examples` for evaluation.
    """

    features: Any
    hooks: Sequence[Any] = ()
    metrics: Mapping[str, tuple[Any, Any]] = dataclasses.field(default_factory=dict)


def as_utf8(message: Any) -> Any:
    """Returns the message of an error without bytes that are no UTF-8, as of a damaged record.

    TensorFlow raises a `UnicodeDecodeError` for an error with such a message.
    """
    return tf.strings.unicode_transcode(message, "UTF-8", "UTF-8")


def count_skipped(features: Any) -> Counted:
    """Keeps count of the examples that were left out; of several clones the first one does.

    Those after the last good example of an evaluation are not counted.

    Args:
      features: a batch as the input gives it, or a list of batches of several inputs; without
        the two features nothing is added.
    """
    several = isinstance(features, list)
    batches = features if several else [features]
    if tf.get_collection(_COUNTED):
        return Counted(features)
    counted = [_counted(batch) if SKIPPED in batch else Counted(batch) for batch in batches]
    kept_features = [batch_count.features for batch_count in counted]
    hooks = tuple(hook for batch_count in counted for hook in batch_count.hooks)
    return Counted(kept_features if several else kept_features[0], hooks, counted[0].metrics)


def _counted(features: Any) -> Counted:
    count, first = _local(tf.constant(0, tf.int64), "count"), _local(tf.constant(""), "first")
    tf.add_to_collection(_COUNTED, count.op.name)
    updates = [
        tf.assign(count, features[SKIPPED][-1]),
        tf.assign(first, features[SKIPPED_FIRST][-1]),
    ]
    with tf.control_dependencies(updates):
        features = {name: tf.identity(feature) for name, feature in features.items()}
    hook = SkippedHook(tf.identity(count), tf.identity(first))
    return Counted(features, [hook], {"skipped_examples": (tf.identity(count), updates[0])})


def _local(value: Any, name: str) -> Any:
    with tf.device("/device:CPU:0"):
        return tf.Variable(
            value,
            trainable=False,
            collections=[tf.GraphKeys.LOCAL_VARIABLES, tf.GraphKeys.METRIC_VARIABLES],
            name=f"skipped_examples/{name}",
        )


class SkippedHook(Hook):
    """Warns when more examples have been left out, and names the first ones.

    Args:
      count: scalar int64 tensor, number of examples left out so far.
      first: scalar string tensor, the first of them, one a line.
    """

    phase = Phase.LOG

    def __init__(self, count: Any, first: Any) -> None:
        super().__init__(Cadence(every_steps=100))
        self._fetches = (count, first)
        self._reported = 0

    def before_step(self, run_context: Any, step: int) -> Any:
        return tf.train.SessionRunArgs(self._fetches)

    def after_step(self, run_context: Any, run_values: Any, step: int) -> None:
        self._report_new(*run_values.results)

    def end(self, session: Any) -> None:
        self._report_new(*session.run(self._fetches))

    def _report_new(self, count: int, first: bytes) -> None:
        if count <= self._reported:
            return
        new = first.decode(errors="replace").split("\n")[self._reported :]
        self._reported = int(count)
        examples = "1 example" if count == 1 else f"{count} examples"
        text = "\n  ".join([f"{examples} left out that cannot be read:", *new])
        _LOG.warning("%s", printable(text, keep="\n"))
        self.report(f"warning: {text}")

"""What a trained model says about data, example by example.

for prediction in predictions(model=model, source=source, config=config, checkpoint=path):
    print(prediction["probabilities"])
"""

from __future__ import annotations

import contextlib
import dataclasses
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.config.run_options import RunOptions
from tf_frame.errors import DataError, PluginError
from tf_frame.estimator.prediction.batches import chosen, examples_of
from tf_frame.graph.inference.inference import (
    Inference,
    RestoringSessionCreator,
    build_inference,
)
from tf_frame.graph.inputs.batches import make_predict_batch
from tf_frame.graph.inputs.streams import iterator_initializers
from tf_frame.plugin import InputContext, Mode, ModelOutput

_LOG = logging.getLogger("tf_frame")


def predictions(
    *,
    model: Any,
    source: Any,
    config: RunOptions,
    checkpoint: str | None,
    predict_keys: Sequence[str] | str | None = None,
    hooks: Sequence[Any] = (),
    yield_single_examples: bool = True,
    session_config: Any = None,
    check: Callable[[], None] = lambda: None,
    with_features: bool = False,
    must_end: bool = False,
) -> Iterator[Any]:
    """Predicts until the data ends.

    Nothing happens before the first value is asked for. Between two values no
    graph is the default one, so that several predictions may go on at once.
    Closing the generator closes its session; as always when a
    `tf.compat.v1.train.MonitoredSession` is left by an exception, the hooks'
    `end` is not called then.

    Args:
      model: the model plugin; built for `Mode.PREDICT`, with labels None.
      source: the input; see `tf_frame.graph.inputs.batches.make_predict_batch`.
      config: batch size (`eval_batch_size`), seed, moving averages, quantisation.
      checkpoint: path prefix; None predicts with newly initialised variables.
      predict_keys: names of the predictions to compute; None or empty: all.
      hooks: session hooks, beside those of the model.
      yield_single_examples: whether to take batches apart.
      session_config: the `ConfigProto`; default: with soft placement.
      check: called before each batch; may raise to stop.
      with_features: whether to yield pairs `(features, prediction)`.
      must_end: whether data that repeats for ever is an error.

    Yields:
      For each example a dict of arrays without the batch dimension, or one array
      where the model predicts one tensor; or the same for a whole batch. Of
      features there are the dense ones: a dict, or one array.

    Raises:
      ValueError: no prediction has one of `predict_keys`, or there are keys and
        the predictions have none; or outputs of a batch differ in length.
      CheckpointError: the checkpoint belongs to another model, or cannot be read.
      PluginError: the model predicts nothing.
      DataError: the input is no such thing, or does not end and must.
    """
    graph = tf.Graph()
    with graph.as_default():
        built = _build(model, source, config, predict_keys, with_features)
        creator = RestoringSessionCreator(built.inference, checkpoint, session_config)
        session = tf.train.MonitoredSession(creator, hooks=built.with_hooks(hooks))
    with _closing_in(graph, session):
        # Not `session.run`, of which hooks hear.
        if must_end and session.run_step_fn(built.is_endless):
            raise DataError("the data to predict on never ends; say how much: --eval_steps N")
        while not session.should_stop():
            check()
            with graph.as_default():
                features, batch, _ = session.run(built.fetches)
            pairs = examples_of(features, batch) if yield_single_examples else [(features, batch)]
            yield from pairs if with_features else (predicted for _, predicted in pairs)


@dataclasses.dataclass(frozen=True)
class _Built:
    """A model to predict with.

    Attributes:
      inference: the model.
      fetches: features that go out as well, predictions, and what uses a batch up.
      endless: scalar bool tensor: whether the data is known never to end.
    """

    inference: Inference
    fetches: tuple[Any, Any, Any]
    endless: Any

    def with_hooks(self, given: Sequence[Any]) -> list[Any]:
        """All hooks: with a model's own `local_init_op`, also what starts the input."""
        own_start = self.inference.scaffold.local_init_op is not None
        first = [_StartsInput(iterator_initializers())] if own_start else []
        return [*first, *given, *self.inference.output.hooks]

    def is_endless(self, step_context: Any) -> bool:
        """Asks a session."""
        return bool(step_context.session.run(self.endless))


def _build(
    model: Any,
    source: Any,
    config: RunOptions,
    predict_keys: Sequence[str] | str | None,
    with_features: bool,
) -> _Built:
    tf.set_random_seed(config.random_seed)
    tf.train.get_or_create_global_step()
    features, endless = _features(source, config)
    inference = build_inference(
        model=model, features=features, labels=None, mode=Mode.PREDICT, config=config
    )
    outputs = chosen(_predicted(model, inference.output), predict_keys)
    # Predictions need not look at the features, but every step must use a batch up.
    used = tf.group(*_tensors(features))
    return _Built(inference, (_dense(features) if with_features else {}, outputs, used), endless)


def _features(source: Any, config: RunOptions) -> tuple[Any, Any]:
    context = InputContext(batch_size=config.eval_batch_size, seed=config.random_seed)
    with tf.device("/device:CPU:0"):
        features, endless = make_predict_batch(source, context)
    if not _may_end(features):
        # As tensorflow_estimator, estimator.py, says it.
        _LOG.warning(
            "Input graph does not use tf.data.Dataset or contain a QueueRunner. That means predict "
            "yields forever. This is probably a mistake."
        )
    return features, endless


class _StartsInput(tf.train.SessionRunHook):
    """Initialises iterators once there is a session.

    Args:
      initializers: the ops that do it.
    """

    def __init__(self, initializers: Sequence[Any]) -> None:
        self._initializers = initializers

    def after_create_session(self, session: Any, coord: Any) -> None:
        session.run(self._initializers)


def _may_end(features: Any) -> bool:
    """Whether the features come from a data set or the graph has a queue."""
    from_dataset = any(tensor.op.type == "IteratorGetNext" for tensor in _tensors(features))
    return from_dataset or bool(tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS))


def _tensors(features: Any) -> list[Any]:
    """The tensors of features, those within sparse and ragged ones too."""
    parts = tf.nest.flatten(features, expand_composites=True)
    return [part for part in parts if tf.is_tensor(part)]


def _predicted(model: Any, output: ModelOutput) -> Any:
    """What a model predicts; without anything to compute, predicting would never end."""
    if isinstance(output.predictions, Mapping) and not output.predictions:
        raise PluginError(
            f"{type(model).__name__}.build() returned no predictions for the mode PREDICT; put "
            "them into ModelOutput(predictions={name: tensor})"
        )
    return output.predictions


def _dense(features: Any) -> Any:
    """Of features those that a session returns as arrays: of a mapping, or the only one."""
    if isinstance(features, Mapping):
        return {key: value for key, value in features.items() if isinstance(value, tf.Tensor)}
    return features if isinstance(features, tf.Tensor) else {}


@contextlib.contextmanager
def _closing_in(graph: Any, session: Any) -> Iterator[None]:
    """Closes a monitored session in its graph, which hooks expect to be the default one."""
    with contextlib.ExitStack() as stack:

        def leave(*failure: Any) -> Any:
            with graph.as_default():
                return session.__exit__(*failure)

        stack.push(leave)
        yield

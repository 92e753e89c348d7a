"""`predictions`: a generator of a trained model's predictions, example by example.

    for prediction in predictions(model=model, source=source, config=config, checkpoint=path):
        print(prediction["probabilities"])

`Estimator.predict` and `tf-frame predict` use this generator. It holds only one batch in memory.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

from tf_frame.config.run_options import RunOptions
from tf_frame.deploy.session_config import inference_session_config
from tf_frame.errors import DataError, PluginError
from tf_frame.graph.inference.build_inference import (
    Inference,
    RestoringSessionCreator,
    build_inference,
)
from tf_frame.graph.inputs.pipeline import make_predict_batch
from tf_frame.graph.inputs.streams import batch_tensors, iterator_initializers
from tf_frame.plugin import InputContext, Mode, ModelOutput
from tf_frame.plugin.needs import check_batch
from tf_frame.plugin.origin import describe_method

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

    Nothing happens before the first value is requested. Between two values there is no default
    graph: several generators may be in use. Closing the generator closes its session, but does not
    call the `end` of hooks, as after any exception in a `tf.compat.v1.train.MonitoredSession`.

    Args:
      model: the model plugin; built for `Mode.PREDICT`, with labels None.
      source: the input; see `tf_frame.graph.inputs.pipeline.make_predict_batch`.
      config: batch size (`eval_batch_size`), seed, moving averages, quantisation.
      checkpoint: path prefix; None predicts with newly initialised variables.
      predict_keys: names of the predictions to compute; None or empty for all.
      hooks: further session hooks, in addition to the hooks of the model.
      yield_single_examples: split batches into examples.
      session_config: a `ConfigProto` with fields that override `config`; default: with soft
        placement.
      check: called before each batch; an exception ends the prediction.
      with_features: yield pairs `(features, prediction)`.
      must_end: data that repeats for ever is an error.

    Yields:
      For each example, or for each batch, a dict of arrays, or one array if the model predicts
      one tensor. Only dense features are yielded: a dict, or one array.

    Raises:
      ValueError: no prediction has one of `predict_keys`, or the predictions have no names; or
        outputs of a batch differ in length.
      CheckpointError: the checkpoint belongs to another model, or cannot be read.
      PluginError: the model predicts nothing.
      DataError: the input has no data set, or the data never ends in spite of `must_end`.
    """
    graph = tf.Graph()
    with graph.as_default():
        tf.set_random_seed(config.random_seed)
        tf.train.get_or_create_global_step()
        features, endless = _features(source, config)
        check_batch(model, source, features, None)
        inference = build_inference(
            model=model, features=features, labels=None, mode=Mode.PREDICT, config=config
        )
        outputs = _select(_check_predictions(model, inference.output), predict_keys)
        # Predictions need not depend on the features, but every step must consume a batch.
        consume = tf.group(*batch_tensors(features))
        fetches = (_dense(features) if with_features else {}, outputs, consume)
        proto = inference_session_config(config, session_config)
        creator = RestoringSessionCreator(inference, checkpoint, proto)
        all_hooks = [*_input_hooks(inference), *hooks, *inference.output.hooks]
        session = tf.train.MonitoredSession(creator, hooks=all_hooks)
    with _closing_in(graph, session):
        # `session.run` would call the hooks.
        if must_end and session.run_step_fn(lambda step_context: step_context.session.run(endless)):
            raise DataError("the data to predict on never ends; say how much: --eval_steps N")
        while not session.should_stop():
            check()
            with graph.as_default():
                features, batch, _ = session.run(fetches)
            pairs = _examples(features, batch) if yield_single_examples else [(features, batch)]
            yield from pairs if with_features else (predicted for _, predicted in pairs)


def _features(source: Any, config: RunOptions) -> tuple[Any, Any]:
    context = InputContext(batch_size=config.eval_batch_size, seed=config.random_seed)
    with tf.device("/device:CPU:0"):
        features, endless = make_predict_batch(source, context)
    if not _may_end(features):
        # The text of tensorflow_estimator, estimator.py.
        _LOG.warning(
            "Input graph does not use tf.data.Dataset or contain a QueueRunner. That means predict "
            "yields forever. This is probably a mistake."
        )
    return features, endless


def _input_hooks(inference: Inference) -> list[Any]:
    """Returns a hook that initialises the input if the model replaces the `local_init_op`."""
    if inference.scaffold.local_init_op is None:
        return []
    initializers, hook = iterator_initializers(), tf.train.SessionRunHook()
    hook.after_create_session = lambda session, coord: session.run(initializers)
    return [hook]


def _may_end(features: Any) -> bool:
    """Returns whether the features come from a data set or the graph has a queue."""
    from_dataset = any(tensor.op.type == "IteratorGetNext" for tensor in batch_tensors(features))
    return from_dataset or bool(tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS))


def _check_predictions(model: Any, output: ModelOutput) -> Any:
    """Returns the predictions of a model; raises a PluginError without any."""
    # With nothing to compute, prediction would never end.
    if isinstance(output.predictions, Mapping) and not output.predictions:
        raise PluginError(
            f"{describe_method(model, 'build')} returned no predictions for the mode PREDICT; put "
            "them into ModelOutput(predictions={name: tensor})"
        )
    return output.predictions


def _dense(features: Any) -> Any:
    """Returns the dense features: a dict, or one tensor."""
    if isinstance(features, Mapping):
        return {key: value for key, value in features.items() if isinstance(value, tf.Tensor)}
    return features if isinstance(features, tf.Tensor) else {}


@contextlib.contextmanager
def _closing_in(graph: Any, session: Any) -> Iterator[None]:
    """Closes a monitored session while its graph is the default one, as hooks expect."""
    with contextlib.ExitStack() as stack:

        def leave(*failure: Any) -> Any:
            with graph.as_default():
                return session.__exit__(*failure)

        stack.push(leave)
        yield


def _select(outputs: Any, predict_keys: Sequence[str] | str | None) -> Any:
    """Returns the predictions with some keys, which need not all exist; all without keys.

    Raises:
      ValueError: no key exists, or the outputs have no names; texts of
        tensorflow_estimator, estimator.py.
    """
    if not predict_keys:
        return dict(outputs) if isinstance(outputs, Mapping) else outputs
    if not isinstance(outputs, Mapping):
        raise ValueError("predict_keys argument is not valid in case of non-dict predictions.")
    keys = [predict_keys] if isinstance(predict_keys, str) else predict_keys
    selected = {key: value for key, value in outputs.items() if key in keys}
    if not selected:
        raise ValueError(
            f"Expected to run at least one output from {outputs.keys()}, provided {predict_keys}."
        )
    return selected


class BatchLengthError(PluginError, ValueError):
    """The predictions of a batch do not have a row for each example; a `ValueError` for scripts."""


def _examples(features: Any, outputs: Any) -> Iterator[tuple[Any, Any]]:
    """Yields features and prediction of each example of a batch.

    Each example gets an array of features whole if its length is not the length of the batch.

    Raises:
      BatchLengthError: predictions differ in length, or one is a scalar.
    """
    length = _length(outputs)
    for index in range(length):
        yield _example(features, index, length), _example(outputs, index, length)


def _length(outputs: Any) -> int:
    named = outputs if isinstance(outputs, Mapping) else {"the prediction": outputs}
    length = None
    for key, value in named.items():
        # The text of tensorflow_estimator, estimator.py.
        if not np.ndim(value):
            raise BatchLengthError(
                f"Batch length of predictions should be same. {key} is a scalar and has no row for "
                "each example; make it one for each, or pass yield_single_examples=False to "
                "Estimator.predict."
            )
        length = len(value) if length is None else length
        if len(value) != length:
            raise BatchLengthError(
                f"Batch length of predictions should be same. {key} has different batch length "
                "than others."
            )
    return length or 0


def _example(batch: Any, index: int, length: int) -> Any:
    if isinstance(batch, Mapping):
        return {key: _example(value, index, length) for key, value in batch.items()}
    return batch[index] if np.ndim(batch) and len(batch) == length else batch

"""What a trained model says about data, example by example.

for prediction in predictions(model=model, source=source, config=config, checkpoint=path):
    print(prediction["probabilities"])
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

from tf_frame.config.run_options import RunOptions
from tf_frame.errors import PluginError
from tf_frame.graph.inference import build_inference
from tf_frame.graph.inputs import make_predict_batch
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
) -> Iterator[Any]:
    """Predicts until the data ends.

    Nothing happens before the first value is asked for. Between two values no
    graph is the default one, so that several predictions may go on at once.
    Closing the generator closes its session; as always when a
    `tf.compat.v1.train.MonitoredSession` is left by an exception, the hooks'
    `end` is not called then.

    Args:
      model: the model plugin; built for `Mode.PREDICT`, with labels None.
      source: the input; see `tf_frame.graph.inputs.make_predict_batch`.
      config: batch size (`eval_batch_size`), seed, moving averages, quantisation.
      checkpoint: path prefix; None predicts with newly initialised variables.
      predict_keys: names of the predictions to compute; None or empty: all.
      hooks: session hooks, beside those of the model.
      yield_single_examples: whether to take batches apart.
      session_config: the `ConfigProto`; default: with soft placement.
      check: called before each batch; may raise to stop.
      with_features: whether to yield pairs `(features, prediction)`.

    Yields:
      For each example a dict of arrays without the batch dimension, or one array
      where the model predicts one tensor; or the same for a whole batch. Of
      features there are the dense ones: a dict, or one array.

    Raises:
      ValueError: no prediction has one of `predict_keys`, or there are keys and
        the predictions have none; or outputs of a batch differ in length.
      CheckpointError: the checkpoint belongs to another model.
      PluginError: the model predicts nothing.
    """
    graph = tf.Graph()
    with graph.as_default():
        tf.set_random_seed(config.random_seed)
        features = _features(source, config)
        inference = build_inference(
            model=model, features=features, labels=None, mode=Mode.PREDICT, config=config
        )
        outputs = _chosen(_predicted(model, inference.output), predict_keys)
        if checkpoint is not None:
            inference.check(checkpoint)
        creator = tf.train.ChiefSessionCreator(
            inference.scaffold,
            config=session_config or tf.ConfigProto(allow_soft_placement=True),
            checkpoint_filename_with_path=checkpoint,
        )
        fetches = {"features": _dense(features) if with_features else {}, "outputs": outputs}
        # Predictions need not look at the features, but every step must use a batch up.
        fetches["used"] = tf.group(*_tensors(features))
        hooks = [*hooks, *inference.output.hooks]
        session = tf.train.MonitoredSession(creator, hooks=hooks)
    with _closing_in(graph, session):
        while not session.should_stop():
            check()
            with graph.as_default():
                batch = session.run(fetches)
            shown, outputs = batch["features"], batch["outputs"]
            if not yield_single_examples:
                yield (shown, outputs) if with_features else outputs
                continue
            length = _length(outputs)
            for index in range(length):
                prediction = _example(outputs, index, length)
                yield (_example(shown, index, length), prediction) if with_features else prediction


def _features(source: Any, config: RunOptions) -> Any:
    context = InputContext(batch_size=config.eval_batch_size, seed=config.random_seed)
    with tf.device("/device:CPU:0"):
        features = make_predict_batch(source, context)
    if not _may_end(features):
        # As tensorflow_estimator, estimator.py, says it.
        _LOG.warning(
            "Input graph does not use tf.data.Dataset or contain a QueueRunner. That means predict "
            "yields forever. This is probably a mistake."
        )
    return features


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


def _chosen(outputs: Any, predict_keys: Sequence[str] | str | None) -> Any:
    """The predictions with these keys; the texts are those of tensorflow_estimator."""
    if not predict_keys:
        return dict(outputs) if isinstance(outputs, Mapping) else outputs
    if not isinstance(outputs, Mapping):
        raise ValueError("predict_keys argument is not valid in case of non-dict predictions.")
    keys = [predict_keys] if isinstance(predict_keys, str) else predict_keys
    chosen = {key: value for key, value in outputs.items() if key in keys}
    if not chosen:
        raise ValueError(
            f"Expected to run at least one output from {outputs.keys()}, provided {predict_keys}."
        )
    return chosen


def _dense(features: Any) -> Any:
    """Of features those that a session returns as arrays: of a mapping, or the only one."""
    if isinstance(features, Mapping):
        return {key: value for key, value in features.items() if isinstance(value, tf.Tensor)}
    return features if isinstance(features, tf.Tensor) else {}


def _length(batch: Any) -> int:
    """Number of examples in a batch of predictions."""
    named = batch if isinstance(batch, Mapping) else {"the prediction": batch}
    length = None
    for key, value in named.items():
        if not np.ndim(value):
            raise ValueError(
                f"Batch length of predictions should be same. {key} is a scalar and has no batch "
                "to take apart; pass yield_single_examples=False."
            )
        length = len(value) if length is None else length
        if len(value) != length:
            # As tensorflow_estimator, estimator.py, says it.
            raise ValueError(
                f"Batch length of predictions should be same. {key} has different batch length "
                "than others."
            )
    return length or 0


def _example(batch: Any, index: int, length: int) -> Any:
    """One example of a batch; a feature that belongs to all stays as it is."""
    if isinstance(batch, Mapping):
        return {key: _example(value, index, length) for key, value in batch.items()}
    return batch[index] if np.ndim(batch) and len(batch) == length else batch


@contextlib.contextmanager
def _closing_in(graph: Any, session: Any) -> Iterator[None]:
    """Closes a monitored session in its graph, which hooks expect to be the default one."""
    with contextlib.ExitStack() as stack:

        def leave(*failure: Any) -> Any:
            with graph.as_default():
                return session.__exit__(*failure)

        stack.push(leave)
        yield

"""The default step function of `learning.train`: runs one step, and traces and logs it if asked.

For scripts written for slim; a `train_step_fn` of their own may call it, too.
"""

from __future__ import annotations

import os
import time
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.profiling.run_metadata import add_run_metadata, chrome_trace, run_options, write_trace


def train_step(
    sess: Any, train_op: Any, global_step: Any, train_step_kwargs: dict[str, Any]
) -> tuple[Any, Any]:
    """Runs one step; returns the loss and whether to stop.

    As in tf_slim (learning.py). Traces have slim's numbers: with resource variables the
    global step before the step (0, 100, 200), with reference variables the global step
    after it (1, 101, 201). The log message has the global step after the step; slim
    fetched it together with the step, and so before or after the update by chance.

    Args:
      sess: the session.
      train_op: tensor that runs one step and returns the loss.
      global_step: variable that counts the steps.
      train_step_kwargs: scalar bool tensors `should_trace`, read before the step, and
        `should_log` and `should_stop`, read after it; `logdir`, the folder for traces;
        `summary_writer`. All are optional.

    Raises:
      ValueError: there is `should_trace`, but no `logdir`.
    """
    start_time = time.monotonic()
    should_trace, number = _should_trace(sess, global_step, train_step_kwargs)
    if should_trace:
        loss, step, metadata = _run_traced(sess, train_op, global_step)
        if global_step.dtype != global_step.dtype.base_dtype:  # A reference variable.
            number = step
    else:
        loss = sess.run(train_op)
    elapsed_secs = time.monotonic() - start_time
    if should_trace:
        _write(metadata, number, train_step_kwargs)
    if "should_log" in train_step_kwargs:
        should_log, step = sess.run([train_step_kwargs["should_log"], global_step])
        if should_log:
            tf.logging.info("global step %d: loss = %.4f (%.3f sec/step)", step, loss, elapsed_secs)
    stop = "should_stop" in train_step_kwargs and sess.run(train_step_kwargs["should_stop"])
    return loss, stop


def _should_trace(sess: Any, global_step: Any, train_step_kwargs: dict[str, Any]) -> Any:
    """Returns whether to trace the next step, and the global step before it."""
    if "should_trace" not in train_step_kwargs:
        return False, None
    if "logdir" not in train_step_kwargs:
        raise ValueError("logdir must be present in train_step_kwargs when should_trace is present")
    return sess.run([train_step_kwargs["should_trace"], global_step])


def _run_traced(sess: Any, train_op: Any, global_step: Any) -> tuple[Any, Any, Any]:
    options = run_options(sess.sess_str)
    metadata = tf.RunMetadata()
    loss, step = sess.run([train_op, global_step], options=options, run_metadata=metadata)
    return loss, step, metadata


def _write(metadata: Any, number: Any, train_step_kwargs: dict[str, Any]) -> None:
    path = os.path.join(train_step_kwargs["logdir"], f"tf_trace-{number}.json")
    tf.logging.info("Writing trace to %s", path)
    write_trace(path, chrome_trace(metadata))
    writer = train_step_kwargs.get("summary_writer")
    if writer is not None:
        add_run_metadata(writer, metadata, f"run_metadata-{number}")

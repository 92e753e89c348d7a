"""Trains, evaluates and exports, alone or as one task of a cluster.

train_spec = TrainSpec(train_input_fn, max_steps=1000)
eval_spec = EvalSpec(eval_input_fn, exporters=[FinalExporter("last", receiver_fn)])
metrics, exports = train_and_evaluate(estimator, train_spec, eval_spec)
"""

from __future__ import annotations

from typing import Any

from tf_frame.estimator.train_and_eval.executor import Executor, check_eval_spec
from tf_frame.estimator.train_and_eval.specs import EvalSpec, TrainSpec


def train_and_evaluate(
    estimator: Any, train_spec: TrainSpec, eval_spec: EvalSpec
) -> tuple[Any, Any] | None:
    """Trains up to `train_spec.max_steps`, and evaluates checkpoints as they are saved.

    Alone, an evaluation happens while training stands still, in the same
    process; the training session stays as it is. In a cluster, which the
    environment variable TF_CONFIG describes, a task of its own evaluates.

    Args:
      estimator: the `Estimator`.
      train_spec: what to train on, and how long.
      eval_spec: what to evaluate with, how often, and what is exported then.

    Returns:
      Alone: the metrics of the last evaluation, and a list of what the exporters
      returned after it. Where a run before this one had finished all of it,
      `(None, None)`; where it had trained everything but was stopped before
      the last evaluation or its exports were done, these are made up for. In a
      cluster: None.

    Raises:
      TypeError: an argument is of another kind.
      ValueError: TF_CONFIG names no task, or one that does not exist.
      RuntimeError: the server of this task cannot be started.
    """
    check_eval_spec(eval_spec)
    executor = Executor(estimator, train_spec, eval_spec)
    config = estimator.config
    if config.task_type == "evaluator" and config.task_id > 0:
        raise ValueError(
            "For distributed training, there can only be one `evaluator` task (with task id 0).  "
            f"Given task id {config.task_id}"
        )
    return executor.run()

"""What a learning rate is told about a run; without TensorFlow."""

from __future__ import annotations

from tf_frame.config.run_options import RunOptions
from tf_frame.plugin.contracts import ScheduleContext


def schedule_context(
    config: RunOptions, num_examples: int | None, *, batches_per_step: int = 1
) -> ScheduleContext:
    """What a schedule is told about a run.

    A step takes the batch of one worker, and with `sync_replicas` the batches of
    `replicas_to_aggregate` workers; the Inception trainer and slim count so too.

    Args:
      config: batch size, clones, replicas, steps and warm-up.
      num_examples: training examples in an epoch; None if unknown.
      batches_per_step: batches whose gradients are accumulated for one step.
    """
    per_epoch = None
    if num_examples:
        per_epoch = num_examples / _examples_per_step(config, batches_per_step)
    return ScheduleContext(
        learning_rate=config.learning_rate,
        num_steps=max(config.max_steps - skipped_steps(config), 1),
        steps_per_epoch=per_epoch,
    )


def skipped_steps(config: RunOptions) -> int:
    """Steps that the schedule does not see."""
    return config.warmup_steps if config.decay_start == "after_warmup" else 0


def _examples_per_step(config: RunOptions, batches_per_step: int) -> int:
    return config.worker_batch_size * config.aggregated_replicas * batches_per_step

"""Makes the hooks that log figures, show progress, and write summaries and timelines."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tf_frame.checkpoint.find.newest import read_step
from tf_frame.hooks.data_sheet import DataSheetHook
from tf_frame.hooks.logging import LoggingHook
from tf_frame.hooks.progress import ProgressHook
from tf_frame.hooks.stock.step_counter import StepCounterHook
from tf_frame.hooks.summary import SummaryHook, event_writer
from tf_frame.hooks.throughput import ThroughputHook
from tf_frame.hooks.timeline import TimelineHook
from tf_frame.picture_sheet import draw_examples
from tf_frame.plugin import Input
from tf_frame.profiling.machine_peak import read_peak
from tf_frame.profiling.model_cost import step_flops
from tf_frame.runs.training.parts import TrainingParts
from tf_frame.types import Tensor

# Over shorter intervals steps/s are noise, and fast models would fill the log.
_MIN_INTERVAL_SECS = 1.0


def progress_hook(parts: TrainingParts) -> ProgressHook:
    """Makes the hook that shows progress, if the user watches, and measures the mean rate."""
    shows_progress = parts.context.observer.shows_progress
    return ProgressHook(
        parts.graph.train_op,
        loss_name=list(parts.graph.losses)[-1],
        last_step=parts.config.max_steps,
        examples_per_step=parts.setup.examples_per_step(),
        every_steps=parts.config.log_every_n_steps if shows_progress else 0,
        # With one thread a batch waits for the model, and not only the model for a batch.
        input_wait=None if parts.config.inter_op_threads == 1 else parts.graph.input_wait,
        flops_per_step=_flops_per_step(parts),
        peak_flops=peak_flops(parts),
    )


def _flops_per_step(parts: TrainingParts) -> float | None:
    """Returns the floating-point operations of a global step; None: they are not known.

    A job of several tasks has steps of other tasks in its rate, and counting takes some hundredths
    of a second, which a script that trains epoch by epoch shall not pay.
    """
    is_shown = parts.context.observer.shows_progress
    if not is_shown or parts.cluster.has_several_tasks or not parts.runs_per_step():
        return None
    of_run = step_flops(parts.graph.graph, parts.graph.train_op, parts.clone_batch_size)
    return None if of_run is None else float(of_run * parts.runs_per_step())


def peak_flops(parts: TrainingParts) -> float | None:
    """Returns the FLOP/s that the devices of this process can reach; None: they are not known."""
    given = parts.config.peak_gflops
    if given is not None:
        return given * 1e9
    peak = read_peak(on_gpu=parts.deployment.has_gpu_clones)
    return peak.flops_per_sec if peak else None


def log_hooks(parts: TrainingParts) -> Iterator[Any]:
    """Yields the chief's hooks that log losses, learning rate and rates of steps."""
    every, last = parts.config.log_every_n_steps, parts.config.max_steps
    if not every:
        return
    tensors = dict(parts.graph.losses)
    if parts.graph.learning_rate is not None:
        tensors["learning_rate"] = parts.graph.learning_rate
    yield LoggingHook(tensors, every_steps=every, last_step=last, metrics=parts.context.metrics)
    # An input need not inherit from `Input`.
    if not getattr(parts.source, "counts_examples", True):
        yield StepCounterHook(every_n_steps=every, output_dir=parts.model_dir)
        return
    yield ThroughputHook(
        examples_per_step=parts.setup.examples_per_step(),
        every_steps=every,
        last_step=last,
        min_secs=_MIN_INTERVAL_SECS,
        writer=event_writer(parts.model_dir, report=parts.report),
        times=parts.times,
    )


def summary_hooks(parts: TrainingParts) -> Iterator[Any]:
    """Yields the chief's hooks that write summaries, the sheet of examples, and timelines."""
    config = parts.config
    summary_op = parts.graph.summary_op if config.writes_summaries else None
    sheet = _sheet_hook(parts, () if summary_op is None else [summary_op])
    if summary_op is not None:
        yield SummaryHook(
            parts.model_dir,
            summary_op,
            every_steps=config.save_summaries_steps or None,
            every_secs=config.save_summaries_secs,
            companions=sheet.fetches if sheet else (),
            report=parts.report,
        )
    if sheet:
        yield sheet
    if config.trace_every_n_steps or config.trace_at_step:
        yield TimelineHook(
            parts.model_dir,
            every_steps=config.trace_every_n_steps or None,
            at_steps=config.trace_at_step,
            memory=config.trace_memory,
            writer=event_writer(parts.model_dir, report=parts.report),
        )


def _sheet_hook(parts: TrainingParts, companions: Sequence[Tensor]) -> DataSheetHook | None:
    """Makes the hook that draws the first examples of a new run; None: there is no picture."""
    is_new = parts.setup.is_recorded and not read_step(parts.context.checkpoint)
    if not (is_new and (_draws(parts.source) or has_pictures(parts.graph.batches[0][0]))):
        return None
    return DataSheetHook(
        parts.model_dir,
        batches=parts.graph.batches,
        draw=functools.partial(draw_examples, parts.source),
        examples_per_step=parts.setup.config.worker_batch_size,
        writer=event_writer(parts.model_dir, report=parts.report),
        companions=companions,
        report=parts.report,
    )


def _draws(source: Any) -> bool:
    # An input need not inherit from `Input`.
    return getattr(type(source), "draw_examples", Input.draw_examples) is not Input.draw_examples


def has_pictures(features: Any) -> bool:
    """Returns whether the feature `image` of a batch is `[batch, height, width, channels]`."""
    image = features.get("image") if isinstance(features, Mapping) else None
    shape = getattr(image, "shape", None)
    return shape is not None and shape.rank == 4 and shape[-1] in (1, 3, 4)

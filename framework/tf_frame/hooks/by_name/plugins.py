"""Plugins for `--hook NAME`: the options of hooks that a run adds without code.

    --hook early_stopping:accuracy --hook.early_stopping.patience 5
    --hook feed --hook.feed.values keep_prob:0=0.5
    --hook final_values:linear/weights,learning_rate
    --hook garbage_collection:500
    --hook heartbeat:30
    --hook logging_tensor:total_loss,learning_rate --hook.logging_tensor.every_steps 50
    --hook resource_use:500
    --hook slow_step:20 --hook.slow_step.floor_secs 1

`tf_frame.hooks` imports a hook, and with it TensorFlow, only when a run makes the hook. So `--help`
and the error of a wrong option come at once.
"""

from __future__ import annotations

import dataclasses
import logging
import os
from collections.abc import Mapping
from typing import Any, ClassVar

from tf_frame import hooks
from tf_frame.config import option
from tf_frame.config.metric_directions import higher_is_better
from tf_frame.errors import ConfigError
from tf_frame.plugin.training_contracts import HookContext, HookPlugin
from tf_frame.text import brief

_LOG = logging.getLogger("tf_frame")
# Number of evaluations; with fewer, the noise between two evaluations would end training.
_PATIENCE = 3


class EarlyStopping(HookPlugin):
    """Ends training when a metric of the evaluations is good enough, or no longer improves.

    The hook reads the evaluations in MODEL_DIR/eval on every worker, so the model must be
    evaluated during training.

    Raises:
      ConfigError: both `patience` and `threshold` are given; or `mode` is missing for a metric
        with unknown direction.
    """

    @dataclasses.dataclass(frozen=True)
    class Params:
        metric: str = option("loss", "name of the evaluation metric")
        patience: int | None = option(
            None,
            "evaluations without a new best value after which training ends; none: 3, if there "
            "is no threshold",
            min=1,
        )
        threshold: float | None = option(
            None, "end training once the metric is better than this, instead of patience"
        )
        mode: str | None = option(
            None,
            "the larger value is better, or the smaller one; none: as the metric's name says "
            "(accuracy and IoU rise, loss and errors fall)",
            choices=("max", "min"),
        )
        min_steps: int = option(0, "ignore evaluations before this global step", min=0)
        every_secs: float = option(60.0, "seconds between checks of the evaluations", min=0.001)
        every_steps: int | None = option(
            None, "steps between checks of the evaluations, instead of every_secs", min=1
        )

    def __init__(self, *, params: Any) -> None:
        super().__init__(params=params)
        if params.patience is not None and params.threshold is not None:
            raise ConfigError("early_stopping: give either patience or threshold")
        self._higher = higher_is_better(params.metric, params.mode, "--hook.early_stopping.mode")
        self.needed_metrics = (params.metric,)

    def __call__(self, context: HookContext) -> Any:
        if not (context.eval_every_n_steps or context.eval_every_secs):
            context.report(
                "note: early_stopping reads the evaluations in MODEL_DIR/eval; without "
                "--eval_every_n_steps or --eval_every_secs another program must write them"
            )
        params, eval_dir = self.params, os.path.join(context.model_dir, "eval")
        checks = {
            "min_steps": params.min_steps,
            "run_every_secs": None if params.every_steps else _every_secs(params, context),
            "run_every_steps": params.every_steps,
            "multiples_of": context.eval_every_n_steps or None,
            "report": context.report,
        }
        if params.threshold is not None:
            stop = hooks.stop_if_higher if self._higher else hooks.stop_if_lower
            return stop(params.metric, params.threshold, eval_dir, **checks)
        return hooks.stop_if_not_better(
            params.metric,
            params.patience or _PATIENCE,
            eval_dir,
            higher=self._higher,
            **checks,
        )


def _every_secs(params: Any, context: HookContext) -> float:
    """Returns the seconds between checks: evaluations by time are not waited for longer."""
    return float(min(params.every_secs, context.eval_every_secs or params.every_secs))


class Feed(HookPlugin):
    """Feeds tensors of the graph, such as placeholders, with the same values in every step.

    It runs at every step, which turns the fast path off.

    Raises:
      ConfigError: no values, a text that is not TENSOR=VALUE, or a tensor that is given twice.
    """

    check_options: ClassVar[Mapping[str, Any]] = {"values": ("learning_rate:0=0.1",)}

    @dataclasses.dataclass(frozen=True)
    class Params:
        values: tuple[str, ...] = option(
            (), "TENSOR=VALUE, such as keep_prob:0=0.5 or size=[8, 8]; repeatable", verbatim=True
        )

    def __init__(self, *, params: Any) -> None:
        super().__init__(params=params)
        if not params.values:
            raise ConfigError("feed: nothing to feed; give values, such as keep_prob:0=0.5")
        self.values: dict[str, str] = {}
        for text in params.values:
            name, equals, value = text.partition("=")
            if not (name and equals):
                raise ConfigError(f"feed: {brief(text)} is not TENSOR=VALUE")
            if name in self.values:
                raise ConfigError(f"feed: {brief(name)} is given twice")
            self.values[name] = value

    def __call__(self, context: HookContext) -> Any:
        return hooks.FeedHook(self.values)


class FinalValues(HookPlugin):
    """Logs the values of tensors and variables after the last step.

    Raises:
      ConfigError: no tensor is named.
    """

    check_options: ClassVar[Mapping[str, Any]] = {"tensors": ("linear/biases",)}

    @dataclasses.dataclass(frozen=True)
    class Params:
        tensors: tuple[str, ...] = option((), "names of tensors and variables")

    def __init__(self, *, params: Any) -> None:
        super().__init__(params=params)
        if not params.tensors:
            raise ConfigError("final_values: name at least one tensor or variable")

    def __call__(self, context: HookContext) -> Any:
        return hooks.FinalValuesHook(self.params.tensors)


class GarbageCollection(HookPlugin):
    """Collects garbage every N steps instead of Python's automatic collection.

    The automatic collection visits all objects of the graph, which makes single steps slow; the
    hook leaves out the objects of the first steps.
    """

    @dataclasses.dataclass(frozen=True)
    class Params:
        every_steps: int = option(1000, "steps between collections", min=1)
        freeze_after_steps: int = option(
            10, "step of a session after which all live objects are frozen", min=1
        )

    def __call__(self, context: HookContext) -> Any:
        return hooks.GarbageCollectionHook(**dataclasses.asdict(self.params))


class Heartbeat(HookPlugin):
    """Writes state, step, time, process and host to MODEL_DIR/heartbeat.json.

    An old file shows that the run hangs or was killed.
    """

    @dataclasses.dataclass(frozen=True)
    class Params:
        every_secs: float = option(60.0, "seconds between heartbeats", min=0.001)

    def __call__(self, context: HookContext) -> Any:
        return hooks.HeartbeatHook(
            context.model_dir, every_secs=self.params.every_secs, task=context.task
        )


class LoggingTensor(HookPlugin):
    """Logs the values of tensors every N steps or seconds; without either, every 100 steps.

    The lines are in MODEL_DIR/train.log, and with --verbosity info on the screen.

    Raises:
      ConfigError: no tensor is named, or both steps and seconds are given.
    """

    check_options: ClassVar[Mapping[str, Any]] = {"tensors": ("linear/biases",)}

    @dataclasses.dataclass(frozen=True)
    class Params:
        tensors: tuple[str, ...] = option((), "names of tensors and variables, such as loss:0")
        every_steps: int | None = option(None, "steps between lines", min=1)
        every_secs: float | None = option(
            None, "seconds between lines, instead of every_steps", min=0.001
        )
        at_end: bool = option(False, "log at the end of training too, or only then")

    def __init__(self, *, params: Any) -> None:
        super().__init__(params=params)
        if not params.tensors:
            raise ConfigError("logging_tensor: name at least one tensor, such as loss:0")
        if params.every_steps is not None and params.every_secs is not None:
            raise ConfigError("logging_tensor: give either every_steps or every_secs")

    def __call__(self, context: HookContext) -> Any:
        from tf_frame.hooks.by_name.feed import value_by_name

        params = self.params
        by_default = params.every_secs is None and not params.at_end
        return hooks.LoggingTensorHook(
            {name: value_by_name(context.graph.graph, name) for name in params.tensors},
            every_n_iter=params.every_steps or (100 if by_default else None),
            every_n_secs=params.every_secs,
            at_end=params.at_end,
            formatter=_logged,
        )


def _logged(values: Mapping[str, Any]) -> str:
    """Returns the line for TensorFlow's log, after logging it for train.log."""
    line = ", ".join(f"{name} = {value}" for name, value in values.items())
    _LOG.info("%s", line)
    return line


class ResourceUse(HookPlugin):
    """Logs the resources that the process uses, and warns if its memory grows.

    The chief also writes them as summaries `resources/...`.

    Raises:
      ConfigError: neither steps nor seconds are given.
    """

    @dataclasses.dataclass(frozen=True)
    class Params:
        every_steps: int | None = option(100, "steps between measurements; none: by seconds", min=1)
        every_secs: float | None = option(
            None, "seconds between measurements; with steps, whichever comes first", min=0.001
        )
        growth: float = option(
            0.2,
            "warn when memory has grown by this fraction since the tenth measurement",
            min=0.001,
        )

    def __init__(self, *, params: Any) -> None:
        super().__init__(params=params)
        if params.every_steps is None and params.every_secs is None:
            raise ConfigError("resource_use: give every_steps or every_secs")

    def __call__(self, context: HookContext) -> Any:
        from tf_frame.hooks.summary import event_writer

        # The first call for a folder writes the default graph.
        with context.graph.graph.as_default():
            writer = None
            if context.is_chief:
                writer = event_writer(context.model_dir, report=context.report)
        return hooks.ResourceUseHook(**dataclasses.asdict(self.params), writer=writer)


class SlowStep(HookPlugin):
    """Writes the stacks of all threads while a step takes far longer than usual.

    The stacks are written to the log and to MODEL_DIR/slow_steps.log.
    """

    @dataclasses.dataclass(frozen=True)
    class Params:
        times: float = option(
            10.0, "a step is slow if it takes more than this many times the median", min=1.1
        )
        floor_secs: float = option(5.0, "a step of fewer seconds is never slow", min=0.001)
        pause_secs: float = option(60.0, "least seconds between two reports", min=0)
        profile_steps: int = option(
            0, "profile so many steps after a slow one that is reported; 0: none", min=0
        )

    def __call__(self, context: HookContext) -> Any:
        return hooks.SlowStepHook(
            context.model_dir, task=context.task, **dataclasses.asdict(self.params)
        )

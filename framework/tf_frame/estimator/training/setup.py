"""How a model is trained, whatever the model and its data are."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

from tf_frame.checkpoint.warm_start.rules import parse_rules
from tf_frame.config.run_options import RunOptions
from tf_frame.errors import ConfigError, PluginError
from tf_frame.learning_rates.context import schedule_context
from tf_frame.plugin import InputInfo, Mode, ScheduleContext
from tf_frame.plugin.load import LoadedPlugin


@dataclasses.dataclass(frozen=True)
class ConfiguredPlugin:
    """One plugin with its parameters.

    Attributes:
      name: the name that the user said.
      plugin: its class, and where it comes from.
      params: an instance of its `Params`.
    """

    name: str
    plugin: LoadedPlugin
    params: Any


@dataclasses.dataclass(frozen=True, kw_only=True)
class TrainingSetup:
    """What training needs beside a model and an input.

    Attributes:
      config: the run options.
      optimizer, schedule: the plugins, with parameters.
      transforms: gradient transforms, in order.
      model_dir: where everything is written.
      hooks: hooks beside those of the run options.
    """

    config: RunOptions
    optimizer: ConfiguredPlugin
    schedule: ConfiguredPlugin
    transforms: Sequence[ConfiguredPlugin]
    model_dir: str
    hooks: Sequence[ConfiguredPlugin] = ()

    def make_transforms(self) -> list[Any]:
        """Constructs the gradient transforms, in order."""
        return [part.plugin.cls(params=part.params) for part in self.transforms]

    def batches_per_step(self) -> int:
        """Batches of each worker that make one global step: those that transforms accumulate."""
        return math.prod(getattr(each, "micro_batches", 1) for each in self.make_transforms())

    def make_optimizer(self) -> Any:
        """Constructs the optimizer plugin, which makes optimizers of learning rates."""
        return self.optimizer.plugin.cls(params=self.optimizer.params)

    def make_hooks(self, context: Any) -> list[Any]:
        """Makes the session hooks, and listeners to checkpoints, that were named, in order.

        Raises:
          PluginError: a plugin made something else.
        """
        hooks: list[Any] = []
        for part in self.hooks:
            made = part.plugin.cls(params=part.params)(context)
            made = list(made) if isinstance(made, (list, tuple)) else [made]
            _check_hooks(part.name, made)
            hooks += made
        return hooks

    def make_schedule(self, context: ScheduleContext) -> Any:
        """Constructs the learning-rate plugin for a run of this length."""
        return self.schedule.plugin.cls(params=self.schedule.params, context=context)

    def check(self, info: InputInfo) -> None:
        """Constructs what can be constructed without TensorFlow, for errors that come at once.

        Args:
          info: what the input says about its data.

        Raises:
          ConfigError: values that an optimizer, a schedule, a transform, a hook or a
            warm start does not take.
        """
        self.make_optimizer()
        self.make_schedule(self.schedule_context(info))
        for part in self.hooks:
            part.plugin.cls(params=part.params)
        parse_rules("--warm_start_map", self.config.warm_start_map)
        self._check_accumulation()

    def schedule_context(self, info: InputInfo) -> ScheduleContext:
        """What the schedule is told about this run."""
        num_examples = info.num_examples.get(Mode.TRAIN)
        return schedule_context(self.config, num_examples, batches_per_step=self.batches_per_step())

    def _check_accumulation(self) -> None:
        """Refuses what cannot go together with gradients that add up over several batches."""
        if self.batches_per_step() == 1:
            return
        if self.config.worker_replicas > 1:
            raise ConfigError(
                "several workers would add to the same sums of --transform accumulate; leave it "
                "out, and raise --train_batch_size or --replicas_to_aggregate"
            )
        if self.config.mixed_precision == "float16" and not self.config.loss_scale:
            raise ConfigError(
                "a loss scale that is found while training lets gradients overflow now and then, "
                "which --transform accumulate would add up; give a --loss_scale, such as 1024"
            )


_HOOK_METHODS = ("begin", "after_create_session", "before_run", "after_run", "end")
_LISTENER_METHODS = ("begin", "before_save", "after_save", "end")


def _check_hooks(name: str, made: Sequence[Any]) -> None:
    for hook in made:
        if not (_has(hook, _HOOK_METHODS) or _has(hook, _LISTENER_METHODS)):
            raise PluginError(
                f"the hook {name} made {hook!r:.80}; it must make tf.train.SessionRunHook objects "
                "or tf.train.CheckpointSaverListener objects"
            )


def _has(hook: Any, methods: Sequence[str]) -> bool:
    return all(hasattr(hook, method) for method in methods)

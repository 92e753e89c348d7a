"""`TrainingSetup`: configured plugins, run options and the folder of a training.

The setup is complete and checked before TensorFlow is imported, so that a wrong option is reported
at once. `config.yaml` records the setup, so that a run can be repeated.
"""

from __future__ import annotations

import contextlib
import dataclasses
import inspect
import math
import os
from collections.abc import Sequence
from typing import Any

import tf_frame
from tf_frame import file_system
from tf_frame.checkpoint.names import LIST_FILE
from tf_frame.checkpoint.warm_start.rules import parse_rules
from tf_frame.config.option import declared_options
from tf_frame.config.option_groups import ClusterOptions
from tf_frame.config.run_options import RunOptions, run_options
from tf_frame.config.values import to_text
from tf_frame.config.yaml_file import Named, Settings
from tf_frame.errors import ConfigError, DataError, PluginError
from tf_frame.learning_rates.context import schedule_context
from tf_frame.plugin import InputInfo, Mode
from tf_frame.plugin.configured import ConfiguredPlugin
from tf_frame.plugin.find import PluginInfo
from tf_frame.plugin.lock import find_named_plugins
from tf_frame.plugin.needs import check_declared
from tf_frame.plugin.origin import wrong_result
from tf_frame.text import short_repr, short_word
from tf_frame.weights.plugins import check_source

# Values of `--mode` that train.
TRAIN, TRAIN_AND_EVALUATE = "train", "train_and_evaluate"


@dataclasses.dataclass(frozen=True, kw_only=True)
class TrainingSetup:
    """The definition of a training, checked before TensorFlow is imported.

    Attributes:
      config: the run options.
      optimizer, schedule: the plugins, with parameters.
      transforms: gradient transforms, in order.
      hooks: hooks of `--hook`.
      model_dir: the folder of all files.
      is_default_dir: whether the user has named no folder, so that a run may take another one.
      model, input: the plugins of `tf-frame run`; None for an `Estimator`, which receives its
        model and its inputs as objects.
      mode: `train`, or `train_and_evaluate`, which evaluates every saved checkpoint.
    """

    config: RunOptions
    optimizer: ConfiguredPlugin
    schedule: ConfiguredPlugin
    transforms: Sequence[ConfiguredPlugin]
    model_dir: str
    is_default_dir: bool = False
    hooks: Sequence[ConfiguredPlugin] = ()
    model: ConfiguredPlugin | None = None
    input: ConfiguredPlugin | None = None
    mode: str = TRAIN

    @property
    def is_recorded(self) -> bool:
        """True if model and input are plugins, so that `config.yaml` can record the run."""
        return self.model is not None

    def make_input(self) -> Any:
        """Constructs the input, which checks its data.

        Raises:
          ConfigError: the input does not declare the features that the model needs.
          PluginError: `info` of the input is not an `InputInfo`.
        """
        assert self.input is not None, "the input of an Estimator is an argument of its methods"
        if self.model is not None:
            check_declared(self.model.plugin, self.input.plugin)
        source = self.input.make()
        info = source.info
        if not isinstance(info, InputInfo):
            raise PluginError(
                f"info of {self.input.plugin.info.described} is {short_repr(info)}; it must be an "
                "InputInfo"
            )
        return source

    def make_input_without_data(self, info: InputInfo) -> Any:
        """Constructs the input from recorded facts; None if the input needs its data."""
        assert self.input is not None
        return self.input.make_without_data(info)

    def make_model(self, info: InputInfo) -> Any:
        """Constructs the model for the data that `info` describes."""
        assert self.model is not None, "the model of an Estimator is an argument"
        model = self.model.make(info=info)
        model.num_steps = self.config.max_steps
        return model

    def make_transforms(self) -> list[Any]:
        """Constructs the gradient transforms, in order."""
        return [transform.make() for transform in self.transforms]

    def make_optimizer(self) -> Any:
        """Constructs the optimizer plugin."""
        return self.optimizer.make()

    def make_schedule(self, info: InputInfo) -> Any:
        """Constructs the learning-rate plugin for a run over the data that `info` describes."""
        num_examples, batches = info.num_examples.get(Mode.TRAIN), self.batches_per_step()
        return self.schedule.make(
            context=schedule_context(self.config, num_examples, batches_per_step=batches)
        )

    def make_hooks(self, context: Any) -> list[Any]:
        """Makes the session hooks and checkpoint listeners of `--hook`, in order.

        Raises:
          PluginError: a plugin returns another object.
        """
        hooks: list[Any] = []
        for configured in self.hooks:
            plugin = configured.make()
            made = plugin(context)
            made = list(made) if isinstance(made, (list, tuple)) else [made]
            check_hooks(plugin, made)
            for hook in made:
                # The report of a profile names the option of a slow hook.
                if not getattr(hook, "option", ""):
                    with contextlib.suppress(AttributeError):  # A hook with slots.
                        hook.option = f"--hook {configured.name}"
            hooks += made
        return hooks

    def needed_metrics(self) -> list[tuple[str, str]]:
        """Returns option and evaluation metric for each option that needs a metric of this run.

        Without evaluations during training, a hook reads the evaluations of another program.
        """
        config, needed = self.config, []
        in_training = config.evaluates_in_training or self.mode == TRAIN_AND_EVALUATE
        if config.keep_best and (in_training or config.evaluate):
            needed.append(("--best_metric", config.best_metric))
        if in_training:
            for hook in self.hooks:
                metrics = getattr(hook.make(), "needed_metrics", ())
                needed += [(f"--hook {hook.name}:", metric) for metric in metrics]
        return needed

    def batches_per_step(self) -> int:
        """Returns the batches of each worker in one global step, if transforms accumulate them."""
        transforms = self.make_transforms()
        return math.prod(getattr(transform, "micro_batches", 1) for transform in transforms)

    def examples_per_step(self) -> int:
        """Returns the examples in one global step.

        A step takes a batch of each worker, or of asynchronous workers the batch of one.
        """
        config = self.config
        if config.batch_shards or not config.makes_steps_together:
            return config.update_batch_size * self.batches_per_step()
        return config.worker_batch_size * config.worker_replicas * self.batches_per_step()

    def check(self, info: InputInfo, *, evaluate: bool = False) -> None:
        """Checks the setup, without TensorFlow, so that errors come at once.

        `evaluate` says whether the user has given `--evaluate`.

        Raises:
          DataError: an evaluation is requested, and there is no evaluation data.
          ConfigError: invalid values of an optimizer, a schedule, a transform, a hook or a warm
            start; or steps beyond the last step.
        """
        self.make_optimizer()
        self.make_schedule(info)
        for hook in self.hooks:
            hook.make()
        self._check_steps()
        self._check_evaluation(info, evaluate)
        parse_rules("--warm_start_map", self.config.warm_start_map)
        # A run that resumes no longer needs it.
        if not file_system.exists(os.path.join(self.model_dir, LIST_FILE)):
            check_source(self.config.warm_start_from)
        self._check_accumulation()

    def has_evaluation_data(self, info: InputInfo) -> bool:
        """Returns whether there may be data to evaluate."""
        # With --overfit_batches the training data is evaluated.
        return bool(self.config.overfit_batches) or info.num_examples.get(Mode.EVAL) != 0

    def settings(self) -> Settings:
        """Returns the content of `config.yaml`."""
        single = self._plugins_by_key()
        # Without the folder, so that a copy of the file, or --config, begins another run; and
        # without the tasks, which the launcher or the scheduler chooses.
        cluster_options = {option.name for option in declared_options(ClusterOptions)}
        names = [option.name for option in run_options() if option.name not in cluster_options]
        values = {name: getattr(self.config, name) for name in names}
        for key, plugin in single.items():
            values.update({f"{key}.{name}": value for name, value in plugin.values().items()})
        model = single.pop("model")
        plugin_names: dict[str, Any] = {key: plugin.name for key, plugin in single.items()}
        return Settings(
            plugin=model.name,
            **plugin_names,
            transforms=tuple(Named(part.name, part.values()) for part in self.transforms),
            hooks=tuple(Named(part.name, part.values()) for part in self.hooks),
            values=values,
            versions=self.versions(),
        )

    def versions(self) -> dict[str, str]:
        """Returns package -> version of tf-frame and of every package with a plugin of the run."""
        versions = {info.distribution: info.version for info in self.plugins()}
        return {"tf-frame": tf_frame.__version__, **versions}

    def plugins(self) -> list[PluginInfo]:
        """Returns the plugins of the run, and the plugins that options name, such as a network."""
        named = (*self._plugins_by_key().values(), *self.transforms, *self.hooks)
        values = [value for part in named for value in part.values().values()]
        infos = [part.plugin.info for part in named]
        return [*infos, *(info for info in find_named_plugins(values) if info not in infos)]

    def _plugins_by_key(self) -> dict[str, ConfiguredPlugin]:
        """Returns key in `config.yaml` -> model, input, optimizer and schedule."""
        assert self.model is not None and self.input is not None, "an Estimator has no config.yaml"
        return {
            "model": self.model,
            "input": self.input,
            "optimizer": self.optimizer,
            "schedule": self.schedule,
        }

    def _check_steps(self) -> None:
        """Refuses profiles and timelines of steps that training does not reach."""
        for name in ("profile_at_step", "trace_at_step"):
            last = self.config.max_steps
            late = [step for step in getattr(self.config, name) if step > last]
            if late:
                raise ConfigError(
                    f"--{name} {short_word(to_text(late))}: training ends before, at --max_steps "
                    f"{last}; give steps up to {last}, or leave the option out"
                )

    def _check_evaluation(self, info: InputInfo, evaluate: bool) -> None:
        """Refuses options that ask for evaluations of an input without data for them."""
        requests = {
            "--evaluate": evaluate,
            "--mode train_and_evaluate": self.mode == TRAIN_AND_EVALUATE,
            "--eval_every_n_steps": self.config.eval_every_n_steps,
            "--eval_every_secs": self.config.eval_every_secs,
            "--keep_best": self.config.keep_best,
        }
        requested = [option for option, value in requests.items() if value]
        if requested and not self.has_evaluation_data(info):
            name = f"the input {self.input.name}" if self.input else "the input"
            raise DataError(
                f"{requested[0]} needs evaluation data, and {name} has none; add evaluation data, "
                f"or leave {requested[0]} out"
            )

    def _check_accumulation(self) -> None:
        """Refuses options that cannot be combined with accumulated gradients."""
        if self.batches_per_step() == 1:
            return
        if self.config.worker_replicas > 1:
            raise ConfigError(
                "several workers would add to the same sums of --transform accumulate; leave it "
                "out, and raise --train_batch_size or --replicas_to_aggregate"
            )
        if self.config.mixed_precision == "float16" and not self.config.loss_scale:
            raise ConfigError(
                "a dynamic loss scale lets gradients overflow now and then, and --transform "
                "accumulate would add the overflow up; give a fixed --loss_scale, such as 1024"
            )


_HOOK_METHODS = ("begin", "after_create_session", "before_run", "after_run", "end")
_LISTENER_METHODS = ("begin", "before_save", "after_save", "end")


def check_hooks(plugin: Any, made: Sequence[Any]) -> None:
    """Checks the result of a hook plugin.

    Raises:
      PluginError: an element is neither a hook nor a listener.
    """
    for hook in made:
        kinds = (_HOOK_METHODS, _LISTENER_METHODS)
        fits = any(all(hasattr(hook, method) for method in methods) for methods in kinds)
        if inspect.isclass(hook) or not fits:
            expected = "tf.train.SessionRunHook objects or tf.train.CheckpointSaverListener objects"
            raise wrong_result(plugin, "__call__", hook, expected)

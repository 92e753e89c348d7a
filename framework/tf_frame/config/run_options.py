"""`RunOptions`: all options of a run that belong to no plugin, and checks that they fit together.

Options that contradict each other, or have no effect because of others, are found before
TensorFlow is imported and a graph is built.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Sequence

from tf_frame.config import option_groups as groups, values
from tf_frame.config.metric_directions import higher_is_better
from tf_frame.config.option import Option, declared_options
from tf_frame.errors import ConfigError
from tf_frame.text import short

# Session options that a server decides instead of its clients.
_OF_THE_PROCESS = (
    *("gpus", "gpu_memory_growth", "gpu_memory_fraction"),
    *("intra_op_threads", "inter_op_threads"),
)
_DECAYS = ("moving_average_decay", "loss_average_decay")
# For `max_steps`: train until the input ends or a hook stops training.
UNLIMITED_STEPS = 2**62


@dataclasses.dataclass(frozen=True, kw_only=True)
class RunOptions(
    groups.TrainingOptions,
    groups.OptimizerOptions,
    groups.CloneOptions,
    groups.GraphOptions,
    groups.WarmStartOptions,
    groups.DeviceOptions,
    groups.ClusterOptions,
    groups.LoopOptions,
    groups.CheckpointOptions,
    groups.ProfilingOptions,
    groups.OutputOptions,
):
    """All options of a run that do not belong to a plugin.

    Raises:
      ConfigError: values that contradict each other.
    """

    def __post_init__(self) -> None:
        for name in _DECAYS:
            # As in slim's trainers, 0 means no averages.
            if getattr(self, name) == 0:
                object.__setattr__(self, name, None)
        self._check_batch_size()
        self._check_cadences()
        self._check_learning()
        if self.keep_best:
            _ = self.best_is_highest  # Raises for a metric of unknown direction.
        if self.graph_hook and not re.fullmatch(r"[\w.]+:[\w.]+", self.graph_hook):
            raise ConfigError(
                f"--graph_hook {short(self.graph_hook)}: expected module:function, such as "
                "my_package.edits:prune"
            )
        if self.recompute and self.xla:
            raise ConfigError(
                "--recompute has no effect with --xla, which computes equal operations once; leave "
                "one of the two out"
            )
        for assignment in self.environment:
            if not re.fullmatch(r"[A-Za-z_]\w*=[^\0\n]*", assignment):
                raise ConfigError(
                    f"--environment {short(assignment)}: expected NAME=VALUE, such as "
                    "MALLOC_ARENA_MAX=2"
                )
        if len(set(self.gpus)) < len(self.gpus):
            raise ConfigError(f"--gpus {short(values.to_text(self.gpus))}: give each GPU once")
        if self.overfit_batches and self.worker_replicas > 1:
            raise ConfigError(
                "--overfit_batches is for one worker, as each of --worker_replicas "
                f"{self.worker_replicas} has batches of its own; leave one of the two out"
            )
        self._check_cluster()

    def _check_batch_size(self) -> None:
        if self.train_batch_size % self._batch_parts:
            parts = f"--num_clones {self.num_clones}"
            if self.batch_shards:
                parts = f"--batch_shards {self.batch_shards}"
            elif self.batch_size_scope == "global":
                parts += f" times {self.aggregated_replicas} aggregated replicas"
            raise ConfigError(
                f"--train_batch_size {self.train_batch_size} is not divisible by {parts}; "
                f"use a multiple of {self._batch_parts}"
            )

    def _check_cadences(self) -> None:
        if (self.save_checkpoint_secs is None) == (self.save_checkpoint_steps is None):
            raise ConfigError(
                "give exactly one of --save_checkpoint_secs and --save_checkpoint_steps; "
                f"they are {self.save_checkpoint_secs or 'none'} and "
                f"{self.save_checkpoint_steps or 'none'}"
            )
        if self.save_summaries_secs and self.save_summaries_steps:
            raise ConfigError(
                "give one of --save_summaries_secs and --save_summaries_steps; "
                f"they are {self.save_summaries_secs} and {self.save_summaries_steps}"
            )
        if 0 < self.profile_every_n_steps <= self.profile_num_steps:
            raise ConfigError(
                f"--profile_every_n_steps {self.profile_every_n_steps} with --profile_num_steps "
                f"{self.profile_num_steps} would profile all of the training; raise the first"
            )

    def _check_learning(self) -> None:
        for name in _DECAYS:
            if getattr(self, name) == 1:
                raise ConfigError(f"--{name} 1: an average that never moves; use one below 1")
        if self.warmup == "exponential" and self.warmup_steps:
            for name in ("warmup_learning_rate", "learning_rate"):
                if not getattr(self, name):
                    raise ConfigError(
                        f"--{name} 0: an exponential warm-up needs a positive learning rate"
                    )

    def _check_cluster(self) -> None:
        if self.sync_replicas and self.startup_delay_steps:
            raise ConfigError(
                "--startup_delay_steps must be zero with --sync_replicas, where workers wait for "
                f"each other; it is {self.startup_delay_steps}"
            )
        # A single worker may have several clones: it averages their gradients itself.
        if self.sync_replicas and self.num_clones != 1 and self.worker_replicas > 1:
            raise ConfigError(
                "In Synchronous SGD mode num_clones must be 1. Found num_clones: "
                f"{self.num_clones}; give --num_clones 1, or leave out --sync_replicas"
            )
        if self.all_reduce:
            self._check_all_reduce()
        if self.batch_shards:
            self._check_batch_shards()
        if self.cluster_from == groups.FOLDER:
            self._check_meeting()

    def _check_meeting(self) -> None:
        by_folder = f"--cluster_from {groups.FOLDER}"
        if not self.batch_shards:
            raise ConfigError(
                f"{by_folder} needs --batch_shards: otherwise a job does not go on with another "
                "number of workers"
            )
        if self.num_ps_tasks or self.dedicated_evaluator:
            raise ConfigError(
                f"{by_folder} is for a chief and workers; leave out --num_ps_tasks and "
                "--dedicated_evaluator"
            )

    def _check_all_reduce(self) -> None:
        workers = f"--worker_replicas {self.worker_replicas} without parameter servers"
        if self.sync_replicas:
            raise ConfigError(
                f"--sync_replicas is for parameter servers; {workers} are synchronous without "
                "it: leave it out, or give --num_ps_tasks"
            )
        if self.startup_delay_steps:
            raise ConfigError(
                f"{workers} take every step together; leave out --startup_delay_steps "
                f"{self.startup_delay_steps}, or give --num_ps_tasks"
            )

    def _check_batch_shards(self) -> None:
        shards = f"--batch_shards {self.batch_shards}"
        if self.batch_shards < self.worker_replicas:
            raise ConfigError(
                f"{shards} are too few for {self.worker_replicas} workers; give at least one each"
            )
        excluded = {
            f"--num_clones {self.num_clones}": self.num_clones > 1,
            f"--replicas_to_aggregate {self.replicas_to_aggregate}": self.replicas_to_aggregate,
            f"--overfit_batches {self.overfit_batches}": self.overfit_batches,
            "--gradient_reduction all_reduce": self.gradient_reduction == "all_reduce",
            "--update_ops all_clones": self.update_ops == "all_clones",
        }
        for option, is_given in excluded.items():
            if is_given:
                raise ConfigError(f"{shards} cannot be combined with {option}; leave one out")
        if self.num_ps_tasks and not self.sync_replicas:
            raise ConfigError(f"{shards} with parameter servers needs --sync_replicas")

    @property
    def all_reduce(self) -> bool:
        """True if several workers hold the variables, and average their gradients."""
        return self.worker_replicas > 1 and not self.num_ps_tasks

    @property
    def best_is_highest(self) -> bool:
        """True if the best `best_metric` is the largest, false if it is the smallest."""
        return higher_is_better(self.best_metric, self.best_mode, "--best_mode")

    @property
    def evaluates_in_training(self) -> bool:
        """True if checkpoints are evaluated by steps or by time during training."""
        return bool(self.eval_every_n_steps or self.eval_every_secs)

    @property
    def writes_summaries(self) -> bool:
        """True if summaries are written."""
        return bool(self.save_summaries_steps or self.save_summaries_secs)

    @property
    def aggregated_replicas(self) -> int:
        """Gradients of workers in one update; 1 if each worker updates on its own."""
        if self.all_reduce:
            return self.worker_replicas
        return (self.replicas_to_aggregate or self.worker_replicas) if self.sync_replicas else 1

    @property
    def makes_steps_together(self) -> bool:
        """True if every step takes one batch of each worker, so that a run can be repeated."""
        if self.worker_replicas == 1 or self.all_reduce:
            return True
        return self.sync_replicas and self.aggregated_replicas == self.worker_replicas

    @property
    def _batch_parts(self) -> int:
        """Number of clone batches in `train_batch_size`."""
        if self.batch_shards and self.batch_size_scope != "clone":
            return self.batch_shards
        replicas = self.aggregated_replicas if self.batch_size_scope == "global" else 1
        return 1 if self.batch_size_scope == "clone" else self.num_clones * replicas

    @property
    def clone_batch_size(self) -> int:
        """Examples in the batch of one clone."""
        return self.train_batch_size // self._batch_parts

    @property
    def worker_batch_size(self) -> int:
        """Examples in the batches of all clones of one worker."""
        return self.clone_batch_size * self.worker_clones

    @property
    def worker_clones(self) -> int:
        """Clones of this worker."""
        return len(self.input_shards(self.task)) if self.batch_shards else self.num_clones

    @property
    def update_batch_size(self) -> int:
        """Examples in the batches of one update."""
        if self.batch_shards:
            return self.clone_batch_size * self.batch_shards
        return self.worker_batch_size * self.aggregated_replicas

    def input_shards(self, worker: int) -> range:
        """Returns the parts of the data that a worker reads; one without `batch_shards`."""
        if not self.batch_shards:
            return range(worker, worker + 1)
        first, behind = (
            number * self.batch_shards // self.worker_replicas for number in (worker, worker + 1)
        )
        return range(first, behind)


# In the order of the help.
GROUPS: tuple[type, ...] = RunOptions.__bases__


def run_options() -> list[Option]:
    """Returns the options of `RunOptions`, group by group."""
    return [option for group in GROUPS for option in declared_options(group)]


def without_effect(config: RunOptions, defaults: RunOptions) -> list[str]:
    """Describes, a line per reason, the options that have no effect because of others.

    Args:
      config: the options.
      defaults: their values without a configuration file and flags. An option with its
        default needs no warning.
    """
    names: dict[str, list[str]] = {}
    for name, reason in _ineffective(config, defaults):
        names.setdefault(reason, []).append(name)
    return [
        f"--{', --'.join(options)} {'have' if len(options) > 1 else 'has'} no effect {reason}"
        for reason, options in names.items()
    ]


def _ineffective(config: RunOptions, defaults: RunOptions) -> Iterator[tuple[str, str]]:
    """Yields each option without effect, and the reason."""

    def changed(name: str) -> bool:
        return bool(getattr(config, name) != getattr(defaults, name))

    for option in run_options():
        if changed(option.name) and not _any_set(config, option.requires):
            yield option.name, f"without --{' or --'.join(option.requires)}"
    # Conditions that `option(requires=...)` cannot express.
    for name in _OF_THE_PROCESS if config.master else ():
        if changed(name):
            yield name, "with --master, as its server has the devices"
    if config.batch_size_scope == "global" and not (config.sync_replicas or config.all_reduce):
        yield "batch_size_scope", "without --sync_replicas"
    if changed("gradient_reduction") and config.num_clones < 2:
        yield "gradient_reduction", "without several clones (--num_clones)"
    if changed("placement") and config.num_ps_tasks < 2:
        yield "placement", "with fewer than two parameter servers (--num_ps_tasks)"
    for name in ("eval_every_n_steps", "quantize_delay_step"):
        if changed(name) and getattr(config, name) >= config.max_steps:
            yield name, "unless it is below --max_steps"
    if config.profile_every_n_steps > config.max_steps:
        yield "profile_every_n_steps", "beyond --max_steps"


def _any_set(config: RunOptions, names: Sequence[str]) -> bool:
    """Returns whether one of these options is set; True for an empty list."""
    return not names or any(getattr(config, name) for name in names)

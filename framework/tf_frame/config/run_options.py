"""The options of a run, checked against each other."""

from __future__ import annotations

import dataclasses
import re

from tf_frame.config.option import Option, options_of
from tf_frame.config.option_groups import (
    CheckpointOptions,
    CloneOptions,
    DeviceOptions,
    GraphOptions,
    LoopOptions,
    OptimizerOptions,
    OutputOptions,
    ProfilingOptions,
    TrainingOptions,
    WarmStartOptions,
)
from tf_frame.errors import ConfigError

# For `max_steps`: training goes on until the input ends, or a hook ends it.
UNLIMITED_STEPS = 2**62


@dataclasses.dataclass(frozen=True, kw_only=True)
class RunOptions(
    TrainingOptions,
    OptimizerOptions,
    CloneOptions,
    GraphOptions,
    WarmStartOptions,
    DeviceOptions,
    LoopOptions,
    CheckpointOptions,
    ProfilingOptions,
    OutputOptions,
):
    """Every option of a run that does not belong to a plugin."""

    def __post_init__(self) -> None:
        if self.train_batch_size % self._batch_parts:
            raise ConfigError(
                f"--train_batch_size {self.train_batch_size} is not divisible by "
                f"{self._batch_parts_text}; use a multiple of {self._batch_parts}"
            )
        self._check_cadences()
        self._check_decays()
        self._check_cluster()

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
        for step in self.profile_at_step:
            if step < 1:
                raise ConfigError(f"--profile_at_step {step}: the first step is 1")

    @property
    def writes_summaries(self) -> bool:
        """Whether summaries are written at all."""
        return bool(self.save_summaries_steps or self.save_summaries_secs)

    def _check_decays(self) -> None:
        for name in ("moving_average_decay", "loss_average_decay"):
            if getattr(self, name) == 1:
                raise ConfigError(f"--{name} 1: an average that never moves; use one below 1")
        if self.warmup == "exponential" and self.warmup_steps:
            for name in ("warmup_learning_rate", "learning_rate"):
                if not getattr(self, name):
                    raise ConfigError(f"--{name} 0: an exponential warm-up multiplies, so not by 0")
        if self.graph_hook and not re.fullmatch(r"[\w.]+:[\w.]+", self.graph_hook):
            raise ConfigError(
                f"--graph_hook {self.graph_hook}: expected module:function, such as "
                "my_package.edits:prune"
            )

    def _check_cluster(self) -> None:
        if self.show_placement:
            return  # A layout may be looked at without the cluster.
        if (self.num_ps_tasks or self.task or self.worker_replicas > 1) and not self.master:
            raise ConfigError(
                "--num_ps_tasks, --worker_replicas and --task describe a cluster; give "
                "--master grpc://HOST:PORT, the server of this worker, or leave them out"
            )
        if self.master and not re.fullmatch(r"grpc://[^/:\s]+:\d+", self.master):
            raise ConfigError(f"--master {self.master}: expected grpc://HOST:PORT")
        if self.task >= self.worker_replicas:
            raise ConfigError(
                f"--task {self.task}: tasks count from 0 and --worker_replicas is "
                f"{self.worker_replicas}"
            )
        if self.sync_replicas and self.startup_delay_steps:
            raise ConfigError(
                "--startup_delay_steps must be zero with --sync_replicas, where workers wait for "
                f"each other; it is {self.startup_delay_steps}"
            )
        # The clones of a lone worker need no rule of their own: it averages them itself.
        if self.sync_replicas and self.num_clones != 1 and self.worker_replicas > 1:
            raise ConfigError(
                "In Synchronous SGD mode num_clones must be 1. Found num_clones: "
                f"{self.num_clones}; give --num_clones 1, or leave out --sync_replicas"
            )
        if self.worker_replicas > 1 and not self.num_ps_tasks:
            raise ConfigError(
                f"--worker_replicas {self.worker_replicas} share their variables on parameter "
                "servers; say how many with --num_ps_tasks"
            )

    @property
    def clone_batch_size(self) -> int:
        """Examples in the batch of one clone."""
        return self.train_batch_size // self._batch_parts

    @property
    def aggregated_replicas(self) -> int:
        """Gradients of workers in one update; 1 without `sync_replicas`."""
        return (self.replicas_to_aggregate or self.worker_replicas) if self.sync_replicas else 1

    @property
    def _batch_parts(self) -> int:
        """How many batches of clones `train_batch_size` is split into."""
        if self.batch_size_scope == "per_clone":
            return 1
        parts = self.num_clones
        return parts * self.aggregated_replicas if self.batch_size_scope == "aggregated" else parts

    @property
    def _batch_parts_text(self) -> str:
        clones = f"--num_clones {self.num_clones}"
        if self.batch_size_scope != "aggregated":
            return clones
        return f"{clones} times {self.aggregated_replicas} aggregated replicas"

    @property
    def worker_batch_size(self) -> int:
        """Examples in the batches of all clones of one worker."""
        return self.clone_batch_size * self.num_clones


# In the order of the help.
GROUPS: tuple[type, ...] = RunOptions.__bases__


def run_options() -> list[Option]:
    """Every option of `RunOptions`, group by group."""
    return [option for group in GROUPS for option in options_of(group)]

"""The options of a run, grouped as `--help` shows them.

Names and meanings follow the flags that users of slim, DeepLab and
tf.estimator know; the docstring of each group is its heading in the help.
"""

from __future__ import annotations

import dataclasses
import re
from typing import ClassVar

from tf_frame.config.option import Option, option, options_of
from tf_frame.errors import ConfigError


@dataclasses.dataclass(frozen=True, kw_only=True)
class TrainingOptions:
    """How long, how much, how random."""

    max_steps: int = option(1000, "global step at which training ends", min=1)
    train_batch_size: int = option(
        32, "examples per step, over all clones of this worker together", min=1
    )
    eval_batch_size: int = option(32, "examples per evaluation step", min=1)
    eval_steps: int | None = option(
        None, "evaluation steps at most; none: the whole evaluation split", min=1
    )
    evaluate: bool = option(True, "evaluate the last checkpoint after training")
    random_seed: int = option(1, "seed of initial values, shuffling and augmentation", min=0)


@dataclasses.dataclass(frozen=True, kw_only=True)
class OptimizerOptions:
    """Optimizer and learning rate."""

    optimizer: str = option(
        "momentum", "how gradients become updates", choices=("sgd", "momentum", "adam")
    )
    momentum: float = option(0.9, "momentum of --optimizer momentum", min=0, max=1)
    adam_epsilon: float = option(1e-8, "epsilon of --optimizer adam", min=0)
    learning_rate: float = option(0.01, "learning rate before any decay", min=0)
    learning_rate_policy: str = option(
        "fixed", "how the learning rate falls", choices=("fixed", "poly")
    )
    learning_power: float = option(0.9, "exponent of --learning_rate_policy poly", min=0)
    end_learning_rate: float = option(0.0, "learning rate at the end of the decay", min=0)
    decay_steps: int = option(0, "steps of the decay; 0: all steps after the slow start", min=0)
    slow_start_steps: int = option(0, "steps at the start with a learning rate of their own", min=0)
    slow_start_learning_rate: float = option(1e-4, "learning rate of the slow start", min=0)
    slow_start_burnin: str = option(
        "none", "linear: rise to learning_rate during the slow start", choices=("none", "linear")
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class DeviceOptions:
    """Clones, workers and parameter servers."""

    num_clones: int = option(
        1, "copies of the model that share a batch; on GPUs, or on logical CPUs without one", min=1
    )
    clone_on_cpu: bool = option(False, "put every clone on CPU:0")
    num_ps_tasks: int = option(0, "parameter server tasks; 0: variables on this machine", min=0)
    worker_replicas: int = option(1, "worker tasks that train together", min=1)
    task: int = option(0, "which worker this is; 0 is the chief", min=0)
    master: str = option("", "address of this worker's server, such as grpc://localhost:2222")


@dataclasses.dataclass(frozen=True, kw_only=True)
class OutputOptions:
    """What is saved and shown, and how often."""

    save_checkpoint_secs: int | None = option(
        600, "seconds between checkpoints; none: by --save_checkpoint_steps", min=1
    )
    save_checkpoint_steps: int | None = option(None, "steps between checkpoints", min=1)
    max_to_keep: int = option(5, "checkpoints kept; older ones are deleted", min=1)
    save_summaries_steps: int = option(100, "steps between summaries; 0: none", min=0)
    log_every_n_steps: int = option(10, "steps between progress lines; 0: none", min=0)
    log_device_placement: bool = option(False, "log the device of every operation")
    verbosity: str = option(
        "none",
        "how much of TensorFlow's own log is shown",
        choices=("none", "warning", "info", "debug"),
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class RunConfig(TrainingOptions, OptimizerOptions, DeviceOptions, OutputOptions):
    """Every option of a run that does not belong to a plugin."""

    GROUPS: ClassVar[tuple[type, ...]] = (
        TrainingOptions,
        OptimizerOptions,
        DeviceOptions,
        OutputOptions,
    )

    def __post_init__(self) -> None:
        if self.train_batch_size % self.num_clones:
            raise ConfigError(
                f"--train_batch_size {self.train_batch_size} is not divisible by --num_clones "
                f"{self.num_clones}; use a multiple of {self.num_clones}"
            )
        if (self.save_checkpoint_secs is None) == (self.save_checkpoint_steps is None):
            raise ConfigError(
                "give exactly one of --save_checkpoint_secs and --save_checkpoint_steps; "
                f"they are {self.save_checkpoint_secs} and {self.save_checkpoint_steps}"
            )

        self._check_cluster()

    def _check_cluster(self) -> None:
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
        if self.worker_replicas > 1 and not self.num_ps_tasks:
            raise ConfigError(
                f"--worker_replicas {self.worker_replicas} share their variables on parameter "
                "servers; say how many with --num_ps_tasks"
            )

    @property
    def clone_batch_size(self) -> int:
        """Examples in the batch of one clone."""
        return self.train_batch_size // self.num_clones


def run_options() -> list[Option]:
    """Every option of `RunConfig`, group by group."""
    return [option for group in RunConfig.GROUPS for option in options_of(group)]

"""`TrainingParts`: the setup, graph and devices of a training, from which its hooks are made."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from tf_frame.checkpoint.find.newest import read_step
from tf_frame.cluster import Cluster
from tf_frame.cluster.agreement import Agreement
from tf_frame.config.run_options import RunOptions
from tf_frame.deploy.deployment_config import DeploymentConfig
from tf_frame.graph.train_graph import TrainGraph
from tf_frame.hooks.input_position import RestoredCheckpoint
from tf_frame.plugin import HookContext
from tf_frame.profiling.step_times import StepTimes
from tf_frame.runs.setup.run_context import RunContext
from tf_frame.runs.setup.training_setup import TrainingSetup
from tf_frame.session.job_member import JobMember


@dataclasses.dataclass(frozen=True, kw_only=True)
class TrainingParts:
    """The parts of one training of this process, complete before its hooks are made.

    Attributes:
      setup: the plugins, the run options and the folder.
      context: the observer, the task of this process, and additions of a script.
      source: the input.
      deployment: the devices.
      graph: the training graph, which is the default graph.
      member: this worker in its job.
      restored: set to the checkpoint of each session, before hooks are called.
      times: durations of the steps and hooks of the loop.
      request_profile: asks for a profile by its label and number of steps, while the loop runs.
    """

    setup: TrainingSetup
    context: RunContext
    source: Any
    deployment: DeploymentConfig
    graph: TrainGraph
    member: JobMember
    restored: RestoredCheckpoint = dataclasses.field(default_factory=RestoredCheckpoint)
    times: StepTimes = dataclasses.field(default_factory=StepTimes)
    request_profile: Callable[[str, int], None] = lambda label, steps: None

    @property
    def config(self) -> RunOptions:
        """The run options."""
        return self.setup.config

    @property
    def model_dir(self) -> str:
        """The folder of the training."""
        return self.setup.model_dir

    @property
    def cluster(self) -> Cluster:
        """The task of this process."""
        return self.context.cluster

    @property
    def agreement(self) -> Agreement | None:
        """The connection with the other tasks; None for a process that trains alone."""
        return self.member.agreement

    @property
    def report(self) -> Callable[[str], None]:
        """Function that takes a line for the user."""
        return self.context.observer.report

    def runs_per_step(self) -> int:
        """Returns the runs of the train op in a global step; 0: they are not known."""
        # An input that begins anew at each call of `Estimator.train` has no count from step 0.
        if self.context.input_restarts_at is not None:
            return 0
        batches = self.setup.batches_per_step()
        # The step of a model's own update may take several runs.
        return batches if self.graph.run_is_step or batches > 1 else 0

    @property
    def clone_batch_size(self) -> int:
        """Examples of a clone in a run of the train op."""
        return self.config.worker_batch_size // len(self.graph.clones)

    def interrupted(self) -> bool:
        """Returns whether a signal asks this process to end."""
        return bool(self.context.observer.interrupts.received)

    def must_stop(self) -> bool:
        """Returns whether a signal asks this process to end, or its time is over."""
        return self.interrupted() or self.context.time_is_over()

    def hook_context(self) -> HookContext:
        """Returns the facts for hooks of plugins and of the model."""
        return HookContext(
            model_dir=self.model_dir,
            is_chief=self.cluster.is_chief,
            task=self.config.task,
            max_steps=self.config.max_steps,
            examples_per_step=self.setup.examples_per_step(),
            graph=self.graph,
            report=self.report,
            eval_every_n_steps=self.config.eval_every_n_steps,
            eval_every_secs=self.config.eval_every_secs,
            first_step=read_step(self.context.checkpoint),
            metrics=self.context.metrics,
            request_profile=self.request_profile,
        )

"""`Training`: one training from the graph to the last step, for `tf-frame run` and `Estimator`."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tf_frame.checkpoint.find.newest import newest_checkpoint, read_step
from tf_frame.cluster.agreement import Agreement
from tf_frame.deploy.session_config import make_deployment
from tf_frame.graph.shared_handles import share_handles
from tf_frame.graph.train_graph import TrainGraph
from tf_frame.hooks.base import closing_all
from tf_frame.hooks.input_position import RestoredCheckpoint
from tf_frame.hooks.progress import ProgressHook
from tf_frame.plugin import DataReport, DataWarning
from tf_frame.plugin.data_warnings import different_classes, find_data_report
from tf_frame.runs.setup.data_text import data_lines, refuse_warnings
from tf_frame.runs.setup.model_dir import (
    earlier_input_info,
    write_configuration,
    write_data_report,
)
from tf_frame.runs.setup.run_context import RunContext
from tf_frame.runs.setup.training_setup import TrainingSetup
from tf_frame.runs.training.build import (
    build_graph,
    make_loop,
    session_proto,
    unmatched_patterns,
    with_initial_values,
)
from tf_frame.runs.training.hooks.make import make_hooks
from tf_frame.runs.training.hooks.profiles import ProfileRequests
from tf_frame.runs.training.parts import TrainingParts
from tf_frame.runs.training.phase_times import GRAPH, SESSION
from tf_frame.session.job_member import JobMember, NothingLeftToTrain
from tf_frame.session.loop import TrainingLoop
from tf_frame.session.monitored import monitored_session


@dataclasses.dataclass(frozen=True)
class Trained:
    """The result of a training.

    Attributes:
      global_step: the last step.
      loss: total loss of the last step, None if no step ran.
      steps_per_sec, examples_per_sec, flops_per_sec: means without the first step.
      peak_flops: FLOP/s of the machine's peak; None: unknown.
      input_share: share of that time that steps waited for input; None: it was not measured.
      stopped: whether a hook ended training, and not the end of the input.
      stopped_by: the option of this hook, or its class if it has none.
      step_times: durations of steps and hooks; see `StepTimes.table`.
    """

    global_step: int
    loss: float | None
    steps_per_sec: float | None
    examples_per_sec: float | None
    flops_per_sec: float | None = None
    peak_flops: float | None = None
    input_share: float | None = None
    stopped: bool = True
    stopped_by: str | None = None
    step_times: Mapping[str, Any] = dataclasses.field(default_factory=dict)


class Training:
    """Trains until `max_steps`, the end of the input, or a signal.

        Training(setup, context, model=model, source=source).run()

    Args:
      setup: the plugins, the run options and the folder.
      context: the observer, the task of this process, and additions of a script.
      model, source: the model and the input, constructed.
    """

    parts: TrainingParts
    loop: TrainingLoop
    _data: DataReport
    _progress: ProgressHook
    _requests: ProfileRequests

    def __init__(self, setup: TrainingSetup, context: RunContext, *, model: Any, source: Any):
        self._setup, self._context = setup, context
        self._model, self._source = model, source
        self._report = context.observer.report
        self._deployment = make_deployment(setup.config, context.cluster)

    def run(self) -> Trained:
        """Trains.

        Raises:
          ConfigError: a pattern matches no variable, and `--strict` is set.
          CheckpointError: the checkpoint belongs to another model.
          DataError: a resumed run would not be exact, and the options do not allow that; or
            nothing can be learned from the data, and `--strict` is set.
        """
        notes = self._report_notes()
        if self._context.cluster.is_chief and self._setup.is_recorded:
            self._data = self._report_data(notes)
        graph = self._build_graph()
        self._context.phase_ended(GRAPH)
        self._context.observer.interrupts.raise_if_received()
        self._proto = session_proto(self._setup.config, self._context, self._deployment)
        with graph.graph.as_default(), self._job() as member:
            self._make_parts(graph, member)
            try:
                with self._failure_before_first_step(), closing_all(self.loop.hooks):
                    self._run_loop()
                self._leave_job()
            except NothingLeftToTrain as error:
                self.loop.global_step = error.step
        return self._result()

    def _report_notes(self) -> Sequence[str]:
        # Neither need inherit from the class of its contract.
        notes = [
            note
            for plugin in (self._source, self._model)
            for note in getattr(plugin, "notes", tuple)()
        ]
        for note in notes:
            self._report(f"note: {note}")
        return notes

    def _report_data(self, notes: Sequence[str]) -> DataReport:
        """Reports the content of the data, and its faults, which `--strict` makes errors."""
        data = find_data_report(self._source)
        data = dataclasses.replace(data, warnings=(*self._find_change(), *data.warnings))
        if self._setup.config.strict:
            refuse_warnings(data)
        for line in data_lines(data, notes):
            self._report(line)
        return data

    def _find_change(self) -> Iterator[DataWarning]:
        """Yields a warning if the folder's run had other classes, and so other labels."""
        assert self._setup.input is not None, "a run that is recorded has an input"
        trained = earlier_input_info(
            self._setup.model_dir, self._setup.input.name, report=self._report
        )
        change = "" if trained is None else different_classes(self._source.info, trained)
        if change:
            remedy = "give the classes their old names and order, or take another --model_dir"
            yield DataWarning("changed_classes", change, remedy)

    def _build_graph(self) -> TrainGraph:
        setup, model = self._setup, self._model
        with unmatched_patterns(strict=setup.config.strict, report=self._report):
            graph = build_graph(
                setup, model=model, source=self._source, deployment=self._deployment
            )
            if self._context.cluster.is_chief:
                graph = with_initial_values(graph, setup, self._context, model)
        return graph

    @contextlib.contextmanager
    def _job(self) -> Iterator[JobMember]:
        """Connects this worker with the other tasks of its job, if there are any."""
        cluster, observer = self._context.cluster, self._context.observer
        agreement = Agreement(cluster) if cluster.has_several_tasks else None
        with contextlib.closing(agreement) if agreement else contextlib.nullcontext():
            yield JobMember(
                cluster=cluster,
                agreement=agreement,
                model_dir=self._setup.model_dir,
                max_steps=self._setup.config.max_steps,
                timeout_secs=self._setup.config.cluster_timeout_secs,
                report=observer.report,
                interrupts=observer.interrupts,
            )

    def _make_parts(self, graph: TrainGraph, member: JobMember) -> None:
        self.parts = TrainingParts(
            setup=self._setup,
            context=self._context,
            source=self._source,
            deployment=self._deployment,
            graph=graph,
            member=member,
            restored=RestoredCheckpoint(input_restarts_at=self._context.input_restarts_at),
            # Hooks are made before the loop that serves their requests.
            request_profile=lambda label, steps: self._requests.ask(label, steps),
        )
        hooks, self._progress = make_hooks(self.parts)
        self.loop = make_loop(self.parts, hooks)
        self._requests = ProfileRequests(self.parts, self.loop)

    def _run_loop(self) -> None:
        self.parts.member.wait_for_servers()
        with self._open_session() as session, self._requests.handled():
            # Not earlier: now the graph is known to fit the folder's checkpoint.
            if self._context.cluster.is_chief and self._setup.is_recorded:
                write_configuration(self._setup, self._source.info)
                write_data_report(self._setup.model_dir, self._data)
            self._context.phase_ended(SESSION)
            self.loop.run(session)

    def _open_session(self) -> Any:
        # A remote session waits for every task of the cluster and notices no signal.
        is_remote = bool(self._context.cluster.target)
        # An `Estimator` writes the graph for other programs.
        is_single = not is_remote and self._deployment.clone_device_type == "CPU"
        if is_single and self._setup.is_recorded:
            share_handles(self.parts.graph.train_op)
        interrupts = self._context.observer.interrupts
        with interrupts.deadly() if is_remote else contextlib.nullcontext():
            return monitored_session(
                self.parts.graph,
                hooks=self.loop.hooks,
                member=self.parts.member,
                config=self._proto,
                checkpoint=self._context.checkpoint,
                restored=self.parts.restored,
            )

    @contextlib.contextmanager
    def _failure_before_first_step(self) -> Iterator[None]:
        """Tells the hooks of an error, or of missing data, before the first step is complete."""
        failed = True
        try:
            yield
            # An `Estimator`, which records no configuration, may train on no data.
            failed = self._setup.is_recorded and not self.loop.stop_requested
        finally:
            if failed and self.loop.loss is None:
                self.loop.schedule.fail_before_first_step()

    def _leave_job(self) -> None:
        self.parts.member.finish()
        if self._context.cluster.is_chief and self.parts.agreement is not None:
            # The last checkpoint also has the last updates of the other workers.
            saved = read_step(newest_checkpoint(self._setup.model_dir))
            self.loop.global_step = max(self.loop.global_step, saved)

    def _result(self) -> Trained:
        loss, hook = self.loop.loss, self.loop.schedule.stopped_by
        return Trained(
            global_step=self.loop.global_step,
            loss=None if loss is None else float(loss),
            steps_per_sec=self._progress.steps_per_sec,
            examples_per_sec=self._progress.examples_per_sec,
            flops_per_sec=self._progress.flops_per_sec,
            peak_flops=self._progress.peak_flops,
            input_share=self._progress.input_share,
            stopped=self.loop.stop_requested,
            stopped_by=hook and (getattr(hook, "option", "") or type(hook).__name__),
            step_times=self.parts.times.table(),
        )

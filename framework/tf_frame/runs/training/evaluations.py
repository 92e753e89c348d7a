"""`Evaluations`: evaluates checkpoints of a run, during training and at its end.

The metrics go to the user, to `metrics.csv` and to the best checkpoints.
"""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Callable
from typing import Any

from tf_frame.checkpoint.find.newest import newest_checkpoint, read_step
from tf_frame.checkpoint.names import checkpoint_path
from tf_frame.checkpoint.write.best import BestCheckpoints
from tf_frame.cluster import Cluster
from tf_frame.config.values import not_a_choice
from tf_frame.errors import CheckpointError, ConfigError, NoDataError
from tf_frame.hooks.base import Hook, Phase
from tf_frame.hooks.cadence import Cadence
from tf_frame.hooks.metrics_log import EVAL, MetricsLog
from tf_frame.runs.evaluation.evaluator import Evaluator
from tf_frame.runs.evaluation.printing import log_line, result_line
from tf_frame.runs.evaluation.progress import evaluate_watched, partial_note
from tf_frame.runs.evaluation.results import find_at_chance, numbers, write_files
from tf_frame.runs.setup.run_context import RunObserver
from tf_frame.runs.setup.training_setup import TRAIN_AND_EVALUATE, TrainingSetup
from tf_frame.session.interrupts import Interrupted
from tf_frame.shell_text import shell_word
from tf_frame.text import short

_LOG = logging.getLogger("tf_frame")


@dataclasses.dataclass(frozen=True)
class Evaluations:
    """Evaluates checkpoints of a run, reports the metrics, and keeps the best checkpoints.

    Args:
      setup: the plugins, the run options and the folder.
      evaluator: computes the metrics of a checkpoint.
      observer: gets lines for the user.
      log: gets the metrics, after the best checkpoints.
      cluster: the job of this task, if it is one of several.
      is_recorded: returns whether `log` has got the metrics of a step in an earlier run.
      metrics_of_step: global step -> metric -> value, of this run.
      chance_of_step: global step -> metric that is not above chance -> value of chance.
    """

    setup: TrainingSetup
    evaluator: Evaluator
    observer: RunObserver
    log: MetricsLog
    _: dataclasses.KW_ONLY
    cluster: Cluster | None = None
    is_recorded: Callable[[int], bool] = lambda step: False
    metrics_of_step: dict[int, dict[str, float]] = dataclasses.field(default_factory=dict)
    chance_of_step: dict[int, dict[str, float]] = dataclasses.field(default_factory=dict)

    def evaluate_step(self, step: int) -> dict[str, float]:
        """Evaluates the checkpoint of a step that training has just saved, once."""
        if step not in self.metrics_of_step:
            path = checkpoint_path(self.setup.model_dir, step)
            metrics = self._evaluate(path, step)
            self.observer.report(result_line(step, metrics))
        return self.metrics_of_step[step]

    def make_up(self, step: int) -> None:
        """Evaluates the checkpoint of a resumed run if an earlier run was killed before it did.

        The resumed run then ends with the same best checkpoints and the same decisions as a run
        that was never killed.
        """
        every = self.setup.config.eval_every_n_steps
        is_due = self.setup.mode == TRAIN_AND_EVALUATE or (every and step % every == 0)
        if step and is_due and not self.is_recorded(step):
            self.observer.report(f"evaluating step {step}, which an earlier run did not complete")
            self.evaluate_step(step)

    def evaluate_newest(self) -> None:
        """Evaluates the newest checkpoint after training, unless training has done so.

        Without data only a note is reported.
        """
        checkpoint = newest_checkpoint(self.setup.model_dir)
        if checkpoint is None:
            raise CheckpointError(
                f"there is no checkpoint in {short(self.setup.model_dir)} to evaluate"
            )
        if read_step(checkpoint) in self.metrics_of_step:
            return  # Early stopping, or the end of the data, follows an evaluation.
        self.observer.report(f"evaluating {checkpoint}")
        try:
            self._evaluate(checkpoint, read_step(checkpoint))
        except NoDataError as error:
            self.observer.report(f"note: nothing is evaluated: {error}")

    def best_checkpoints(self) -> BestCheckpoints:
        """Returns the best checkpoints of the folder, by `--best_metric`.

        Raises:
          ConfigError: the folder's best checkpoints were chosen by another metric.
        """
        config = self.setup.config
        return BestCheckpoints(
            self.setup.model_dir,
            metric=config.best_metric,
            keep=config.keep_best,
            higher_is_better=config.best_is_highest,
        )

    def last(self) -> dict[str, Any]:
        """Returns the last evaluation, its step, and metrics at chance, for `result.json`."""
        step, metrics = max(self.metrics_of_step.items(), default=(None, {}))
        at_chance = {} if step is None else self.chance_of_step[step]
        return {"metrics": metrics, "metrics_step": step, "at_chance": at_chance}

    def check_metrics(self) -> None:
        """Builds the evaluation graph if an option needs a metric, and looks for the metric.

        Raises:
          ConfigError: the evaluation has no such metric, or the metric is not a single number; or
            the folder's best checkpoints were chosen by another metric.
        """
        if self.setup.config.keep_best:
            self.best_checkpoints()
        for option, metric in self.setup.needed_metrics():
            names = self.evaluator.metric_names()
            if metric.removeprefix(self.evaluator.metric_prefix) not in names:
                raise ConfigError(f"{option} {not_a_choice(metric, sorted(names))}")

    def _evaluate(self, checkpoint: str, step: int) -> dict[str, float]:
        try:
            evaluated = evaluate_watched(self.evaluator, checkpoint, self.observer)
        except Interrupted as interrupted:
            how = how_to_resume(self.setup, step, self.cluster)
            raise Interrupted(interrupted.signum, how) from None
        if not self.metrics_of_step and (note := partial_note(self.evaluator, evaluated)):
            self.observer.report(note)
        write_files(str(self.evaluator.eval_dir), evaluated.metrics)
        metrics = self.metrics_of_step[step] = numbers(evaluated.metrics)
        self.chance_of_step[step] = find_at_chance(self.evaluator.model, evaluated.metrics)
        _LOG.info("%s", log_line(step, metrics))
        if self.setup.config.keep_best and self.best_checkpoints().offer(checkpoint, metrics):
            best = f"one of the {self.setup.config.keep_best} best"
            self.observer.report(f"kept {checkpoint} as {best}")
        # Last: a resumed run takes an evaluation in the log for complete.
        self.log.write(EVAL, step, metrics)
        return metrics


def how_to_resume(setup: TrainingSetup, step: int, cluster: Cluster | None = None) -> str:
    """Returns the message for a user who stopped training, or a task of a job, at a step."""
    if cluster is not None and cluster.has_several_tasks:
        saved = " and saved" if cluster.is_chief else ""
        return (
            f"stopped{saved} at step {step} of {setup.config.max_steps}; the job resumes when all "
            "its tasks are started again"
        )
    # config.yaml records all options but the mode.
    mode = "--mode train_and_evaluate " if setup.mode == TRAIN_AND_EVALUATE else ""
    return (
        f"stopped and saved at step {step} of {setup.config.max_steps}\n"
        f"resume with: tf-frame run {mode}--model_dir {shell_word(setup.model_dir)}"
    )


class EvaluationGraphHook(Hook):
    """Starts to build the evaluation graph, with its session, in another thread after step one.

    An earlier start would delay the first step, which needs both cores for its preparation.

    Args:
      evaluator: of the run.
      first_step: number of the first step.
    """

    phase = Phase.EVALUATE

    def __init__(self, evaluator: Evaluator, first_step: int) -> None:
        super().__init__(Cadence(at_steps=[first_step]))
        self._evaluator = evaluator

    def after_step(self, run_context: Any, run_values: Any, step: int) -> None:
        self._evaluator.prepare()

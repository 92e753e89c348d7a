"""`run`: makes an `Experiment` and calls one of its methods, by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tf_frame_legacy.contrib.learn.constants import TaskType
from tf_frame_legacy.contrib.learn.experiment import Experiment
from tf_frame_legacy.contrib.learn.run_config import RunConfig
from tf_frame_legacy.hparams import HParams

_BY_TASK = {
    TaskType.MASTER: "train_and_evaluate",
    "chief": "train_and_evaluate",
    TaskType.PS: "run_std_server",
    TaskType.WORKER: "train",
}


def run(
    experiment_fn: Callable[..., Experiment],
    output_dir: str | None = None,
    schedule: str | None = None,
    run_config: RunConfig | None = None,
    hparams: HParams | None = None,
) -> Any:
    """Makes an experiment and runs it; returns the result of its method.

    Args:
      experiment_fn: a function of `run_config` and `hparams`, or of `output_dir`, that returns an
        `Experiment`.
      output_dir: folder for a function of `output_dir`.
      schedule: name of the method; default: `train_and_evaluate`, and in a cluster the method of
        the task: `run_std_server` or `train`.
      run_config: configuration of the estimator, with a `model_dir`.
      hparams: hyper-parameters for the function.

    Raises:
      ValueError: an argument is missing or contradicts another, or there is no such method.
      TypeError: the function is no function, or returns no `Experiment`.
      RuntimeError: the estimator does not use `run_config`.
    """
    if output_dir is not None and run_config is not None:
        raise ValueError("Cannot provide both `output_dir` and `run_config`")
    if output_dir is None and run_config is None:
        raise ValueError("Must set value for `output_dir` or `run_config`")
    if not callable(experiment_fn):
        raise TypeError(f'Experiment builder "{experiment_fn}" is not callable.')
    if run_config is not None:
        experiment = _from_config(experiment_fn, run_config, hparams)
    else:
        experiment = _from_folder(experiment_fn, output_dir, hparams)
    schedule = schedule or _default_schedule(experiment.estimator.config)
    if not hasattr(experiment, schedule):
        raise ValueError(f"Schedule references non-existent task {schedule}")
    task = getattr(experiment, schedule)
    if not callable(task):
        raise TypeError(f"Schedule references non-callable member {schedule}")
    return task()


def tune(experiment_fn: Callable[..., Experiment], tuner: Any) -> None:
    """Runs the trials of a tuner, an object with `next_trial` and `run_experiment`."""

    def checked_experiment_fn(run_config: Any, hparams: Any) -> Experiment:
        if hparams is None:
            raise ValueError("`hparams` cannot be `None`.")
        return _from_config(experiment_fn, run_config, hparams)

    while tuner.next_trial():
        tuner.run_experiment(checked_experiment_fn)


def _from_config(experiment_fn: Any, run_config: Any, hparams: Any) -> Experiment:
    if not isinstance(run_config, RunConfig):
        raise ValueError("`run_config` must be `tf.contrib.learn.RunConfig` instance")
    if not run_config.model_dir:
        raise ValueError("Must specify a model directory `model_dir` in `run_config`.")
    if hparams is not None and not isinstance(hparams, HParams):
        raise ValueError("`hparams` must be `HParams` instance")
    uid = run_config.uid()
    experiment = _checked(experiment_fn(run_config, hparams))
    config = experiment.estimator.config
    if not isinstance(config, RunConfig) or config.uid() != uid:
        raise RuntimeError(
            "Pass `run_config` argument of the `experiment_fn` to the Estimator in Experiment; the "
            "estimator has another configuration."
        )
    return experiment


def _from_folder(experiment_fn: Any, output_dir: str | None, hparams: Any) -> Experiment:
    if not output_dir:
        raise ValueError("Must specify an output directory")
    if hparams is not None:
        raise ValueError("Must set `hparams` as None for `experiment_fn` with `output_dir`.")
    return _checked(experiment_fn(output_dir=output_dir))


def _checked(experiment: Any) -> Experiment:
    if not isinstance(experiment, Experiment):
        raise TypeError(
            "Experiment builder did not return an Experiment instance, got "
            f"{type(experiment)} instead."
        )
    return experiment


def _default_schedule(config: Any) -> str:
    spec = config.cluster_spec
    if sum(map(spec.num_tasks, spec.jobs)) <= 1:
        return "train_and_evaluate"
    if config.task_type not in _BY_TASK:
        raise ValueError(f"No default schedule for task type: {config.task_type}")
    return _BY_TASK[config.task_type]

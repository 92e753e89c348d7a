"""Early stopping with the names and arguments of tf.estimator.experimental.

    hook = stop_if_no_decrease_hook(estimator, "loss", max_steps_without_decrease=1000)
    train_and_evaluate(estimator, TrainSpec(input_fn, hooks=[hook]), eval_spec)

The verdicts are those of `tf_frame.hooks.early_stopping`. In a cluster only the
chief looks, and tells the workers; see `stop_signal.py`.
"""

from __future__ import annotations

import collections
from collections.abc import Callable
from typing import Any

from tf_frame.estimator.estimator import Estimator
from tf_frame.estimator.train_and_eval.stop_signal import FollowChiefHook, TellWorkersHook
from tf_frame.hooks import early_stopping
from tf_frame.hooks.base import Hook
from tf_frame.hooks.early_stopping import EarlyStoppingHook


def make_early_stopping_hook(
    estimator: Any,
    should_stop_fn: Callable[[], bool],
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> Hook:
    """Makes a hook that ends training once a function says so.

    Args:
      estimator: the `Estimator` that is trained.
      should_stop_fn: takes nothing; true ends training. Only the chief calls it.
      run_every_secs: seconds from one call to the next.
      run_every_steps: steps likewise; give one of the two, and None for the other.

    Raises:
      TypeError: `estimator` is no `Estimator`, or `should_stop_fn` no function.
      ValueError: both or neither of seconds and steps are given.
    """
    if not callable(should_stop_fn):
        raise TypeError("`should_stop_fn` must be callable.")

    def verdict(_: Any) -> str:
        return "should_stop_fn returned true" if should_stop_fn() else ""

    def make() -> EarlyStoppingHook:
        return EarlyStoppingHook(
            verdict, dict, run_every_secs=run_every_secs, run_every_steps=run_every_steps
        )

    return _for_task(estimator, make)


def stop_if_higher_hook(
    estimator: Any,
    metric_name: str,
    threshold: float,
    eval_dir: str | None = None,
    min_steps: int = 0,
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> Hook:
    """Makes a hook that ends training once a metric is above a threshold.

    Args:
      estimator: the `Estimator` that is trained.
      metric_name: such as `loss`.
      threshold: what it is compared with.
      eval_dir: folder with the event files of evaluations; default: `estimator.eval_dir()`.
      min_steps: evaluations of earlier steps do not count.
      run_every_secs, run_every_steps: see `make_early_stopping_hook`.
    """
    return _by_metric(
        estimator,
        early_stopping.stop_if_higher,
        (metric_name, threshold),
        eval_dir,
        min_steps=min_steps,
        run_every_secs=run_every_secs,
        run_every_steps=run_every_steps,
    )


def stop_if_lower_hook(
    estimator: Any,
    metric_name: str,
    threshold: float,
    eval_dir: str | None = None,
    min_steps: int = 0,
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> Hook:
    """Makes a hook that ends training once a metric is below it; see `stop_if_higher_hook`."""
    return _by_metric(
        estimator,
        early_stopping.stop_if_lower,
        (metric_name, threshold),
        eval_dir,
        min_steps=min_steps,
        run_every_secs=run_every_secs,
        run_every_steps=run_every_steps,
    )


def stop_if_no_increase_hook(
    estimator: Any,
    metric_name: str,
    max_steps_without_increase: int,
    eval_dir: str | None = None,
    min_steps: int = 0,
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> Hook:
    """Makes a hook that ends training once a metric has had no new highest value for so long.

    Args:
      estimator: the `Estimator` that is trained.
      metric_name: such as `accuracy`.
      max_steps_without_increase: steps from the best evaluation to a later one.
      eval_dir, min_steps, run_every_secs, run_every_steps: see `stop_if_higher_hook`.
    """
    return _by_metric(
        estimator,
        early_stopping.stop_if_no_increase,
        (metric_name, max_steps_without_increase),
        eval_dir,
        min_steps=min_steps,
        run_every_secs=run_every_secs,
        run_every_steps=run_every_steps,
    )


def stop_if_no_decrease_hook(
    estimator: Any,
    metric_name: str,
    max_steps_without_decrease: int,
    eval_dir: str | None = None,
    min_steps: int = 0,
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> Hook:
    """Makes a hook as `stop_if_no_increase_hook` does, where a lower value is better."""
    return _by_metric(
        estimator,
        early_stopping.stop_if_no_decrease,
        (metric_name, max_steps_without_decrease),
        eval_dir,
        min_steps=min_steps,
        run_every_secs=run_every_secs,
        run_every_steps=run_every_steps,
    )


def read_eval_metrics(eval_dir: str) -> collections.OrderedDict[int, dict[str, float]]:
    """Reads what evaluations have written.

    Args:
      eval_dir: the folder with their event files.

    Returns:
      Global step -> metric -> value, by ascending step; empty if there is no such folder.
    """
    return collections.OrderedDict(early_stopping.read_eval_metrics(eval_dir))


def _by_metric(
    estimator: Any,
    make: Callable[..., EarlyStoppingHook],
    condition: tuple[str, float],
    eval_dir: str | None,
    **more: Any,
) -> Hook:
    _check_estimator(estimator)
    folder = estimator.eval_dir() if eval_dir is None else eval_dir
    return _for_task(estimator, lambda: make(*condition, folder, **more))


def _for_task(estimator: Any, make: Callable[[], EarlyStoppingHook]) -> Hook:
    """The hook for the part that this process has in training."""
    _check_estimator(estimator)
    config = estimator.config
    hook = make()  # A worker's arguments are checked as well.
    if not config.is_chief:
        return FollowChiefHook()
    return TellWorkersHook(hook) if config.num_worker_replicas > 1 else hook


def _check_estimator(estimator: Any) -> None:
    if not isinstance(estimator, Estimator):
        raise TypeError(
            f"`estimator` must have type `tf.estimator.Estimator`. Got: {type(estimator)}"
        )

"""Results of a sweep: a table of the trials, importance of the options, files of the best."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator, Sequence
from typing import Any

import optuna
from optuna.importance import PedAnovaImportanceEvaluator, get_param_importances
from optuna.trial import FrozenTrial, TrialState

from tf_frame.command_line.output_file import write_text
from tf_frame.config.yaml_file import read_settings, to_yaml
from tf_frame.errors import ConfigError, DataError
from tf_frame.launch.watchdog import is_there
from tf_frame.run_folders import CONFIGURATION
from tf_frame.runs.comparison.compared_run import read_runs
from tf_frame.runs.comparison.comparison import compare_runs
from tf_frame.runs.comparison.page import comparison_page
from tf_frame.shell_text import shell_word
from tf_frame.text import columns, figure, short
from tf_frame_sweep.plan import Plan
from tf_frame_sweep.search import REASON
from tf_frame_sweep.space import as_text

BEST_FILE, PAGE_FILE = "best.yaml", "comparison.html"
_MOST_COMPARED = 8
# Fewer complete trials say nothing about importance.
_LEAST_FOR_IMPORTANCE = 4


def trials_table(study: optuna.Study, plan: Plan) -> str:
    """Returns a line for each trial, the best first; those without a value last."""
    names = list(plan.space)
    rows = [("TRIAL", "STATE", plan.metric, *names, "")]
    for trial in _ranked(study, plan):
        values = [_shown(trial.params.get(name)) for name in names]
        value = "" if trial.value is None else figure(trial.value)
        reason = short(trial.user_attrs.get(REASON, ""), 60)
        state = reason.partition(":")[0] or trial.state.name.lower()
        rows.append((str(trial.number), state, value, *values, reason.partition(": ")[2]))
    return columns(rows, right=[0, 2])


def _shown(value: Any) -> str:
    return "" if value is None else f"{value:.4g}" if isinstance(value, float) else as_text(value)


def _ranked(study: optuna.Study, plan: Plan) -> list[FrozenTrial]:
    sign = -1 if plan.rises else 1

    def key(trial: FrozenTrial) -> tuple[bool, float, int]:
        is_complete = trial.state == TrialState.COMPLETE and trial.value is not None
        return not is_complete, sign * (trial.value or 0.0) if is_complete else 0.0, trial.number

    return sorted(study.get_trials(deepcopy=False), key=key)


def summary(study: optuna.Study, plan: Plan) -> Iterator[str]:
    """Writes the files, and yields the lines about the best trial and importance."""
    complete = [t for t in _ranked(study, plan) if t.state == TrialState.COMPLETE]
    if not complete:
        yield "no trial is complete"
        return
    best = complete[0]
    yield from _importance(study, plan, len(complete))
    path = os.path.join(plan.folder, BEST_FILE)
    # What the trial had, the number of its threads among it.
    config = os.path.join(plan.folders(best.number)[0], CONFIGURATION)
    settings = dataclasses.replace(read_settings(config), versions={}, lock={})
    values = {name: value for name, value in settings.values.items() if name != "model_dir"}
    settings = dataclasses.replace(settings, values=values)
    heading = f"tf-frame sweep: trial {best.number}, {plan.metric} {best.value!r}"
    write_text(path, to_yaml(settings, heading), "--sweep_dir")
    yield f"best: trial {best.number}, {plan.metric} {figure(best.value or 0.0)}"
    yield f"train with it: tf-frame run --config {shell_word(path)}"
    yield from _page(complete, plan)


def _importance(study: optuna.Study, plan: Plan, complete: int) -> Iterator[str]:
    if complete < _LEAST_FOR_IMPORTANCE or len(plan.space) < 2:
        return
    importances = get_param_importances(study, evaluator=PedAnovaImportanceEvaluator())
    shares = ", ".join(f"{name} {share:.0%}" for name, share in importances.items())
    yield f"importance for the best trials (PED-ANOVA): {shares}"


def _page(complete: Sequence[FrozenTrial], plan: Plan) -> Iterator[str]:
    """Writes the comparison of the best trials; a folder that was removed is left out."""
    most = max(_MOST_COMPARED // plan.params.seeds, 2)
    folders = [folder for trial in complete[:most] for folder in plan.folders(trial.number)]
    folders = [folder for folder in folders if os.path.isdir(folder)]
    if len(folders) < 2:
        return
    mode = "max" if plan.rises else "min"
    try:
        comparison = compare_runs(read_runs(folders, is_there), metric=plan.metric, mode=mode)
    except (ConfigError, DataError) as error:
        yield f"note: the best trials are not compared: {error}"
        return
    note = (
        f"These are the best of {len(complete)} trials by {plan.metric}, chosen by the same "
        "values: train the best ones again with other seeds before you call one better."
    )
    path = os.path.join(plan.folder, PAGE_FILE)
    write_text(path, comparison_page(comparison, note=note), "--sweep_dir")
    yield f"comparison of the best: {path}"

"""Hints around a run: fitting weights, long warm-up, slow input, nothing learnt, overfitting."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping
from typing import Any

from tf_frame import file_system
from tf_frame.checkpoint.names import LIST_FILE
from tf_frame.config.option import declared_options
from tf_frame.config.values import to_text
from tf_frame.plugin import InputInfo, Mode
from tf_frame.profiling.step_times import is_starving
from tf_frame.runs.records.evaluations import read_evaluations
from tf_frame.runs.setup.model_dir import CONFIG_FILE
from tf_frame.runs.setup.plugin_choice import propose_input_options
from tf_frame.runs.setup.training_setup import TrainingSetup
from tf_frame.shell_text import shell_word
from tf_frame.text import figure
from tf_frame.weights.plugins import fitting_weights, load_weights, network_option

# With fewer, a network that has seen other pictures is better.
_FEW_EXAMPLES, _SHOWN_WEIGHTS = 2000, 3
_MORE_STEPS, _LOWER_RATE = 4, 0.1
# Metric of an evaluation, and how many times the least loss is far above it.
_LOSS, _MUCH_MORE_LOSS = "loss", 1.5
_EVALUATIONS = 10
# ImageNet is trained with 90 passes, COCO with 12 to 300; steps are rounded up to a multiple.
_MANY_PASSES, _FEW_PASSES, _ROUND = 500, 30, 10


def weights_note(setup: TrainingSetup, info: InputInfo) -> list[str]:
    """Returns a note on weights that fit, if the run begins with random values and little data."""
    count = info.num_examples.get(Mode.TRAIN)
    is_new = not file_system.exists(os.path.join(setup.model_dir, LIST_FILE))
    if setup.config.warm_start_from or not is_new or count is None or count >= _FEW_EXAMPLES:
        return []
    names = _fitting_weights(setup)[:_SHOWN_WEIGHTS]
    if not names:
        return []
    of_network = load_weights(names[0]).network
    change = f", with the network {of_network}" if of_network != network_name(setup) else ""
    return [
        f"note: this run begins with random values and has {count} examples; published weights "
        f"learn from few: --warm_start_from {' or '.join(names)}{change}"
    ]


def steps_note(setup: TrainingSetup, info: InputInfo, *, source: str) -> list[str]:
    """Returns a note if steps that the user has not chosen are far too many for the data.

    Args:
      setup, info: the run and its data.
      source: where the number of steps comes from; empty: the default.
    """
    count, config = info.num_examples.get(Mode.TRAIN), setup.config
    batch = setup.examples_per_step()
    passes = config.max_steps * batch / count if count else 0
    is_new = not file_system.exists(os.path.join(setup.model_dir, LIST_FILE))
    if passes < _MANY_PASSES or config.overfit_batches or not is_new:
        return []
    few = math.ceil(_FEW_PASSES * (count or 0) / batch / _ROUND) * _ROUND
    return [
        f"note: {config.max_steps} steps of {batch}, {source or 'the default'}, are {passes:,.0f} "
        f"passes over the {count} training examples; --max_steps {few}, {_FEW_PASSES} passes, "
        "shows much sooner what can be learned"
    ]


def warmup_note(setup: TrainingSetup) -> list[str]:
    """Returns a note if the learning rate still rises at the end of the run."""
    last_step = setup.config.max_steps
    of_schedule = getattr(setup.schedule.params, "warmup_steps", 0)
    steps = {"--warmup_steps": setup.config.warmup_steps, "--schedule.warmup_steps": of_schedule}
    return [
        f"note: {option} {count} is not below --max_steps {last_step}: the warm-up lasts for the "
        f"whole run, which never trains with --learning_rate {setup.config.learning_rate:g}"
        for option, count in steps.items()
        if count and count >= last_step
    ]


def hints(setup: TrainingSetup, result: Mapping[str, Any]) -> list[str]:
    """Returns the hints that follow from the result of a run, each with commands."""
    return [
        *_slow_input(setup, result),
        *chance_hint(setup, result["metrics"], result["at_chance"]),
        *_overfitting(setup),
    ]


def _config(setup: TrainingSetup) -> str:
    return f"--config {shell_word(os.path.join(setup.model_dir, CONFIG_FILE))}"


def _slow_input(setup: TrainingSetup, result: Mapping[str, Any]) -> Iterator[str]:
    if is_starving(result["input_share"], result["steps_per_sec"]):
        yield (
            f"hint: the steps waited for input {100 * result['input_share']:.0f} % of the time; "
            f"tf-frame profile {_config(setup)} --steps 30 says why"
        )


def _overfitting(setup: TrainingSetup) -> Iterator[str]:
    """Yields a hint if the loss of the last evaluation is far above that of an earlier one."""
    losses = [
        (evaluation.metrics[_LOSS], evaluation.step)
        for evaluation in read_evaluations(setup.model_dir)
        if _LOSS in evaluation.metrics
    ]
    if not losses:
        return
    (least, best_step), (last, step) = min(losses), losses[-1]
    if best_step < step and last > _MUCH_MORE_LOSS * least > 0:
        every = max(setup.config.max_steps // _EVALUATIONS, 1)
        yield (
            f"hint: the evaluation's loss rose from {figure(least)} at step {best_step} to "
            f"{figure(last)}; the network learns the training examples by heart. More and more "
            "varied examples help. A run that keeps its best checkpoint:\n"
            f"    tf-frame run {_config(setup)} --keep_best 1 --best_metric {_LOSS} "
            f"--eval_every_n_steps {every}"
        )


def chance_hint(
    setup: TrainingSetup, metrics: Mapping[str, Any], at_chance: Mapping[str, float]
) -> Iterator[str]:
    """Yields a hint with remedies if an evaluation after the last step is not above chance.

    Args:
      setup: the run.
      metrics: name -> value.
      at_chance: metric that is not above chance -> value of chance.
    """
    for metric, level in list(at_chance.items())[:1]:
        value = float(metrics[metric])
        hardly = "hardly" if value > level else "not"
        # A command of its own line can be copied, whatever the width of the terminal.
        remedies = [f"  {name}:\n    {command}" for name, command in _remedies(setup)]
        yield "\n".join(
            [
                f"hint: {metric} {figure(value)} is {hardly} above {figure(level)}, which needs no "
                "learning; try, in this order:",
                *remedies,
            ]
        )


def _remedies(setup: TrainingSetup) -> Iterator[tuple[str, str]]:
    """Yields remedies and commands, the most likely one first."""
    options, weights, config = setup.config, _fitting_weights(setup), _config(setup)
    folder, usual = shell_word(setup.model_dir), _usual_steps(setup)
    steps = max(_MORE_STEPS * options.max_steps, usual)
    more_steps = "more steps", f"tf-frame run --model_dir {folder} --max_steps {steps}"
    is_short = options.max_steps < usual
    if is_short:
        yield more_steps
    # On batches that are only learnt by heart, weights would hide a mistake in the loss.
    if weights and not (options.warm_start_from or options.overfit_batches):
        begin = (
            config if load_weights(weights[0]).network == network_name(setup) else _plugins(setup)
        )
        yield "published weights", f"tf-frame run {begin} --warm_start_from {weights[0]}"
    if not is_short:
        yield more_steps
    # A schedule may have learning rates of its own; and a warm-up may never have ended.
    if not (hasattr(setup.schedule.params, "learning_rates") or warmup_note(setup)):
        rate = f"{_LOWER_RATE * options.learning_rate:g}"
        yield "a lower learning rate", f"tf-frame run {config} --learning_rate {rate}"


def _plugins(setup: TrainingSetup) -> str:
    """Returns options for a run on the same data. The weights choose its network."""
    model, source = setup.model, setup.input
    assert model is not None and source is not None
    # The network's own, such as the size of images.
    proposed = propose_input_options(model.plugin.cls, model.params)
    words = [f"--plugin {model.name} --input {source.name}"]
    words.append(f"--max_steps {setup.config.max_steps}")
    words.append(f"--train_batch_size {setup.config.train_batch_size}")
    for option in declared_options(type(source.params)):
        value = getattr(source.params, option.name)
        if value != option.default and option.name not in proposed:
            words.append(f"--input.{option.name} {shell_word(to_text(value))}")
    return " ".join(words)


def _usual_steps(setup: TrainingSetup) -> int:
    """Returns the steps of a run of the model for which nobody gives a number; or 0."""
    assert setup.model is not None
    steps: int = getattr(setup.model.plugin.cls, "run_defaults", {}).get("max_steps", 0)
    return steps


def _fitting_weights(setup: TrainingSetup) -> list[str]:
    assert setup.model is not None, "a run of the command line has a model"
    return fitting_weights(setup.model.name, network_name(setup))


def network_name(setup: TrainingSetup) -> str:
    """Returns the network that a run's model was told to use; empty if it has no choice."""
    assert setup.model is not None, "a run of the command line has a model"
    name: str = setup.model.values().get(network_option(setup.model.plugin.cls), "")
    return name

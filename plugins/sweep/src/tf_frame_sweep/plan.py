"""`Plan`: what a sweep does, from the words of the command line."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

from tf_frame.command_line.parsing import parse_command_line
from tf_frame.command_line.words import CommandLine
from tf_frame.config.metric_directions import higher_is_better
from tf_frame.config.option import Option
from tf_frame.config.run_options import run_options
from tf_frame.config.yaml_file import plain
from tf_frame.errors import ConfigError
from tf_frame.experiments.variant import Variant
from tf_frame.runs.setup.training_setup import TrainingSetup
from tf_frame_sweep.shares import THREADS, thread_options
from tf_frame_sweep.space import Space, as_text, low_ends, parse_space, within

_SEED, _MODEL_DIR = "random_seed", "model_dir"
_FOLDER = "sweeps"
_PLUGINS = ("plugin", "input", "optimizer", "schedule")


@dataclasses.dataclass(frozen=True)
class Plan:
    """All about a sweep.

    Attributes:
      params: the options of `tf-frame sweep`.
      words: the words of each run after `run`.
      space: option -> the values that trials may take.
      options: name -> option of the run and its plugins.
      rises: whether the largest value of the metric is the best.
      folder: the folder of the sweep.
      setup: the run without the options of a trial.
    """

    params: Any
    words: Sequence[str]
    space: Space
    options: Mapping[str, Option]
    rises: bool
    folder: str
    setup: TrainingSetup

    @property
    def metric(self) -> str:
        """The metric of the last evaluation that counts."""
        return str(self.params.metric)

    def identity(self) -> dict[str, Any]:
        """Returns what a study cannot change: options of its runs, space, metric, seeds."""
        settings = dataclasses.replace(self.setup.settings(), versions={}, lock={}, path="")
        facts = dataclasses.asdict(settings)
        facts["values"] = {n: v for n, v in facts["values"].items() if n != _MODEL_DIR}
        options = json.dumps(facts, sort_keys=True, default=str).encode()
        return {
            "the options of the run": hashlib.sha256(options).hexdigest(),
            "--space": list(self.params.space),
            "--metric": self.metric,
            "--mode": self.rises,
            "--seeds": self.params.seeds,
        }

    def own_choice(self) -> dict[str, Any] | None:
        """Returns the values of the run itself as those of a trial; None: the space lacks them."""
        settings = self.setup.settings()
        values = {name: getattr(settings, name) for name in _PLUGINS} | dict(settings.values)

        def parse(name: str, text: str) -> Any:
            return plain(self.options[name].parse(text)) if name in self.options else text

        own = {name: plain(values.get(name)) for name in self.space}
        return within(self.space, own, parse)

    def folders(self, number: int) -> list[str]:
        """Returns the folders of the runs of a trial, one for each seed."""
        path = os.path.join(self.folder, f"trial-{number:04}")
        if self.params.seeds == 1:
            return [path]
        return [f"{path}-seed-{seed}" for seed in self.seeds()]

    def seeds(self) -> list[int]:
        """Returns the seeds of the runs of a trial."""
        first = self.setup.config.random_seed
        return list(range(first, first + self.params.seeds))

    def _threads(self) -> dict[str, str]:
        is_chosen = any(getattr(self.setup.config, name) for name in THREADS)
        return {} if is_chosen else thread_options(self.params.parallel)

    def run_words(self, values: dict[str, Any], seed: int | None = None) -> list[str]:
        """Returns the words after `run` with the values of a trial, and a seed."""
        options = {**self._threads(), **{name: as_text(v) for name, v in values.items()}}
        if seed is not None and self.params.seeds > 1:
            options[_SEED] = str(seed)
        return Variant(options).words(self.words)


def make_plan(params: Any, words: Sequence[str]) -> Plan:
    """Checks the words of a sweep, without TensorFlow.

    Raises:
      ConfigError: no run is named, an option does not exist, or its values are none.
    """
    if not words or words[0] != "run":
        raise ConfigError("say what to train: tf-frame sweep --space ... -- run --plugin NAME")
    words = list(words[1:])
    line = parse_command_line(words)
    setup = line.setup()
    options = _options(line)
    space = parse_space(params.space, {name: each.type for name, each in options.items()})
    _check_run(setup, words, space, parallel=params.parallel)
    rises = higher_is_better(params.metric, params.mode, "--mode")
    plan = Plan(params, words, space, options, rises, "", setup)
    name = setup.model.name.replace(":", "-") if setup.model else "run"
    facts = json.dumps(plan.identity(), sort_keys=True).encode()
    default = os.path.join(_FOLDER, f"{name}-{hashlib.sha256(facts).hexdigest()[:6]}")
    return dataclasses.replace(plan, folder=os.path.expanduser(params.sweep_dir or default))


def _options(line: CommandLine) -> dict[str, Option]:
    """Returns the options of the run and its plugins, by name."""
    plugin_options = line.chosen.plugin_options() if line.chosen else ()
    return {option.name: option for option in (*run_options(), *plugin_options)}


def _check_run(setup: TrainingSetup, words: Sequence[str], space: Space, *, parallel: int) -> None:
    """Refuses options that do not exist, and those that a sweep chooses itself."""
    if not setup.is_default_dir:
        raise ConfigError(
            "leave out --model_dir: each trial has a folder of its own, in --sweep_dir"
        )
    fixed = [h for h in setup.hooks if h.name == "prometheus" and h.params.port]
    if fixed and parallel > 1:
        raise ConfigError("trials at the same time cannot share a port: give --hook prometheus:0")
    if _MODEL_DIR in space or _SEED in space:
        raise ConfigError("--space: a sweep chooses model_dir and random_seed itself (--seeds)")
    # Values that do not fit together are refused by the trial that has them.
    for name, value in low_ends(space).items():
        parse_command_line(Variant({name: value}).words(words)).flags  # noqa: B018
    if not setup.config.evaluate and not setup.config.evaluates_in_training:
        raise ConfigError("the runs evaluate nothing: leave out --noevaluate")

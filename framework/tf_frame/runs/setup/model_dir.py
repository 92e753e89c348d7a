"""The folder of a run, with these files next to checkpoints and events.

| file | content |
|---|---|
| `config.yaml` | the resolved configuration, to resume, evaluate and export the run |
| `input.json` | the `InputInfo` of the data, to predict and export without the data |
| `data.json` | the `DataReport` of the data, for people and programs |
| `train.log` | the log of tf-frame |
| `metrics.csv` | the figures of each log interval and each evaluation |
| `result.json` | the result of the last run, for programs |
| `starts.json` | the number of sessions, with `--hook prometheus` or `opentelemetry` |
| `run.lock` | locked while a run writes to the folder: see `folder_claim` |
| `launch.lock` | locked while a launcher runs its job in the folder |
| `training_ended_at` | the last step of the last completed `Estimator.train`: see `completed_step`|
"""

from __future__ import annotations

import dataclasses
import functools
import json
import os
from collections.abc import Callable
from typing import Any

from tf_frame.atomic_output import write_file
from tf_frame.config.yaml_file import to_yaml
from tf_frame.errors import ConfigError, DataError
from tf_frame.plugin import DataReport, InputInfo, Mode
from tf_frame.plugin.lock import lock_record
from tf_frame.run_folders import CONFIGURATION, RESULT_FILE
from tf_frame.runs.setup.training_setup import TrainingSetup
from tf_frame.side_files import as_object, read_or_set_aside, read_side_file, write_json
from tf_frame.text_file import parse_integer

CONFIG_FILE = CONFIGURATION
_CONFIG_HEADER = "Written by tf-frame; run it again with: tf-frame run --config THIS_FILE"
INPUT_FILE = "input.json"
DATA_FILE = "data.json"
_COMPLETED_FILE = "training_ended_at"


def write_configuration(setup: TrainingSetup, info: Any) -> None:
    """Writes `config.yaml` and, from the `info` of the input, `input.json` for later commands."""
    assert setup.input is not None, "an Estimator records no configuration"
    write_input_info(setup.model_dir, setup.input.name, info)
    settings = dataclasses.replace(setup.settings(), lock=lock_record(setup.plugins()))
    write_file(os.path.join(setup.model_dir, CONFIG_FILE), to_yaml(settings, _CONFIG_HEADER))


def write_input_info(model_dir: str, name: str, info: Any) -> None:
    """Writes `input.json`, unless the input plugin `name` has a subclass of `InputInfo`."""
    if type(info) is not InputInfo:
        return
    facts = dataclasses.asdict(info)
    facts["num_examples"] = {Mode(mode).value: n for mode, n in info.num_examples.items()}
    facts["class_names"] = list(info.class_names)
    content = json.dumps({"input": name, **facts}, indent=2, default=int)
    write_file(os.path.join(model_dir, INPUT_FILE), content + "\n")


def write_data_report(model_dir: str, report: DataReport) -> None:
    """Writes `data.json`."""
    content = json.dumps(report.as_json(), indent=2, default=str)
    write_file(os.path.join(model_dir, DATA_FILE), content + "\n")


def read_input_info(model_dir: str, name: str) -> InputInfo | None:
    """Reads `input.json`; returns None without the file, or if it is of another input.

    Raises:
      ConfigError: the file is damaged.
    """
    path = os.path.join(model_dir, INPUT_FILE)
    try:
        return read_side_file(path, functools.partial(_input_info, name))
    except DataError as error:
        raise ConfigError(f"{error}; remove the file if the training data is available") from None


def earlier_input_info(
    model_dir: str, name: str, *, report: Callable[[str], None]
) -> InputInfo | None:
    """Reads `input.json` as `read_input_info`, for a training, which writes a new one."""
    path = os.path.join(model_dir, INPUT_FILE)
    return read_or_set_aside(path, functools.partial(_input_info, name), report=report)


def _input_info(name: str, facts: Any) -> InputInfo | None:
    if facts["input"] != name:
        return None
    return InputInfo(
        num_examples={Mode(mode): parse_integer(n) for mode, n in facts["num_examples"].items()},
        num_classes=_number_or_none(facts["num_classes"]),
        class_names=tuple(map(str, facts["class_names"])),
        ignore_label=_number_or_none(facts["ignore_label"]),
        # Earlier runs have neither.
        class_colours=tuple(
            tuple(map(parse_integer, colour)) for colour in facts.get("class_colours", ())
        ),
        class_ids=tuple(map(parse_integer, facts.get("class_ids", ()))),
    )


def _number_or_none(value: Any) -> int | None:
    return None if value is None else parse_integer(value)


def write_result(model_dir: str, result: dict[str, Any]) -> None:
    """Writes `result.json`.

    A run without a training step keeps loss and throughput of the run that reached the step.
    """
    earlier = _read_result(model_dir)
    if result["steps_per_sec"] is None and earlier.get("global_step") == result["global_step"]:
        for name in ("total_loss", "steps_per_sec", "examples_per_sec", "gflops_per_sec"):
            result = {**result, name: earlier.get(name)}
    write_json(os.path.join(model_dir, RESULT_FILE), result)


def _read_result(model_dir: str) -> dict[str, Any]:
    return read_or_set_aside(os.path.join(model_dir, RESULT_FILE), as_object) or {}


def completed_step(model_dir: str) -> int | None:
    """Returns the step at which `Estimator.train` last ended without being killed, or None.

    tf.estimator's `train` reads its input from the beginning at each call, so that scripts train
    epoch by epoch. After a killed training, the next call resumes the input at the position in the
    checkpoint instead.
    """
    return read_or_set_aside(os.path.join(model_dir, _COMPLETED_FILE), _step)


def _step(content: Any) -> int:
    step = parse_integer(content)
    if step < 0:
        raise ValueError(f"{step} is no step")
    return step


def write_completed_step(model_dir: str, step: int) -> None:
    """Records the global step at which `Estimator.train` ended without being killed."""
    write_file(os.path.join(model_dir, _COMPLETED_FILE), f"{step}\n")

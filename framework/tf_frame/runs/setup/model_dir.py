"""The folder of a run, with these files next to checkpoints and events.

| file | content |
|---|---|
| `config.yaml` | the resolved configuration, to resume, evaluate and export the run |
| `input.json` | the `InputInfo` of the data, to predict and export without the data |
| `data.json` | the `DataReport` of the data, for people and programs |
| `train.log` | the log of tf-frame |
| `metrics.csv` | the figures of each log interval and each evaluation |
| `result.json` | the result of the last run, for programs |
| `run.lock` | locked while a run writes to the folder: see `folder_claim` |
| `training_ended_at` | the last step of the last completed `Estimator.train`: see `completed_step`|
"""

from __future__ import annotations

import dataclasses
import json
import os
from typing import Any

from tf_frame import file_system
from tf_frame.atomic_output import write_file
from tf_frame.config.yaml_file import to_yaml
from tf_frame.errors import ConfigError
from tf_frame.plugin import DataReport, InputInfo, Mode
from tf_frame.plugin.lock import lock_record
from tf_frame.runs.setup.training_setup import TrainingSetup

CONFIG_FILE = "config.yaml"
_CONFIG_HEADER = "Written by tf-frame; run it again with: tf-frame run --config THIS_FILE"
INPUT_FILE = "input.json"
DATA_FILE = "data.json"
RESULT_FILE = "result.json"
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
        facts = json.loads(file_system.read_text(path))
        if facts.pop("input") != name:
            return None
        facts["num_examples"] = {Mode(mode): n for mode, n in facts["num_examples"].items()}
        facts["class_names"] = tuple(facts["class_names"])
        # Earlier runs have neither.
        facts["class_colours"] = tuple(map(tuple, facts.get("class_colours", ())))
        facts["class_ids"] = tuple(facts.get("class_ids", ()))
        return InputInfo(**facts)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ConfigError(
            f"{path} cannot be read: {error}; remove the file if the training data is available"
        ) from None


def write_result(model_dir: str, result: dict[str, Any]) -> None:
    """Writes `result.json`.

    A run without a training step keeps loss and throughput of the run that reached the step.
    """
    earlier = _read_result(model_dir)
    if result["steps_per_sec"] is None and earlier.get("global_step") == result["global_step"]:
        for name in ("total_loss", "steps_per_sec", "examples_per_sec"):
            result = {**result, name: earlier.get(name)}
    write_file(os.path.join(model_dir, RESULT_FILE), json.dumps(result, indent=2) + "\n")


def _read_result(model_dir: str) -> dict[str, Any]:
    try:
        result = json.loads(file_system.read_text(os.path.join(model_dir, RESULT_FILE)))
    except (FileNotFoundError, ValueError):  # ValueError: not JSON, or not even text.
        return {}
    return result if isinstance(result, dict) else {}


def completed_step(model_dir: str) -> int | None:
    """Returns the step at which `Estimator.train` last ended without being killed, or None.

    tf.estimator's `train` reads its input from the beginning at each call, so that scripts train
    epoch by epoch. After a killed training, the next call resumes the input at the position in the
    checkpoint instead.
    """
    try:
        text = file_system.read_text(os.path.join(model_dir, _COMPLETED_FILE)).strip()
    except FileNotFoundError:
        return None
    return int(text) if text.isdigit() else None


def write_completed_step(model_dir: str, step: int) -> None:
    """Records the global step at which `Estimator.train` ended without being killed."""
    write_file(os.path.join(model_dir, _COMPLETED_FILE), f"{step}\n")

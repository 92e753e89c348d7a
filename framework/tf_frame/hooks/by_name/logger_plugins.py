"""Plugins for `--hook csv`, `mlflow` and `wandb`: loggers of the figures of a run.

    --hook csv:/shared/results/first.csv
    --hook mlflow:segmentation
    --hook wandb:segmentation --hook.wandb.mode offline

Each logger receives the figures of `metrics.csv`. MLflow and Weights & Biases need `pip install
tf-frame[mlflow]` or `tf-frame[wandb]`. A resumed run continues its record.
"""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
import os
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import yaml

from tf_frame.atomic_output import write_file
from tf_frame.config import option
from tf_frame.errors import ConfigError
from tf_frame.file_system import read_text
from tf_frame.hooks.metrics_log import MetricsCsv
from tf_frame.plugin.training_contracts import HookContext, HookPlugin

_CONFIG = "config.yaml"


class Csv(HookPlugin):
    """Writes the rows of `metrics.csv` to another file as well.

    Raises:
      ConfigError: no file is named.
    """

    check_options: ClassVar[Mapping[str, Any]] = {"path": "figures.csv"}

    @dataclasses.dataclass(frozen=True)
    class Params:
        path: str = option("", "the file")

    def __init__(self, *, params: Any) -> None:
        super().__init__(params=params)
        if not params.path:
            raise ConfigError("csv: no file is named; give csv:PATH")

    def __call__(self, context: HookContext) -> Any:
        if context.is_chief:
            context.metrics.add(MetricsCsv(self.params.path, last_step=context.first_step))
        return []


class MLflow(HookPlugin):
    """Logs figures and `config.yaml` to an MLflow run, at MLFLOW_TRACKING_URI.

    Raises:
      ConfigError: MLflow is not installed, or cannot start a run.
    """

    @dataclasses.dataclass(frozen=True)
    class Params:
        experiment: str = option("tf-frame", "name of the experiment")
        run_name: str = option("", "name of the run; empty: that of the model folder")

    def __call__(self, context: HookContext) -> Any:
        if context.is_chief:
            mlflow = _imported("mlflow")
            kept = _RunId(context.model_dir, "mlflow")
            with _reported("mlflow"):
                mlflow.set_experiment(self.params.experiment)
                name = self.params.run_name or os.path.basename(os.path.abspath(context.model_dir))
                run = mlflow.start_run(run_id=kept.read(), run_name=name)
            kept.write(run.info.run_id)
            context.metrics.add(_MLflowRun(mlflow, run.info.run_id, context.model_dir))
        return []


class Wandb(HookPlugin):
    """Logs figures and `config.yaml` to a run of Weights & Biases.

    Raises:
      ConfigError: wandb is not installed, or cannot start a run.
    """

    @dataclasses.dataclass(frozen=True)
    class Params:
        project: str = option("tf-frame", "name of the project")
        run_name: str = option("", "name of the run; empty: that of the model folder")
        mode: str = option(
            "", "online or offline; empty: as WANDB_MODE says", choices=("", "online", "offline")
        )

    def __call__(self, context: HookContext) -> Any:
        if context.is_chief:
            wandb = _imported("wandb")
            kept = _RunId(context.model_dir, "wandb")
            with _reported("wandb"):
                run = wandb.init(
                    project=self.params.project,
                    name=self.params.run_name
                    or os.path.basename(os.path.abspath(context.model_dir)),
                    mode=self.params.mode or None,
                    dir=context.model_dir,
                    id=kept.read(),
                    resume="allow",
                )
            kept.write(run.id)
            context.metrics.add(_WandbRun(run, context.model_dir))
        return []


class _MLflowRun:
    """Logs to an MLflow run."""

    def __init__(self, mlflow: Any, run_id: str, model_dir: str) -> None:
        self._mlflow, self._run_id = mlflow, run_id
        self._config: str | None = os.path.join(model_dir, _CONFIG)

    def write(self, split: str, step: int, values: Mapping[str, float]) -> None:
        if self._config is not None:
            self._mlflow.log_artifact(self._config, run_id=self._run_id)
            self._config = None
        # MLflow has an active run per thread, and another thread began this run.
        self._mlflow.log_metrics(_named(split, values), step=step, run_id=self._run_id)

    def close(self) -> None:
        self._mlflow.end_run()


class _WandbRun:
    """Logs to a run of Weights & Biases."""

    def __init__(self, run: Any, model_dir: str) -> None:
        self._run = run
        self._config: str | None = os.path.join(model_dir, _CONFIG)

    def write(self, split: str, step: int, values: Mapping[str, float]) -> None:
        if self._config is not None:
            config = yaml.safe_load(read_text(self._config))
            self._run.config.update(config, allow_val_change=True)
            self._config = None
        self._run.log(_named(split, values), step=step)

    def close(self) -> None:
        self._run.finish()


class _RunId:
    """The identifier of a run in another system, kept in the model folder for a resumed run."""

    def __init__(self, model_dir: str, system: str) -> None:
        self._path = os.path.join(model_dir, f"{system}.run")

    def read(self) -> str | None:
        try:
            return read_text(self._path).strip() or None
        except FileNotFoundError:
            return None

    def write(self, run_id: str) -> None:
        write_file(self._path, f"{run_id}\n")


def _named(split: str, values: Mapping[str, float]) -> dict[str, float]:
    return {f"{split}/{name}": value for name, value in values.items()}


def _imported(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        raise ConfigError(
            f"--hook {name} needs a package that is not installed: pip install 'tf-frame[{name}]'"
        ) from None


@contextlib.contextmanager
def _reported(name: str) -> Iterator[None]:
    """Turns an error of a service into one line; its exceptions have no common class."""
    try:
        yield
    except Exception as error:
        raise ConfigError(f"--hook {name} cannot start a run: {error}") from error

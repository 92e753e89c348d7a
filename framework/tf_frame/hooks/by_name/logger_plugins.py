"""Plugins for `--hook csv`, `mlflow` and `wandb`: they log losses, rates and metrics.

    --hook csv:/shared/results/first.csv
    --hook mlflow:segmentation
    --hook wandb:segmentation --hook.wandb.mode offline

Each logger receives the figures of `metrics.csv`. MLflow and Weights & Biases need `pip install
tf-frame[mlflow]` or `tf-frame[wandb]`. A resumed run continues its record.
"""

from __future__ import annotations

import dataclasses
import importlib
import os
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import yaml

from tf_frame.atomic_output import write_file
from tf_frame.config import option
from tf_frame.errors import ConfigError
from tf_frame.file_system import exists, read_text
from tf_frame.hooks.metrics_log import MetricsCsv
from tf_frame.optional_packages import require_packages
from tf_frame.plugin.training_contracts import HookContext, HookPlugin


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


@dataclasses.dataclass
class _Run:
    """Logs figures and their step, and once `config.yaml`, to the run of a service."""

    run_id: str
    log: Callable[[Mapping[str, float], int], None]
    log_config: Callable[[str], None]
    close: Callable[[], None]
    config_path: str | None = None

    def write(self, split: str, step: int, values: Mapping[str, float]) -> None:
        if self.config_path is not None:
            self.log_config(self.config_path)
            self.config_path = None
        self.log({f"{split}/{name}": value for name, value in values.items()}, step)


class _Service(HookPlugin):
    """Logs to a run of a service; the file `PACKAGE.run` keeps its identifier for a resumed run."""

    package: ClassVar[str]

    def __init__(self, *, params: Any) -> None:
        super().__init__(params=params)
        require_packages(
            f"--hook {self.package}", self.package, install=f"'tf-frame[{self.package}]'"
        )

    def __call__(self, context: HookContext) -> Any:
        if context.is_chief:
            service, folder = importlib.import_module(self.package), context.model_dir
            name = self.params.run_name or os.path.basename(os.path.abspath(folder))
            path = os.path.join(folder, f"{self.package}.run")
            run_id = read_text(path).strip() if exists(path) else ""
            try:
                run = self.start_run(service, name, run_id or None, folder)
            except Exception as error:  # The exceptions of a service have no common class.
                raise ConfigError(f"--hook {self.package} cannot start a run: {error}") from error
            write_file(path, f"{run.run_id}\n")
            run.config_path = os.path.join(folder, "config.yaml")
            context.metrics.add(run)
        return []

    def start_run(self, service: Any, name: str, run_id: str | None, folder: str) -> _Run:
        """Starts a run of the imported package, or continues the run with the identifier."""
        raise NotImplementedError(f"{type(self).__name__} does not define start_run()")


class MLflow(_Service):
    """Logs figures and `config.yaml` to an MLflow run, at MLFLOW_TRACKING_URI.

    Raises:
      ConfigError: MLflow is not installed, or cannot start a run.
    """

    package = "mlflow"

    @dataclasses.dataclass(frozen=True)
    class Params:
        experiment: str = option("tf-frame", "name of the experiment")
        run_name: str = option("", "name of the run; empty: that of the model folder")

    def start_run(self, service: Any, name: str, run_id: str | None, folder: str) -> _Run:
        service.set_experiment(self.params.experiment)
        run_id = service.start_run(run_id=run_id, run_name=name).info.run_id
        # MLflow has an active run per thread, and another thread will log.
        return _Run(
            run_id,
            log=lambda figures, step: service.log_metrics(figures, step=step, run_id=run_id),
            log_config=lambda path: service.log_artifact(path, run_id=run_id),
            close=service.end_run,
        )


class Wandb(_Service):
    """Logs figures and `config.yaml` to a run of Weights & Biases.

    Raises:
      ConfigError: wandb is not installed, or cannot start a run.
    """

    package = "wandb"

    @dataclasses.dataclass(frozen=True)
    class Params:
        project: str = option("tf-frame", "name of the project")
        run_name: str = option("", "name of the run; empty: that of the model folder")
        mode: str = option(
            "", "online or offline; empty: as WANDB_MODE says", choices=("", "online", "offline")
        )

    def start_run(self, service: Any, name: str, run_id: str | None, folder: str) -> _Run:
        mode, project = self.params.mode or None, self.params.project
        run = service.init(
            project=project, name=name, mode=mode, dir=folder, id=run_id, resume="allow"
        )

        def log_config(path: str) -> None:
            run.config.update(yaml.safe_load(read_text(path)), allow_val_change=True)

        return _Run(
            run.id, lambda figures, step: run.log(figures, step=step), log_config, run.finish
        )

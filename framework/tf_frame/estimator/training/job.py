"""A job: plugins, options and folder of one run, chosen and checked."""

from __future__ import annotations

import dataclasses
from typing import Any

import tf_frame
from tf_frame.config.option import options_of
from tf_frame.config.run_options import run_options
from tf_frame.config.yaml_file import Named, Settings
from tf_frame.estimator.training.setup import ConfiguredPlugin, TrainingSetup


@dataclasses.dataclass(frozen=True, kw_only=True)
class Job(TrainingSetup):
    """Everything that defines a run of the command line.

    Attributes:
      model, input: the plugins, with parameters.
    """

    model: ConfiguredPlugin
    input: ConfiguredPlugin

    def make_input(self) -> Any:
        """Constructs the input, which checks that its data is there."""
        return self.input.plugin.cls(params=self.input.params)

    def make_model(self, info: Any) -> Any:
        """Constructs the model for the data that `info` describes."""
        return self.model.plugin.cls(params=self.model.params, info=info)

    def settings(self) -> Settings:
        """The resolved configuration, as `config.yaml` has it."""
        values: dict[str, Any] = {"model_dir": self.model_dir}
        values.update({o.name: getattr(self.config, o.name) for o in run_options()})
        for prefix in ("model", "input", "optimizer", "schedule"):
            part = getattr(self, prefix)
            values.update({f"{prefix}.{k}": v for k, v in _values(part).items()})
        return Settings(
            plugin=self.model.name,
            input=self.input.name,
            optimizer=self.optimizer.name,
            schedule=self.schedule.name,
            transforms=tuple(Named(part.name, _values(part)) for part in self.transforms),
            hooks=tuple(Named(part.name, _values(part)) for part in self.hooks),
            values=values,
            versions=self.versions(),
        )

    def versions(self) -> dict[str, str]:
        """Package -> version, of tf-frame and of every package that brings a part."""
        listed = (*self.transforms, *self.hooks)
        parts = (self.model, self.input, self.optimizer, self.schedule, *listed)
        found = [part.plugin.found for part in parts]
        return {"tf-frame": tf_frame.__version__, **{f.distribution: f.version for f in found}}


def _values(part: ConfiguredPlugin) -> dict[str, Any]:
    return {o.name: getattr(part.params, o.name) for o in options_of(type(part.params))}

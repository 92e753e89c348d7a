"""A job: plugins, options and folder of one run, chosen and checked."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import tf_frame
from tf_frame.config.option import options_of
from tf_frame.config.run_config import RunConfig, run_options
from tf_frame.config.yaml_file import Settings
from tf_frame.plugin.load import Loaded


@dataclasses.dataclass(frozen=True)
class Part:
    """One plugin with its parameters.

    Attributes:
      name: the name that the user said.
      plugin: its class, and where it comes from.
      params: an instance of its `Params`.
    """

    name: str
    plugin: Loaded
    params: Any


@dataclasses.dataclass(frozen=True)
class Job:
    """Everything that defines a run.

    Attributes:
      config: the run options.
      model, input: the plugins, with parameters.
      transforms: gradient transforms, in order.
      model_dir: where everything is written.
    """

    config: RunConfig
    model: Part
    input: Part
    transforms: Sequence[Part]
    model_dir: str

    def make_input(self) -> Any:
        """Constructs the input, which checks that its data is there."""
        return self.input.plugin.cls(params=self.input.params)

    def make_model(self, info: Any) -> Any:
        """Constructs the model for the data that `info` describes."""
        return self.model.plugin.cls(params=self.model.params, info=info)

    def make_transforms(self) -> list[Any]:
        """Constructs the gradient transforms, in order."""
        return [part.plugin.cls(params=part.params) for part in self.transforms]

    def settings(self) -> Settings:
        """The resolved configuration, as `config.yaml` has it."""
        values: dict[str, Any] = {"model_dir": self.model_dir}
        values.update({o.name: getattr(self.config, o.name) for o in run_options()})
        values.update(_values("model", self.model))
        values.update(_values("input", self.input))
        for part in self.transforms:
            values.update(_values(f"transform.{part.name}", part))
        names = tuple(part.name for part in self.transforms)
        return Settings(self.model.name, self.input.name, names, values, self.versions())

    def versions(self) -> dict[str, str]:
        """Package -> version, of tf-frame and of every package that brings a part."""
        found = [part.plugin.found for part in (self.model, self.input, *self.transforms)]
        return {"tf-frame": tf_frame.__version__, **{f.distribution: f.version for f in found}}


def _values(prefix: str, part: Part) -> dict[str, Any]:
    options = options_of(type(part.params), prefix)
    return {o.name: getattr(part.params, o.name[len(prefix) + 1 :]) for o in options}

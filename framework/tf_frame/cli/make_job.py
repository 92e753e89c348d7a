"""From the words of `tf-frame run` and the plugins they name to a checked `Job`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from tf_frame.cli.choose import NOT_IN_FILES, Choice, from_file
from tf_frame.config.flags import parse_flags
from tf_frame.config.resolve import check_names, resolve
from tf_frame.config.run_options import RunOptions
from tf_frame.estimator.training.job import Job
from tf_frame.estimator.training.model_dir import default_model_dir
from tf_frame.estimator.training.setup import ConfiguredPlugin


def make_job(words: Sequence[str], choice: Choice) -> Job:
    """Resolves every option: defaults, the model's defaults, a preset, the file, the flags.

    Raises:
      ConfigError: an unknown option, a wrong value, or values that do not go together.
    """
    options = choice.options()
    flags = parse_flags(words, options)
    in_defaults = [o for o in options if o not in NOT_IN_FILES and o.name != "model_dir"]
    check_names(choice.defaults, in_defaults, f"run_defaults of the model {choice.model[0]}")
    in_files = [option for option in options if option not in NOT_IN_FILES]
    said = {k: v for listed in choice.listed() for k, v in listed.values.items()}
    check_names({**choice.file.values, **said}, in_files, choice.file.path or "--transform")
    check_names(choice.preset.values, in_files, f"the preset of the model {choice.model[0]}")
    sources = [choice.defaults, choice.preset.values, choice.file.values, said, flags]
    params = _params(choice, sources)
    return Job(
        config=resolve(RunOptions, sources),
        model=ConfiguredPlugin(*choice.model, params["model"]),
        input=ConfiguredPlugin(*choice.input, params["input"]),
        optimizer=ConfiguredPlugin(*choice.optimizer, params["optimizer"]),
        schedule=ConfiguredPlugin(*choice.schedule, params["schedule"]),
        transforms=[
            ConfiguredPlugin(t.name, t.plugin, params[t.prefix]) for t in choice.transforms
        ],
        hooks=[ConfiguredPlugin(h.name, h.plugin, params[h.prefix]) for h in choice.hooks],
        model_dir=_model_dir(flags, choice),
    )


def _params(choice: Choice, sources: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The options of every plugin; the model's wishes for its input are the weakest."""
    classes = dict(choice.groups())
    model: Any = resolve(classes.pop("model"), sources, prefix="model")
    wishes = getattr(choice.model[1].cls, "input_defaults", _no_wishes)(model)
    weakest = {f"input.{name}": value for name, value in wishes.items()}
    others: dict[str, Any] = {
        prefix: resolve(cls, [weakest, *sources], prefix=prefix) for prefix, cls in classes.items()
    }
    return {"model": model, **others}


def _no_wishes(params: Any) -> Mapping[str, Any]:
    """What a model that is not of our base class wants of its input."""
    return {}


def _model_dir(flags: Mapping[str, Any], choice: Choice) -> str:
    said = flags.get("model_dir") or from_file(choice.file, "model_dir")
    return os.path.expanduser(said or default_model_dir(choice.model[0]))

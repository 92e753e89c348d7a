"""From the words of `tf-frame run` and the plugins they name to a checked `Job`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from tf_frame.cli.choose import NOT_IN_FILES, Choice, from_file
from tf_frame.config.flags import parse_flags
from tf_frame.config.resolve import check_names, resolve
from tf_frame.config.run_options import RunOptions
from tf_frame.estimator.job import Job, Part
from tf_frame.estimator.model_dir import default_model_dir


def make_job(words: Sequence[str], choice: Choice) -> Job:
    """Resolves every option: defaults, the model's defaults, the file, the flags.

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
    sources = [choice.defaults, choice.file.values, said, flags]
    params: dict[str, Any] = {
        prefix: resolve(cls, sources, prefix=prefix) for prefix, cls in choice.groups()
    }
    return Job(
        config=resolve(RunOptions, sources),
        model=Part(*choice.model, params["model"]),
        input=Part(*choice.input, params["input"]),
        optimizer=Part(*choice.optimizer, params["optimizer"]),
        schedule=Part(*choice.schedule, params["schedule"]),
        transforms=[Part(t.name, t.plugin, params[t.prefix]) for t in choice.transforms],
        hooks=[Part(h.name, h.plugin, params[h.prefix]) for h in choice.hooks],
        model_dir=_model_dir(flags, choice),
    )


def _model_dir(flags: Mapping[str, Any], choice: Choice) -> str:
    said = flags.get("model_dir") or from_file(choice.file, "model_dir")
    return os.path.expanduser(said or default_model_dir(choice.model[0]))

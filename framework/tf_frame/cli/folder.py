"""The job that a folder holds: for commands that take `MODEL_DIR` and read its `config.yaml`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from tf_frame.cli.choose import choose_plugins
from tf_frame.cli.make_job import make_job
from tf_frame.config.flags import split_flags
from tf_frame.config.option import Option
from tf_frame.errors import ConfigError
from tf_frame.estimator.job import Job
from tf_frame.estimator.model_dir import CONFIG_FILE

_MODEL_DIR = Option("model_dir", str, None, "")


def job_of_folder(
    command: str, words: Sequence[str], own: Sequence[Option]
) -> tuple[Job, dict[str, Any]]:
    """Reads the configuration of a folder, as far as the command line does not win over it.

    Args:
      command: the sub-command, for messages.
      words: `MODEL_DIR` and options: those of the command, and any of `tf-frame run`.
      own: the options of the command; they hide those of `tf-frame run` of the same name.

    Returns:
      The job, and the values of the command's own options, defaults included.

    Raises:
      ConfigError: no folder is named, it holds no configuration, or an option is wrong.
      PluginError: a plugin that the configuration names cannot be used.
    """
    if not words or words[0].startswith("-"):
        raise ConfigError(f"say which folder first: tf-frame {command} MODEL_DIR [OPTIONS]")
    _check(words[0])
    said, rest = split_flags(words[1:], [*own, _MODEL_DIR])
    if _MODEL_DIR.name in said:
        raise ConfigError(f"the folder is {words[0]}, named first; leave --model_dir out")
    words = ["--model_dir", words[0], *rest]
    choice = choose_plugins(words)
    if choice is None:
        file = os.path.join(words[1], CONFIG_FILE)
        raise ConfigError(f"{file} names no model to go by; it needs a line 'plugin: NAME'")
    return make_job(words, choice), {option.name: option.default for option in own} | said


def _check(model_dir: str) -> None:
    if not os.path.isdir(os.path.expanduser(model_dir)):
        raise ConfigError(f"{model_dir}: there is no such folder")
    if not os.path.exists(os.path.join(os.path.expanduser(model_dir), CONFIG_FILE)):
        raise ConfigError(
            f"{model_dir} has no {CONFIG_FILE}, which tf-frame run writes when training begins"
        )

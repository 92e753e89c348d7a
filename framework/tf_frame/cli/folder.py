"""The job that a folder holds: for commands that take `MODEL_DIR` and read its `config.yaml`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from tf_frame.cli.choose import choose_plugins
from tf_frame.cli.make_job import make_job
from tf_frame.cli.modes import MODE
from tf_frame.config.flags import parse_flags, split_flags
from tf_frame.config.option import Option
from tf_frame.errors import ConfigError
from tf_frame.estimator.training.job import Job
from tf_frame.estimator.training.model_dir import CONFIG_FILE

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
    file = _configuration_of(words[0])
    said, rest = split_flags(words[1:], [*own, _MODEL_DIR, MODE])
    if _MODEL_DIR.name in said:
        raise ConfigError(f"the folder is {words[0]}, named first; leave --model_dir out")
    if MODE.name in said:
        raise ConfigError(f"--mode is for tf-frame run; this is tf-frame {command}")
    # With --plugin as well, the file counts as far as it is for the same plugin.
    job_words = ["--config", file, "--model_dir", words[0], *rest]
    choice = choose_plugins(job_words)
    if choice is None:
        raise ConfigError(f"{file} names no model to go by; it needs a line 'plugin: NAME'")
    hidden = {option.name for option in own}
    others = [option for option in choice.options() if option.name not in hidden]
    parse_flags(words[1:], [*own, *others])  # A misspelled one is answered with the nearest of all.
    return make_job(job_words, choice), {option.name: option.default for option in own} | said


def _configuration_of(model_dir: str) -> str:
    """The configuration file of a folder."""
    if not os.path.isdir(os.path.expanduser(model_dir)):
        raise ConfigError(f"{model_dir}: there is no such folder")
    file = os.path.join(os.path.expanduser(model_dir), CONFIG_FILE)
    if not os.path.exists(file):
        raise ConfigError(
            f"{model_dir} has no {CONFIG_FILE}, which tf-frame run writes when training begins"
        )
    return file

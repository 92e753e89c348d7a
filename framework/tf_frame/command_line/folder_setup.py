"""The setup of commands that take MODEL_DIR: `evaluate`, `predict` and `export`.

The `config.yaml` in MODEL_DIR has the options of the run, so that nobody has to repeat them. For a
published checkpoint, which has no run, all options come from the command line.
"""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Sequence
from typing import Any

from tf_frame import file_system
from tf_frame.checkpoint.names import LIST_FILE
from tf_frame.command_line.lock import change_warnings
from tf_frame.command_line.parsing import load_plugins
from tf_frame.command_line.screen import report
from tf_frame.command_line.selection import MODE, MODEL_DIR, TRYING
from tf_frame.command_line.words import CommandLine, find_configuration, split_words
from tf_frame.config.option import Option
from tf_frame.errors import ConfigError
from tf_frame.runs.setup.model_dir import CONFIG_FILE
from tf_frame.runs.setup.training_setup import TrainingSetup
from tf_frame.shell_text import shell_word
from tf_frame.text import short, short_word
from tf_frame.weights.plugins import check_source

_SUFFIX = re.compile(r"[^/.]\.[A-Za-z][A-Za-z0-9]{1,4}$")
# What a command does with a file.
_FOR_FILES = {
    "predict": " --input {0}; or, without a run, tf-frame predict --weights NAME --input {0}",
    "evaluate": " --checkpoint {0}",
    "export": " --checkpoint {0}",
}


def setup_from_folder(
    command: str, argv: Sequence[str], own_options: Sequence[Option]
) -> tuple[TrainingSetup, dict[str, Any]]:
    """Returns the setup of a folder, and the values of the command's own options.

    Args:
      command: the sub-command, for messages.
      argv: `MODEL_DIR`, options of the command, and options of `tf-frame run`, which win over the
        file. For a published checkpoint, `MODEL_DIR` is a new folder and optional.
      own_options: the options of the command; they hide run options with the same name.

    Raises:
      ConfigError: no folder is named, it holds no configuration, or an option is wrong.
      PluginError: a plugin that the configuration names cannot be used.
    """
    folder = argv[0] if argv and not argv[0].startswith("-") else None
    if folder is not None and (os.path.isfile(folder) or _names_missing_file(folder)):
        what = "is a file" if os.path.isfile(folder) else "does not exist"
        raise ConfigError(
            f"{short(folder)} {what}, and the folder of a run comes first: tf-frame {command} "
            f"MODEL_DIR{_FOR_FILES.get(command, '').format(short_word(shell_word(folder)))}"
        )
    line = split_words(argv if folder is None else argv[1:], own_options)
    if folder is not None and MODEL_DIR.name in line.values:
        raise ConfigError(f"the folder is {short(folder)}, named first; leave --model_dir out")
    if folder is not None:
        line = line.with_values(model_dir=folder)
    if folder is None or {"plugin", "warm_start_from"} <= line.values.keys():
        setup = _set_up_checkpoint(command, line)
    else:
        setup = _set_up_run(command, folder, line)
    return setup, dict(line.own_values)


def _names_missing_file(path: str) -> bool:
    """Returns whether a path that does not exist ends like a file, such as `photo.jpg`."""
    return not file_system.exists(path) and bool(_SUFFIX.search(path))


def _set_up_run(command: str, folder: str, line: CommandLine) -> TrainingSetup:
    file = find_configuration(folder)
    for option in (MODE, *TRYING):
        if option.name in line.values:
            raise ConfigError(f"--{option.name} is for tf-frame run; this is tf-frame {command}")
    line = load_plugins(line.with_values(config=(file, *line.values.get("config", ()))))
    if line.chosen is None:
        raise ConfigError(f"{short(file)} names no model to go by; it needs a line 'plugin: NAME'")
    setup = line.setup()
    for warning in change_warnings(line.records()):
        report(warning)
    return setup


def _set_up_checkpoint(command: str, line: CommandLine) -> TrainingSetup:
    """Returns the setup of a new folder for a published checkpoint."""
    line = load_plugins(line)
    if line.chosen is None:
        line.refuse_unknown()
    setup = line.setup() if line.chosen else None
    is_for_run = any(option.name in line.values for option in (MODE, *TRYING))
    if setup is None or not setup.config.warm_start_from or is_for_run:
        takes_weights = any(option.name == "weights" for option in line.own_options)
        weights = "which weights: --weights NAME; or " if takes_weights else ""
        raise ConfigError(
            f"say which folder first: tf-frame {command} MODEL_DIR [OPTIONS]; or, without a run, "
            f"{weights}which published checkpoint: --plugin NAME --warm_start_from CHECKPOINT"
        )
    files = (os.path.join(setup.model_dir, name) for name in (CONFIG_FILE, LIST_FILE))
    if any(map(file_system.exists, files)):
        raise ConfigError(
            f"{short(setup.model_dir)} holds a run; name another folder, or take its checkpoint by "
            f"tf-frame {command} {short(shell_word(setup.model_dir))}"
        )
    check_source(setup.config.warm_start_from)
    # The checkpoint has the values to be used, and no averages of its own.
    config = dataclasses.replace(setup.config, moving_average_decay=None)
    return dataclasses.replace(setup, config=config)

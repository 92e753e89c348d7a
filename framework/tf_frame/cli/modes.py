"""`tf-frame run --mode`: the other things that can be done with a run.

tf-frame run --mode evaluate --model_dir runs/first     is    tf-frame evaluate runs/first
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence

from tf_frame.config.flags import split_flags
from tf_frame.config.option import Option
from tf_frame.errors import ConfigError

TRAIN, TRAIN_AND_EVALUATE = "train", "train_and_evaluate"
_COMMANDS = ("evaluate", "predict", "export")
MODE = Option(
    "mode",
    str,
    TRAIN,
    "train, and evaluate at the end; train and evaluate every checkpoint that is saved; or what "
    "tf-frame evaluate, predict and export do with --model_dir",
    choices=(TRAIN, TRAIN_AND_EVALUATE, *_COMMANDS),
)
_MODEL_DIR = Option("model_dir", str, None, "")


def run_as_command(words: Sequence[str]) -> int | None:
    """Hands a mode that has a command of its own over to that command.

    Args:
      words: the words after `tf-frame run`.

    Returns:
      Its exit code, or None for a mode that trains.

    Raises:
      ConfigError: the mode needs `--model_dir`, or does not exist.
    """
    said, rest = split_flags(words, [MODE, _MODEL_DIR])
    mode = said.get("mode", TRAIN)
    if mode not in _COMMANDS:
        return None
    command = importlib.import_module(f"tf_frame.cli.{mode}")
    if any(word in ("-h", "--help") for word in rest):
        return int(command.main(["--help"]))
    if not said.get("model_dir"):
        raise ConfigError(f"--mode {mode} needs --model_dir, the folder of a run that has trained")
    return int(command.main([said["model_dir"], *rest]))

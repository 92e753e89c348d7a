"""Checks before a job starts that the checkpoint in its folder is one of its model.

    check_resume(setup, ["--plugin", "deeplab", "--model_dir", "runs/first"])

Else each task would find that out by itself, after it has built its graph. The check builds the
graph in a process of its own, so that the launcher never imports TensorFlow. It is left out where
the options that may change variables are those of the run in the folder.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence

from tf_frame import file_system
from tf_frame.checkpoint.names import LIST_FILE
from tf_frame.cli.run_text import changed_options
from tf_frame.command_line.parsing import parse_command_line
from tf_frame.command_line.screen import report
from tf_frame.config.option import declared_options
from tf_frame.config.option_groups import CloneOptions, GraphOptions, OptimizerOptions
from tf_frame.config.yaml_file import read_settings
from tf_frame.errors import EXIT_OK, EXIT_USAGE, CheckpointError, ConfigError
from tf_frame.runs.setup.model_dir import CONFIG_FILE
from tf_frame.runs.setup.training_setup import TrainingSetup
from tf_frame.tensorflow_log import quiet_import

PROGRAM = (sys.executable, "-m", "tf_frame.cli.resume_check")
_GROUPS = (OptimizerOptions, CloneOptions, GraphOptions)
_PLUGINS = ("plugin", "input", "optimizer", "schedule", "transforms")


def check_resume(setup: TrainingSetup, words: Sequence[str]) -> None:
    """Raises a `ConfigError` if the newest checkpoint of the folder is of another model.

    Prints a line before it builds the graph, which takes seconds.
    Another failure of the process is left to the tasks, which tell it.

    Args:
      setup: the setup of the job.
      words: the words after `run` that it was made of.
    """
    has_checkpoint = file_system.exists(os.path.join(setup.model_dir, LIST_FILE))
    if not has_checkpoint or _has_same_variables(setup):
        return
    report(f"comparing the model with the checkpoint in {setup.model_dir} ...")
    done = subprocess.run(
        [*PROGRAM, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    if done.returncode == EXIT_USAGE:
        raise ConfigError(done.stdout.strip())


def _has_same_variables(setup: TrainingSetup) -> bool:
    """Returns whether no option that may change variables differs from the run in the folder."""
    file = os.path.join(setup.model_dir, CONFIG_FILE)
    if not file_system.exists(file):
        return False
    names = {line.split()[0] for line in changed_options(read_settings(file), setup.settings())}
    making = {option.name for group in _GROUPS for option in declared_options(group)}
    return not any("." in name for name in names) and names.isdisjoint({*making, *_PLUGINS})


def main(words: Sequence[str]) -> int:
    """Builds the graph and compares its variables; prints a difference; returns the exit code."""
    setup = parse_command_line(words).setup()
    with quiet_import():
        from tf_frame.runs.training.show import check_checkpoint
    try:
        check_checkpoint(setup, setup.make_input())
    except CheckpointError as error:
        first, *differences, advice = map(str.strip, str(error).splitlines())
        print("; ".join([", such as ".join([first, *differences[:1]]), advice]))
        return EXIT_USAGE
    return EXIT_OK


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

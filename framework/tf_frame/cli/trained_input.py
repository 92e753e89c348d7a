"""Makes the input of `tf-frame predict` and `export`, even if the training data is missing.

The run has recorded the `InputInfo`, such as the classes; see `tf_frame.runs.setup.model_dir`.
For a published checkpoint, which has no run, options define the classes.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import re
import tempfile
from collections.abc import Iterator, Sequence
from typing import Any

from tf_frame import file_system
from tf_frame.command_line.screen import output_may_fail, report
from tf_frame.command_line.selection import PLUGIN
from tf_frame.config.flags import split_flags
from tf_frame.config.option import Option
from tf_frame.config.values import to_text
from tf_frame.errors import ConfigError, DataError, writing
from tf_frame.plugin import InputInfo
from tf_frame.plugin.data_warnings import different_classes
from tf_frame.runs.setup.folder_claim import claimed
from tf_frame.runs.setup.model_dir import CONFIG_FILE, read_input_info
from tf_frame.runs.setup.run_context import RunObserver
from tf_frame.runs.setup.training_setup import TrainingSetup
from tf_frame.session.interrupts import Interrupts
from tf_frame.tensorflow_log import quiet_import
from tf_frame.text import short, short_word
from tf_frame.text_file import read_names
from tf_frame.weights.plugins import is_weights_name, load_weights

# A paragraph of the help of each command that takes a folder.
PUBLISHED = """For a published checkpoint, without a run, give --plugin NAME --warm_start_from
CHECKPOINT and the options of the model. All variables of the model have to be found, by the rules
of --warm_start_map and --warm_start_exclude. MODEL_DIR is then the folder to make; without it """
NEW_FOLDER = f"{PUBLISHED}a new\nfolder in ./runs."
CLASSES = (
    Option(
        "num_classes",
        int | None,
        None,
        "with --warm_start_from, without MODEL_DIR: classes of the checkpoint; none: the input's",
        min=1,
    ),
    Option(
        "class_names",
        str | None,
        None,
        "likewise: a file with the name of each class, or 0:NAME, one a line",
    ),
)


WEIGHTS = Option(
    "weights",
    str | None,
    None,
    "predict with published weights, without a run; tf-frame weights list shows those that there "
    "are",
)


def with_weights(words: Sequence[str]) -> list[str]:
    """Returns the words of a command with the options that the weights of `--weights` need.

    What the user gives comes later, and counts more.

    Raises:
      ConfigError: the weights are a backbone alone, or those of another model; or no files are
        named.
      PluginError: there are no such weights.
    """
    values, others = split_flags(words, [WEIGHTS, PLUGIN])
    name = values.get(WEIGHTS.name)
    if not name:
        return list(words)
    weights = load_weights(name)
    if not weights.model:
        raise ConfigError(
            f"--weights {short_word(name)} is a backbone without a layer for classes; train with "
            f"--warm_start_from {short_word(name)}"
        )
    if not any(word.split("=")[0] == "--input" for word in others):
        raise ConfigError("--weights predicts on files; name them: --input PATH")
    if values.get(PLUGIN.name) not in (None, weights.model):
        raise ConfigError(
            f"--weights {short_word(name)} is for --plugin {weights.model}, not "
            f"{short_word(values[PLUGIN.name])}; leave --plugin out"
        )
    needed = {PLUGIN.name: weights.model, "warm_start_from": name}
    for prefix, options in weights.prediction_options.items():
        needed |= {f"{prefix}.{key}": value for key, value in options.items()}
    return [*(f"--{key}={to_text(value)}" for key, value in needed.items()), *others]


def parse_classes(
    setup: TrainingSetup, num_classes: int | None, class_names: str | None
) -> InputInfo | None:
    """Returns the classes of the options `CLASSES`, or of weights; None: others have them.

    Raises:
      ConfigError: the options contradict each other or the run, or the file cannot be read.
    """
    names = _read_names(class_names) if class_names else ()
    if num_classes is None and not names:
        source = setup.config.warm_start_from
        if is_new(setup) and source and is_weights_name(source):
            weights = load_weights(source)
            return InputInfo(
                num_classes=weights.num_classes, class_names=tuple(weights.class_names())
            )
        if is_new(setup):
            assert setup.input is not None
            report(
                f"note: the classes come from the input {setup.input.name}; for other classes give "
                "--num_classes or --class_names"
            )
        return None
    if not is_new(setup):
        raise ConfigError(
            "--num_classes and --class_names are for --warm_start_from without MODEL_DIR; "
            f"{short(setup.model_dir)} knows its classes"
        )
    if num_classes is not None and names and num_classes != len(names):
        raise ConfigError(
            f"--class_names {short(class_names)} has {len(names)} names, but --num_classes is "
            f"{num_classes}; leave one out"
        )
    return InputInfo(num_classes=num_classes or len(names), class_names=names)


def _read_names(path: str) -> tuple[str, ...]:
    """Reads the names of classes, one a line, perhaps numbered from 0 (`0:daisy`)."""
    try:
        lines = read_names(os.path.expanduser(path))
    except DataError as error:
        raise ConfigError(f"--class_names {error}") from None
    if not lines:
        raise ConfigError(f"--class_names {short(path)} is empty; it needs a line for each class")
    numbered = [re.fullmatch(r"([0-9]{1,9}):[ \t]*(.*)", line) for line in lines]
    if [match and int(match[1]) for match in numbered] == list(range(len(lines))):
        return tuple(match[2] for match in numbered if match)
    return tuple(lines)


def is_new(setup: TrainingSetup) -> bool:
    """Returns whether the folder of a setup has no run yet: the setup of a published checkpoint."""
    return setup.is_default_dir or not file_system.exists(
        os.path.join(setup.model_dir, CONFIG_FILE)
    )


@contextlib.contextmanager
def observed_run(
    setup: TrainingSetup,
    source: Any,
    *,
    shows_progress: bool = False,
    keeps_folder: bool = True,
) -> Iterator[tuple[TrainingSetup, RunObserver]]:
    """Yields the setup and the observer of a trained run.

    Output that cannot be written does not end the block. For a published checkpoint, which has no
    run, the folder of a run is made first; without `keeps_folder` it is removed after the block.
    """
    with contextlib.ExitStack() as stack:
        stack.enter_context(output_may_fail())
        interrupts = stack.enter_context(Interrupts().installed())
        observer = RunObserver(report, interrupts, shows_progress=shows_progress)
        if not keeps_folder:
            setup = _in_temporary_folder(setup, stack)
        if is_new(setup):
            with claimed(setup) as setup, quiet_import(setup.config.verbosity):
                from tf_frame.runs.training.without_training import restore_without_training

                restore_without_training(setup, source, observer)
            if keeps_folder:
                report(f"model_dir  {setup.model_dir}")
        yield setup, observer


def _in_temporary_folder(setup: TrainingSetup, stack: contextlib.ExitStack) -> TrainingSetup:
    with writing("a temporary folder"):
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="tf-frame-"))
    return dataclasses.replace(setup, model_dir=folder, is_default_dir=False)


def input_for_files(setup: TrainingSetup, classes: InputInfo | None = None) -> Any:
    """Constructs the input of a run for files to predict on, with these or the recorded classes.

    Raises:
      DataError: the input needs its data, which does not exist.
    """
    info = classes or recorded_info(setup)
    source = None if info is None else setup.make_input_without_data(info)
    return setup.make_input() if source is None else source


def input_for_export(setup: TrainingSetup, classes: InputInfo | None = None) -> tuple[Any, str]:
    """Constructs the input of a run for an export, with its data if these have the right classes.

    Returns:
      The input; and the reason why it has no data, empty if it has data.

    Raises:
      DataError: the input needs its data, which does not exist.
    """
    info = classes or recorded_info(setup)
    try:
        source = setup.make_input()
        subject = "the training had" if classes is None else "the checkpoint has"
        reason = "" if info is None else different_classes(source.info, info, subject)
    except DataError as error:
        source, reason = None, str(error)
        if info is None:
            raise
    if not reason:
        return source, reason
    assert info is not None
    without = setup.make_input_without_data(info)
    if without is None:
        raise DataError(f"the export needs the data of the run: {reason}")
    return without, reason


def recorded_info(setup: TrainingSetup) -> InputInfo | None:
    """Returns the facts about the data that the run recorded; None without a record."""
    assert setup.input is not None
    return read_input_info(setup.model_dir, setup.input.name)

"""`tf-frame evaluate`: evaluates one checkpoint of a folder, or each new one.

With `--continuous` it evaluates every checkpoint that a training in another process saves. The
training then need not stop for evaluations.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from typing import Any

from tf_frame.cli.run_hints import chance_hint
from tf_frame.cli.trained_input import NEW_FOLDER, observed_run, recorded_info
from tf_frame.command_line import option_help
from tf_frame.command_line.folder_setup import setup_from_folder
from tf_frame.command_line.screen import report, report_help
from tf_frame.config.option import Option
from tf_frame.errors import EXIT_OK, EXIT_USAGE, ConfigError, DataError
from tf_frame.plugin import InputInfo, Mode
from tf_frame.plugin.data_warnings import different_classes
from tf_frame.runs.evaluation.printing import result_table
from tf_frame.runs.setup.data_text import evaluation_lines
from tf_frame.runs.setup.training_setup import TrainingSetup
from tf_frame.tensorflow_log import quiet_import
from tf_frame.text import listed, short_word

_USAGE = f"""usage: tf-frame evaluate MODEL_DIR [OPTIONS]

Evaluates a model that tf-frame run has trained, or is training, in MODEL_DIR: the newest
checkpoint, the checkpoint that --checkpoint names, or with --continuous each new one until the
last step. Takes every option of tf-frame run as well (--eval_steps 10, --input.image_size 320);
others are taken from MODEL_DIR/config.yaml. Writes MODEL_DIR/eval, or --output: events for
TensorBoard, and metrics.json with the metrics of the last evaluation.

{NEW_FOLDER}"""

_CONTINUOUS = Option("continuous", bool, False, "wait for checkpoints and evaluate each new one")
_EVERY = Option(
    "every_secs", float, 0.0, "with --continuous: seconds between two evaluations", min=0
)
_TIMEOUT = Option(
    "timeout_secs",
    float | None,
    None,
    "with --continuous: seconds without a new checkpoint before the end; none: wait for ever",
    min=0,
)
# Options of inputs that name other data.
_DATA = ("data_dir", "eval_dir")
OPTIONS = (
    Option("checkpoint", str | None, None, "path of the checkpoint; none: the newest one"),
    _CONTINUOUS,
    _EVERY,
    _TIMEOUT,
    Option(
        "name",
        str | None,
        None,
        "write to MODEL_DIR/eval_NAME; none: for other data (--input.data_dir, --input.eval_dir) "
        "the name of its folder",
    ),
    Option("output", str | None, None, "write to this folder, where MODEL_DIR is read-only say"),
)


def main(argv: Sequence[str]) -> int:
    """Runs the sub-command and returns its exit code."""
    if not argv or any(word in ("-h", "--help") for word in argv):
        report_help(f"{_USAGE}\n\n{option_help.group_text('Options', OPTIONS, {})}")
        return EXIT_OK if argv else EXIT_USAGE
    setup, values = setup_from_folder("evaluate", argv, OPTIONS)
    _check(values)
    source = _with_data(setup)
    typed = [name for name in _DATA if any(_is_option(word, f"input.{name}") for word in argv)]
    if "data_dir" in typed:
        _note_part(setup, source)
    if typed and not (values["name"] or values["output"] or values["continuous"]):
        values = {**values, "name": _folder_name(setup, typed[-1])}
    with observed_run(setup, source, shows_progress=True) as (setup, observer):
        with quiet_import(setup.config.verbosity):
            # Importing TensorFlow takes seconds.
            from tf_frame.runs.evaluation.evaluate import evaluate_run
        for evaluated in evaluate_run(setup, source, observer, **values):
            report(result_table(evaluated.global_step, evaluated.metrics, evaluated.files))
            if evaluated.global_step >= setup.config.max_steps:
                for hint in chance_hint(setup, evaluated.metrics, evaluated.at_chance):
                    report(hint)
    return EXIT_OK


def _is_option(word: str, name: str) -> bool:
    return word.lstrip("-").partition("=")[0] == name


def _folder_name(setup: TrainingSetup, option: str) -> str | None:
    """Returns the name of the folder of other data, for the results.

    In the folder of the run's own evaluations they would be points of the same curve.
    """
    path = str(setup.input.values()[option]) if setup.input is not None else ""
    name = os.path.basename(os.path.abspath(os.path.expanduser(path)))
    return re.sub(r"[^\w.-]", "_", name) or None


def _with_data(setup: TrainingSetup) -> Any:
    """Constructs the input; tells its content, and warns if the training had other classes.

    Raises:
      DataError: there is no data, or it has classes of the training in another order, or others
        and `--strict` is set.
    """
    try:
        source = setup.make_input()
    except DataError as error:
        raise DataError(f"an evaluation needs the data, labels included: {error}") from None
    for line in evaluation_lines(source):
        report(line)
    trained = recorded_info(setup)
    difference = "" if trained is None else different_classes(source.info, trained)
    if trained is not None and _are_mixed_up(source.info, trained):
        raise DataError(f"{difference}; {_how_to_match(source, trained)}")
    if difference and setup.config.strict:
        raise DataError(f"{difference} (an error because of --strict)")
    if difference:
        report(f"warning: {difference}")
    return source


def _are_mixed_up(info: InputInfo, trained: InputInfo) -> bool:
    """Returns whether labels of the data mean other classes of the training, or classes lack."""
    names, before = list(info.class_names), list(trained.class_names)
    if not names or not before:
        return False
    is_moved = any(name in before and before.index(name) != names.index(name) for name in names)
    return is_moved or len(names) != len(before)


def _how_to_match(source: Any, trained: InputInfo) -> str:
    """Returns what is wrong with such data, and the option of the input that helps."""
    text = "labels count by the order of the classes, and the figures would mean nothing"
    # An input need not inherit from tf-frame-vision's.
    option, names = getattr(source, "matches_classes_by", ""), listed(trained.class_names)
    if option == "eval_dir":
        return f"{text}; --input.eval_dir instead of --input.data_dir finds the classes by name"
    if option:
        return f"{text}; give --input.{option} a file with a line for each of the training: {names}"
    return f"{text}; number the classes of the data as the training did: {names}"


def _note_part(setup: TrainingSetup, source: Any) -> None:
    """Says that an undivided folder of other data is evaluated in part, if it is."""
    counts = source.info.num_examples
    training, evaluated = (counts.get(mode) for mode in (Mode.TRAIN, Mode.EVAL))
    fraction = setup.input.values().get("eval_fraction") if setup.input else None
    if fraction and fraction < 1 and training and evaluated:
        report(
            f"note: {evaluated} of {training + evaluated} examples are evaluated, the others are "
            "for training; --input.eval_fraction 1 evaluates all of a folder that is not divided"
        )


def _check(values: Mapping[str, Any]) -> None:
    """Refuses options that contradict each other, and a name that leads out of the folder."""
    name = values["name"]
    if name is not None and not re.fullmatch(r"[\w.-]+", name):
        raise ConfigError(
            f"--name {short_word(name)}: results are written to MODEL_DIR/eval_NAME; give a name "
            "of letters, digits, ., _ and -"
        )
    if name is not None and values["output"]:
        raise ConfigError("--name and --output both say where to write; leave out one of the two")
    if values["continuous"]:
        if values["checkpoint"]:
            raise ConfigError(
                "--checkpoint names one checkpoint, --continuous evaluates all new ones; leave out "
                "one of the two"
            )
        return
    for option in (_EVERY, _TIMEOUT):
        if values[option.name] != option.default:
            raise ConfigError(f"--{option.name} has no effect without --continuous")

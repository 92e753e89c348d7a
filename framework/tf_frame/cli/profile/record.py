"""`tf-frame profile --plugin NAME`: trains a few steps, and reports where their time goes."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Mapping, Sequence
from typing import Any

from tf_frame.cli import run as training
from tf_frame.cli.profile import show
from tf_frame.cli.profile.prove import prove
from tf_frame.command_line import option_help
from tf_frame.command_line.environment import start_again_with
from tf_frame.command_line.output_file import check_file
from tf_frame.command_line.parsing import parse_command_line
from tf_frame.command_line.screen import complain, output_to_stderr, report
from tf_frame.command_line.selection import MODEL_DIR
from tf_frame.command_line.words import CommandLine
from tf_frame.config.flags import split_flags
from tf_frame.config.option import Option
from tf_frame.errors import ConfigError, DataError
from tf_frame.profiling.profile_folders import list_folders, read_recorded_run
from tf_frame.profiling.report.build_report import build_report
from tf_frame.runs.setup.folder_claim import check_writable
from tf_frame.runs.setup.training_setup import TRAIN
from tf_frame.session.interrupts import Interrupted
from tf_frame.shell_text import shell_word
from tf_frame.text import short, short_word

_STEPS = Option("steps", int, 10, "steps to profile", min=1)
_WARMUP = Option("warmup", int, 5, "steps before them, which are not profiled", min=0)
_PROVE = Option(
    "prove",
    bool,
    False,
    "try the options that the hints name, in turns with the training as it is, and write those "
    "that help to MODEL_DIR/proved.yaml",
)
_PROVE_SECS = Option(
    "prove_secs",
    float,
    60,
    "seconds of turns for each trial, which ends early if it is sure",
    min=1,
)
OPTIONS = (_STEPS, _WARMUP, _PROVE, _PROVE_SECS, show.JSON, show.HTML)
# Options of a run that this command sets.
_SET = ("max_steps", "profile_at_step", "profile_num_steps", "profile_every_n_steps", "profile_dir")
# Options of a run that does not train.
_NO_TRAINING = (
    *("mode", "dry_run", "print_config", "print_data"),
    *("show_hooks", "show_placement", "show_model"),
)


def options_text() -> str:
    """Returns the help of the options that `tf-frame run` does not have."""
    return option_help.group_text("Options", OPTIONS, {})


def main(argv: Sequence[str]) -> int:
    """Profiles, prints the report, and returns the exit code."""
    argv = _with_flag(argv)
    line = parse_command_line(argv, OPTIONS)
    values = line.own_values
    _check(line.values)
    check_file(values[show.HTML.name])
    # A wrong option is refused here, before anything is written.
    setup = line.setup()
    model_dir = setup.model_dir
    start_again_with(setup.config.environment, module="tf_frame", words=["profile", *argv])
    check_writable(model_dir)
    before = set(_recorded(model_dir))
    first = values[_WARMUP.name] + 1
    as_json = values[show.JSON.name]
    # With --json, standard output is for programs.
    with output_to_stderr() if as_json else contextlib.nullcontext():
        try:
            _train(line, model_dir, first=first, steps=values[_STEPS.name])
        except Interrupted as error:
            # The text of the training is about a checkpoint, which is not kept.
            is_recorded = bool(set(_recorded(model_dir)) - before)
            hint = (
                f"see tf-frame profile show {shell_word(model_dir)}"
                if is_recorded
                else "nothing recorded"
            )
            raise Interrupted(error.signum, f"stopped; {hint}") from error
    names = [name for name in _recorded(model_dir) if name not in before]
    if not names:
        raise DataError(
            f"no step was recorded in {short(model_dir)}: the training ended before step "
            f"{first}, or its files could not be written; see the lines above"
        )
    if values[_PROVE.name]:
        _prove(argv, model_dir, names[-1], values[_PROVE_SECS.name], as_json=as_json)
    words = [f"--html={values[show.HTML.name]}"] if values[show.HTML.name] else []
    code = show.main([model_dir, f"--run={names[-1]}", *words, *(["--json"] if as_json else [])])
    again = f"this report again: tf-frame profile show {shell_word(model_dir)}"
    complain(again) if as_json else report(f"\n{again}")
    return code


def _with_flag(argv: Sequence[str]) -> Sequence[str]:
    """Returns the words with `--plugin` before the name of a model: `profile deeplab`.

    Raises:
      ConfigError: the first word is a folder.
    """
    words = training.with_flag(argv)
    if words[:1] == [f"--{MODEL_DIR.name}"] != argv[:1]:
        folder = short_word(shell_word(argv[0]))
        raise ConfigError(
            f"say what to do with the folder: tf-frame profile show {folder} prints its profile, "
            f"tf-frame profile attach {folder} profiles a training that is running"
        )
    return words


def _check(values: Mapping[str, Any]) -> None:
    """Refuses options that this command sets, and modes that do not train."""
    for name in _SET:
        if name in values:
            raise ConfigError(
                f"tf-frame profile sets --{name} itself; use --steps and --warmup, or tf-frame run"
            )
    for name in _NO_TRAINING:
        if values.get(name, TRAIN) not in (False, TRAIN):
            raise ConfigError(f"tf-frame profile trains; --{name} is an option of tf-frame run")


def _train(line: CommandLine, model_dir: str, *, first: int, steps: int) -> None:
    """Trains in a folder that is removed, and profiles into `model_dir`.

    In the first step TensorFlow prepares the recording; the report leaves this step out.
    """
    with tempfile.TemporaryDirectory(prefix="tf-frame-profile-") as folder:
        line = line.with_values(
            model_dir=folder,
            profile_dir=model_dir,
            max_steps=first + steps,
            profile_at_step=(first,),
            profile_num_steps=steps + 1,
            eval_every_n_steps=0,
            eval_every_secs=None,
            max_secs=None,
            evaluate=False,
            allow_inexact_resume=True,  # Nothing is resumed.
            locked=False,  # The records of the true folder were compared already.
        )
        training.run_line(line, line.setup(), keeps_folder=False)


def _prove(argv: Sequence[str], model_dir: str, run: str, secs: float, *, as_json: bool) -> None:
    """Tries what the hints of a profile stand for."""
    _, words = split_flags(argv, OPTIONS)
    hints = build_report(read_recorded_run(model_dir, run).profiles, run=run).hints
    with output_to_stderr() if as_json else contextlib.nullcontext():
        prove(words, hints, model_dir=model_dir, run=run, secs=secs)


def _recorded(model_dir: str) -> list[str]:
    """Names of the profiles with recorded steps, oldest first."""
    return [folder.name for folder in list_folders(model_dir) if folder.steps]

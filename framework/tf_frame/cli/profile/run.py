"""`tf-frame profile --plugin NAME`: trains a few steps, and reports where their time goes."""

from __future__ import annotations

import contextlib
import shlex
import sys
import tempfile
from collections.abc import Sequence

from tf_frame.cli import option_help, run as training
from tf_frame.cli.profile import show
from tf_frame.cli.screen import report
from tf_frame.cli.training_setup import parse_command_line
from tf_frame.config.flags import split_flags
from tf_frame.config.option import Option
from tf_frame.errors import ConfigError, DataError
from tf_frame.estimator.training.model_dir import check_writable
from tf_frame.estimator.training.setup import TRAIN
from tf_frame.profiling.run_folders import run_folders
from tf_frame.session.interrupts import Interrupted

_STEPS = Option("steps", int, 10, "steps to profile", min=1)
_WARMUP = Option("warmup", int, 5, "steps before them, which are not profiled", min=0)
_JSON = Option("json", bool, False, "print the report as JSON")
_HTML = Option("html", str, None, "write the report as a page, to this file")
OPTIONS = (_STEPS, _WARMUP, _JSON, _HTML)
# Options of a run that this command sets.
_SET = ("max_steps", "profile_at_step", "profile_num_steps", "profile_every_n_steps", "profile_dir")
# Options of a run that does not train.
_NO_TRAINING = ("mode", "dry_run", "print_config", "show_hooks", "show_placement", "show_model")


def options_text() -> str:
    """Returns the help of the options that `tf-frame run` does not have."""
    return option_help.group_text("Options", OPTIONS, {})


def main(argv: Sequence[str]) -> int:
    """Profiles, prints the report, and returns the exit code."""
    values, words = split_flags(argv, OPTIONS)
    steps = values.get(_STEPS.name, _STEPS.default)
    warmup = values.get(_WARMUP.name, _WARMUP.default)
    line = parse_command_line(words)
    for name in _SET:
        if name in line.values:
            raise ConfigError(
                f"tf-frame profile sets --{name} itself; use --steps and --warmup, or tf-frame run"
            )
    for name in _NO_TRAINING:
        if line.values.get(name, TRAIN) not in (False, TRAIN):
            raise ConfigError(f"tf-frame profile trains; --{name} is an option of tf-frame run")
    # A wrong option is refused here, before anything is written.
    setup = line.setup(OPTIONS)
    check_writable(setup.model_dir)
    before = set(_recorded(setup.model_dir))
    with tempfile.TemporaryDirectory(prefix="tf-frame-profile-") as folder:
        # The first traced step prepares the graph; the recorder leaves it out.
        options = {
            "model_dir": folder,
            "profile_dir": setup.model_dir,
            "max_steps": warmup + 1 + steps,
            "profile_at_step": warmup + 1,
            "profile_num_steps": steps + 1,
            "eval_every_n_steps": 0,
            "allow_inexact_resume": "true",  # Nothing is resumed.
        }
        set_words = [f"--{name}={value}" for name, value in options.items()]
        as_json = bool(values.get(_JSON.name))
        # With --json, standard output is for programs.
        with contextlib.redirect_stdout(sys.stderr) if as_json else contextlib.nullcontext():
            # Of an option that is given twice, the last value counts.
            try:
                training.main([*words, *set_words, "--noevaluate"])
            except Interrupted as stopped:
                # The text of the training is about a checkpoint, which is not kept.
                some = set(_recorded(setup.model_dir)) - before
                what = (
                    f"see tf-frame profile show {setup.model_dir}" if some else "nothing recorded"
                )
                raise Interrupted(stopped.signum, f"stopped; {what}") from stopped
    found = [name for name in _recorded(setup.model_dir) if name not in before]
    if not found:
        raise DataError(
            f"no step was recorded in {setup.model_dir}: the training ended before step "
            f"{warmup + 1}, or its files could not be written; see the lines above"
        )
    shown = [f"--html={values[_HTML.name]}"] if values.get(_HTML.name) else []
    shown += ["--json"] if as_json else []
    code = show.main([setup.model_dir, f"--run={found[-1]}", *shown])
    if not as_json:
        report(f"\nthis report again: tf-frame profile show {shlex.quote(setup.model_dir)}")
    return code


def _recorded(model_dir: str) -> list[str]:
    """Names of the profiles with recorded steps, oldest first."""
    return [folder.name for folder in run_folders(model_dir) if folder.steps]

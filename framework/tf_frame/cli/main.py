"""The program `tf-frame`: runs one sub-command, and prints its errors.

A sub-command is a module with `main(argv) -> exit code`, or a plugin of a package. Only the module
of the sub-command is imported, so that the command line starts at once.
"""

from __future__ import annotations

import difflib
import importlib
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import tf_frame
from tf_frame.command_line import screen
from tf_frame.command_line.screen import (
    complain,
    prepare_streams,
    print_error,
    report,
    report_help,
    silence,
)
from tf_frame.errors import (
    EXIT_INTERRUPTED,
    EXIT_OK,
    EXIT_USAGE,
    ConfigError,
    TfFrameError,
    machine_error,
)
from tf_frame.ownership import let_only_the_owner_write
from tf_frame.plugin.commands import installed_commands
from tf_frame.resources import refusal
from tf_frame.shell_text import shell_word
from tf_frame.tensorflow_log import quiet_first_import, shows_debug
from tf_frame.text import brief, short_word

if TYPE_CHECKING:
    from tf_frame.plugin.find import PluginInfo

COMMANDS = {
    "run": ("tf_frame.cli.run", "train a model, evaluate it, or go on where it stopped"),
    "launch": ("tf_frame.cli.launch", "start a training of several processes"),
    "runs": ("tf_frame.cli.runs", "list runs in a table: states, metrics, options that differ"),
    "compare": ("tf_frame.cli.compare", "show how runs differ, and which is better"),
    "status": ("tf_frame.cli.status", "show what each task of a training does"),
    "evaluate": ("tf_frame.cli.evaluate", "evaluate the checkpoints of a run"),
    "predict": ("tf_frame.cli.predict", "write the predictions of a trained model"),
    "export": ("tf_frame.cli.export", "write a trained model as SavedModel, TFLite, ONNX ..."),
    "profile": ("tf_frame.cli.profile", "show where the time of a step goes"),
    "tune": ("tf_frame.cli.tune", "find what makes a training faster on this machine"),
    "plugins": ("tf_frame.cli.plugins", "list and show the installed plugins, begin a new one"),
    "convert": ("tf_frame.cli.convert", "convert data to files that an input reads"),
    "checkpoint": ("tf_frame.cli.checkpoint", "inspect and rewrite checkpoints"),
    "weights": ("tf_frame.cli.weights", "list, show and fetch published weights"),
    "doctor": ("tf_frame.cli.doctor", "check this machine, versions, TensorBoard and plugins"),
    "tensorboard": ("tf_frame.cli.tensorboard", "start TensorBoard on runs"),
    "completion": ("tf_frame.cli.completion", "print a script for completion in a shell"),
}
# Words of other programs -> the command here.
_OTHER_WORDS = {
    "train": "tf-frame run --plugin NAME",
    "fit": "tf-frame run --plugin NAME",
    "finetune": "tf-frame run --plugin NAME --warm_start_from CHECKPOINT",
    "resume": "tf-frame run --model_dir MODEL_DIR",
    "eval": "tf-frame evaluate MODEL_DIR",
    "test": "tf-frame evaluate MODEL_DIR; for a plugin tf-frame plugins check PLUGIN",
    "infer": "tf-frame predict MODEL_DIR --input FILE",
    "inference": "tf-frame predict MODEL_DIR --input FILE",
    "detect": "tf-frame predict MODEL_DIR --input FILE",
    "list": "tf-frame plugins list",
    "show": "tf-frame plugins show NAME",
    "new": "tf-frame plugins new NAME --kind KIND",
    "install": "pip install PACKAGE",
    "version": "tf-frame --version",
}
# In a command above: replaced by the word that is typed.
_FOR_ONE_WORD = ("MODEL_DIR", "NAME", "PACKAGE")
_MOST_FRAMES = 20
_HOW_TO_SEE_MORE = "--verbosity debug shows the whole traceback"


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command line and returns its exit code."""
    return run_safely(_dispatch, list(sys.argv[1:] if argv is None else argv))


def run_safely(command: Callable[[list[str]], int], argv: list[str]) -> int:
    """Calls a command with its words, prints its errors, and returns the exit code."""
    prepare_streams()
    let_only_the_owner_write()
    quiet_first_import()
    try:
        return command(argv)
    except TfFrameError as error:
        return _print_error(error)
    except KeyboardInterrupt:
        print_error("stopped by Ctrl-C")
        return EXIT_INTERRUPTED
    except BaseException as error:
        is_pipe = isinstance(error, BrokenPipeError)
        if is_pipe and traceback.extract_tb(error.__traceback__)[-1].filename == screen.__file__:
            silence(sys.stdout)  # Nobody reads the output, also that of a plugin's command.
            return EXIT_OK
        if known := machine_error(error):
            return _print_error(known)
        refused = refusal(error)
        # Code of a plugin that asks for far too much is shown with its place.
        if refused and not isinstance(error, MemoryError):
            return _print_error(refused)
        if _reported_as_fault(error):
            return EXIT_USAGE
        if refused:
            return _print_error(refused)
        if is_pipe:
            silence(sys.stdout)
            return EXIT_OK
        raise


def _print_error(error: TfFrameError) -> int:
    print_error(error)
    return error.exit_code


def _reported_as_fault(error: BaseException) -> bool:
    """Prints an error in a plugin's code; returns False for a defect of tf-frame itself."""
    # Imported here, because a quick answer does not need it.
    from tf_frame.plugin.fault import find_fault

    fault = find_fault(error)
    if fault is None:
        return False
    print_error(fault.headline)
    if shows_debug():
        traceback.print_exception(error)
    else:
        hint = [fault.hint] if fault.hint else []
        frames = _shortened(list(map(str, fault.frames)))
        complain("\n".join([*frames, *hint, _HOW_TO_SEE_MORE]))
    return True


def _shortened(frames: list[str]) -> list[str]:
    """Returns the first and the last frames of a deep recursion."""
    left_out = len(frames) - _MOST_FRAMES
    if left_out <= 0:
        return frames
    half = _MOST_FRAMES // 2
    return [*frames[:half], f"  ... {left_out} more frames", *frames[-half:]]


def _dispatch(argv: list[str]) -> int:
    _check_encoding(argv)
    if not argv or argv[0] in ("--help", "-h", "help"):
        report_help(usage())
        return EXIT_OK if argv else EXIT_USAGE
    if argv[0] == "--version":
        report(f"tf-frame {tf_frame.__version__}")
        return EXIT_OK
    if argv[0] not in COMMANDS:
        return _run_package_command(*argv)
    return int(importlib.import_module(COMMANDS[argv[0]][0]).main(argv[1:]))


def _run_package_command(name: str, *argv: str) -> int:
    from tf_frame.command_line.package_command import load_command, run_command

    command = load_command(name)
    if command is None:
        raise ConfigError(_explain_unknown(name, *argv))
    return run_command(command, argv)


def usage() -> str:
    """Returns the text of `tf-frame --help`."""
    commands = "\n".join(f"  {name:<12}{text}" for name, (_, text) in COMMANDS.items())
    of_packages = "\n".join(dict.fromkeys(map(_package_line, installed_commands())))
    if of_packages:
        commands += f"\n\ncommands of packages:\n{of_packages}"
    return (
        f"tf-frame {tf_frame.__version__}: trains TensorFlow models that arrive as pip packages\n\n"
        f"usage: tf-frame COMMAND [OPTIONS]\n\ncommands:\n{commands}\n\n"
        "tf-frame COMMAND --help shows the options of a command; start with\n"
        "  tf-frame plugins list\n"
        "  tf-frame run --plugin NAME\n\n"
        "exit codes: 0 done, 1 the run failed, 2 wrong option, plugin or data, or an error in the\n"
        "code of a plugin, 130 Ctrl-C and 143 SIGTERM (after saving the current step)"
    )


def _package_line(info: PluginInfo) -> str:
    text = info.summary or f"of the package {info.distribution}"
    if info.state != "ok":
        text = f"{info.state}; see tf-frame plugins why {info.name}"
    return f"  {info.name:<12}{text}"


def _check_encoding(argv: Sequence[str]) -> None:
    """Refuses words that are not Unicode: TensorFlow takes paths in UTF-8 only."""
    for word in argv:
        try:
            word.encode("utf-8")
        except UnicodeEncodeError:
            raise ConfigError(
                f"the argument {brief(word)} is not UTF-8, and TensorFlow opens no other paths; "
                "use another name, or, if the locale is to blame, set LC_ALL=C.UTF-8"
            ) from None


def _explain_unknown(word: str, *following: str) -> str:
    if word in _OTHER_WORDS:
        command = _OTHER_WORDS[word]
        placeholder = next((part for part in _FOR_ONE_WORD if part in command), "")
        # `train deeplab`, `eval runs/first`; of a file one cannot say where it belongs.
        if (
            placeholder
            and following
            and not (following[0].startswith("-") or os.path.isfile(following[0]))
        ):
            command = command.replace(placeholder, short_word(shell_word(following[0])))
        return f"there is no command {word}; it is {command}"
    names = [*COMMANDS, *(info.name for info in installed_commands())]
    near_names = difflib.get_close_matches(word, names, n=1)
    hint = (
        f"did you mean {brief(near_names[0])}?" if near_names else f"commands: {', '.join(names)}"
    )
    return f"unknown command {brief(word)}; {hint}"

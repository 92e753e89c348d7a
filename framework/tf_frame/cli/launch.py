"""`tf-frame launch`: starts all tasks of a distributed training by one command."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import Any

from tf_frame.command_line import option_help
from tf_frame.command_line.screen import report
from tf_frame.config.flags import parse_flags, split_flags
from tf_frame.config.option import Option
from tf_frame.errors import EXIT_OK, EXIT_USAGE, ConfigError
from tf_frame.launch.options import ON, OPTIONS, PLACES
from tf_frame.launch.words import job_of

_USAGE = """usage: tf-frame launch [OPTIONS] -- run --plugin NAME [OPTIONS OF THE RUN]

Starts a training of several processes: a chief, workers, parameter servers and an evaluator. Shows
what they say, each line once, with one line of progress; starts a task again that dies; passes
Ctrl-C and SIGTERM on, so that the chief saves; and ends when the last one has ended. The logs of
the tasks are in MODEL_DIR/logs; tf-frame status MODEL_DIR shows what each does."""
_HELP = ("-h", "--help")
_WORDS_FOLLOW = "--"


def main(argv: Sequence[str]) -> int:
    """Runs the sub-command and returns its exit code."""
    own, words = divided(argv)
    if not argv or any(word in _HELP for word in own):
        report(_help([word for word in own if word not in _HELP]))
        return EXIT_OK if argv else EXIT_USAGE
    if not words:
        raise ConfigError(
            "say after -- what to train: tf-frame launch --num_workers 2 -- run --plugin NAME"
        )
    named, rest = split_flags(own, [ON])
    place = _place(named)
    options = _options(place)
    defaults = {option.name: option.default for option in options}
    values = defaults | named | parse_flags(rest, options)
    job, setup = job_of(words, values)
    # Where the tasks run on other machines, folder and data may be only there.
    if hasattr(place, "check"):
        place.check(setup, values)
    return int(place.main(job, values))


def divided(argv: Sequence[str]) -> tuple[list[str], list[str]]:
    """Returns the words before the first `--`, and those after it."""
    if _WORDS_FOLLOW not in argv:
        return list(argv), []
    at = list(argv).index(_WORDS_FOLLOW)
    return list(argv[:at]), list(argv[at + 1 :])


def options_for(own: Sequence[str]) -> list[Option]:
    """Returns the options of a job, and those of the place that `--on` names.

    Raises:
      ConfigError: there is no such place.
    """
    return _options(_place(split_flags(own, [ON])[0]))


def _options(place: Any) -> list[Option]:
    hidden = {option.name for option in place.OPTIONS}
    return [*(option for option in OPTIONS if option.name not in hidden), *place.OPTIONS]


def _place(values: Mapping[str, Any]) -> Any:
    """Returns the module of the place that `--on` names."""
    return importlib.import_module(PLACES[values.get(ON.name, ON.default)])


def _help(own: Sequence[str]) -> str:
    values, _ = split_flags(own, [ON])
    place = values.get(ON.name, ON.default)
    other_places = "|".join(name for name in PLACES if name != place)
    return "\n\n".join(
        [
            _USAGE,
            option_help.group_text("Options", OPTIONS, {ON.name: place}),
            option_help.group_text(f"Options with --on {place}", _place(values).OPTIONS, {}),
            f"tf-frame launch --on {other_places} --help shows the options there.",
        ]
    )

"""Errors that tf-frame raises on purpose, and the exit codes they turn into.

Each message says what happened, the value seen and what to do. The command
line prints a `TfFrameError` as one short paragraph without a traceback; any
other exception is a defect (ours or a plugin's) and keeps its traceback.
"""

from __future__ import annotations

import itertools
import re

EXIT_OK = 0
EXIT_FAILED = 1
EXIT_USAGE = 2
EXIT_INTERRUPTED = 130

_ASSERTION = re.compile(r"^assertion failed: \[(.*)\]")


class TfFrameError(Exception):
    """Base of every error with a message for the user.

    Attributes:
      exit_code: the exit status of the command line when this error ends it.
    """

    exit_code = EXIT_FAILED


class ConfigError(TfFrameError):
    """An option, a configuration file or a combination of options is wrong."""

    exit_code = EXIT_USAGE


class PluginError(TfFrameError):
    """A plugin that was asked for is missing, broken or incompatible."""

    exit_code = EXIT_USAGE


class DataError(TfFrameError):
    """Training or evaluation data is missing, empty or unreadable."""

    exit_code = EXIT_USAGE


class CheckpointError(TfFrameError):
    """A checkpoint cannot be written, read, or belongs to another model."""


class NonFiniteError(TfFrameError):
    """The loss or a variable became NaN or infinite; nothing was saved."""


class UnmatchedPatternWarning(UserWarning):
    """A pattern of variable names matches none; `--strict` makes an error of it."""


def reason_of(error: BaseException) -> str:
    """The one line of an error's message that says what happened.

    A session error begins with `Graph execution error:` and where the graph was
    built; the reason stands below `Node: 'name'`, or is the first line after. Of a
    failed `tf.Assert` it is the text that the assertion was given.
    """
    line = _line_of(error)
    asserted = _ASSERTION.search(line)
    return asserted[1] if asserted else line


def _line_of(error: BaseException) -> str:
    lines = [line for line in str(error).splitlines() if line.strip()]
    for before, line in itertools.pairwise(lines):
        if before.startswith("Node: "):
            return line
    told = [line for line in lines if line != "Graph execution error:"]
    return told[0] if told else type(error).__name__

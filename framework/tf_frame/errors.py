"""Errors that tf-frame raises on purpose, and the exit codes they turn into.

Each message says what happened, the value seen and what to do. The command
line prints a `TfFrameError` as one short paragraph without a traceback; any
other exception is a defect (ours or a plugin's) and keeps its traceback.
"""

from __future__ import annotations

EXIT_OK = 0
EXIT_FAILED = 1
EXIT_USAGE = 2
EXIT_INTERRUPTED = 130
EXIT_TERMINATED = 143


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

"""Error and warning classes, with exit codes and messages for the user; detection of a full disk.

A message says what happened, the value seen and what to do. The command line prints a
`TfFrameError` without a traceback, and an exception of a plugin's code as a
`tf_frame.plugin.fault.Fault`. Any other exception is a defect of tf-frame and keeps its traceback.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import re
from collections.abc import Iterator

from tf_frame.text import short

EXIT_OK = 0
EXIT_FAILED = 1
EXIT_USAGE = 2
EXIT_INTERRUPTED = 130
# Asks a scheduler to start the task again: 128 and the number of SIGUSR1.
EXIT_START_AGAIN = 138

# The text of a `tf.Assert`, the first of its data.
_ASSERTION = re.compile(r"^assertion failed: \[(.*?)\](?: \[.*)?$")
# The beginning of an error in a function of a data set, which names TensorFlow's own objects.
_OF_FUNCTION = re.compile(r"^Error in user-defined function passed to \S+ .* iterator: \S+: ")
# Stands above the error of a task of a job.
_OF_TASK = re.compile(r"From /job:\S+:")
# No space on the disk, none in the user's quota, or a file beyond the limit of the process.
_DISK_FULL = tuple(map(os.strerror, (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)))
# Ends of TensorFlow's errors of a file: a folder in its place, a file above it, rights, a fault.
_NO_WRITING = tuple(
    f"; {os.strerror(number)}"
    for number in (errno.EISDIR, errno.ENOTDIR, errno.EACCES, errno.EROFS, errno.EIO)
)


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
    """A requested plugin is missing, broken or incompatible."""

    exit_code = EXIT_USAGE


class DataError(TfFrameError):
    """Training or evaluation data is missing, empty or unreadable."""

    exit_code = EXIT_USAGE


class NoDataError(DataError):
    """A part of the data, such as the evaluation split, does not exist or is empty."""


class CheckpointError(TfFrameError):
    """A checkpoint cannot be written, read, or belongs to another model."""


class NonFiniteError(TfFrameError):
    """The loss or a variable became NaN or infinite; nothing was saved.

    Args:
      message: the text for the user.

    Attributes:
      step: the global step that failed; None: it is not known.
    """

    def __init__(self, message: str, *, step: int | None = None) -> None:
        super().__init__(message)
        self.step = step


class PeerLostError(TfFrameError):
    """Another task of the job was lost, and this task goes on when it is started again."""

    exit_code = EXIT_START_AGAIN


class UnmatchedPatternWarning(UserWarning):
    """A pattern of variable names matches no variable; with `--strict` this is an error."""


class TfFrameDeprecationWarning(UserWarning):
    """A public name or option goes away; the message names the version and what replaces it.

    Users of a run shall see it, too: Python hides a `DeprecationWarning` outside of `__main__`,
    and `tf_frame.tensorflow_log` hides those of TensorFlow's libraries.
    """


def short_reason(error: BaseException) -> str:
    """Returns the line of an error's message that says what happened.

    A session error begins with `Graph execution error:` and the place that built the graph; the
    reason stands below `Node: 'name'`, or is the first line after. The reason of a failed
    `tf.Assert` is the text of the assertion.
    """
    line = _OF_FUNCTION.sub("", _main_line(error))
    asserted = _ASSERTION.search(line)
    return asserted[1] if asserted else line


def _main_line(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    lines = [line for line in str(error).splitlines() if line.strip()]
    lines = [line for line in lines if not _OF_TASK.fullmatch(line)]
    for before, line in itertools.pairwise(lines):
        if before.startswith("Node: "):
            return line
    return next((line for line in lines if line != "Graph execution error:"), type(error).__name__)


def names_file(error: BaseException) -> bool:
    """Returns whether an error of the file system names the file that it is about.

    TensorFlow has several classes for such errors, which it also raises for other reasons.
    """
    if isinstance(error, OSError):
        return bool(error.filename)
    return short_reason(error).endswith(_NO_WRITING)


def is_disk_full(error: BaseException) -> bool:
    """Returns whether an error means a full disk; TensorFlow has several classes for it."""
    return any(text in str(error) for text in _DISK_FULL)


def machine_error(error: BaseException) -> TfFrameError | None:
    """Returns the error for the user where no code is to blame; None for another error.

    A disk is full, or a name is longer than file systems allow, whichever code meets it first.
    """
    if isinstance(error, TfFrameError):
        return None
    if isinstance(error, OSError) and error.errno == errno.ENAMETOOLONG:
        return ConfigError(f"{short(error.filename)}: {error.strerror}; give a shorter name")
    if is_disk_full(error):
        return TfFrameError(f"{short(short_reason(error))}; make room, and give the command again")
    return None


@contextlib.contextmanager
def writing(place: str, remedy: str = "choose another folder") -> Iterator[None]:
    """Inside the block, a place that cannot be written is an error of the option that names it.

    Args:
      place: the option and the path, for the message.
      remedy: what to do.

    Raises:
      ConfigError: the place cannot be written.
      TfFrameError: the disk is full or fails, for which no option is to blame.
    """
    try:
        yield
    except OSError as error:
        is_of_disk = is_disk_full(error) or error.errno == errno.EIO
        remedy = f"free space there, or {remedy}" if is_disk_full(error) else remedy
        error_class = TfFrameError if is_of_disk else ConfigError
        raise error_class(f"{place} cannot be written: {_cause(error)}; {remedy}") from None


def _cause(error: OSError) -> str:
    """Returns why a file or folder cannot be written, in words for users."""
    if isinstance(error, FileExistsError) and os.path.isfile(error.filename or ""):
        return "it is a file"
    if isinstance(error, NotADirectoryError):
        return "a folder of its path is a file"
    return str(error.strerror)


@contextlib.contextmanager
def translated_write_errors(
    failure: str,
    remedy: str,
    *,
    within: str = "",
    error_class: type[TfFrameError] = TfFrameError,
) -> Iterator[None]:
    """Translates file system errors to one `TfFrameError` with a remedy.

    Other exceptions pass: defects, errors for the user, and the errors of a lost
    server, after which TensorFlow creates a new session.

    Args:
      failure: first part of the message, such as `the export to out could not be written`.
      remedy: last line of the message: the remaining files, and advice.
      within: a path; apart from a full disk, only errors that name it are translated.
      error_class: class of the error that is raised.
    """
    try:
        yield
    except Exception as error:
        of_files = _is_file_error(error) and within in str(error)
        if isinstance(error, TfFrameError) or not (of_files or is_disk_full(error)):
            raise
        raise error_class(f"{failure}: {short_reason(error)}\n{remedy}") from error


def _is_file_error(error: Exception) -> bool:
    import tensorflow.compat.v1 as tf  # Here, because commands without TensorFlow use this module.

    lost_server = (tf.errors.AbortedError, tf.errors.UnavailableError)
    return isinstance(error, (OSError, tf.errors.OpError)) and not isinstance(error, lost_server)

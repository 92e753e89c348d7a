"""The results of checks: advice, a skipped check, or a failure with a message for the author."""

from __future__ import annotations

import contextlib
import unittest
import warnings
from collections.abc import Iterator

from tf_frame.errors import ConfigError, DataError, TfFrameError
from tf_frame.plugin.fault import find_fault


class ConformanceAdvice(UserWarning):
    """Advice to the author of a plugin that passes a check."""


def advise(text: str) -> None:
    """Shows advice, which pytest lists with the warnings, and does not fail the check."""
    warnings.warn(ConformanceAdvice(text), stacklevel=3)


@contextlib.contextmanager
def usable_here(subject: str) -> Iterator[None]:
    """Skips a check if data of the user, an option or a package is missing."""
    try:
        yield
    except (ConfigError, DataError) as error:
        raise unittest.SkipTest(f"{subject}: {error}") from error


@contextlib.contextmanager
def fails_as(subject: str) -> Iterator[None]:
    """Turns an error into the failure of a check: a description, and the error in one line."""
    try:
        yield
    except (AssertionError, KeyboardInterrupt, unittest.SkipTest):
        raise
    except (Exception, SystemExit) as error:
        raise AssertionError(f"{subject}: {describe_error(error)}") from error


@contextlib.contextmanager
def reported_by(check: str) -> Iterator[None]:
    """Skips a check after an error that another check reports."""
    try:
        yield
    except (KeyboardInterrupt, unittest.SkipTest):
        raise
    except (Exception, SystemExit) as error:
        raise unittest.SkipTest(not_checked(check)) from error


def not_checked(check: str) -> str:
    """Returns the reason to skip a check because another check fails."""
    return f"not checked, because {check.removeprefix('test_')} fails"


def describe_error(error: BaseException) -> str:
    """Describes an error with the line of the plugin that raised it."""
    if isinstance(error, TfFrameError):
        return str(error)
    fault = find_fault(error)
    if fault is None:
        return " ".join(f"{type(error).__name__}: {error}".split())
    return f"{fault.headline}; {fault.hint}" if fault.hint else fault.headline

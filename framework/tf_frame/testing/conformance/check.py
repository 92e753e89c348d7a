"""`check_plugin`: runs the suite of a plugin without pytest, for `tf-frame plugins check`."""

from __future__ import annotations

import dataclasses
import inspect
import sys
import unittest
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

from tf_frame.plugin.find import PluginInfo
from tf_frame.plugin.imports import BrokenPluginError
from tf_frame.plugin.kinds import check_class
from tf_frame.plugin.load import LoadedPlugin, import_plugin
from tf_frame.testing.conformance.commands import CommandConformance, ConverterConformance
from tf_frame.testing.conformance.hooks import HookConformance
from tf_frame.testing.conformance.image_parts import NetworkConformance, PreprocessingConformance
from tf_frame.testing.conformance.inputs import InputConformance
from tf_frame.testing.conformance.models import ModelConformance
from tf_frame.testing.conformance.outcomes import ConformanceAdvice, describe_error, not_checked
from tf_frame.testing.conformance.suite import Conformance
from tf_frame.testing.conformance.training_parts import (
    LearningRateConformance,
    OptimizerConformance,
)
from tf_frame.testing.conformance.transforms import GradientTransformConformance
from tf_frame.testing.conformance.weights import WeightsConformance

OK, FAILED, SKIPPED = "ok", "failed", "skipped"
_LOADS = "test_loads_without_side_effects"
_DEFINITION = "test_definition_fits_the_contract"
_SUITES: tuple[type[Conformance], ...] = (
    *(ModelConformance, InputConformance, ConverterConformance, GradientTransformConformance),
    *(OptimizerConformance, LearningRateConformance, HookConformance),
    *(NetworkConformance, PreprocessingConformance, WeightsConformance, CommandConformance),
)
SUITES = {suite.kind: suite for suite in _SUITES}


@dataclasses.dataclass(frozen=True)
class CheckResult:
    """The result of one check.

    Attributes:
      name: the method of the suite.
      description: the first line of its docstring.
      state: `ok`, `failed` or `skipped`.
      problem: the change that a failed check asks for, the reason of a skipped check, or advice
        of a passed check; may be empty.
    """

    name: str
    description: str
    state: str
    problem: str = ""


def check_plugin(info: PluginInfo, options: Mapping[str, Any]) -> list[CheckResult]:
    """Runs every check of an installed plugin, without pytest.

    Args:
      info: the plugin, an element of the result of `tf_frame.plugin.find.find_plugins`.
      options: option -> value, like the attribute `options` of `Conformance`.

    Returns:
      The results in the order of the checks.
    """
    try:
        loaded = import_plugin(info)
    except BrokenPluginError as error:
        return list(_only(_LOADS, error.cause, SUITES[info.kind]))
    if not inspect.isclass(loaded.cls):
        return list(_only(_DEFINITION, check_class(loaded.cls, info.kind), SUITES[info.kind]))
    return run_suite(make_suite(loaded, options))


def _only(failed: str, problem: str, suite: type[Conformance]) -> Iterator[CheckResult]:
    """Yields the results for a plugin with a fault that prevents all other checks."""
    for name in check_names(suite):
        result = (FAILED, problem) if name == failed else (SKIPPED, not_checked(failed))
        yield CheckResult(name, _description(getattr(suite, name)), *result)


def make_suite(loaded: LoadedPlugin, options: Mapping[str, Any]) -> type[Conformance]:
    """Makes the suite of a plugin by its kind; `options` are those of `Conformance`."""
    base = SUITES[loaded.info.kind]
    return type(f"Test{base.__name__}", (base,), {"plugin": loaded, "options": dict(options)})


def run_suite(suite: type[Conformance]) -> list[CheckResult]:
    """Runs the checks of a suite without pytest, beginning with the checks of all plugins.

    Args:
      suite: a class with the attribute `plugin`.

    Returns:
      The results in the order of the checks.
    """
    try:
        return [_result(suite, name) for name in check_names(suite)]
    finally:
        suite.teardown_class()


def check_names(suite: type[Conformance]) -> Iterator[str]:
    """Yields the names of the checks of a suite in the order of their definitions."""
    seen = set()
    for cls in reversed(suite.__mro__):
        for name in vars(cls):
            if name.startswith("test_") and name not in seen:
                seen.add(name)
                yield name


def _result(suite: type[Conformance], name: str) -> CheckResult:
    description = _description(getattr(suite, name))
    with warnings.catch_warnings(record=True) as caught_advice:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", ConformanceAdvice)
        try:
            getattr(suite(), name)()
        except unittest.SkipTest as error:
            return CheckResult(name, description, SKIPPED, _line(error))
        except AssertionError as error:
            return CheckResult(name, description, FAILED, str(error))
        except KeyboardInterrupt:
            described = f"{name.removeprefix('test_')} of {suite.imported().info.described}"
            print(f"tf-frame: interrupted in the check {described}", file=sys.stderr)
            raise
        except (Exception, SystemExit) as error:
            return CheckResult(name, description, FAILED, describe_error(error))
    advice = "; ".join(_line(warning.message) for warning in caught_advice)
    return CheckResult(name, description, OK, advice)


def _description(check: Any) -> str:
    return (inspect.getdoc(check) or "").splitlines()[0]


def _line(message: object) -> str:
    return " ".join(str(message).split())

"""Fixtures that run the suite of a plugin class."""

import re

import pytest

from slow_cases import slow
from tf_frame.testing.conformance import check as check_module
from tf_frame.testing.conformance.check import FAILED, SKIPPED, SUITES, run_suite
from tf_frame.testing.conformance.side_effects import _KNOWN


@pytest.fixture(scope="session")
def results():
    """Function from a kind, a plugin class and attributes of the suite to check -> result.

    Nothing is loaded in a fresh process: the plugin counts as free of side effects.
    """

    def run(kind, plugin, **attributes):
        _KNOWN.setdefault(plugin, {})
        suite = type("TestPlugin", (SUITES[kind],), {"plugin": plugin, **attributes})
        return {result.name: result for result in run_suite(suite)}

    return run


@pytest.fixture(scope="session")
def passes(results):
    """Asserts that all checks of a plugin class pass, except the names in `skipped`."""

    def passes(*arguments, skipped=(), **attributes):
        checks = results(*arguments, **attributes)
        assert {name for name, check in checks.items() if check.state != "ok"} == {*skipped}, checks
        assert {checks[name].state for name in skipped} <= {SKIPPED}
        return checks

    return passes


@pytest.fixture(scope="session")
def fails_one(results):
    """Asserts that one check fails, with a problem that matches a pattern; returns all results."""

    def fails_one(check, problem, *arguments, **attributes):
        checks = results(*arguments, **attributes)
        assert [name for name, result in checks.items() if result.state == FAILED] == [check], (
            checks
        )
        assert re.search(problem, checks[check].problem, re.DOTALL), checks[check]
        return checks

    return fails_one


@pytest.fixture(params=["check alone", slow("all checks")])
def fails_only(request, fails_one, monkeypatch):
    """As `fails_one`, and asserts that all other checks pass, except the names in `skipped`.

    The default suite runs the check alone.
    """

    def fails_only(check, problem, *arguments, skipped=(), **attributes):
        if request.param == "check alone":
            monkeypatch.setattr(check_module, "check_names", lambda suite: [check])
        checks = fails_one(check, problem, *arguments, **attributes)
        names = {name for name, result in checks.items() if result.state == SKIPPED}
        assert names <= {*skipped}, [checks[name] for name in names]

    return fails_only

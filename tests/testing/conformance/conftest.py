"""Runs the suite of a class, and tells which checks failed."""

import pytest

from tf_frame.testing.conformance.check import FAILED, SKIPPED, SUITES, run_suite
from tf_frame.testing.conformance.side_effects import _KNOWN


@pytest.fixture(scope="session")
def results():
    """Function from a kind, a plugin class and attributes of the suite to check -> result.

    The loading in a fresh process is tested apart, and here counts as free of side effects.
    """

    def run(kind, plugin, **attributes):
        _KNOWN.setdefault(plugin, {})
        suite = type("TestPlugin", (SUITES[kind],), {"plugin": plugin, **attributes})
        return {result.name: result for result in run_suite(suite)}

    return run


@pytest.fixture(scope="session")
def only_failure(results):
    """Function as `results`, that returns the problem of the only check that fails.

    Checks that a healthy plugin passes may not be skipped, but for those named.
    """

    def problem(check, *arguments, skipped=(), **attributes):
        found = results(*arguments, **attributes)
        assert [name for name, each in found.items() if each.state == FAILED] == [check], found
        left_out = [name for name, each in found.items() if each.state == SKIPPED]
        assert set(left_out) <= {*skipped}, [found[name] for name in left_out]
        return found[check].problem

    return problem

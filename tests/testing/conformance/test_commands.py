"""Each check of commands and converters finds its fault, and no other check fails on it."""

import pytest

from nonconforming import parts
from tf_frame.plugin.kinds import COMMAND, CONVERTER
from tf_frame.testing.conformance import side_effects


@pytest.mark.parametrize(("kind", "plugin"), [(COMMAND, parts.Greet), (CONVERTER, parts.Copy)])
def test_a_healthy_plugin_passes(passes, kind, plugin):
    passes(kind, plugin)


@pytest.mark.parametrize(
    ("plugin", "check", "problem"),
    [
        (parts.GreetWithoutText, "help_says_what_the_command_does", "has no docstring"),
        (parts.GreetRudely, "refuses_a_wrong_option", "with 0; expected 2"),
        (parts.GreetByNumber, "ends_well_with_a_word_that_makes_no_sense", "raised ValueError"),
        (parts.GreetWithoutCode, "ends_well_with_a_word_that_makes_no_sense", "returned None"),
    ],
)
def test_a_fault_is_found(fails_only, plugin, check, problem):
    fails_only(f"test_{check}", problem, COMMAND, plugin)


def test_tensorflow_may_not_be_imported_at_the_top(fails_only, monkeypatch):
    monkeypatch.setitem(side_effects._KNOWN, parts.GreetSlowly, {"tensorflow": "imported"})
    check = "test_starts_without_tensorflow"
    fails_only(check, r"inside run\(\)", COMMAND, parts.GreetSlowly)


def test_a_missing_source_has_to_be_refused(fails_only):
    check = "test_refuses_a_source_that_is_missing"
    fails_only(check, "raise tf_frame.errors.DataError", CONVERTER, parts.CopyOfNothing)

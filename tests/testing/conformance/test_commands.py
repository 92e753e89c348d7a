"""Each check of commands finds its fault, and no other check fails on it."""

import pytest

from nonconforming import parts
from tf_frame.plugin.kinds import COMMAND
from tf_frame.testing.conformance import side_effects


def test_a_healthy_command_passes(results):
    assert {each.state for each in results(COMMAND, parts.Greet).values()} == {"ok"}


@pytest.mark.parametrize(
    ("plugin", "check", "problem"),
    [
        (parts.GreetWithoutText, "help_says_what_the_command_does", "has no docstring"),
        (parts.GreetRudely, "refuses_a_wrong_option", "with 0; expected 2"),
        (parts.GreetByNumber, "ends_well_with_a_word_that_makes_no_sense", "raised ValueError"),
        (parts.GreetWithoutCode, "ends_well_with_a_word_that_makes_no_sense", "returned None"),
    ],
)
def test_a_fault_is_found(only_failure, plugin, check, problem):
    assert problem in only_failure(f"test_{check}", COMMAND, plugin)


def test_tensorflow_may_not_be_imported_at_the_top(only_failure, monkeypatch):
    monkeypatch.setitem(side_effects._FOUND, parts.GreetSlowly, {"tensorflow": "imported"})
    check = "test_starts_without_tensorflow"
    assert "inside run()" in only_failure(check, COMMAND, parts.GreetSlowly)

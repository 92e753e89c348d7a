"""The check of converters finds its fault, and no other check fails on it."""

from nonconforming import parts
from tf_frame.plugin.kinds import CONVERTER


def test_a_healthy_converter_passes(results):
    assert {each.state for each in results(CONVERTER, parts.Copy).values()} == {"ok"}


def test_a_missing_source_has_to_be_refused(only_failure):
    check = "test_refuses_a_source_that_is_missing"
    assert "raise tf_frame.errors.DataError" in only_failure(check, CONVERTER, parts.CopyOfNothing)

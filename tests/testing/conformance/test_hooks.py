"""Each check of hooks finds its fault, and no other check fails on it."""

import re

import pytest

from nonconforming import hooks
from tf_frame.errors import ConfigError
from tf_frame.plugin.kinds import HOOK

CADENCE, AT_END = "test_keeps_its_cadence", "test_releases_what_it_holds_at_the_end"
FAULTS = [
    pytest.param(
        hooks.InheritsFromAnotherKind,
        "test_definition_fits_the_contract",
        "gradient transform",
        marks=pytest.mark.slow,
    ),
    (hooks.RunsTheStep, "test_runs_with_a_training", "does not run the train op"),
    (hooks.FailsOffTheChief, "test_other_workers_may_use_it", "no summary writer"),
    (hooks.ActsAtEveryStep, CADENCE, r"_ActsAtEveryStep \(cadence: every 5 steps\) is called"),
    pytest.param(
        hooks.ReadsBetweenSteps, CADENCE, "calls of the session in step 2", marks=pytest.mark.slow
    ),
    (hooks.ReleasesAtTheEndAlone, "test_releases_what_it_holds_after_an_error", "thread held"),
    (hooks.ReleasesAfterErrorsAlone, AT_END, "thread held"),
    pytest.param(hooks.LeavesAFileOpen, AT_END, "open file .*hooks.py", marks=pytest.mark.slow),
    pytest.param(
        hooks.LeavesAFunctionPatched,
        AT_END,
        "patched FileWriter.add_summary",
        marks=pytest.mark.slow,
    ),
]


class Missing(hooks.Counting):
    """Needs a package that is not there."""

    def __call__(self, context):
        raise ConfigError("pip install missing")


@pytest.fixture(autouse=True)
def nothing_stays(monkeypatch):
    """Takes back what the broken hooks leave, and does not wait for threads that never end."""
    import tensorflow.compat.v1 as tf

    monkeypatch.setattr("tf_frame.testing.conformance.resources._WAIT_SECS", 0.1)
    monkeypatch.setattr(tf.summary.FileWriter, "add_summary", tf.summary.FileWriter.add_summary)


@pytest.mark.parametrize(
    "hook",
    [hooks.Counting, hooks.Listens, hooks.CountsByTensorFlow, hooks.SavesByTensorFlow],
)
def test_a_healthy_hook_passes(results, hook):
    found = results(HOOK, hook)
    assert {each.state for each in found.values()} == {"ok"}, found


@pytest.mark.parametrize(("hook", "check", "problem"), FAULTS)
def test_only_the_check_of_the_rule_fails(only_failure, hook, check, problem):
    found = only_failure(check, HOOK, hook)
    assert re.search(problem, found, re.DOTALL), found


def test_a_package_that_is_missing_is_no_fault(results):
    found = results(HOOK, Missing)
    assert {each.problem for each in found.values() if each.state == "skipped"} == {
        "the hook: pip install missing"
    }
    assert not [each for each in found.values() if each.state == "failed"]


@pytest.mark.parametrize("hook", [hooks.ReturnsNothing, hooks.ReturnsAClass])
def test_what_is_no_hook_is_told_in_words(results, hook):
    (failed,) = [each for each in results(HOOK, hook).values() if each.state == "failed"]
    assert failed.name == "test_runs_with_a_training"
    assert "it must return tf.train.SessionRunHook objects" in failed.problem

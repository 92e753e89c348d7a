"""Each check of hooks finds its fault, and no other check fails on it."""

import pytest

from nonconforming import hooks
from slow_cases import slow
from tf_frame.errors import ConfigError
from tf_frame.plugin.kinds import HOOK

CADENCE, AT_END = "test_keeps_its_cadence", "test_releases_what_it_holds_at_the_end"
FAULTS = [
    slow(hooks.InheritsFromAnotherKind, "test_definition_fits_the_contract", "gradient transform"),
    (hooks.RunsTheStep, "test_runs_with_a_training", "does not run the train op"),
    (hooks.FailsOffTheChief, "test_other_workers_may_use_it", "no summary writer"),
    (hooks.ActsAtEveryStep, CADENCE, r"_ActsAtEveryStep \(cadence: every 5 steps\) is called"),
    slow(hooks.ReadsBetweenSteps, CADENCE, "calls of the session in step 2"),
    (hooks.ReleasesAtTheEndAlone, "test_releases_what_it_holds_after_an_error", "thread held"),
    (hooks.ReleasesAfterErrorsAlone, AT_END, "thread held"),
    slow(hooks.LeavesAFileOpen, AT_END, "open file .*hooks.py"),
    slow(hooks.LeavesAFunctionPatched, AT_END, "patched FileWriter.add_summary"),
]


class Missing(hooks.Counting):
    """Needs a package that is not there."""

    def __call__(self, context):
        raise ConfigError("pip install missing")


@pytest.fixture(autouse=True)
def nothing_stays(monkeypatch):
    """Undoes the effects of broken hooks, and does not wait for threads that never end."""
    import tensorflow.compat.v1 as tf

    monkeypatch.setattr("tf_frame.testing.conformance.resources._WAIT_SECS", 0.1)
    monkeypatch.setattr(tf.summary.FileWriter, "add_summary", tf.summary.FileWriter.add_summary)


@pytest.mark.slow
@pytest.mark.parametrize(
    "hook",
    [
        hooks.Counting,
        slow(hooks.Listens),
        slow(hooks.CountsByTensorFlow),
        hooks.SavesByTensorFlow,
    ],
)
def test_a_healthy_hook_passes(passes, hook):
    passes(HOOK, hook)


@pytest.mark.parametrize(("hook", "check", "problem"), FAULTS)
def test_only_the_check_of_the_rule_fails(fails_only, hook, check, problem):
    fails_only(check, problem, HOOK, hook)


def test_a_package_that_is_missing_is_no_fault(results):
    checks = results(HOOK, Missing).values()
    reasons = {check.problem for check in checks if check.state == "skipped"}
    assert reasons == {"the hook: pip install missing"}
    assert not [check for check in checks if check.state == "failed"]


@pytest.mark.parametrize("hook", [hooks.ReturnsNothing, hooks.ReturnsAClass])
def test_a_result_that_is_no_hook_is_told_in_words(fails_one, hook):
    problem = "it must return tf.train.SessionRunHook objects"
    fails_one("test_runs_with_a_training", problem, HOOK, hook)

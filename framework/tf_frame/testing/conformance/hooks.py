"""`HookConformance`: the suite for hook plugins."""

from __future__ import annotations

from typing import Any

from tf_frame.plugin.kinds import HOOK
from tf_frame.testing.conformance.hooked_training import STEPS, HookedRun, plain_losses, run_hooked
from tf_frame.testing.conformance.outcomes import describe_error, fails_as, reported_by
from tf_frame.testing.conformance.suite import Conformance

_RUNS = "test_runs_with_a_training"


class HookConformance(Conformance):
    """The checks of hooks, in trainings of the toy model."""

    kind = HOOK

    def test_runs_with_a_training(self) -> None:
        """A training with the hook makes the same steps and losses as a training without it."""
        with fails_as("a training with the hook cannot begin"):
            run = self.run()
        assert run.error is None, f"a training with the hook fails: {describe_error(run.error)}"
        assert run.steps == STEPS or run.stopped, (
            f"a training of {STEPS} steps with the hook makes {run.steps}"
        )
        plain = plain_losses()
        assert run.losses == plain[: len(run.losses)], (
            f"the losses of a training with the hook are {run.losses}, without it {plain}; "
            "a hook observes a training, and does not run the train op or change variables"
        )

    def test_other_workers_may_use_it(self) -> None:
        """Worker 1, which is not the chief, gets hooks as well, or an empty list."""
        self.run_or_skip()
        with fails_as("a worker that is not the chief cannot train with the hook"):
            run = self.run("worker", is_chief=False)
        assert run.error is None, (
            f"a training of a worker that is not the chief fails: {describe_error(run.error)}; "
            "return an empty list where context.is_chief is false, if only the chief needs the hook"
        )

    def test_keeps_its_cadence(self) -> None:
        """The hook runs, and calls the session, only in the steps of its cadence."""
        calls = self.run_or_skip().outside_of_cadence
        assert not calls, (
            f"the hook runs outside of its cadence: {'; '.join(calls[:3])}. Override before_step() "
            "and after_step() of tf_frame.hooks.Hook, not before_run() and after_run(), and call "
            "the session in these alone"
        )

    def test_releases_what_it_holds_at_the_end(self) -> None:
        """After training no thread, open file or patched function of the hook is left."""
        leaks = self.run_or_skip().leaks
        assert not leaks, f"after training there is still {'; '.join(leaks)}; release it in end()"

    def test_releases_what_it_holds_after_an_error(self) -> None:
        """After a failed step no thread, open file or patched function of the hook is left."""
        self.run_or_skip()
        with reported_by(_RUNS):
            leaks = self.run("failing", fails=True).leaks
        assert not leaks, (
            f"after an error in a step there is still {'; '.join(leaks)}; release it in close() of "
            "a tf_frame.hooks.Hook, which is called then as well"
        )

    def run(self, name: str = "run", **how: Any) -> HookedRun:
        """Returns a training with the hook; the first call for a name runs it.

        Args:
          name: name of the training, for the checks that share it.
          **how: `is_chief`, whether the worker is the chief (by default it is), and `fails`,
            whether a step fails (by default none does).

        Raises:
          SkipTest: the hook needs a package that is missing, or an option.
        """
        plugin = self.made_plugin
        return self.kept(name, lambda: run_hooked(plugin, **how))

    def run_or_skip(self) -> HookedRun:
        """Returns the training.

        Raises:
          SkipTest: the training fails; another check reports that.
        """
        with reported_by(_RUNS):
            run = self.run()
            if run.error is not None:
                raise run.error
            return run

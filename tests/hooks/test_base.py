import itertools

import pytest
import tensorflow.compat.v1 as tf

from tf_frame.hooks.base import Cadence, Hook, Phase, in_phase_order
from tf_frame.hooks.checkpoint import CheckpointHook
from tf_frame.hooks.logging import LoggingHook
from tf_frame.hooks.nan_guard import NanGuardHook
from tf_frame.hooks.progress import ProgressHook
from tf_frame.hooks.stop_at_step import StopAtStepHook
from tf_frame.hooks.stop_on_signal import StopOnSignalHook
from tf_frame.hooks.summary import SummaryHook


class Recorder(Hook):
    """Notes its name in a list that several share."""

    def __init__(self, phase, calls):
        self.phase = phase
        self.calls = calls

    def after_run(self, run_context, run_values):
        self.calls.append(self.phase)


def our_hooks():
    return [
        NanGuardHook(None),
        SummaryHook("", None, every_steps=1),
        CheckpointHook("", None, every_steps=1),
        ProgressHook(None, last_step=1, examples_per_step=1, every_steps=1),
        StopAtStepHook(1),
    ]


def test_whatever_the_order_given_the_check_comes_first_and_the_stop_last():
    hooks = our_hooks()
    for given in itertools.permutations(hooks):
        assert in_phase_order(given) == hooks


def test_every_hook_of_ours_has_the_phase_of_its_work():
    phases = {
        NanGuardHook: Phase.CHECK,
        SummaryHook: Phase.OBSERVE,
        CheckpointHook: Phase.SAVE,
        ProgressHook: Phase.LOG,
        LoggingHook: Phase.LOG,
        StopAtStepHook: Phase.STOP,
        StopOnSignalHook: Phase.STOP,
    }
    assert {hook: hook.phase for hook in phases} == phases


def test_the_phases_run_in_the_order_of_the_contract():
    names = ["TRANSFORM", "CHECK", "OBSERVE", "SAVE", "EVALUATE", "LOG", "STOP"]
    assert [phase.name for phase in sorted(Phase)] == names


def test_stock_hooks_observe_and_keep_their_order():
    first, second = tf.train.StopAtStepHook(num_steps=1), tf.train.SessionRunHook()
    save, check = CheckpointHook("", None, every_steps=1), NanGuardHook(None)
    assert in_phase_order([save, first, check, second]) == [check, first, second, save]


def test_hooks_of_one_phase_keep_the_order_given():
    hooks = [Recorder(Phase.LOG, []) for _ in range(5)]
    assert in_phase_order(hooks) == hooks


def test_the_session_calls_hooks_in_phase_order(build, train):
    calls = []
    train(build(), [Recorder(phase, calls) for phase in reversed(Phase)], to=1)
    assert calls == list(Phase)


def test_no_hook_runs_after_one_that_raises(build, train):
    class Raising(Hook):
        phase = Phase.CHECK

        def after_run(self, run_context, run_values):
            raise ValueError("rejected")

    calls = []
    recorders = [Recorder(phase, calls) for phase in (Phase.SAVE, Phase.TRANSFORM)]
    with pytest.raises(ValueError, match="rejected"):
        train(build(), [*recorders, Raising()], to=1)
    assert calls == [Phase.TRANSFORM]


def test_a_cadence_by_steps_wants_the_first_and_every_nth_from_there():
    cadence, wanted = Cadence(every_steps=3), []
    for step in range(5, 15):
        if cadence.wants(step):
            wanted.append(step)
            cadence.mark(step)
    assert wanted == [5, 8, 11, 14]


def test_a_cadence_by_steps_does_not_miss_a_step_that_is_jumped_over():
    cadence = Cadence(every_steps=3)
    cadence.mark(1)
    assert not cadence.wants(3)
    assert cadence.wants(4)
    assert cadence.wants(9)


def test_a_cadence_wants_until_it_is_marked():
    cadence = Cadence(every_steps=3)
    assert [cadence.wants(1), cadence.wants(1)] == [True, True]


def test_a_cadence_by_seconds_wants_the_first_and_what_is_late_enough(clock):
    cadence = Cadence(every_secs=10)
    assert cadence.wants(1)
    cadence.mark(1)
    clock.now += 9.5
    assert not cadence.wants(500)
    clock.now += 0.5
    assert cadence.wants(2)


@pytest.mark.parametrize("both", [{}, {"every_steps": 1, "every_secs": 1}])
def test_a_cadence_goes_by_one_of_steps_and_seconds(both):
    with pytest.raises(ValueError, match="give one of every_steps"):
        Cadence(**both)

import math

import pytest
import tensorflow.compat.v1 as tf

from tf_frame.hooks.base import Hook, Phase
from tf_frame.hooks.cadence import Cadence
from tf_frame.session.schedule import Schedule


class Wants(Hook):
    """Wants the steps of a cadence."""

    def __init__(self, phase=Phase.OBSERVE, **cadence):
        super().__init__(Cadence(**cadence))
        self.phase = phase


class Foreign(tf.train.SessionRunHook):
    def before_run(self, run_context):
        return None


class OnlyAtTheEnds(tf.train.SessionRunHook):
    option = "--ends"

    def end(self, session):
        pass


class OwnAfterRun(Wants):
    """A hook of ours whose heir overrides TensorFlow's protocol."""

    def after_run(self, run_context, run_values):
        super().after_run(run_context, run_values)


class Asked(Wants):
    def should_stop(self):
        return True


def test_the_next_step_is_the_earliest_that_a_hook_wants():
    rare, often = Wants(every_steps=10, first=False), Wants(every_steps=4, first=False)
    schedule = Schedule([rare, often, Wants(at_steps=[7])])
    assert schedule.next(0)[0] == 4
    often.cadence.mark(4)
    assert schedule.next(4)[0] == 7
    assert schedule.next(20)[0] == 21  # A step that was passed over.
    assert Schedule([Wants()]).next(3) == (math.inf, math.inf)
    assert Schedule([]).next(3) == (math.inf, math.inf)


def test_the_next_time_is_the_earliest_that_a_hook_wants(monkeypatch):
    monkeypatch.setattr("tf_frame.hooks.cadence.time.monotonic", lambda: 100.0)
    late, soon = Wants(every_secs=60, first=False), Wants(every_secs=5, first=False)
    assert Schedule([late, soon]).next(0)[1] == 105
    assert Schedule([Wants(every_steps=5)]).next(0)[1] == math.inf


def test_those_who_want_a_step_come_in_phase_order_and_then_as_given():
    log, save, check = (
        Wants(phase, at_steps=[3]) for phase in (Phase.LOG, Phase.SAVE, Phase.CHECK)
    )
    other, second_log = Wants(at_steps=[4]), Wants(Phase.LOG, at_steps=[3])
    schedule = Schedule([log, save, other, second_log, check])
    assert schedule.wanting(3) == [check, log, second_log, save]
    assert schedule.wanting(2) == []
    assert Schedule([log, check], sort=False).wanting(3) == [log, check]


@pytest.mark.parametrize("hook", [Foreign(), OwnAfterRun(every_steps=100)])
def test_a_hook_without_a_cadence_wants_every_step_and_is_named(hook):
    schedule = Schedule([Wants(every_steps=100), hook])
    assert schedule.next(7)[0] == 8
    assert hook in schedule.wanting(8)
    (name,) = schedule.keeps_fast_path_off()
    assert Schedule([Wants(every_steps=1)]).keeps_fast_path_off() == [f"Wants ({__name__})"]
    assert name == f"{type(hook).__name__} ({__name__})"
    assert schedule.describe()[-1] == f"fast path: off, for {name} is called at every step"


def test_a_hook_may_keep_tensorflows_protocol_for_tensorflows_sessions():
    class Both(OwnAfterRun):
        both_protocols = True

    schedule = Schedule([Both(every_steps=100, first=False)])
    assert schedule.next(7)[0] == 100
    assert schedule.keeps_fast_path_off() == []


def test_a_hook_that_does_nothing_in_a_step_is_never_called_in_one():
    schedule = Schedule([OnlyAtTheEnds()])
    assert schedule.next(7)[0] == math.inf
    assert schedule.wanting(8) == schedule.keeps_fast_path_off() == []


def test_only_hooks_that_can_stop_are_asked():
    assert not Schedule([Wants(every_steps=1)]).should_stop()
    assert Schedule([Wants(every_steps=1), Asked()]).should_stop()


def test_the_order_is_printed_with_what_each_hook_wants():
    watches = Wants(Phase.CHECK)
    with tf.Graph().as_default():
        watches.watched = tf.constant(1.0, name="total_loss")
    hooks = [
        Asked(Phase.STOP, at_steps=[500]),
        Wants(Phase.SAVE, every_steps=100, every_secs=600),
        watches,
        OnlyAtTheEnds(),
    ]
    assert Schedule(hooks).describe() == [
        "hooks of a step, in this order:",
        "  check      Wants                  watches total_loss",
        "  observe    OnlyAtTheEnds          at the start and the end of the session (--ends)",
        "  save       Wants                  every 100 steps and every 600 s",
        "  stop       Asked                  steps 500; asked between steps whether to stop",
        "fast path: on; between the steps that they want no hook runs",
    ]

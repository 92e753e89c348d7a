"""Hooks that act on a training, and an input that ends, for tests of hooks and of the loop."""

import tensorflow.compat.v1 as tf

from tf_frame import Mode
from tf_frame.hooks.base import Hook, Phase
from tf_frame.hooks.cadence import Cadence
from tf_frame.testing.toy import ToyInput


class OnePass(ToyInput):
    """The toy input, once through and no further: eight steps."""

    def dataset(self, mode, context):
        return super().dataset(Mode.EVAL, context)


class Tick(tf.train.SessionRunHook):
    """Lets each step take as many seconds as the list says."""

    def __init__(self, clock, durations, phase=Phase.OBSERVE):
        self.clock, self.durations, self.phase = clock, iter(durations), phase

    def after_run(self, run_context, run_values):
        self.clock.now += next(self.durations)


class Lose(tf.train.SessionRunHook):
    """Loses the session once, after a number of runs, in a phase."""

    def __init__(self, after, error=None, phase=Phase.OBSERVE):
        self.error = error or tf.errors.AbortedError(None, None, "lost")
        self.left, self.phase = after, phase

    def after_run(self, run_context, run_values):
        self.left -= 1
        if self.left == 0:
            raise self.error


class Jump(Hook):
    """Sets the global step by hand, so that it goes from one before `at` to `to`."""

    phase = Phase.TRANSFORM

    def __init__(self, at, to):
        super().__init__(Cadence(at_steps=[at]))
        self.to = to

    def begin(self):
        self.assign = tf.train.get_global_step().assign(self.to - 1).op

    def before_step(self, run_context, step):
        run_context.session.run(self.assign)


class Listener(tf.train.CheckpointSaverListener):
    """Notes its calls, by its name; wants training to end after the save of a step."""

    def __init__(self, calls=None, name="", stop_after=None):
        self.calls = [] if calls is None else calls
        self.name, self.stop_after = name, stop_after

    def begin(self):
        self.calls.append((self.name, "begin", None))

    def before_save(self, session, global_step_value):
        self.calls.append((self.name, "before_save", int(global_step_value)))

    def after_save(self, session, global_step_value):
        self.calls.append((self.name, "after_save", int(global_step_value)))
        return global_step_value == self.stop_after

    def end(self, session, global_step_value):
        self.calls.append((self.name, "end", int(global_step_value)))


class StopAt(Hook):
    """Requests a stop at a step, by default before most other hooks have run."""

    def __init__(self, step, phase=Phase.CHECK):
        super().__init__(Cadence(at_steps=[step]))
        self.phase = phase

    def after_step(self, run_context, run_values, step):
        run_context.request_stop()

"""Records of the calls that hooks get."""

import tensorflow.compat.v1 as tf

from tf_frame.hooks.base import Hook
from tf_frame.hooks.cadence import Cadence


class Steps(Hook):
    """Notes the steps of a cadence in `seen`; by default every step."""

    def __init__(self, **cadence):
        super().__init__(Cadence(**cadence or {"every_steps": 1}))
        self.seen = []

    def after_step(self, run_context, run_values, step):
        self.seen.append(step)


class Recording(tf.train.SessionRunHook):
    """Notes its calls, its sessions, and before each run whether its graph is finalized.

    Args:
      name: prefix of each noted call.
      calls: the list that takes the calls; None: a new list.
      stop_after: number of runs after which the hook requests a stop.
    """

    def __init__(self, name="", calls=None, stop_after=None):
        self.name, self.calls = name, [] if calls is None else calls
        self.stop_after = stop_after
        self.sessions, self.finalized = [], []

    def begin(self):
        self.graph = tf.get_default_graph()
        self.note("begin")

    def after_create_session(self, session, coord):
        self.note("created")
        assert isinstance(session, tf.Session)
        self.sessions.append(session)

    def before_run(self, run_context):
        self.note("before")
        self.finalized.append(self.graph.finalized)
        return tf.train.SessionRunArgs(tf.train.get_global_step())

    def after_run(self, run_context, run_values):
        self.note("after")
        self.step = run_values.results
        if self.calls.count(f"{self.name}after") == self.stop_after:
            run_context.request_stop()

    def end(self, session):
        self.note("end")

    def note(self, call):
        assert tf.get_default_graph() is self.graph
        self.calls.append(f"{self.name}{call}")


def wanted(cadence, steps):
    """Returns the wanted steps among some steps, if each wanted step is run and marked."""
    wanted_steps = []
    for step in steps:
        if cadence.wants(step):
            wanted_steps.append(step)
            cadence.mark(step)
    return wanted_steps


def record(hook):
    """Returns a list that takes the step of each call of `hook.after_step`."""
    steps, after_step = [], hook.after_step

    def noted(run_context, run_values, step):
        steps.append(step)
        after_step(run_context, run_values, step)

    hook.after_step = noted
    return steps

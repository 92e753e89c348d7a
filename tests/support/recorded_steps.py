"""Records of the calls that hooks get."""

from tf_frame.hooks.base import Hook
from tf_frame.hooks.cadence import Cadence


class Steps(Hook):
    """Notes the steps of a cadence in `seen`; by default every step."""

    def __init__(self, **cadence):
        super().__init__(Cadence(**cadence or {"every_steps": 1}))
        self.seen = []

    def after_step(self, run_context, run_values, step):
        self.seen.append(step)


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

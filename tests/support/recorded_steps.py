"""Records of the calls that hooks get."""


def record(hook):
    """Returns a list that takes the step of each call of `hook.after_step`."""
    steps, after_step = [], hook.after_step

    def noted(run_context, run_values, step):
        steps.append(step)
        after_step(run_context, run_values, step)

    hook.after_step = noted
    return steps

"""Hooks that break one rule each."""

import threading

import tensorflow.compat.v1 as tf

from tf_frame import GradientTransform, HookPlugin
from tf_frame.hooks import Cadence, Hook


class Counts(Hook):
    """Counts the steps that it wants."""

    def __init__(self):
        super().__init__(Cadence(every_steps=5))
        self.count = 0

    def after_step(self, run_context, run_values, step):
        self.count += 1


class Counting(HookPlugin):
    """Passes every check."""

    hook = Counts

    def __call__(self, context):
        return self.hook()


class InheritsFromAnotherKind(GradientTransform):
    """Works, but is a gradient transform."""

    def __call__(self, context):
        return Counts()


class RunsTheStep(Counting):
    """Makes a step of its own in each that it wants."""

    class hook(Counts):
        def after_step(self, run_context, run_values, step):
            run_context.session.run(run_context.original_args.fetches)


class FailsOffTheChief(Counting):
    def __call__(self, context):
        if not context.is_chief:
            raise RuntimeError("there is no summary writer")
        return self.hook()


class _ActsAtEveryStep(Counts):
    def after_run(self, run_context, run_values):
        super().after_run(run_context, run_values)
        self.count += 1


class ActsAtEveryStep(Counting):
    hook = _ActsAtEveryStep


class ReadsBetweenSteps(Counting):
    class hook(Counts):
        def start(self, session, step):
            super().start(session, step)
            self.session = session
            self.step = tf.train.get_global_step(session.graph)

        def should_stop(self):
            return bool(self.session.run(self.step) < 0)


class _Holds(Counts):
    """Holds a thread from the begin of a session until it is released."""

    def start(self, session, step):
        super().start(session, step)
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.over.wait, name="held", daemon=True)
        self.thread.start()

    def release(self):
        self.over.set()
        self.thread.join()


class ReleasesAtTheEndAlone(Counting):
    class hook(_Holds):
        def end(self, session):
            self.release()


class _ReleasesAfterErrorsAlone(_Holds):
    ended = False

    def end(self, session):
        self.ended = True

    def close(self):
        if not self.ended:
            self.release()


class ReleasesAfterErrorsAlone(Counting):
    hook = _ReleasesAfterErrorsAlone


class LeavesAFileOpen(Counting):
    class hook(_ReleasesAfterErrorsAlone):
        def start(self, session, step):
            Counts.start(self, session, step)
            self.file = open(__file__)  # noqa: SIM115 - closed by release()

        def release(self):
            self.file.close()


class LeavesAFunctionPatched(Counting):
    class hook(_ReleasesAfterErrorsAlone):
        def start(self, session, step):
            Counts.start(self, session, step)
            self.before = tf.summary.FileWriter.add_summary
            tf.summary.FileWriter.add_summary = lambda *args: None

        def release(self):
            tf.summary.FileWriter.add_summary = self.before


class ReturnsNothing(Counting):
    def __call__(self, context):
        return None


class ReturnsAClass(Counting):
    def __call__(self, context):
        return Counts


class Listens(Counting):
    """Passes every check; a listener declares no cadence."""

    def __call__(self, context):
        return [tf.train.CheckpointSaverListener()]


class CountsByTensorFlow(Counting):
    """Passes every check; the hook calls the session at steps of its own."""

    def __call__(self, context):
        return tf.train.StepCounterHook(every_n_steps=5, output_dir=context.model_dir)


class SavesByTensorFlow(Counting):
    """The same."""

    def __call__(self, context):
        return tf.train.CheckpointSaverHook(context.model_dir, save_steps=4)

"""Hooks as somebody else writes them see in our loop what they see in TensorFlow's session."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from acting_hooks import OnePass
from tf_frame import ModelOutput
from tf_frame.testing.toy import ToyInput, ToyModel


class ShiftedModel(ToyModel):
    """The toy model, its loss shifted by what is fed."""

    def build(self, features, labels, mode):
        shift = tf.placeholder_with_default(0.0, [], name="shift")
        loss = super().build(features, labels, mode).loss + shift
        return ModelOutput(loss=tf.identity(loss, name="shifted"))


def element(suffix):
    """The tensor of an operation whose name ends so, in the default graph."""
    graph = tf.get_default_graph()
    (op,) = (op for op in graph.get_operations() if op.name.endswith(suffix))
    return op.outputs[0]


class Log(tf.train.SessionRunHook):
    """Notes every call with its arguments."""

    def __init__(self, calls, name):
        self.calls, self.name = calls, name

    def note(self, method, *seen):
        self.calls.append((self.name, method, *seen))

    def begin(self):
        self.step = tf.train.get_global_step()
        self.note("begin", tf.get_default_graph().finalized)

    def after_create_session(self, session, coord):
        graph = session.graph
        self.note("created", type(session), type(coord), coord.should_stop(), graph.finalized)
        self.note("step", int(session.run(self.step)))

    def before_run(self, run_context):
        args = run_context.original_args
        self.note("before", args.fetches.name, args.feed_dict, args.options)
        self.note("context", type(run_context.session), run_context.stop_requested)

    def after_run(self, run_context, run_values):
        args = run_context.original_args
        self.note("after", args.fetches.name, run_values.results, run_values.options.trace_level)
        self.note("traced", bool(run_values.run_metadata.step_stats.dev_stats))
        self.note("stop", run_context.stop_requested)
        self.note("step", int(run_context.session.run(self.step)))

    def end(self, session):
        self.note("end", type(session), int(session.run(self.step)))


class Feed(Log):
    """Fetches a tensor and feeds a placeholder."""

    def begin(self):
        super().begin()
        self.shift, self.loss, self.runs = element("shift"), element("shifted"), 0

    def before_run(self, run_context):
        super().before_run(run_context)
        self.runs += 1
        return tf.train.SessionRunArgs({"loss": self.loss}, {self.shift: 10.0 * self.runs})

    def after_run(self, run_context, run_values):
        loss = f"{run_values.results['loss']:.5g}"
        super().after_run(run_context, run_values._replace(results=loss))


class Trace(Log):
    """Asks for a trace of one run, and for a stop in another."""

    def __init__(self, *args, trace_at, stop_at):
        super().__init__(*args)
        self.trace_at, self.stop_at, self.runs = trace_at, stop_at, 0

    def before_run(self, run_context):
        super().before_run(run_context)
        self.runs += 1
        if self.runs == self.trace_at:
            options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
            return tf.train.SessionRunArgs(None, options=options)
        return None

    def after_run(self, run_context, run_values):
        if self.runs == self.stop_at:
            run_context.request_stop()
        super().after_run(run_context, run_values)


def foreign_hooks(calls):
    return [
        Log(calls, "log"),
        Feed(calls, "feed"),
        Trace(calls, "trace", trace_at=3, stop_at=5),
        Log(calls, "last"),
    ]


@pytest.fixture
def run_stock(tmp_path):
    """Trains in a session of TensorFlow's, as its users write it."""

    def run_stock(graph, hooks):
        with (
            graph.graph.as_default(),
            tf.train.MonitoredTrainingSession(
                save_graph_def=False,  # TensorFlow 2.20 cannot, with a protobuf of today.
                checkpoint_dir=str(tmp_path / "stock"),
                scaffold=graph.scaffold,
                hooks=hooks,
                save_checkpoint_steps=2,
            ) as session,
        ):
            while not session.should_stop():
                session.run(graph.train_op)

    return run_stock


@pytest.fixture
def both(build, run_loop, run_stock):
    """Runs the same hooks on the same graph under both; returns what they saw, ours first."""

    def both(make, *, source=ToyInput, error=None):
        seen = []
        for run in (run_loop, run_stock):
            calls = []
            graph = build(ShiftedModel, source)
            if error is None:
                run(graph, make(calls))
            else:
                with pytest.raises(type(error), match=str(error)):
                    run(graph, make(calls))
            seen.append(calls)
        return seen

    return both


@pytest.mark.usefixtures("variable_mode")
def test_the_same_calls_in_the_same_order_with_the_same_values(both):
    ours, stock = both(foreign_hooks)
    assert ours == stock
    assert [c for c in ours if c[:2] == ("last", "end")] == [("last", "end", tf.Session, 5)]
    traced = [call[2] for call in ours if call[:2] == ("log", "traced")]
    assert traced == [False, False, True, False, False]
    losses = [float(call[3]) for call in ours if call[:2] == ("feed", "after")]
    assert len(losses) == 5
    assert np.all(np.array(losses) > 10.0 * np.arange(1, 6))


@pytest.mark.slow
def test_when_the_input_ends_the_hooks_are_told_of_the_end(both):
    ours, stock = both(lambda calls: [Log(calls, "log"), Feed(calls, "feed")], source=OnePass)
    assert ours == stock
    assert ours[-1] == ("feed", "end", tf.Session, 64 // 8)
    # The run in which the input ended began and did not come to its end.
    assert [call[1] for call in ours].count("before") == 2 * 9
    assert [call[1] for call in ours].count("after") == 2 * 8


class Fail(Log):
    """Raises an error after a run."""

    def __init__(self, *args, error, at):
        super().__init__(*args)
        self.error, self.left = error, at

    def after_run(self, run_context, run_values):
        super().after_run(run_context, run_values)
        self.left -= 1
        if self.left == 0:
            raise self.error


def test_after_an_error_of_a_hook_no_hook_is_called(both):
    error = ValueError("a defect")
    ours, stock = both(
        lambda calls: [Log(calls, "a"), Fail(calls, "b", error=error, at=2), Log(calls, "c")],
        error=error,
    )
    assert ours == stock
    assert ours[-1] == ("b", "step", 2)


class StopEarly(Log):
    """Asks the coordinator for a stop as soon as there is a session."""

    def after_create_session(self, session, coord):
        super().after_create_session(session, coord)
        coord.request_stop()


def test_a_stop_that_is_requested_of_the_coordinator_before_the_first_run_lets_none_run(both):
    ours, stock = both(lambda calls: [StopEarly(calls, "early"), Log(calls, "log")])
    assert ours == stock
    assert not [call for call in ours if call[1] == "before"]
    assert ours[-1] == ("log", "end", tf.Session, 0)


class StopInBefore(Log):
    """Requests a stop before a run, which is run all the same."""

    def before_run(self, run_context):
        super().before_run(run_context)
        run_context.request_stop()


def test_a_stop_that_is_requested_before_a_run_ends_training_after_it(both):
    ours, stock = both(lambda calls: [StopInBefore(calls, "early"), Log(calls, "log")])
    assert ours == stock
    assert ours[-1] == ("log", "end", tf.Session, 1)


@pytest.mark.slow
def test_a_lost_session_is_announced_again(both):
    class Lose(Trace):
        """Loses the first session, and stops the second."""

        def after_run(self, run_context, run_values):
            super().after_run(run_context, run_values)
            if self.runs == 2:
                raise tf.errors.AbortedError(None, None, "lost")

    ours, stock = both(
        lambda calls: [Log(calls, "log"), Lose(calls, "lose", trace_at=4, stop_at=5)]
    )
    # How far the new session goes back is a matter of checkpoints, which are not compared here.
    steps = ("step", "end")
    assert [c for c in ours if c[1] not in steps] == [c for c in stock if c[1] not in steps]
    assert [call[1] for call in ours if call[0] == "log"].count("created") == 2


def test_two_hooks_that_feed_one_tensor_are_refused_in_the_same_words(both):
    error = RuntimeError("Same tensor is fed by two hooks. Conflict")
    ours, stock = both(lambda calls: [Feed(calls, "one"), Feed(calls, "two")], error=error)
    assert ours == stock
    assert ours[-1][:2] == ("two", "context")

"""TensorFlow's hooks and ours of the same names, side by side in TensorFlow's session."""

import types

import pytest
import tensorflow.compat.v1 as tf
from tensorflow.python.platform import tf_logging
from tensorflow.python.training import training_util

from slow_cases import slow_but
from tf_frame import hooks as OURS
from tf_frame.testing.clock import FakeClock
from tf_frame.testing.events import read_events as all_events


def build(*, moves=True, has_step=True):
    """A graph whose tensors are known at each step; nothing in it is tf-frame's."""
    graph = tf.Graph()
    with graph.as_default():
        runs = tf.get_variable("runs", initializer=0, trainable=False)
        step = tf.train.create_global_step() if has_step else None
        before = tf.add(runs.read_value(), 0, name="before")  # Not an alias of the variable.
        # TensorFlow's hooks read the global step anywhere in the step: here, before it is moved.
        read = [training_util._get_or_create_global_step_read()] if has_step else []
        fed = tf.placeholder_with_default(1.0, [], name="fed")
        with tf.control_dependencies([before, *read]):
            updates = [runs.assign_add(1).op]
            updates += [step.assign_add(1).op] if moves and has_step else []
        loss = tf.multiply(tf.cast(before, tf.float32) * 0.5 + 0.125, fed, name="loss")
        tf.log(3.0 - tf.cast(before, tf.float32), name="log")  # -inf at run 4, then NaN
        tf.stack([loss, 1e-9 * loss], name="pair")
        tf.split(tf.zeros([2]), 2, name="halves")
        tf.summary.scalar("loss", loss)
        tf.summary.histogram("pair", tf.stack([loss, loss]))
        tf.summary.merge_all()
        tf.group(*updates, loss, name="train")
    return graph


@pytest.fixture
def clock():
    """Both clocks; every look at one takes no time."""
    with FakeClock("monotonic", "time") as clock:
        yield clock


@pytest.fixture
def outcome(tmp_path, tensorflow_lines, clock):
    """Runs a hook in a session of TensorFlow's and returns all that can be seen of it."""

    def outcome(hooks, make, *, runs=8, each=None, **graph):
        folder = tmp_path / ("stock" if hooks is tf.train else "ours")
        clock.now, losses, error = 1000.0, [], None
        graph = build(**graph)
        tensorflow_lines()
        with graph.as_default():
            try:
                hook = make(hooks, str(folder))
                with tf.train.MonitoredTrainingSession(hooks=[hook]) as session:
                    while not session.should_stop() and len(losses) < runs:
                        losses.append(float(session.run(["loss:0", "train"])[0]))
                        clock.now += 0.25
                        if each is not None:
                            each(session, len(losses))
            except Exception as raised:
                error = f"{type(raised).__name__}: {raised}"
        tf.summary.FileWriterCache.clear()
        return types.SimpleNamespace(
            lines=tensorflow_lines(), losses=losses, events=read_events(folder), error=error
        )

    return outcome


@pytest.fixture
def both(outcome):
    """Runs the stock hook and ours, and returns what both came to."""

    def both(make, **options):
        stock, ours = outcome(tf.train, make, **options), outcome(OURS, make, **options)
        assert vars(ours) == vars(stock)
        return stock

    return both


def read_events(folder):
    """Content of the event files of a folder, without times and the host."""
    events = []
    for event in all_events(folder):
        what = event.WhichOneof("what")
        if what == "summary":
            values = [(v.tag, v.simple_value, v.HasField("histo")) for v in event.summary.value]
            events.append((event.step, values))
        elif what == "session_log":
            events.append((event.step, event.session_log.status))
        elif what == "graph_def":
            events.append((event.step, what))
    return events


def seen_steps(seen):
    return [step for step, values in seen.events if isinstance(values, list)]


WRONG = {
    "stop at nothing": lambda h, _: h.StopAtStepHook(),
    "stop at both": lambda h, _: h.StopAtStepHook(num_steps=1, last_step=2),
    "log never": lambda h, _: h.LoggingTensorHook(["loss"]),
    "log by both": lambda h, _: h.LoggingTensorHook(["loss"], every_n_iter=1, every_n_secs=1),
    "log by both and at the end": lambda h, _: h.LoggingTensorHook(["loss"], 1, 1, at_end=True),
    "log every 0": lambda h, _: h.LoggingTensorHook(["loss"], every_n_iter=0),
    "log every -2": lambda h, _: h.LoggingTensorHook(["loss"], every_n_iter=-2),
    "count by both": lambda h, _: h.StepCounterHook(every_n_secs=1),
    "count never": lambda h, _: h.StepCounterHook(every_n_steps=None),
    "summaries never": lambda h, _: h.SummarySaverHook(summary_op="s", output_dir="x"),
    "summaries by both": lambda h, _: h.SummarySaverHook(1, 1, summary_op="s", output_dir="x"),
    "summaries of nothing": lambda h, _: h.SummarySaverHook(save_steps=1, output_dir="x"),
    "summaries of both": lambda h, _: h.SummarySaverHook(1, scaffold="s", summary_op="s"),
    "trace never": lambda h, folder: h.ProfilerHook(output_dir=folder),
    "trace by both": lambda h, folder: h.ProfilerHook(1, 1, folder),
    "save never": lambda h, _: h.CheckpointSaverHook(""),
    "save by both": lambda h, _: h.CheckpointSaverHook("", save_secs=1, save_steps=1),
    "save with both": lambda h, _: h.CheckpointSaverHook("", saver=1, scaffold=2, save_steps=1),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_arguments_are_refused_in_the_same_words(case, tmp_path):
    with tf.Graph().as_default():
        with pytest.raises(ValueError) as stock:
            WRONG[case](tf.train, str(tmp_path))
        with pytest.raises(ValueError) as ours:
            WRONG[case](OURS, str(tmp_path))
    assert str(ours.value) == str(stock.value)


WITHOUT_STEP = {
    "stop": lambda h, folder: h.StopAtStepHook(last_step=3),
    "count": lambda h, folder: h.StepCounterHook(),
    "summaries": lambda h, folder: h.SummarySaverHook(1, summary_op="s"),
    "wait": lambda h, folder: h.GlobalStepWaiterHook(3),
    "trace": lambda h, folder: h.ProfilerHook(save_steps=1, output_dir=folder),
    "save": lambda h, folder: h.CheckpointSaverHook(folder, save_steps=1),
}


@pytest.mark.parametrize("case", WITHOUT_STEP)
def test_a_graph_without_a_global_step_is_refused_in_the_same_words(outcome, case):
    stock, ours = (outcome(hooks, WITHOUT_STEP[case], has_step=False) for hooks in (tf.train, OURS))
    assert ours.error == stock.error and not ours.losses
    assert "RuntimeError: Global step should be created to use" in ours.error


def test_wrong_elements_are_refused_in_the_same_words(both):
    ambiguous = both(lambda h, _: h.LoggingTensorHook(["halves"], 1))
    assert "Name halves is ambiguous, as this `Operation` has multiple" in ambiguous.error
    missing = both(lambda h, _: h.LoggingTensorHook(["nothing"], 1))
    assert "KeyError" in missing.error and "nothing:0" in missing.error


def test_a_tensor_of_another_graph_is_refused(outcome):
    elsewhere = build().get_tensor_by_name("loss:0")
    for hooks in (tf.train, OURS):
        seen = outcome(hooks, lambda h, _: h.LoggingTensorHook([elsewhere], 1))
        assert seen.error.startswith(f"ValueError: Passed {elsewhere} should have graph attribute")


LOGGING = {
    "by steps": lambda h, _: h.LoggingTensorHook({"b": "loss", "a": "before:0"}, 3),
    "every step": lambda h, _: h.LoggingTensorHook(["loss", "before"], every_n_iter=1),
    "by seconds": lambda h, _: h.LoggingTensorHook(["loss"], every_n_secs=0.75),
    "by steps and at the end": lambda h, _: h.LoggingTensorHook(["loss"], 3, at_end=True),
    "only at the end": lambda h, _: h.LoggingTensorHook(["loss"], at_end=True),
    "small numbers": lambda h, _: h.LoggingTensorHook(["pair"], 4),
    "by a formatter": lambda h, _: h.LoggingTensorHook(
        {"x": "loss"}, 3, at_end=True, formatter=lambda values: f"<{values['x']:.1f}>"
    ),
}


@pytest.mark.parametrize("case", LOGGING)
@pytest.mark.parametrize(
    "graph",
    slow_but(0, [{}, pytest.param({"moves": False}, marks=pytest.mark.slow), {"has_step": False}]),
)
def test_the_same_lines_are_logged(both, case, graph):
    told = [line for line in both(LOGGING[case], **graph).lines if "=" in line or "<" in line]
    assert len(told) == {
        "every step": 8,
        "by steps and at the end": 4,
        "only at the end": 1,
        "small numbers": 2,
        "by a formatter": 4,
    }.get(case, 3)


def test_tensors_are_their_own_tags(outcome):
    def make(hooks, folder):
        loss = tf.get_default_graph().get_tensor_by_name("loss:0")
        return hooks.LoggingTensorHook((loss,), 4)

    stock, ours = outcome(tf.train, make), outcome(OURS, make)
    assert ours.lines == stock.lines
    assert any(line.startswith('Tensor("loss:0"') and " = 0.125" in line for line in ours.lines)


COUNTING = {
    "every 3 steps": lambda h, folder: h.StepCounterHook(3, output_dir=folder),
    "every 1 s": lambda h, folder: h.StepCounterHook(None, 1.0, folder),
    "without a folder": lambda h, folder: h.StepCounterHook(every_n_steps=2),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", COUNTING)
def test_the_same_rates_are_logged_and_written(both, case):
    seen = both(COUNTING[case], runs=9)
    steps = {"every 3 steps": [4, 7], "every 1 s": [5, 9]}.get(case, [])
    assert seen_steps(seen) == steps
    assert seen.lines.count("global_step/sec: 4") == (len(steps) or 4)


def test_a_given_writer_is_used(both):
    def make(hooks, folder):
        return hooks.StepCounterHook(3, summary_writer=tf.summary.FileWriterCache.get(folder))

    assert seen_steps(both(make)) == [4, 7]


def test_a_global_step_that_does_not_move_is_warned_of_five_times(both):
    def warn_afresh(hooks, folder):
        # TensorFlow counts the lines of a call for as long as the process lives.
        tf_logging._log_counter_per_token.clear()
        return hooks.StepCounterHook(1)

    told = [line for line in both(warn_afresh, moves=False).lines if "seems that global" in line]
    assert len(told) == 5


def summary_op():
    (op,) = (o for o in tf.get_default_graph().get_operations() if o.type == "MergeSummary")
    return op.outputs[0]


SUMMARIES = {
    "by steps": lambda h, folder: h.SummarySaverHook(3, None, folder, summary_op=summary_op()),
    "by seconds": lambda h, folder: h.SummarySaverHook(
        save_secs=0.75, output_dir=folder, summary_op=summary_op()
    ),
    "a list": lambda h, folder: h.SummarySaverHook(
        4, output_dir=folder, summary_op=[summary_op(), "loss_1:0"]
    ),
    "a scaffold": lambda h, folder: h.SummarySaverHook(
        save_steps=3, output_dir=folder, scaffold=tf.train.Scaffold(summary_op=summary_op())
    ),
    "a writer": lambda h, folder: h.SummarySaverHook(
        3, summary_writer=tf.summary.FileWriterCache.get(folder), summary_op=summary_op()
    ),
}


@pytest.mark.parametrize("case", slow_but((0, -1), SUMMARIES))
def test_the_same_summaries_are_written(both, case):
    seen = both(SUMMARIES[case])
    assert seen_steps(seen) == ([1, 1, 5, 5] if case == "a list" else [1, 4, 7])
    assert (1, tf.SessionLog.START) in seen.events
    assert (0, "graph_def") in seen.events


def test_an_empty_scaffold_writes_no_summary(both):
    def make(hooks, folder):
        return hooks.SummarySaverHook(3, None, folder, None, tf.train.Scaffold(summary_op=None))

    seen = both(make)
    assert not seen_steps(seen)
    assert (1, tf.SessionLog.START) in seen.events


def test_without_a_folder_no_summary_is_written(both):
    seen = both(lambda h, folder: h.SummarySaverHook(3, summary_op=summary_op()))
    assert not seen.events
    assert len(seen.losses) == 8


@pytest.mark.usefixtures("variable_mode")
@pytest.mark.parametrize("last", [{"num_steps": 5}, {"last_step": 5}])
def test_training_stops_after_the_same_step(both, last):
    assert len(both(lambda h, _: h.StopAtStepHook(**last)).losses) == 5


@pytest.mark.parametrize("graph", [{}, {"has_step": False}])
@pytest.mark.parametrize("fail", [True, False])
def test_a_nan_ends_training_in_the_same_way_and_infinity_does_not(both, fail, graph):
    def make(hooks, folder):
        return hooks.NanTensorHook(tf.get_default_graph().get_tensor_by_name("log:0"), fail)

    seen = both(make, **graph)
    assert "Model diverged with loss = NaN." in seen.lines
    assert len(seen.losses) == (4 if fail else 5)
    error = "NanLossDuringTrainingError: NaN loss during training."
    assert seen.error == (error if fail else None)


@pytest.mark.usefixtures("variable_mode")
def test_a_worker_waits_in_the_same_way(both, monkeypatch):
    moved = []

    def move(seconds):
        session, step = moved[-1]
        moved.append((session, step + 600))
        assert seconds == 0.5
        session.run(tf.train.get_global_step().assign(moved[-1][1]).op)

    def make(hooks, folder):
        hook = hooks.GlobalStepWaiterHook(2000)
        created = hook.after_create_session

        def after_create_session(session, coord):
            session.graph._unsafe_unfinalize()
            moved.append((session, 0))
            created(session, coord)

        hook.after_create_session = after_create_session
        return hook

    monkeypatch.setattr("time.sleep", move)
    seen = both(make, runs=3)
    waiting = [line for line in seen.lines if line.startswith("Waiting for global step")]
    first = "Waiting for global step 2000 before starting training."
    assert waiting == [first, f"{first} Current step is 1200."]
    assert len(seen.losses) == 3


def test_a_worker_that_waits_for_nothing_says_nothing(both):
    assert not [s for s in both(lambda h, _: h.GlobalStepWaiterHook(0)).lines if "Waiting" in s]

import json
import logging
import re

import pytest
import tensorflow.compat.v1 as tf

from event_files import events
from sessions import initialized_session
from tf_frame_legacy import learning

pytestmark = pytest.mark.usefixtures("graph", "variable_mode")


@pytest.fixture
def session(graph):
    """A session of a model with the losses 16, 10.24, 6.5536 ... at the steps 1, 2, 3."""
    w = tf.get_variable("w", initializer=tf.constant(4.0))
    graph.train_op = learning.create_train_op(
        tf.square(w), tf.train.GradientDescentOptimizer(0.1), global_step=global_step()
    )
    with initialized_session() as session:
        yield session


def global_step():
    return tf.train.get_or_create_global_step()


def step(session, **kwargs):
    return learning.train_step(session, session.graph.train_op, global_step(), kwargs)


def test_a_step_returns_the_loss_and_after_it_whether_to_stop(session, caplog):
    with caplog.at_level(logging.INFO, "tensorflow"):
        assert step(session) == (pytest.approx(16.0), False)
    assert caplog.messages == []
    stop = tf.greater_equal(global_step(), 3)
    assert not step(session, should_stop=stop)[1]
    assert step(session, should_stop=stop)[1]


def test_the_line_of_log_has_the_step_and_its_loss(session, caplog):
    every_second = tf.equal(tf.mod(global_step(), 2), 0)
    with caplog.at_level(logging.INFO, "tensorflow"):
        for _ in range(4):
            step(session, should_log=every_second)
    lines = [m for m in caplog.messages if m.startswith("global step")]
    assert len(lines) == 2
    assert re.fullmatch(r"global step 2: loss = 10\.2400 \(\d+\.\d{3} sec/step\)", lines[0])
    assert re.fullmatch(r"global step 4: loss = 4\.1943 \(\d+\.\d{3} sec/step\)", lines[1])


def test_a_trace_needs_a_folder(session):
    message = "logdir must be present in train_step_kwargs when should_trace is present"
    with pytest.raises(ValueError, match=message):
        step(session, should_trace=tf.constant(False))
    assert session.run(global_step()) == 0


def test_traces_are_numbered_by_the_kind_of_the_variable(session, tmp_path, variable_mode, caplog):
    every_fifth = tf.equal(tf.mod(global_step(), 5), 0)
    with caplog.at_level(logging.INFO, "tensorflow"):
        for _ in range(12):
            step(session, should_trace=every_fifth, logdir=str(tmp_path))
    numbers = [1, 6, 11] if variable_mode == "reference" else [0, 5, 10]
    names = [f"tf_trace-{number}.json" for number in numbers]
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(names)
    assert [m for m in caplog.messages if m.startswith("Writing trace to ")] == [
        f"Writing trace to {tmp_path / name}" for name in names
    ]
    trace = json.loads((tmp_path / names[1]).read_text())
    assert "w/read" in str(trace) or "ReadVariableOp" in str(trace)


def test_a_trace_goes_to_the_summary_writer_as_well(session, tmp_path, variable_mode):
    with tf.summary.FileWriter(str(tmp_path)) as writer:
        step(session, should_trace=tf.constant(True), logdir=str(tmp_path), summary_writer=writer)
    (event,) = [e for e in events(tmp_path) if e.HasField("tagged_run_metadata")]
    number = 1 if variable_mode == "reference" else 0
    assert event.tagged_run_metadata.tag == f"run_metadata-{number}"
    assert event.step == 0
    metadata = tf.RunMetadata.FromString(event.tagged_run_metadata.run_metadata)
    assert metadata.step_stats.dev_stats


def test_only_the_step_that_is_traced_is_run_with_options(session, tmp_path):
    runs = []

    class Recorder:
        sess_str = session.sess_str

        def run(self, fetches, options=None, run_metadata=None):
            runs.append((fetches, options and options.trace_level))
            return session.run(fetches, options=options, run_metadata=run_metadata)

    kwargs = {"should_trace": tf.equal(global_step(), 1), "logdir": str(tmp_path)}
    for _ in range(3):
        learning.train_step(Recorder(), session.graph.train_op, global_step(), kwargs)
    traced = tf.RunOptions.SOFTWARE_TRACE  # A full trace fails while a capture is active.
    # Before each step a run asks whether to trace it.
    assert [level for _, level in runs] == [None, None, None, traced, None, None]

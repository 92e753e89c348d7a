"""`learning.train`: what it runs, logs, writes and returns."""

import pytest
import tensorflow.compat.v1 as tf

from event_files import events, scalars
from tf_frame_legacy import learning

from ..runs import checkpoints, loss_of_step, saved
from .conftest import make_train_op

pytestmark = [
    pytest.mark.usefixtures("graph", "variable_mode", "control_flow_of_v1"),
    pytest.mark.timeout(60),
]


def again(folder, **kwargs):
    """Trains in a new graph, as a new process would."""
    with tf.Graph().as_default():
        return learning.train(make_train_op(), str(folder), **kwargs)


def test_a_run_logs_writes_and_returns_what_slim_does(tmp_path, log):
    folder = tmp_path / "new" / "run"
    loss = learning.train(make_train_op(), str(folder), number_of_steps=4, log_every_n_steps=2)
    assert loss == loss_of_step(4)
    starts = ("Starting", "global step", "Stopping", "Finished")
    assert [m.split(" (")[0] for m in log.messages if m.startswith(starts)] == [
        "Starting Session.",
        "Starting Queues.",
        "global step 2: loss = 10.2400",
        "global step 4: loss = 4.1943",
        "Stopping Training.",
        "Finished training! Saving model to disk.",
    ]
    assert {path.name for path in folder.iterdir() if "tfevents" not in path.name} == {
        "checkpoint",
        "graph.pbtxt",
        *[f"model.ckpt-{s}.{e}" for s in (0, 4) for e in ("index", "meta")],
        *[f"model.ckpt-{s}.data-00000-of-00001" for s in (0, 4)],
    }
    assert tf.train.latest_checkpoint(str(folder)) == str(folder / "model.ckpt-4")
    assert saved(folder, "w") == pytest.approx(4 * 0.8**4)
    assert saved(folder, "global_step") == 4
    assert scalars(folder, "loss") == [(0, 16.0)]
    logs = [e for e in events(folder) if e.HasField("session_log")]
    statuses = (tf.SessionLog.START, tf.SessionLog.CHECKPOINT, tf.SessionLog.STOP)
    assert [(e.session_log.status, e.step) for e in logs] == [(status, 0) for status in statuses]


def test_without_folder_nothing_is_written_and_the_log_may_be_left_out(tmp_path, monkeypatch, log):
    monkeypatch.chdir(tmp_path)
    train_op, options = make_train_op(), {"number_of_steps": 3, "log_every_n_steps": 0}
    assert learning.train(train_op, None, **options) == loss_of_step(3)
    assert list(tmp_path.iterdir()) == []
    assert not [m for m in log.messages if m.startswith(("Finished training!", "global step"))]


def test_checkpoints_and_summaries_go_by_the_clock(tmp_path, clock, log):
    clock.tick = 1.0
    options = {"save_interval_secs": 3, "save_summaries_secs": 2}
    learning.train(make_train_op(), str(tmp_path), number_of_steps=7, **options)
    assert checkpoints(tmp_path) == [f"model.ckpt-{step}" for step in (0, 3, 6, 7)]
    steps = [step for step, _ in scalars(tmp_path, "loss")]
    assert steps == [0, 2, 4, 6]
    assert [m for m in log.messages if m.startswith("Recording")] == [
        f"Recording summary at step {step}." for step in steps
    ]
    message = f"Saving checkpoint to path {tmp_path / 'model.ckpt'}"
    assert log.messages.count(message) == 3
    # Two steps in two seconds.
    assert scalars(tmp_path, "global_step/sec") == [(step, 1.0) for step in (2, 4, 6)]
    assert "global_step/sec: 1" in log.messages


def test_intervals_of_0_leave_only_the_last_checkpoint(tmp_path):
    options = {"save_interval_secs": 0, "save_summaries_secs": 0}
    learning.train(make_train_op(), str(tmp_path), number_of_steps=3, **options)
    assert checkpoints(tmp_path) == ["model.ckpt-3"]
    assert scalars(tmp_path, "loss") == []


@pytest.mark.parametrize("is_none", [True, False])
def test_summaries_may_be_none_or_others(tmp_path, is_none):
    train_op, five = make_train_op(), tf.summary.scalar("five", 5.0, collections=[])
    summary_op = None if is_none else five
    learning.train(train_op, str(tmp_path), number_of_steps=1, summary_op=summary_op)
    assert scalars(tmp_path, "loss") == []
    assert scalars(tmp_path, "five") == ([] if is_none else [(0, 5.0)])


def test_without_summary_writer_there_are_checkpoints_and_no_events(tmp_path):
    train_op, kwargs = make_train_op(), {"should_stop": tf.constant(True)}
    learning.train(train_op, str(tmp_path), summary_writer=None, train_step_kwargs=kwargs)
    assert list(kwargs) == ["should_stop"]
    assert checkpoints(tmp_path) == ["model.ckpt-0", "model.ckpt-1"]
    assert events(tmp_path) == []


def test_a_summary_writer_of_ones_own_gets_the_summaries(tmp_path):
    train_op = make_train_op()
    writer = tf.summary.FileWriter(str(tmp_path / "own"))
    learning.train(train_op, str(tmp_path / "run"), number_of_steps=1, summary_writer=writer)
    assert scalars(tmp_path / "own", "loss") == [(0, 16.0)]
    assert not list((tmp_path / "run").glob("events.*"))


def test_a_run_goes_on_from_its_checkpoint_with_one_step_at_least(tmp_path):
    for number_of_steps, last in ((3, 3), (5, 5), (5, 6)):
        assert again(tmp_path, number_of_steps=number_of_steps) == loss_of_step(last)
    assert checkpoints(tmp_path) == [f"model.ckpt-{step}" for step in (0, 3, 5, 6)]
    assert saved(tmp_path, "global_step") == 6


def test_init_fn_is_called_only_without_checkpoint(tmp_path):
    calls = []

    def init_fn(session):
        calls.append(session)
        session.run(init_w)

    for steps in (1, 2):
        with tf.Graph().as_default() as graph:
            train_op = make_train_op()
            init_w = tf.assign(tf.trainable_variables()[0], 2.0)
            loss = learning.train(train_op, str(tmp_path), number_of_steps=steps, init_fn=init_fn)
            assert graph.finalized
        assert loss == pytest.approx(4.0 if steps == 1 else 2.56)
    assert len(calls) == 1 and isinstance(calls[0], tf.Session)


def test_init_op_and_its_feed_are_used():
    value = tf.placeholder(tf.float32, [])
    w = tf.get_variable("w", initializer=value)
    train_op = learning.create_train_op(tf.square(w), tf.train.GradientDescentOptimizer(0.1))
    assert learning.train(train_op, None, number_of_steps=1, init_feed_dict={value: 3.0}) == 9.0


def test_other_init_ops_replace_the_defaults():
    local = tf.get_local_variable("local", initializer=tf.constant(1.0))
    train_op = make_train_op(lambda w: tf.square(w) + local)
    init_op = tf.group(tf.global_variables_initializer(), name="other_init")
    ops = {"init_op": init_op, "local_init_op": local.assign(7.0), "ready_op": None}
    assert learning.train(train_op, None, number_of_steps=1, **ops) == pytest.approx(23.0)


def test_local_variables_and_tables_are_ready():
    table = tf.lookup.StaticHashTable(
        tf.lookup.KeyValueTensorInitializer([1], [10.0]), default_value=0.0
    )
    local = tf.get_local_variable("local", initializer=tf.constant(1.0))
    train_op = make_train_op(lambda w: tf.square(w) + table.lookup(tf.constant(1)) + local)
    assert learning.train(train_op, None, number_of_steps=1) == pytest.approx(27.0)


def test_the_session_may_be_wrapped(tmp_path, log):
    class Wrapper(tf.Session):
        def __init__(self, session):
            super().__init__(graph=session.graph)
            self.inner, self.runs = session, 0

        def run(self, *args, **kwargs):
            self.runs += 1
            return self.inner.run(*args, **kwargs)

    wrappers, sessions = [], []

    def wrap(session):
        wrappers.append(Wrapper(session))
        return wrappers[0]

    def train_step_fn(session, *args):
        sessions.append(session)
        return learning.train_step(session, *args)

    options = {"train_step_fn": train_step_fn, "session_wrapper": wrap}
    loss = learning.train(make_train_op(), str(tmp_path), number_of_steps=2, **options)
    assert loss == loss_of_step(2)
    assert sessions == [wrappers[0]] * 2
    assert wrappers[0].runs > 4
    assert f"Wrapping session with wrapper function: {wrap}" in log.messages


def test_every_step_calls_the_own_step_function_with_the_default_arguments(tmp_path):
    calls = []

    def train_step_fn(session, train_op, global_step, train_step_kwargs):
        calls.append((train_op, global_step, train_step_kwargs))
        return session.run(train_op), session.run(train_step_kwargs["should_stop"])

    train_op, options = make_train_op(), {"number_of_steps": 3, "trace_every_n_steps": 100}
    learning.train(train_op, str(tmp_path), train_step_fn=train_step_fn, **options)
    assert len(calls) == 3
    assert all(call[0] is train_op for call in calls)
    assert calls[0][1] is tf.train.get_global_step()
    kwargs = calls[0][2]
    assert set(kwargs) == {"should_stop", "should_log", "should_trace", "logdir", "summary_writer"}
    assert kwargs["logdir"] == str(tmp_path)
    assert all(kwargs[name].op.name.startswith("train_step/") for name in list(kwargs)[:3])


def test_own_arguments_of_the_step_replace_the_default_ones(tmp_path):
    """There is no should_stop among them, so the step function has to end it."""
    kwargs = {"most": 5}

    def train_step_fn(session, train_op, global_step, train_step_kwargs):
        assert train_step_kwargs is kwargs
        loss = session.run(train_op)
        return loss, session.run(global_step) >= train_step_kwargs["most"]

    options = {"train_step_fn": train_step_fn, "train_step_kwargs": kwargs}
    learning.train(make_train_op(), str(tmp_path), number_of_steps=2, **options)
    assert saved(tmp_path, "global_step") == 5
    assert set(kwargs) == {"most", "summary_writer"}
    assert isinstance(kwargs["summary_writer"], tf.summary.FileWriter)


def test_steps_are_traced(tmp_path, variable_mode):
    learning.train(make_train_op(), str(tmp_path), number_of_steps=12, trace_every_n_steps=5)
    numbers = [1, 6, 11] if variable_mode == "reference" else [0, 5, 10]
    traces = {path.name for path in tmp_path.glob("tf_trace*")}
    assert traces == {f"tf_trace-{number}.json" for number in numbers}
    tags = [e.tagged_run_metadata.tag for e in events(tmp_path) if e.tagged_run_metadata.tag]
    assert tags == [f"run_metadata-{number}" for number in numbers]


def test_another_saver_and_another_global_step_are_used(tmp_path):
    step = tf.get_variable("my_step", initializer=tf.constant(10, tf.int64), trainable=False)
    train_op = make_train_op(global_step=step)
    saver = tf.train.Saver(tf.trainable_variables())
    options = {"global_step": step, "number_of_steps": 12, "saver": saver}
    learning.train(train_op, str(tmp_path), **options)
    assert checkpoints(tmp_path) == ["model.ckpt-10", "model.ckpt-12"]
    assert list(tf.train.load_checkpoint(str(tmp_path)).get_variable_to_shape_map()) == ["w"]


def test_another_graph_than_the_default_one_and_the_configuration_are_used():
    graph, config = tf.Graph(), tf.ConfigProto(device_count={"CPU": 2})
    with graph.as_default(), tf.device("/device:CPU:1"):
        train_op = make_train_op()
    options = {"graph": graph, "session_config": config}
    assert learning.train(train_op, None, number_of_steps=2, **options) == loss_of_step(2)

"""`training.train`: the loop of tf.contrib.training."""

import contextlib
import logging

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from event_files import scalars
from tf_frame.errors import NonFiniteError
from tf_frame_legacy import training

from ..runs import checkpoints, loss_of_step, saved, square_train_op
from ..signatures import list_arguments

pytestmark = [
    pytest.mark.usefixtures("graph", "variable_mode", "control_flow_of_v1"),
    pytest.mark.timeout(60),
]


def make_train_op(loss=None, **kwargs):
    return square_train_op(training.create_train_op, loss, **kwargs)


def to(step):
    return tf.train.StopAtStepHook(last_step=step)


@pytest.fixture(autouse=True)
def closed_writers():
    yield
    tf.summary.FileWriterCache.clear()


def test_arguments_and_their_defaults():
    assert list_arguments(training.train) == (
        "train_op, logdir, master='', is_chief=True, scaffold=None, hooks=None, "
        "chief_only_hooks=None, save_checkpoint_secs=600, save_summaries_steps=100, config=None, "
        "max_wait_secs=7200, run_metadata=None"
    )


def test_without_folder_neither_summaries_nor_checkpoints_can_be_wanted(tmp_path, monkeypatch):
    train_op = make_train_op()
    for options, name in (
        ({}, "save_summaries_steps"),
        ({"save_summaries_steps": None}, "save_checkpoint_secs"),
    ):
        with pytest.raises(ValueError, match=f"^logdir cannot be None when {name} is not None$"):
            training.train(train_op, None, **options)
    monkeypatch.chdir(tmp_path)
    options = {"save_checkpoint_secs": 0, "save_summaries_steps": None}
    assert training.train(train_op, None, hooks=[to(3)], **options) == loss_of_step(3)
    assert list(tmp_path.iterdir()) == []


def test_a_run_writes_what_a_monitored_training_session_does(tmp_path, caplog):
    folder = tmp_path / "run"
    with caplog.at_level(logging.INFO, "tensorflow"):
        loss = training.train(make_train_op(), str(folder), hooks=[to(250)])
    assert loss == loss_of_step(250)
    assert {path.name for path in folder.iterdir() if "tfevents" not in path.name} == {
        "checkpoint",
        "graph.pbtxt",
        *[f"model.ckpt-{s}.{e}" for s in (0, 250) for e in ("index", "meta")],
        *[f"model.ckpt-{s}.data-00000-of-00001" for s in (0, 250)],
    }
    assert saved(folder, "global_step") == 250
    assert [step for step, _ in scalars(folder, "loss")] == [1, 101, 201]
    assert scalars(folder, "loss")[0][1] == pytest.approx(16.0)
    rates = scalars(folder, "global_step/sec")
    assert [step for step, _ in rates] == [101, 201]
    assert f"global_step/sec: {rates[0][1]:g}"[:20] in " ".join(caplog.messages)


def test_how_often_to_summarise_is_counted_in_steps(tmp_path):
    training.train(make_train_op(), str(tmp_path), hooks=[to(5)], save_summaries_steps=2)
    assert [step for step, _ in scalars(tmp_path, "loss")] == [1, 3, 5]


@pytest.mark.parametrize("none", [0, None])
def test_checkpoints_and_summaries_may_be_left_out(tmp_path, none):
    options = {"save_checkpoint_secs": none, "save_summaries_steps": none}
    training.train(make_train_op(), str(tmp_path), hooks=[to(3)], **options)
    assert checkpoints(tmp_path) == []
    assert scalars(tmp_path, "loss") == []


class Recorder(tf.train.SessionRunHook):
    """Notes when it is called, and which checkpoints are there then."""

    def __init__(self, name, calls, folder):
        self.name, self.calls, self.folder = name, calls, folder

    def begin(self):
        self.calls.append(("begin", self.name))

    def after_create_session(self, session, coord):
        self.calls.append(("session", self.name, checkpoints(self.folder)))

    def before_run(self, run_context):
        self.calls.append(("before", self.name))

    def end(self, session):
        self.calls.append(("end", self.name, checkpoints(self.folder)))


def test_hooks_of_the_chief_come_first_and_those_of_the_user_last(tmp_path):
    calls = []
    hooks, chief_only_hooks = (Recorder(name, calls, tmp_path) for name in ("own", "chief"))
    training.train(
        make_train_op(), str(tmp_path), hooks=[hooks, to(1)], chief_only_hooks=[chief_only_hooks]
    )
    assert calls == [
        ("begin", "chief"),
        ("begin", "own"),
        ("session", "chief", []),
        ("session", "own", ["model.ckpt-0"]),
        ("before", "chief"),
        ("before", "own"),
        ("end", "chief", ["model.ckpt-0"]),
        ("end", "own", ["model.ckpt-0", "model.ckpt-1"]),
    ]
    hooks = training._chief_hooks(str(tmp_path), tf.train.Scaffold(), 600, 100)
    names = [type(hook).__name__ for hook in hooks]
    assert names == ["StepCounterHook", "SummarySaverHook", "CheckpointSaverHook"]


@pytest.mark.parametrize("same_graph", [True, False])
def test_a_run_goes_on_and_a_finished_run_makes_one_step_more(tmp_path, same_graph):
    """TensorFlow's StopAtStepHook makes the additional step."""
    train_op, losses = make_train_op(), []
    for last_step in (3, 5, 5):
        with contextlib.nullcontext() if same_graph else tf.Graph().as_default():
            train_op = train_op if same_graph else make_train_op()
            losses.append(training.train(train_op, str(tmp_path), hooks=[to(last_step)]))
    assert losses == [loss_of_step(3), loss_of_step(5), loss_of_step(6)]
    assert checkpoints(tmp_path) == [f"model.ckpt-{step}" for step in (0, 3, 5, 6)]


def test_init_fn_of_the_scaffold_is_called_only_without_checkpoint(tmp_path):
    calls = []
    for steps in (1, 2):
        with tf.Graph().as_default():
            train_op = make_train_op()
            init = tf.assign(tf.trainable_variables()[0], 2.0)

            def init_fn(scaffold, session, init=init):
                calls.append(scaffold)
                session.run(init)

            scaffold = tf.train.Scaffold(
                init_fn=init_fn,
                summary_op=tf.summary.scalar("own", 5.0, collections=[]),
                saver=tf.train.Saver(max_to_keep=1),
            )
            training.train(train_op, str(tmp_path), scaffold=scaffold, hooks=[to(steps)])
            assert calls == [calls[0]] and isinstance(calls[0], tf.train.Scaffold)
            tf.summary.FileWriterCache.clear()
    assert saved(tmp_path, "w") == pytest.approx(2 * 0.8**2)
    assert checkpoints(tmp_path) == ["model.ckpt-2"]
    assert [step for step, _ in scalars(tmp_path, "own")] == [1, 2]
    assert scalars(tmp_path, "loss") == []


def test_the_end_of_the_input_returns_the_last_loss(tmp_path):
    row = tf.data.make_one_shot_iterator(tf.data.Dataset.range(4)).get_next()
    train_op = make_train_op(lambda w: tf.square(w) + 0.0 * tf.to_float(row))
    assert training.train(train_op, str(tmp_path)) == loss_of_step(4)
    assert checkpoints(tmp_path) == ["model.ckpt-0", "model.ckpt-4"]


def test_no_step_returns_none(tmp_path):
    class Stop(tf.train.SessionRunHook):
        def after_create_session(self, session, coord):
            coord.request_stop()

    assert training.train(make_train_op(), str(tmp_path), hooks=[Stop()]) is None


def test_a_lost_session_is_made_anew(tmp_path):
    class Abort(tf.train.SessionRunHook):
        sessions, steps = 0, 0

        def after_create_session(self, session, coord):
            self.sessions += 1

        def before_run(self, run_context):
            self.steps += 1
            if self.steps == 3:
                raise tf.errors.AbortedError(None, None, "a server went away")

    hook = Abort()
    # From the checkpoint of step 0 anew.
    assert training.train(make_train_op(), str(tmp_path), hooks=[hook, to(3)]) == loss_of_step(3)
    assert (hook.sessions, hook.steps) == (2, 2 + 1 + 3)


def test_run_metadata_is_filled_in(tmp_path):
    class Trace(tf.train.SessionRunHook):
        def before_run(self, run_context):
            options = tf.RunOptions(trace_level=tf.RunOptions.SOFTWARE_TRACE)
            return tf.train.SessionRunArgs(None, options=options)

    metadata = tf.RunMetadata()
    training.train(make_train_op(), str(tmp_path), hooks=[Trace(), to(1)], run_metadata=metadata)
    assert metadata.step_stats.dev_stats


def test_the_configuration_of_the_session_is_used(tmp_path):
    with tf.device("/device:CPU:1"):
        train_op = make_train_op()
    config = tf.ConfigProto(device_count={"CPU": 2})
    assert training.train(train_op, str(tmp_path), config=config, hooks=[to(1)]) == 16.0


def test_another_worker_gives_up_waiting_for_the_chief(tmp_path):
    """The worker needs no folder, and tries no second time with less than 30 seconds left."""
    calls = []
    with pytest.raises(tf.errors.DeadlineExceededError, match="Session was not ready"):
        training.train(
            make_train_op(),
            None,
            is_chief=False,
            max_wait_secs=1,
            hooks=[Recorder("own", calls, tmp_path)],
            chief_only_hooks=[Recorder("chief", calls, tmp_path)],
        )
    assert calls == [("begin", "own")]


@pytest.mark.process
def test_another_worker_trains_what_the_chief_has_made(tmp_path):
    from tf_frame.testing.ports import free_ports

    host = f"127.0.0.1:{free_ports(1)[0]}"
    server = tf.train.Server({"worker": [host]}, job_name="worker", task_index=0)
    train_op, calls = make_train_op(), []
    with tf.Session(server.target) as chief:
        chief.run(tf.global_variables_initializer())
        loss = training.train(
            train_op,
            str(tmp_path),
            master=server.target,
            is_chief=False,
            hooks=[to(2)],
            chief_only_hooks=[Recorder("chief", calls, tmp_path)],
        )
    assert loss == loss_of_step(2)
    assert calls == []
    assert list(tmp_path.iterdir()) == []


SAVED = "1 variables hold NaN or infinity at global step 5, first w; the step was not saved"


@pytest.mark.parametrize(
    ("check_numerics", "error", "message"),
    [
        (True, tf.errors.InvalidArgumentError, "LossTensor is inf or nan"),
        (False, NonFiniteError, SAVED),
    ],
)
def test_a_loss_or_a_model_of_nan_leaves_the_last_good_checkpoint(
    tmp_path, check_numerics, error, message
):
    step = tf.train.get_or_create_global_step()
    factor = tf.where(step < 3, 1.0, float("nan"))
    train_op = make_train_op(lambda w: tf.square(w) * factor, check_numerics=check_numerics)
    with pytest.raises(error, match=message):
        training.train(train_op, str(tmp_path), hooks=[to(5)])
    assert checkpoints(tmp_path) == ["model.ckpt-0"]
    assert np.isfinite(saved(tmp_path, "w"))

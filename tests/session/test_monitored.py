import dataclasses
import logging
from types import SimpleNamespace

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from acting_hooks import Lose
from tf_frame import ModelOutput
from tf_frame.checkpoint.find.newest import listed_checkpoints, newest_checkpoint
from tf_frame.cluster import Cluster
from tf_frame.cluster.agreement import Agreement
from tf_frame.errors import CheckpointError
from tf_frame.graph.ready import needs_global_state
from tf_frame.hooks.base import Hook, Phase
from tf_frame.session import monitored
from tf_frame.session.job_member import JobMember
from tf_frame.session.monitored import monitored_session
from tf_frame.testing.session_runs import counted_runs
from tf_frame.testing.toy import ToyModel


class Starts(Hook):
    """Notes the global step at which each session begins."""

    def __init__(self):
        super().__init__()
        self.steps = []

    def start(self, session, step):
        self.steps.append(step)


class WiderModel(ToyModel):
    """The toy model with a variable more and another shape."""

    def build(self, features, labels, mode):
        weights = tf.get_variable("linear/weights", [3, 2])
        extra = tf.get_variable("extra", [], initializer=tf.zeros_initializer())
        return ModelOutput(loss=tf.reduce_sum(tf.matmul(features, weights)) + extra)


ABORTED = tf.errors.AbortedError(None, None, "the step was aborted")
UNAVAILABLE = tf.errors.UnavailableError(None, None, "the server is gone")


def truncate_data(path):
    with open(path + ".data-00000-of-00001", "r+b") as file:
        file.truncate(4)


@pytest.mark.usefixtures("variable_mode")
def test_a_new_folder_starts_at_step_zero_and_a_used_one_where_it_stopped(build, train):
    starts = Starts()
    for last_step in (3, 5):
        train(build(), to=last_step, hooks=[starts])
    assert starts.steps == [0, 3]


@pytest.mark.usefixtures("variable_mode")
def test_variables_are_restored_and_not_initialised_again(tmp_path, build, train, open_session):
    last = train(build(), to=3)
    graph = build()
    with graph.graph.as_default():
        variables = {v.op.name: v.read_value() for v in tf.trainable_variables()}
        with open_session(graph) as session:
            restored = session.run(variables)
    assert restored.keys() == last.keys() == {"linear/weights", "linear/biases"}
    for name, value in last.items():
        assert np.abs(value).max() > 0
        np.testing.assert_array_equal(restored[name], value)


def make_local(initial):
    collections = [tf.GraphKeys.LOCAL_VARIABLES]
    return tf.Variable(initial, collections=collections, use_resource=True)


def alone():
    make_local(lambda: tf.fill([1], 7.0))


def of_biases():
    make_local(lambda: tf.global_variables("linear/biases")[0] + 7)


def fed():
    placeholder = tf.placeholder(tf.float32, [1])
    make_local(lambda: placeholder + 6)
    return tf.train.Scaffold(local_init_feed_dict={placeholder: [1.0]})


def prepared():
    """The initial value is ready after `init_fn`."""
    values = [0.0]
    make_local(lambda: tf.py_func(lambda: np.float32(values), [], tf.float32))

    def init_fn(scaffold, session):
        values[0] = 7.0

    return tf.train.Scaffold(init_fn=init_fn)


@pytest.mark.parametrize(
    ("make", "runs"),
    [
        (alone, 1),
        (of_biases, 2),
        (fed, 2),
        (prepared, 2),
    ],
)
def test_variables_are_initialised_in_one_run_unless_the_order_matters(
    build, open_session, make, runs
):
    class WithLocal(ToyModel):
        def build(self, features, labels, mode):
            output = super().build(features, labels, mode)
            return dataclasses.replace(output, scaffold=make())

    graph = build(WithLocal)
    with graph.graph.as_default(), counted_runs() as count, open_session(graph) as session:
        assert count.runs == runs
        (local,) = tf.local_variables(".*Variable")
        assert session.run(local).tolist() == [7.0]


def test_local_variables_may_need_shared_resources():
    with tf.Graph().as_default():
        assert not needs_global_state(tf.no_op())
        tf.add_to_collection(tf.GraphKeys.RESOURCES, tf.constant(0))
        assert needs_global_state(tf.no_op())


def test_a_damaged_checkpoint_is_passed_over(tmp_path, build, train, caplog):
    train(build(), to=4)
    truncate_data(newest_checkpoint(str(tmp_path)))
    starts = Starts()
    with caplog.at_level(logging.WARNING, logger="tf_frame"):
        train(build(), to=6, hooks=[starts])
    assert starts.steps == [3]
    assert "passing over a damaged checkpoint" in caplog.text
    assert newest_checkpoint(str(tmp_path)) == str(tmp_path / "model.ckpt-6")


def test_a_damaged_checkpoint_is_replaced_when_its_step_comes_again(tmp_path, build, train):
    train(build(), to=4)
    truncate_data(newest_checkpoint(str(tmp_path)))
    train(build(), to=4)
    assert newest_checkpoint(str(tmp_path)) == str(tmp_path / "model.ckpt-4")
    assert [path.rsplit("-")[-1] for path in listed_checkpoints(str(tmp_path))] == list("01234")


def test_without_a_readable_checkpoint_no_session_starts(tmp_path, build, train):
    train(build(), to=2)
    for path in listed_checkpoints(str(tmp_path)):
        truncate_data(path)
    with pytest.raises(CheckpointError, match="no checkpoint in .* can be read"):
        train(build(), to=4)


@pytest.mark.usefixtures("variable_mode")
def test_the_checkpoint_of_another_model_is_refused(tmp_path, build, train):
    train(build(), to=2)
    with pytest.raises(CheckpointError) as error:
        train(build(WiderModel), to=4)
    message = str(error.value)
    assert f"{tmp_path}/model.ckpt-2 is a checkpoint of another model" in message
    assert "linear/weights [3, 2]: [3, 1] in the checkpoint" in message
    assert "extra []: not in the checkpoint" in message


@pytest.mark.usefixtures("variable_mode")
@pytest.mark.parametrize("error", [ABORTED, UNAVAILABLE])
def test_a_lost_session_goes_on_from_the_newest_checkpoint(build, train, error):
    starts = Starts()
    train(build(), to=8, save_every=2, hooks=[starts, Lose(5, error, Phase.STOP)])
    assert starts.steps == [0, 4]


@pytest.mark.slow
@pytest.mark.usefixtures("variable_mode")
def test_a_resumed_run_recovers_from_the_newest_checkpoint_and_not_from_its_start(build, train):
    train(build(), to=2)
    starts = Starts()
    train(build(), to=8, save_every=2, hooks=[starts, Lose(5, ABORTED, Phase.STOP)])
    assert starts.steps == [2, 6]


@pytest.mark.slow
def test_a_run_that_recovers_deletes_old_checkpoints_as_ever(tmp_path, build, train):
    train(build(), to=10, hooks=[Lose(7, ABORTED, Phase.STOP)])
    steps = {int(path.stem.rsplit("-")[-1]) for path in tmp_path.glob("*.index")}
    assert steps == {6, 7, 8, 9, 10}


def test_any_other_error_ends_the_session(build, train):
    starts, error = Starts(), tf.errors.InternalError(None, None, "a defect")
    with pytest.raises(tf.errors.InternalError, match="a defect"):
        train(build(), to=8, hooks=[starts, Lose(5, error, Phase.STOP)])
    assert starts.steps == [0]


def test_hooks_run_in_phase_order_whatever_the_order_given(build, open_session):
    calls = []

    @dataclasses.dataclass(eq=False)
    class Note(tf.train.SessionRunHook):
        phase: Phase

        def after_run(self, run_context, run_values):
            calls.append(self.phase)

    graph, hooks = build(), [Note(Phase.STOP), Note(Phase.SAVE), Note(Phase.CHECK)]
    with graph.graph.as_default(), open_session(graph, hooks) as session:
        session.run(graph.train_op)
    assert calls == [Phase.CHECK, Phase.SAVE, Phase.STOP]


@pytest.mark.slow
def test_a_worker_joins_only_when_the_session_of_the_chief_is_ready(tmp_path, build):
    """Variables have values while the chief restores them, of which some are of another step."""
    server = tf.train.Server({"ps": ["localhost:0"]}, start=True)
    jobs, more = (
        {"ps": {0: server.target.removeprefix("grpc://")}},
        {"num_workers": 2, "num_ps_tasks": 1},
    )
    chief, worker = (Cluster(task_id=i, target=server.target, jobs=jobs, **more) for i in (0, 1))
    graph, agreement, lines = build(), Agreement(chief), []

    def report(line):
        lines.append(line)
        agreement.open_session()

    with graph.graph.as_default():
        with tf.Session(server.target) as session:
            session.run(tf.global_variables_initializer())
        for _ in range(2):  # The first session of the chief, and one after a server was lost.
            agreement.begin_session(None)
            member = JobMember(
                cluster=worker, agreement=Agreement(worker), max_steps=1, report=report
            )
            with monitored_session(graph, hooks=(), member=member, config=tf.ConfigProto()):
                pass
    assert len(lines) == 2


def test_a_loss_is_reported_once_until_a_server_answers(monkeypatch):
    now = iter([100.0, 100.5, 104.0, 200.0])
    monkeypatch.setattr(monitored.time, "monotonic", lambda: next(now))
    lines = []
    creator = monitored._ChiefCreator(
        graph=None,
        config=None,
        member=SimpleNamespace(report=lines.append),
        first_checkpoint=None,
        restored=None,
    )
    for _ in range(3):  # The session fails again and again.
        creator._report("a server was lost; training goes on from a/model.ckpt-10")
    creator._report("a server was lost; training goes on from a/model.ckpt-10")
    assert len(lines) == 2  # The last one is another loss, a minute later.

"""`learning.train` with more than one worker, or as if there were more."""

import logging
import threading
import types

import pytest
import tensorflow.compat.v1 as tf

from tf_frame.testing.ports import free_ports
from tf_frame_legacy import learning
from tf_frame_legacy.learning import defaults, loop

pytestmark = [pytest.mark.usefixtures("graph", "variable_mode"), pytest.mark.timeout(90)]


@pytest.fixture
def log(caplog):
    with caplog.at_level(logging.INFO, "tensorflow"):
        yield caplog


def model(optimizer=None, device=""):
    """The loss of step n is 16 * 0.64 ** (n - 1)."""
    with tf.device(device):
        w = tf.get_variable("w", initializer=tf.constant(4.0))
        tf.train.get_or_create_global_step()
    return learning.create_train_op(
        tf.square(w), optimizer or tf.train.GradientDescentOptimizer(0.1)
    )


def sync(aggregate=1, total=1):
    return tf.train.SyncReplicasOptimizer(
        tf.train.GradientDescentOptimizer(0.1), aggregate, total_num_replicas=total
    )


@pytest.mark.parametrize("several", [False, True])
def test_synchronous_training_with_one_worker(tmp_path, log, several):
    """Training ends at once: a thread that waited for gradients would take two minutes."""
    optimizer = sync()
    train_op = model(optimizer)
    loss = learning.train(
        train_op,
        str(tmp_path),
        number_of_steps=5,
        sync_optimizer=[optimizer] if several else optimizer,
    )
    assert loss == pytest.approx(16 * 0.64**4, rel=1e-5)
    reader = tf.train.load_checkpoint(str(tmp_path))
    assert reader.get_tensor("global_step") == 5
    assert reader.get_tensor("w") == pytest.approx(4 * 0.8**5)
    # Every step waits for its update.
    lines = [m.split(" (")[0] for m in log.messages if m.startswith("global step ")]
    assert [line.split(":")[0] for line in lines] == [f"global step {n}" for n in range(1, 6)]
    assert lines[1] == "global step 2: loss = 10.2400"


def test_two_gradients_of_one_worker_make_an_update(tmp_path):
    """Of two steps the first one finds the token that stands in for the missing worker."""
    optimizer = sync(aggregate=2, total=1)
    train_op, steps = model(optimizer), []

    def train_step_fn(session, *args):
        steps.append(1)
        return learning.train_step(session, *args)

    learning.train(
        train_op,
        str(tmp_path),
        train_step_fn=train_step_fn,
        number_of_steps=3,
        sync_optimizer=optimizer,
    )
    assert len(steps) >= 2 * 3 - 1
    assert tf.train.load_variable(str(tmp_path), "w") == pytest.approx(4 * 0.8**3)


def test_synchronous_training_goes_on_from_a_checkpoint(tmp_path):
    for steps in (2, 4):
        with tf.Graph().as_default():
            optimizer = sync()
            learning.train(
                model(optimizer), str(tmp_path), number_of_steps=steps, sync_optimizer=optimizer
            )
    assert tf.train.load_variable(str(tmp_path), "w") == pytest.approx(4 * 0.8**4)


def test_synchronous_training_is_tried_again_after_a_lost_server(tmp_path):
    optimizer, calls = sync(), []
    train_op = model(optimizer)

    def train_step_fn(session, *args):
        calls.append(1)
        if len(calls) in (3, 5):
            raise tf.errors.AbortedError(None, None, "a server went away")
        return learning.train_step(session, *args)

    learning.train(
        train_op,
        str(tmp_path),
        train_step_fn=train_step_fn,
        number_of_steps=4,
        sync_optimizer=optimizer,
    )
    # Two steps, one, and all four: each time from the checkpoint of step 0.
    assert len(calls) == 3 + 2 + 4
    assert tf.train.load_variable(str(tmp_path), "w") == pytest.approx(4 * 0.8**4)


def test_a_thread_of_a_lost_session_does_not_end_the_next_one():
    coordinator = tf.train.Coordinator()
    with loop._session_coordinator(coordinator) as session_coordinator:
        assert not session_coordinator.should_stop()
    coordinator.clear_stop()  # As for the next session.
    assert session_coordinator.should_stop()
    session_coordinator.request_stop(RuntimeError("closed session"))
    assert not coordinator.should_stop()


@pytest.mark.parametrize("is_chief", [True, False])
def test_local_steps_wait_for_the_variables(is_chief):
    """The local step is that of the model, whatever comes last in the local_init_op."""
    optimizer = sync()
    model(optimizer)
    init = defaults.init_ops(0, 0, 0, [optimizer], is_chief)
    hooks = defaults.sync_hooks([optimizer], is_chief=False)
    with tf.Session() as session:
        missing = session.run(init["ready_for_local_init_op"])
        assert {b"w", b"global_step"} <= set(missing)
        session.run(init["init_op"])
        assert len(session.run(init["ready_for_local_init_op"])) == 0
        session.run(tf.assign(tf.train.get_global_step(), 7))
        session.run([init["local_init_op"], tf.local_variables_initializer()])
        for hook in hooks:
            hook.after_create_session(session, tf.train.Coordinator())
        (local_step,) = tf.local_variables()
        assert session.run(local_step) == 7


def test_the_default_ops_stand_in_their_scope():
    model()
    init = defaults.init_ops(0, 0, 0, [], True)
    assert init["ready_for_local_init_op"] is None
    names = [init["init_op"].name, init["ready_op"].op.name, init["local_init_op"].name]
    assert all(name.startswith("init_ops/") for name in names)


def test_a_variable_without_value_ends_synchronous_training():
    optimizer = sync()
    train_op = model(optimizer)
    with pytest.raises(RuntimeError, match="Variables not initialized: w, global_step"):
        learning.train(
            train_op,
            None,
            number_of_steps=1,
            init_op=tf.no_op(),
            ready_op=None,
            local_init_op=tf.local_variables_initializer(),
            sync_optimizer=optimizer,
        )


@pytest.fixture
def server():
    """A server of one worker in this process; workers of the tests share its variables."""
    host = f"127.0.0.1:{free_ports(1)[0]}"
    return tf.train.Server({"worker": [host]}, job_name="worker", task_index=0)


@pytest.mark.process
@pytest.mark.parametrize(("delay", "number_of_steps", "waits_for"), [(3, 9, 3), (100, 5, 5)])
def test_another_worker_waits_for_steps_of_the_chief(
    server, monkeypatch, tmp_path, log, delay, number_of_steps, waits_for
):
    train_op = model(device="/job:worker/task:0")
    step, waited = tf.train.get_global_step(), []
    with tf.Session(server.target) as chief:
        chief.run(tf.global_variables_initializer())
        another_step = tf.assign_add(step, 1)

        def sleep(secs):
            waited.append(secs)
            chief.run(another_step)

        monkeypatch.setattr(loop, "time", types.SimpleNamespace(sleep=sleep))
        learning.train(
            train_op,
            str(tmp_path),
            master=server.target,
            is_chief=False,
            startup_delay_steps=delay,
            number_of_steps=number_of_steps,
        )
        assert waited == [1] * waits_for
        assert chief.run(step) == max(number_of_steps, waits_for + 1)
    # Only the chief saves, summarises and traces.
    assert list(tmp_path.iterdir()) == []
    assert "Finished training! Saving model to disk." not in log.messages


@pytest.mark.process
def test_without_delay_another_worker_begins_at_once(server, monkeypatch):
    def sleep(secs):
        raise AssertionError("waited")

    monkeypatch.setattr(loop, "time", types.SimpleNamespace(sleep=sleep))
    train_op = model(device="/job:worker/task:0")
    with tf.Session(server.target) as chief:
        chief.run(tf.global_variables_initializer())
        calls = []

        def train_step_fn(session, train_op, global_step, train_step_kwargs):
            calls.append(train_step_kwargs)
            return learning.train_step(session, train_op, global_step, train_step_kwargs)

        learning.train(
            train_op,
            None,
            train_step_fn=train_step_fn,
            master=server.target,
            is_chief=False,
            number_of_steps=2,
        )
    assert len(calls) == 2
    assert calls[0]["summary_writer"] is None


PS = "/job:ps/task:0"


@pytest.mark.process
@pytest.mark.parametrize("synchronous", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_a_chief_and_a_worker_train_one_model(cluster, tmp_path, synchronous):
    """The worker ends well when the chief does, synchronously for its queue is closed then."""
    ready, outcome = threading.Event(), {}

    def work(task):
        with tf.Graph().as_default(), tf.device(f"/job:worker/task:{task}"):
            optimizer = sync(2, 2) if synchronous else None
            train_op, steps = model(optimizer, PS), []
            if task == 1:
                ready.wait(60)

            def train_step_fn(session, *args):
                if task == 0:
                    ready.set()
                    if not steps and not synchronous:
                        worker_began.wait(60)
                else:
                    worker_began.set()
                steps.append(1)
                return learning.train_step(session, *args)

            learning.train(
                train_op,
                str(tmp_path),
                train_step_fn=train_step_fn,
                master=cluster[task],
                is_chief=task == 0,
                number_of_steps=10,
                sync_optimizer=optimizer,
            )
            outcome[task] = len(steps)

    worker_began = threading.Event()
    threads = [threading.Thread(target=work, args=(task,), daemon=True) for task in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(80)
    assert set(outcome) == {0, 1}
    assert min(outcome.values()) >= 1
    saved = int(tf.train.load_variable(str(tmp_path), "global_step"))
    if synchronous:
        assert saved == 10
        assert tf.train.load_variable(str(tmp_path), "w") == pytest.approx(4 * 0.8**10)
    else:
        assert saved >= 10

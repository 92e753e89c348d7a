import pytest
import tensorflow.compat.v1 as tf

from acting_hooks import Listener
from tf_frame.checkpoint.find.newest import find_damage, listed_checkpoints
from tf_frame.errors import NonFiniteError
from tf_frame.hooks.checkpoint import CheckpointHook


def stock(folder, graph, every_steps, listeners):
    return tf.train.CheckpointSaverHook(
        str(folder), save_steps=every_steps, saver=graph.scaffold.saver, listeners=listeners
    )


def synchronous(folder, graph, every_steps, listeners):
    return CheckpointHook(str(folder), graph.scaffold, every_steps=every_steps, listeners=listeners)


def asynchronous(folder, graph, every_steps, listeners):
    return CheckpointHook(
        str(folder), graph.scaffold, every_steps=every_steps, listeners=listeners, asynchronous=True
    )


@pytest.fixture
def calls_of(tmp_path, build, train):
    """Trains with a hook and two listeners; returns their calls and the last step."""

    def calls_of(make, *, to, stop_after=None):
        calls, graph = [], build()
        hook = make(
            tmp_path / make.__name__,
            graph,
            3,
            [Listener(calls, "first", stop_after), Listener(calls, "second")],
        )

        def each(session):
            if hasattr(hook, "wait"):
                hook.wait()

        return calls, train(graph, [hook], to=to, each=each)

    return calls_of


@pytest.mark.slow
@pytest.mark.parametrize("make", [synchronous, asynchronous])
@pytest.mark.parametrize(
    "last_step",
    [pytest.param(1, marks=pytest.mark.slow), pytest.param(6, marks=pytest.mark.slow), 7],
)
def test_listeners_are_called_as_by_the_hook_of_tensorflow(calls_of, make, last_step):
    calls = calls_of(make, to=last_step)
    assert calls == calls_of(stock, to=last_step)
    assert calls[0][:2] == [("first", "begin", None), ("second", "begin", None)]
    assert calls[0][-1] == ("second", "end", last_step)


def test_a_listener_may_stop_training_as_with_the_hook_of_tensorflow(calls_of):
    calls = calls_of(synchronous, to=20, stop_after=6)
    assert calls == calls_of(stock, to=20, stop_after=6)
    assert calls[1] == 6


def test_asynchronously_it_stops_at_the_step_after_the_one_that_is_complete(calls_of):
    calls, steps = calls_of(asynchronous, to=20, stop_after=6)
    assert steps == 7
    assert ("first", "after_save", 6) in calls


@pytest.mark.parametrize("make", [stock, synchronous, asynchronous])
@pytest.mark.parametrize("step", [0, pytest.param(4, marks=pytest.mark.slow)])
def test_a_wish_to_stop_at_the_start_or_the_end_is_none(calls_of, make, step):
    calls, steps = calls_of(make, to=4, stop_after=step)
    assert steps == 4
    assert ("first", "after_save", step) in calls


@pytest.mark.parametrize("make", [synchronous, asynchronous])
def test_after_save_comes_when_the_checkpoint_is_complete(tmp_path, build, train, make):
    seen = []

    class Look(tf.train.CheckpointSaverListener):
        def before_save(self, session, global_step_value):
            path = str(tmp_path / f"model.ckpt-{global_step_value}")
            assert path not in listed_checkpoints(str(tmp_path))

        def after_save(self, session, global_step_value):
            path = str(tmp_path / f"model.ckpt-{global_step_value}")
            seen.append(path == listed_checkpoints(str(tmp_path))[-1] and not find_damage(path))

    graph = build()
    train(graph, [make(tmp_path, graph, 2, [Look()])], to=5)
    assert seen == [True] * 4


@pytest.mark.parametrize("make", [synchronous, asynchronous])
def test_what_a_listener_changes_before_the_save_is_saved(tmp_path, build, train, make):
    class Change(tf.train.CheckpointSaverListener):
        def begin(self):
            (biases,) = (v for v in tf.trainable_variables() if v.op.name == "linear/biases")
            self.assign = biases.assign([42.0]).op

        def before_save(self, session, global_step_value):
            session.run(self.assign)

    graph = build()
    train(graph, [make(tmp_path, graph, 2, [Change()])], to=2)
    for path in listed_checkpoints(str(tmp_path)):
        assert tf.train.load_variable(path, "linear/biases") == [42.0]


@pytest.mark.parametrize("make", [synchronous, asynchronous])
def test_what_is_not_saved_has_no_after_save(tmp_path, build, train, make):
    calls, graph = [], build(nan_at_step=1)
    with pytest.raises(NonFiniteError):
        train(graph, [make(tmp_path, graph, 2, [Listener(calls)])], to=5)
    assert ("", "before_save", 2) in calls
    assert ("", "after_save", 2) not in calls

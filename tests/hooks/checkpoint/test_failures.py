import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import Future

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

import forked
from tf_frame.checkpoint.find.newest import find_damage, listed_checkpoints, newest_checkpoint
from tf_frame.checkpoint.write.folder import atomic_checkpoint
from tf_frame.errors import CheckpointError, NonFiniteError
from tf_frame.hooks.base import Phase
from tf_frame.hooks.checkpoint import CheckpointHook


class Poison(tf.train.SessionRunHook):
    """Makes a variable something else before the hooks that save."""

    phase = Phase.CHECK

    def __init__(self, name, value, at_step):
        self.name, self.value, self.at_step = name, value, at_step

    def begin(self):
        (variable,) = (v for v in tf.global_variables() if v.op.name == self.name)
        self.assign = variable.assign(tf.fill(variable.shape, self.value)).op
        self.steps = 0

    def after_run(self, run_context, run_values):
        self.steps += 1
        if self.steps == self.at_step:
            run_context.session.run(self.assign)


@pytest.fixture(params=[False, True], ids=["synchronous", "asynchronous"])
def make_hook(request, tmp_path):
    """Makes the hook of a graph, both ways of writing in turn."""

    def make_hook(graph, **options):
        return CheckpointHook(str(tmp_path), graph.scaffold, asynchronous=request.param, **options)

    return make_hook


@pytest.fixture
def fail_at(monkeypatch):
    """Makes the writing of a step's checkpoint fail when half of it is written."""

    def fail_at(step, *errors):
        left = list(errors)

        def write_or_fail(prefix, write, *, publish):
            def half(new):
                with tf.io.gfile.GFile(new + ".data-00000-of-00001", "w") as file:
                    file.write("half")
                raise left.pop(0)

            fails = left and prefix.endswith(f"-{step}")
            atomic_checkpoint(prefix, half if fails else write, publish=publish)

        monkeypatch.setattr("tf_frame.hooks.checkpoint.atomic_checkpoint", write_or_fail)

    return fail_at


def names(folder):
    return {path.name.split(".data")[0].removesuffix(".index") for path in folder.iterdir()}


@pytest.mark.usefixtures("variable_mode")
@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_variable_that_is_not_finite_is_never_saved(tmp_path, make_hook, build, train, value):
    graph = build()
    hooks = [make_hook(graph, every_steps=2), Poison("linear/biases", value, at_step=3)]
    with pytest.raises(NonFiniteError) as error:
        train(graph, hooks, to=9)
    assert "NaN or infinity at global step 4, first linear/" in str(error.value)
    assert "linear/biases" in str(error.value)
    hooks[0].close()
    assert newest_checkpoint(str(tmp_path)) == str(tmp_path / "model.ckpt-2")
    assert not list(tmp_path.glob("model.ckpt-4*"))


@pytest.mark.usefixtures("variable_mode")
def test_saving_every_step_no_checkpoint_holds_nan_and_the_one_before_restores(
    tmp_path, make_hook, build, train
):
    graph = build(nan_at_step=4)
    hook = make_hook(graph, every_steps=1)
    with pytest.raises(NonFiniteError, match="at global step 5"):
        train(graph, [hook], to=9)
    hook.close()
    paths = listed_checkpoints(str(tmp_path))
    assert [path.rsplit("-")[-1] for path in paths] == list("01234")
    for path in paths:
        for name, _ in tf.train.list_variables(path):
            assert np.isfinite(tf.train.load_variable(path, name)).all()
    with graph.graph.as_default(), tf.Session() as session:
        graph.scaffold.saver.restore(session, newest_checkpoint(str(tmp_path)))
        assert session.run(graph.global_step) == 4


def test_the_last_step_is_not_saved_either_if_it_is_not_finite(tmp_path, make_hook, build, train):
    graph = build()
    hooks = [make_hook(graph, every_steps=100), Poison("linear/biases", float("nan"), at_step=3)]
    with pytest.raises(NonFiniteError, match=r"^1 variables .* step 3, first linear/biases; the"):
        train(graph, hooks, to=3)
    hooks[0].close()
    assert listed_checkpoints(str(tmp_path)) == [str(tmp_path / "model.ckpt-0")]


@pytest.mark.parametrize(
    "error",
    [
        tf.errors.ResourceExhaustedError(None, None, "No space left on device"),
        OSError("No space left on device"),
        pytest.param(ValueError("No space left on device"), marks=pytest.mark.slow),
    ],
)
def test_a_save_that_fails_leaves_the_one_before_and_no_leftovers(
    tmp_path, make_hook, build, train, fail_at, error
):
    graph = build()
    fail_at(4, error)
    with pytest.raises(CheckpointError) as raised:
        train(graph, [make_hook(graph, every_steps=2)], to=9)
    before = tmp_path / "model.ckpt-2"
    assert str(raised.value) == (
        "the checkpoint of global step 4 could not be written: No space left on device\n"
        f"the last good checkpoint is {before}; free space in {tmp_path}, check that it can be "
        "written, and run the same command again"
    )
    assert raised.value.__cause__ is error
    assert newest_checkpoint(str(tmp_path)) == str(before)
    assert names(tmp_path) == {"checkpoint", "model.ckpt-0", "model.ckpt-2"}


def test_a_defect_of_the_writing_is_raised_as_it_is(tmp_path, make_hook, build, train, fail_at):
    graph, defect = build(), ZeroDivisionError("a defect")
    fail_at(4, defect)
    with pytest.raises(ZeroDivisionError, match="a defect"):
        train(graph, [make_hook(graph, every_steps=2)], to=9)
    assert newest_checkpoint(str(tmp_path)) == str(tmp_path / "model.ckpt-2")


def test_a_folder_in_the_place_of_a_checkpoint_is_explained_and_kept(
    tmp_path, make_hook, build, train
):
    (tmp_path / "model.ckpt-2.index").mkdir()
    (tmp_path / "model.ckpt-2.index" / "notes").write_text("mine")
    graph = build()
    with pytest.raises(CheckpointError, match="checkpoint of global step 2 could not be written"):
        train(graph, [make_hook(graph, every_steps=2)], to=9)
    assert newest_checkpoint(str(tmp_path)) == str(tmp_path / "model.ckpt-0")
    assert (tmp_path / "model.ckpt-2.index" / "notes").read_text() == "mine"


def test_a_first_save_that_fails_says_that_there_is_none_before(tmp_path, make_hook, build, train):
    (tmp_path / "model.ckpt-0.index").mkdir()
    graph = build()
    with pytest.raises(CheckpointError, match="there is none before it"):
        train(graph, [make_hook(graph, every_steps=2)], to=9)


def test_a_last_save_that_fails_is_raised_at_the_end_and_the_run_can_be_resumed(
    tmp_path, make_hook, build, train, fail_at
):
    graph = build()
    fail_at(3, OSError("full"))
    with pytest.raises(CheckpointError, match="the checkpoint of global step 3 .* full"):
        train(graph, [make_hook(graph, every_steps=2)], to=3)
    assert newest_checkpoint(str(tmp_path)) == str(tmp_path / "model.ckpt-2")
    graph, steps = build(), []
    train(graph, [make_hook(graph, every_steps=100)], to=5, each=lambda _: steps.append(1))
    assert len(steps) == 3
    assert newest_checkpoint(str(tmp_path)) == str(tmp_path / "model.ckpt-5")


def test_a_lost_server_during_a_save_is_left_to_the_recovery_of_the_session(
    tmp_path, build, train, fail_at
):
    graph, steps = build(), []
    fail_at(4, tf.errors.UnavailableError(None, None, "server lost"))
    hook = CheckpointHook(str(tmp_path), graph.scaffold, every_steps=2)
    train(graph, [hook], to=6, each=lambda _: steps.append(1))
    assert newest_checkpoint(str(tmp_path)) == str(tmp_path / "model.ckpt-6")
    assert len(steps) > 4


@pytest.fixture
def gate(monkeypatch):
    """Holds the writing of later checkpoints than the first until `gate.set()`."""
    opened = threading.Event()

    def wait_and_write(prefix, write, *, publish):
        if not prefix.endswith("-0"):
            assert opened.wait(60)
        atomic_checkpoint(prefix, write, publish=publish)

    monkeypatch.setattr("tf_frame.hooks.checkpoint.atomic_checkpoint", wait_and_write)
    yield opened
    opened.set()


@pytest.fixture
def asynchronous(tmp_path):
    return lambda graph, **options: CheckpointHook(
        str(tmp_path), graph.scaffold, asynchronous=True, **options
    )


def test_training_goes_on_while_a_checkpoint_is_written(tmp_path, asynchronous, build, train, gate):
    graph, newest = build(), []

    def look(session):
        newest.append(newest_checkpoint(str(tmp_path)))
        if len(newest) == 3:
            gate.set()

    train(graph, [asynchronous(graph, every_steps=2)], to=5, each=look)
    # The checkpoint of step 2 is under way after the steps 2 and 3.
    assert newest[1:3] == [str(tmp_path / "model.ckpt-0")] * 2
    assert newest_checkpoint(str(tmp_path)) == str(tmp_path / "model.ckpt-5")


def test_a_save_waits_for_the_one_before(tmp_path, asynchronous, build, train, gate, monkeypatch):
    waited, wait = [], Future.result

    def open_and_wait(self):
        waited.append(listed_checkpoints(str(tmp_path)))
        if len(waited) == 2:
            gate.set()  # The first is for the checkpoint of step 0, which is not held.
        return wait(self)

    monkeypatch.setattr(Future, "result", open_and_wait)
    graph = build()
    hook = asynchronous(graph, every_steps=2)
    train(graph, [hook], to=4)
    assert [path.rsplit("-")[-1] for path in listed_checkpoints(str(tmp_path))] == list("024")
    # Step 4 came to wait for the checkpoint of step 2, which was not complete.
    assert waited[1] == [str(tmp_path / "model.ckpt-0")]


@pytest.mark.usefixtures("variable_mode")
def test_a_checkpoint_that_is_written_later_holds_the_variables_of_its_step(
    tmp_path, asynchronous, build, train, gate
):
    graph, values = build(), []
    with graph.graph.as_default():
        (weights,) = (v for v in tf.trainable_variables() if v.op.name == "linear/weights")
        read = weights.read_value()

    def note(session):
        values.append(session.run_step_fn(lambda step_context: step_context.session.run(read)))
        if len(values) == 3:
            gate.set()

    train(graph, [asynchronous(graph, every_steps=2)], to=3, each=note)
    saved = tf.train.load_variable(str(tmp_path / "model.ckpt-2"), "linear/weights")
    np.testing.assert_array_equal(saved, values[1])
    assert (values[1] != values[2]).all()


def test_an_error_in_training_does_not_lose_the_checkpoint_that_is_being_written(
    tmp_path, asynchronous, build, train, gate
):
    graph = build()
    hook = asynchronous(graph, every_steps=2)

    def fail_after_three(session, steps=[]):  # noqa: B006
        steps.append(1)
        if len(steps) == 3:
            raise ValueError("a defect")

    with pytest.raises(ValueError, match="a defect"):
        train(graph, [hook], to=9, each=fail_after_three)
    assert newest_checkpoint(str(tmp_path)) == str(tmp_path / "model.ckpt-0")
    gate.set()
    hook.close()
    assert newest_checkpoint(str(tmp_path)) == str(tmp_path / "model.ckpt-2")
    assert names(tmp_path) == {"checkpoint", "model.ckpt-0", "model.ckpt-2"}


def test_close_tells_of_a_write_that_failed_and_does_not_hide_the_error_before(
    tmp_path, asynchronous, build, train, fail_at, caplog
):
    graph = build()
    fail_at(2, OSError("full"))
    hook = asynchronous(graph, every_steps=2)

    def fail(session, steps=[]):  # noqa: B006
        steps.append(1)
        if len(steps) == 1:
            hook.wait()
            hook.should_stop = lambda: False  # Else it would be raised at the next step.
        if len(steps) == 2:
            raise ValueError("a defect")

    with pytest.raises(ValueError, match="a defect"):
        train(graph, [hook], to=9, each=fail)
    hook.close()
    assert "the checkpoint of global step 2 could not be written: full" in caplog.text
    hook.close()


def test_a_write_that_failed_is_raised_before_the_next_save(asynchronous, build, train, fail_at):
    graph, steps = build(), []
    fail_at(2, OSError("full"))
    hook = asynchronous(graph, every_steps=2)

    def each(session):
        steps.append(1)
        if hook._pending is not None:
            hook._pending[0].exception()

    with pytest.raises(CheckpointError, match="global step 2 could not be written"):
        train(graph, [hook], to=100, each=each)
    # The loop may look at the write within step 2 or step 3, before the next save.
    assert len(steps) in (1, 2)


def test_a_new_session_waits_for_what_the_lost_one_was_writing(
    tmp_path, asynchronous, build, train, gate
):
    graph, steps = build(), []

    class Lose(tf.train.SessionRunHook):
        def after_create_session(self, session, coord):
            if steps:
                gate.set()

        def after_run(self, run_context, run_values):
            steps.append(1)
            if len(steps) == 3:
                raise tf.errors.AbortedError(None, None, "lost")

    lose = Lose()
    lose.phase = Phase.TRANSFORM
    train(graph, [asynchronous(graph, every_steps=2), lose], to=6)
    assert [path.rsplit("-")[-1] for path in listed_checkpoints(str(tmp_path))][-1] == "6"
    assert find_damage(str(tmp_path / "model.ckpt-2")) == ""


class Wide:
    """Weights that take 0.6 MB in a checkpoint, beside those of the toy."""

    def __new__(cls):
        from tf_frame import InputInfo
        from tf_frame.testing.toy import ToyModel

        class Model(ToyModel):
            def build(self, features, labels, mode):
                output = super().build(features, labels, mode)
                tf.get_variable("wide", [150_000], trainable=False)
                return output

        return Model(params=Model.Params(), info=InputInfo())


@pytest.fixture
def small_disk(tmp_path):
    """Mounts a file system of 2 MB over `tmp_path`."""
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(tmp_path)], capture_output=True
    )
    if mounted.returncode:
        pytest.skip(f"no file system can be mounted: {mounted.stderr.decode().strip()}")
    yield tmp_path
    subprocess.run(["umount", "--lazy", str(tmp_path)], check=True)


def test_on_a_full_disk_the_checkpoint_before_stays_and_the_run_goes_on_with_more_room(
    small_disk, make_hook, train
):
    from tf_frame.config.run_options import RunOptions
    from tf_frame.testing.toy import build_toy_graph

    config = RunOptions(train_batch_size=8)
    graph = build_toy_graph(config, model=Wide())
    with pytest.raises(CheckpointError) as error:
        train(graph, [make_hook(graph, every_steps=1)], to=9)
    assert "the checkpoint of global step 3 could not be written: " in str(error.value)
    assert "No space left on device" in str(error.value)
    assert f"the last good checkpoint is {small_disk}/model.ckpt-2" in str(error.value)
    kept = {"checkpoint", "model.ckpt-0", "model.ckpt-1", "model.ckpt-2"}
    assert names(small_disk) == kept
    assert newest_checkpoint(str(small_disk)) == str(small_disk / "model.ckpt-2")
    for file in small_disk.glob("model.ckpt-0.*"):
        file.unlink()
    graph = build_toy_graph(config, model=Wide())
    train(graph, [make_hook(graph, every_steps=1)], to=3)
    assert newest_checkpoint(str(small_disk)) == str(small_disk / "model.ckpt-3")


KILLED = """
import os, signal, sys
import tensorflow.compat.v1 as tf
from tf_frame.checkpoint.write.snapshot import ArrayWriter
from tf_frame.config.run_options import RunOptions
from tf_frame.hooks.checkpoint import CheckpointHook
from tf_frame.hooks.stock.stop_at_step import StopAtStepHook
from tf_frame.testing.toy import build_toy_graph
folder, when = sys.argv[1:]
rename, write, renames = tf.io.gfile.rename, ArrayWriter.write, []
def kill():
    os.kill(os.getpid(), signal.SIGKILL)
def counted(*names, **options):
    rename(*names, **options)
    renames.append(names)
    # Two files and the list for each checkpoint: the first of the third one is the seventh.
    if when == "between the files" and len(renames) == 7:
        kill()
def written(self, values, prefix):
    write(self, values, prefix)
    if when == "before they are in place" and prefix.endswith("-4"):
        kill()
tf.io.gfile.rename, ArrayWriter.write = counted, written
graph = build_toy_graph(RunOptions(train_batch_size=8))
with graph.graph.as_default():
    hook = CheckpointHook(folder, graph.scaffold, every_steps=2, asynchronous=True)
    with tf.train.MonitoredSession(tf.train.ChiefSessionCreator(graph.scaffold), hooks=[hook]) as s:
        while True:
            s.run(graph.train_op)
"""


@pytest.mark.process
@pytest.mark.parametrize(
    "when", [pytest.param("before they are in place", marks=pytest.mark.slow), "between the files"]
)
def test_killed_while_the_thread_writes_the_run_goes_on_from_the_one_before(
    tmp_path, asynchronous, build, train, when
):
    killed = forked.run(
        [sys.executable, "-c", KILLED, str(tmp_path), when], stderr=subprocess.DEVNULL
    )
    assert killed.returncode == -signal.SIGKILL
    assert newest_checkpoint(str(tmp_path)) == str(tmp_path / "model.ckpt-2")
    assert (tmp_path / "model.ckpt-4.saving").is_dir()
    graph, steps = build(), []
    train(graph, [asynchronous(graph, every_steps=9)], to=5, each=lambda _: steps.append(1))
    assert len(steps) == 3
    assert names(tmp_path) == {"checkpoint", *(f"model.ckpt-{step}" for step in (0, 2, 5))}


BIG = """
import sys
import tensorflow.compat.v1 as tf
from tf_frame.hooks.checkpoint import CheckpointHook
tf.disable_eager_execution()
step = tf.train.create_global_step().assign_add(1)
tf.get_variable("big", [16, 1024, 1024], initializer=tf.ones_initializer())
scaffold = tf.train.Scaffold(saver=tf.train.Saver())
hook = CheckpointHook(sys.argv[1], scaffold, every_steps=1, max_to_keep=2, asynchronous=True)
with tf.train.MonitoredSession(tf.train.ChiefSessionCreator(scaffold), hooks=[hook]) as session:
    while True:
        session.run(step)
"""


@pytest.mark.process
def test_killed_in_the_middle_of_a_big_file_the_newest_is_whole(tmp_path):
    command = [sys.executable, "-c", BIG, str(tmp_path)]
    writing = forked.Popen(command, stderr=subprocess.DEVNULL)
    try:
        # Until the second one is listed and a later one is being written.
        while len(listed_checkpoints(str(tmp_path))) < 2 or not list(tmp_path.glob("*.saving/*")):
            assert writing.poll() is None
            time.sleep(0.001)
    finally:
        os.kill(writing.pid, signal.SIGKILL)
        writing.wait()
    path = newest_checkpoint(str(tmp_path))
    assert path in listed_checkpoints(str(tmp_path))
    assert int(tf.train.load_variable(path, "global_step")) == int(path.rsplit("-")[-1]) >= 1
    assert (tf.train.load_variable(path, "big") == 1).all()

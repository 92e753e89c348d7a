"""The hook in sessions of its own; whole runs are in tests/estimator/test_exact_resume.py."""

import contextlib
import itertools
import shutil

import pytest
import tensorflow.compat.v1 as tf

from tf_frame.config.run_options import RunOptions
from tf_frame.deploy.deployment_config import DeploymentConfig
from tf_frame.errors import CheckpointError, ConfigError, DataError
from tf_frame.graph.inputs.pipeline import make_batches
from tf_frame.graph.inputs.position import make_input_position
from tf_frame.hooks.base import Hook, Phase, in_phase_order
from tf_frame.hooks.input_position import InputPositionHook, RestoredCheckpoint
from tf_frame.plugin import Input, InputContext, Mode


class Numbers(Input):
    """Shuffled numbers, in batches; with stateful random ones or Python where `params` says so."""

    def dataset(self, mode, context):
        numbers = tf.data.Dataset.range(50).shuffle(9, seed=context.seed).repeat()
        if self.params == "stateful":
            noise = lambda n: (n, tf.random_uniform([], maxval=9, dtype=tf.int64))  # noqa: E731
            return numbers.map(noise).batch(context.batch_size)
        if self.params == "python":
            called = itertools.count()
            count = lambda n: n + 100 * next(called)  # noqa: E731
            add = lambda n: (tf.numpy_function(count, [n], tf.int64), n)  # noqa: E731
            return numbers.map(add).batch(context.batch_size)
        return numbers.map(lambda n: (n, -n)).batch(context.batch_size)


class Saver(Hook):
    """Saves the position at the start of a session, as the hook of checkpoints does."""

    phase = Phase.SAVE

    def __init__(self, run):
        super().__init__()
        self.run = run

    def start(self, session, step):
        super().start(session, step)
        self.run.save(session, "start")


class Run:
    """A run with the hook; a session of it takes batches."""

    def __init__(
        self, folder, *, kind=None, config=None, restored=None, allow_inexact=False, **counting
    ):
        self.folder, self.said = folder, []
        self.restored = RestoredCheckpoint(restored)
        config = config or RunOptions(train_batch_size=2)
        self.graph = tf.Graph()
        with self.graph.as_default():
            tf.set_random_seed(1)
            step = tf.train.create_global_step()
            self.increment = tf.assign_add(step, 1)
            source = Numbers(params=kind)
            deployment = DeploymentConfig(clone_on_cpu=True)
            context = InputContext(config.clone_batch_size, seed=config.random_seed)
            self.batches = make_batches(source, Mode.TRAIN, context, deployment)
            self.position = make_input_position(source, config)
            self.path = tf.placeholder(tf.string, [])
            tensors = {**self.position.tensors, "global_step": tf.identity(step)}
            self.saving = tf.raw_ops.SaveV2(
                prefix=self.path,
                tensor_names=list(tensors),
                shape_and_slices=[""] * len(tensors),
                tensors=list(tensors.values()),
            )
        self.hook = InputPositionHook(
            self.position,
            restored=self.restored,
            allow_inexact=allow_inexact,
            report=self.said.append,
            **counting,
        )

    @contextlib.contextmanager
    def session(self):
        with self.graph.as_default():
            hooks = in_phase_order([Saver(self), self.hook])
            with tf.train.MonitoredSession(hooks=hooks) as session:
                yield session

    def take(self, session, count):
        return [session.run([self.batches, self.increment])[0][0][0].tolist() for _ in range(count)]

    def save(self, session, name):
        path = str(self.folder / name)
        session.run(self.saving, {self.path: path})
        return path


def saved(folder, steps=5, **options):
    """The path of a checkpoint after so many steps, and the batches that come next."""
    run = Run(folder, **options)
    with run.session() as session:
        run.take(session, steps)
        return run.save(session, "model.ckpt"), run.take(session, 30)


@pytest.mark.usefixtures("variable_mode")
def test_a_resumed_session_goes_on_where_the_checkpoint_was_saved(tmp_path):
    path, following = saved(tmp_path)
    run = Run(tmp_path, restored=path)
    with run.session() as session:
        assert run.take(session, 30) == following
    assert run.said == []
    assert run.hook.cadence.next_step() == float("inf")


def test_a_worker_that_comes_back_says_how_far_its_input_is_behind(tmp_path):
    path, following = saved(tmp_path)
    path = shutil.move(f"{path}.index", f"{tmp_path}/model.ckpt-5.index").removesuffix(".index")
    shutil.move(f"{tmp_path}/model.ckpt.data-00000-of-00001", f"{path}.data-00000-of-00001")
    run = Run(tmp_path, restored=path)
    with run.session() as session:
        run.hook.start(session, 12)  # The job went on without it.
        run.hook.start(session, 5)
        assert run.take(session, 30) == following
    assert run.said == [
        "goes on at step 12 with its input position of step 5, which is 7 steps behind"
    ]


def test_the_position_is_there_before_the_first_save_of_a_session(tmp_path):
    path, following = saved(tmp_path)
    with Run(tmp_path, restored=path).session():
        pass
    again = Run(tmp_path, restored=str(tmp_path / "start"))
    with again.session() as session:
        assert again.take(session, 30) == following


def test_a_session_that_is_made_anew_goes_on_from_the_newest_checkpoint(tmp_path):
    run = Run(tmp_path)
    with run.session() as session:
        run.take(session, 3)
        run.restored.path = run.save(session, "model.ckpt-3")
        following = run.take(session, 10)
    with run.session() as session:
        assert run.take(session, 10) == following


def test_a_new_run_begins_at_the_beginning(tmp_path):
    first, second = Run(tmp_path), Run(tmp_path)
    with first.session() as session:
        batches = first.take(session, 5)
    with second.session() as session:
        assert second.take(session, 5) == batches
    assert first.said == []


def test_an_input_that_cannot_be_saved_ends_the_run_before_the_first_step(tmp_path):
    run = Run(tmp_path, kind="stateful")
    with pytest.raises(DataError, match="RandomUniformInt is stateful"), run.session():
        pytest.fail("a step could run")
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_with_leave_an_input_that_cannot_be_saved_trains_with_a_warning(tmp_path):
    path, _ = saved(tmp_path, kind="stateful", allow_inexact=True)
    run = Run(tmp_path, kind="stateful", restored=path, allow_inexact=True)
    with run.session() as session:
        first = run.take(session, 5)
    beginning = Run(tmp_path, kind="stateful", allow_inexact=True)
    with beginning.session() as session:
        assert beginning.take(session, 5) == first
    warning, new_pass = run.said
    assert warning.startswith("warning: the position in the input cannot be saved: ")
    assert warning.endswith("RandomUniformInt is stateful; a resumed run will not be exact")
    assert new_pass == "warning: a new pass over the data begins"
    assert beginning.said == [warning]


COUNTED = {"runs_per_step": 1}


@pytest.mark.parametrize("kind", ["python", "stateful"])
def test_an_input_that_cannot_be_saved_goes_on_by_its_count(tmp_path, kind):
    """The Python function returns other values at each call, in the order of its calls."""
    path, following = saved(tmp_path, steps=40, kind=kind, **COUNTED)  # Beyond the first pass.
    run = Run(tmp_path, kind=kind, restored=path, **COUNTED)
    with run.session() as session:
        assert run.take(session, 30) == following
    note, reading = run.said
    assert note.startswith("note: the position in the input cannot be saved: ")
    assert "and goes on exactly" in note and "\n" not in note
    assert reading == "reading the input of 40 steps again"


def test_the_note_of_a_new_run_says_what_makes_it_exact(tmp_path):
    run = Run(tmp_path, kind="python", **COUNTED)
    with run.session() as session:
        run.take(session, 1)
    (note,) = run.said
    for text in ("PyFunc is stateful", "if its Python functions return the same", "replace its"):
        assert text in note
    assert "exact_resume = False" in note and "--strict" in note


def test_strictly_it_ends_the_run(tmp_path):
    run = Run(tmp_path, kind="python", strict=True, **COUNTED)
    with (
        pytest.raises(DataError, match=r"PyFunc is stateful \(an error because of --strict\)\n"),
        run.session(),
    ):
        pytest.fail("a step could run")


def test_batches_of_several_runs_a_step_are_counted(tmp_path):
    path, following = saved(tmp_path, steps=6, kind="python", runs_per_step=1)
    again = Run(tmp_path, kind="python", restored=path, runs_per_step=2)
    with again.session() as session:
        assert again.take(session, 24) == following[6:]


def test_the_position_may_be_restored_again_in_one_session(tmp_path):
    """As a worker does whose chief goes back to a checkpoint."""
    path, following = saved(tmp_path, kind="stateful", **COUNTED)
    run = Run(tmp_path, kind="stateful", restored=path, **COUNTED)
    with run.session() as session:
        run.take(session, 7)
        raw = session.run_step_fn(lambda step_context: step_context.session)
        run.position.restore(raw, path, report=run.said.append)
        assert run.take(session, 20) == following[:20]


def test_a_signal_ends_the_reading(tmp_path):
    path, _ = saved(tmp_path, kind="python", **COUNTED)
    beginning = Run(tmp_path, kind="python", **COUNTED)
    run = Run(tmp_path, kind="python", restored=path, interrupted=lambda: True, **COUNTED)
    with beginning.session() as one, run.session() as other:
        assert run.take(other, 3) == beginning.take(one, 3)


def test_of_a_counted_input_too_the_batch_size_must_be_the_same(tmp_path):
    path, _ = saved(tmp_path, kind="python", **COUNTED)
    config = RunOptions(train_batch_size=4)
    run = Run(tmp_path, kind="python", restored=path, config=config, **COUNTED)
    with pytest.raises(ConfigError, match="batch size of a clone 2 -> 4"), run.session():
        pytest.fail("a step could run")


def test_another_batch_size_ends_the_run(tmp_path):
    path, _ = saved(tmp_path)
    run = Run(tmp_path, restored=path, config=RunOptions(train_batch_size=4))
    with pytest.raises(ConfigError, match="batch size of a clone 2 -> 4"), run.session():
        pytest.fail("a step could run")


def test_before_the_first_step_another_batch_size_is_no_error(tmp_path):
    path, _ = saved(tmp_path, steps=0)
    config = RunOptions(train_batch_size=4)
    run, fresh = Run(tmp_path, restored=path, config=config), Run(tmp_path, config=config)
    with run.session() as session, fresh.session() as other:
        assert run.take(session, 5) == fresh.take(other, 5)
    assert run.said == []


@pytest.mark.slow
def test_with_leave_another_batch_size_begins_a_new_pass(tmp_path):
    path, _ = saved(tmp_path)
    config = RunOptions(train_batch_size=4)
    run = Run(tmp_path, restored=path, config=config, allow_inexact=True)
    fresh = Run(tmp_path, config=config)
    with fresh.session() as session:
        beginning = fresh.take(session, 5)
    with run.session() as session:
        assert run.take(session, 5) == beginning
        again = run.save(session, "again")
        following = run.take(session, 5)
    (line,) = run.said
    assert line.startswith("warning: ") and "2 -> 4; a new pass over the data begins" in line
    # From then on the position is saved.
    resumed = Run(tmp_path, restored=again, config=config)
    with resumed.session() as session:
        assert resumed.take(session, 5) == following


def test_a_checkpoint_without_position_ends_the_run_unless_there_is_leave(tmp_path):
    path, _ = saved(tmp_path, kind="stateful", allow_inexact=True)
    run = Run(tmp_path, restored=path)
    with (
        pytest.raises(CheckpointError, match="does not hold the position in the input"),
        run.session(),
    ):
        pytest.fail("a step could run")
    run = Run(tmp_path, restored=path, allow_inexact=True)
    with run.session() as session:
        run.take(session, 1)
    (line,) = run.said
    assert line.endswith("which could not be saved; a new pass over the data begins")


@pytest.mark.slow
@pytest.mark.parametrize("allow_inexact", [False, True])
def test_a_worker_that_is_lost_while_the_position_is_restored_is_no_damage(
    tmp_path, monkeypatch, allow_inexact
):
    path, following = saved(tmp_path)
    run = Run(tmp_path, restored=path, allow_inexact=allow_inexact)
    put, tries = run.position.put, []

    def lost_once(session, values):
        tries.append(1)
        if len(tries) == 1:
            raise tf.errors.AbortedError(None, None, "lost")
        put(session, values)

    monkeypatch.setattr(run.position, "put", lost_once)
    with run.session() as session:
        assert run.take(session, 30) == following
    assert len(tries) == 2
    assert run.said == []

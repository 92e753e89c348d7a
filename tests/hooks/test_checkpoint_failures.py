import pytest
import tensorflow.compat.v1 as tf

from tf_frame.checkpoint.newest import known_checkpoints, newest_checkpoint
from tf_frame.errors import CheckpointError, NonFiniteError
from tf_frame.hooks.base import Hook, Phase
from tf_frame.hooks.checkpoint import CheckpointHook


class Poison(Hook):
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


class FailingSaver(tf.train.Saver):
    """Writes half of a checkpoint at one step, and then fails."""

    def __init__(self, error, at_step, leftover, **options):
        super().__init__(**options)
        self.error, self.at_step, self.leftover = error, at_step, leftover

    def save(self, sess, save_path, global_step=None, **options):
        if global_step != self.at_step:
            return super().save(sess, save_path, global_step=global_step, **options)
        for suffix in self.leftover:
            with tf.io.gfile.GFile(f"{save_path}-{global_step}{suffix}", "w") as file:
                file.write("half")
        raise self.error


@pytest.fixture
def failing(tmp_path, build):
    """Builds a graph whose save at step 4 fails, and its hook."""

    def failing(error, leftover=(".index", ".data-00000-of-00001.tempstate123")):
        graph = build()
        with graph.graph.as_default():
            saver = FailingSaver(error, 4, leftover, save_relative_paths=True)
        graph.scaffold._saver = saver
        return graph, CheckpointHook(str(tmp_path), graph.scaffold, every_steps=2)

    return failing


def names(folder):
    return {path.name.split(".data")[0].removesuffix(".index") for path in folder.iterdir()}


@pytest.mark.usefixtures("variable_mode")
@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_variable_that_is_not_finite_is_never_saved(tmp_path, build, train, value):
    graph = build()
    save = CheckpointHook(str(tmp_path), graph.scaffold, every_steps=2)
    with pytest.raises(NonFiniteError) as error:
        train(graph, [save, Poison("linear/biases", value, at_step=3)], to=9)
    assert "NaN or infinity at global step 4, first linear/" in str(error.value)
    assert "linear/biases" in str(error.value)
    assert newest_checkpoint(str(tmp_path)) == str(tmp_path / "model.ckpt-2")
    assert not list(tmp_path.glob("model.ckpt-4*"))


def test_only_the_variables_that_are_not_finite_are_named(tmp_path, build, train):
    graph = build()
    save = CheckpointHook(str(tmp_path), graph.scaffold, every_steps=2)
    with pytest.raises(NonFiniteError, match=r"^1 variables .* step 2, first linear/biases; the"):
        train(graph, [save, Poison("linear/biases", float("nan"), at_step=2)], to=9)


def test_the_last_step_is_not_saved_either_if_it_is_not_finite(tmp_path, build, train):
    graph = build()
    save = CheckpointHook(str(tmp_path), graph.scaffold, every_steps=100)
    with pytest.raises(NonFiniteError, match="at global step 3"):
        train(graph, [save, Poison("linear/weights", float("nan"), at_step=3)], to=3)
    assert known_checkpoints(str(tmp_path)) == [str(tmp_path / "model.ckpt-0")]


@pytest.mark.parametrize(
    "error",
    [
        tf.errors.ResourceExhaustedError(None, None, "No space left on device"),
        OSError("No space left on device"),
        ValueError("No space left on device"),
    ],
)
def test_a_save_that_fails_leaves_the_one_before_and_no_leftovers(tmp_path, failing, train, error):
    graph, hook = failing(error)
    with pytest.raises(CheckpointError) as raised:
        train(graph, [hook], to=9)
    before = tmp_path / "model.ckpt-2"
    assert str(raised.value).startswith(
        "the checkpoint of global step 4 could not be written: No space left on device\n"
        f"the last good checkpoint is {before}; free space in {tmp_path}"
    )
    assert newest_checkpoint(str(tmp_path)) == str(before)
    assert names(tmp_path) == {"checkpoint", "model.ckpt-0", "model.ckpt-2"}


def test_the_shards_of_a_save_that_fails_are_removed(tmp_path, failing, train):
    (tmp_path / "model.ckpt-4_temp").mkdir()
    graph, hook = failing(OSError("full"), leftover=["_temp/part-00000-of-00002.index"])
    with pytest.raises(CheckpointError, match="full"):
        train(graph, [hook], to=9)
    assert names(tmp_path) == {"checkpoint", "model.ckpt-0", "model.ckpt-2"}


def test_leftovers_of_other_steps_are_not_touched(tmp_path, failing, train):
    (tmp_path / "model.ckpt-40.index").write_text("of another run")
    graph, hook = failing(OSError("full"))
    with pytest.raises(CheckpointError):
        train(graph, [hook], to=9)
    assert (tmp_path / "model.ckpt-40.index").exists()


def test_a_folder_in_the_place_of_a_checkpoint_is_explained_and_kept(tmp_path, build, train):
    (tmp_path / "model.ckpt-2.index").mkdir()
    (tmp_path / "model.ckpt-2.index" / "notes").write_text("mine")
    graph = build()
    hook = CheckpointHook(str(tmp_path), graph.scaffold, every_steps=2)
    with pytest.raises(CheckpointError, match="checkpoint of global step 2 could not be written"):
        train(graph, [hook], to=9)
    assert newest_checkpoint(str(tmp_path)) == str(tmp_path / "model.ckpt-0")
    assert (tmp_path / "model.ckpt-2.index" / "notes").read_text() == "mine"


def test_a_first_save_that_fails_says_that_there_is_none_before(tmp_path, build, train):
    (tmp_path / "model.ckpt-0.index").mkdir()
    graph = build()
    hook = CheckpointHook(str(tmp_path), graph.scaffold, every_steps=2)
    with pytest.raises(CheckpointError, match="there is none before it"):
        train(graph, [hook], to=9)


def test_after_a_save_that_failed_the_run_resumes_from_the_one_before(
    tmp_path, failing, build, train
):
    graph, hook = failing(OSError("full"))
    with pytest.raises(CheckpointError):
        train(graph, [hook], to=9)
    graph, steps = build(), []
    hook = CheckpointHook(str(tmp_path), graph.scaffold, every_steps=100)
    train(graph, [hook], to=5, each=lambda _: steps.append(1))
    assert len(steps) == 3
    assert newest_checkpoint(str(tmp_path)) == str(tmp_path / "model.ckpt-5")


def test_a_lost_server_during_a_save_is_left_to_the_recovery_of_the_session(
    tmp_path, failing, train
):
    graph, hook = failing(tf.errors.UnavailableError(None, None, "server lost"), leftover=())
    saver, steps = graph.scaffold.saver, []

    class OnceOnly(Hook):
        def after_create_session(self, session, coord):
            if steps:
                saver.at_step = None

    train(graph, [hook, OnceOnly()], to=6, each=lambda _: steps.append(1))
    assert newest_checkpoint(str(tmp_path)) == str(tmp_path / "model.ckpt-6")
    assert len(steps) > 4

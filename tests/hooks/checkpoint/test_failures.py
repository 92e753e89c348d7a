"""Saves that fail: variables that are not finite, errors of writing, a full disk."""

import subprocess

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from slow_cases import slow_but
from tf_frame.checkpoint.find.newest import listed_checkpoints, newest_checkpoint
from tf_frame.config.run_options import RunOptions
from tf_frame.errors import CheckpointError, NonFiniteError
from tf_frame.hooks.base import Phase
from tf_frame.hooks.checkpoint import CheckpointHook
from tf_frame.plugin import InputInfo
from tf_frame.testing.toy import ToyModel, build_toy_graph

from .conftest import names


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

    def make_hook(graph, folder=tmp_path, **options):
        return CheckpointHook(str(folder), graph.scaffold, asynchronous=request.param, **options)

    return make_hook


@pytest.mark.usefixtures("variable_mode")
@pytest.mark.parametrize("value", slow_but(0, [float("nan"), float("inf")]))
def test_a_variable_that_is_not_finite_is_never_saved(tmp_path, make_hook, build, train, value):
    graph = build()
    hooks = [make_hook(graph, every_steps=2), Poison("linear/biases", value, at_step=3)]
    with pytest.raises(NonFiniteError) as error:
        train(graph, hooks, to=9)
    assert "NaN or infinity at global step 4, first linear/" in str(error.value)
    assert "linear/biases" in str(error.value)
    hooks[0].close()
    assert newest_checkpoint(str(tmp_path)) == str(tmp_path / "model.ckpt-2")
    assert not list(tmp_path.rglob("*model.ckpt-4*"))


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
        f"written, and go on with --model_dir {tmp_path}"
    )
    assert raised.value.__cause__ is error
    assert newest_checkpoint(str(tmp_path)) == str(before)
    assert names(tmp_path) == {"checkpoint", "model.ckpt-0", "model.ckpt-2"}


@pytest.mark.parametrize("is_replaced", [False, True])
def test_a_folder_that_is_removed_or_replaced_ends_the_run_and_is_not_made_again(
    tmp_path, make_hook, build, train, is_replaced
):
    graph, folder, other = build(), tmp_path / "run", tmp_path / "other"
    hook = make_hook(graph, folder, every_steps=4)

    def take_away(session):
        hook.wait()
        if not other.exists():
            folder.rename(other)
            if is_replaced:
                folder.mkdir()

    message = r"run was removed or replaced while the run wrote to it; global step 4 is not saved"
    with pytest.raises(CheckpointError, match=message):
        train(graph, [hook], to=9, each=take_away)
    assert folder.exists() == is_replaced
    assert not list(folder.glob("*"))


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


@pytest.mark.slow
def test_a_first_save_that_fails_says_that_there_is_none_before(tmp_path, make_hook, build, train):
    (tmp_path / "model.ckpt-0.index").mkdir()
    graph = build()
    with pytest.raises(CheckpointError, match="there is none before it"):
        train(graph, [make_hook(graph, every_steps=2)], to=9)


@pytest.mark.slow
def test_a_last_save_that_fails_is_raised_at_the_end_and_the_run_can_be_resumed(
    tmp_path, make_hook, build, train, fail_at
):
    graph = build()
    fail_at(3, OSError("full"))
    with pytest.raises(CheckpointError, match="the checkpoint of global step 3 .* full"):
        train(graph, [make_hook(graph, every_steps=2)], to=3)
    assert newest_checkpoint(str(tmp_path)) == str(tmp_path / "model.ckpt-2")
    graph = build()
    assert train(graph, [make_hook(graph, every_steps=100)], to=5) == 3
    assert newest_checkpoint(str(tmp_path)) == str(tmp_path / "model.ckpt-5")


def test_a_lost_server_during_a_save_is_left_to_the_recovery_of_the_session(
    tmp_path, build, train, fail_at
):
    fail_at(4, tf.errors.UnavailableError(None, None, "server lost"))
    assert train(build(), [], to=6, save_every=2) > 4
    assert newest_checkpoint(str(tmp_path)) == str(tmp_path / "model.ckpt-6")


class Wide(ToyModel):
    """The toy model with more variables: they add 0.6 MB to a checkpoint."""

    def build(self, features, labels, mode):
        output = super().build(features, labels, mode)
        tf.get_variable("wide", [150_000], trainable=False)
        return output


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
    def build_wide():
        wide = Wide(params=Wide.Params(), info=InputInfo())
        return build_toy_graph(RunOptions(train_batch_size=8), model=wide)

    graph = build_wide()
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
    graph = build_wide()
    train(graph, [make_hook(graph, every_steps=1)], to=3)
    assert newest_checkpoint(str(small_disk)) == str(small_disk / "model.ckpt-3")

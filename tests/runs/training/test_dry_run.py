"""`--dry_run`: what it does, what it leaves behind, and the errors of a real run."""

import dataclasses
import os

import pytest
import tensorflow.compat.v1 as tf

from tf_frame.cli.run import main
from tf_frame.cluster.find import find_cluster
from tf_frame.errors import CheckpointError, ConfigError, DataError
from tf_frame.runs.setup.run_context import RunObserver
from tf_frame.runs.training.dry_run import dry_run
from tf_frame.session.interrupts import Interrupted, Interrupts
from tf_frame.testing.distributions import write_toy_distribution
from tf_frame.testing.toy import ToyInput, ToyModel, make_setup, run_setup


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """The folder for temporary files."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


def try_run(
    model_dir, *, model=ToyModel, source=ToyInput, interrupts=None, report=print, **options
):
    setup = make_setup(model, source, str(model_dir), **{"max_steps": 50, **options})
    observer = RunObserver(report, interrupts or Interrupts())
    return dry_run(setup, setup.make_input(), cluster=find_cluster(setup.config), observer=observer)


def state(folder):
    """Content and times of all files and folders."""
    paths = [folder, *folder.rglob("*")]
    return {p: (p.stat().st_mtime_ns, p.is_file() and p.read_bytes()) for p in paths}


def test_a_new_run_is_tried_and_leaves_nothing(tmp_path, temporary):
    class Noted(ToyInput):
        def notes(self):
            return ["two files are left out"]

    lines, options = [], {"eval_every_n_steps": 1, "save_summaries_steps": 1}
    told = try_run(tmp_path / "new", source=Noted, report=lines.append, **options)
    assert "note: two files are left out" in lines
    assert "trained from the initial values to step 2; total_loss " in told
    assert "evaluated one batch; mean_absolute_error" in told
    reported = "an evaluation of the run reports mean_absolute_error, loss"
    assert f"dry run: {reported}\n" in told
    assert told.endswith(f"nothing was written to {tmp_path / 'new'}")
    assert not (tmp_path / "new").exists()
    assert not list(temporary.glob("tf-frame*"))


@pytest.mark.slow
def test_the_checkpoint_of_the_folder_is_restored_and_the_folder_untouched(tmp_path, temporary):
    folder = tmp_path / "here"
    folder.mkdir()
    run_setup(make_setup(ToyModel, ToyInput, str(folder), max_steps=5), report=lambda line: None)
    before = state(folder)
    told = try_run(folder)
    assert f"trained from {folder}/model.ckpt-5 to step 7" in told
    assert "has reached --max_steps: nothing to train" in try_run(folder, max_steps=5)
    with pytest.raises(CheckpointError, match="checkpoint of another model"):
        try_run(folder, optimizer="adam")
    assert state(folder) == before
    assert not list(temporary.glob("tf-frame*"))


class Broken(ToyInput):
    def dataset(self, mode, context):
        data = super().dataset(mode, context)
        return data.map(lambda x, y: (x + tf.strings.to_number("bad"), y))


@pytest.mark.slow
def test_errors_are_those_of_a_run(tmp_path, temporary):
    with pytest.raises(DataError, match="cannot be read: .* convert string: bad"):
        try_run(tmp_path / "new", source=Broken)
    told = try_run(tmp_path / "new", source=EmptyEvaluation)
    assert (
        "dry run: nothing is evaluated: the evaluation split of the input 'toy' of tests 0 is empty"
        in told
    )
    with pytest.raises(ConfigError, match="--best_metric 'los' is not known; did you mean 'loss'"):
        try_run(tmp_path / "new", keep_best=1, best_metric="los", best_mode="max")
    with pytest.raises(
        DataError, match="the training split of the input 'toy' of tests 0 is empty"
    ):
        try_run(tmp_path / "new", source=EmptyTraining)
    assert not list(temporary.glob("tf-frame*"))


class EmptyEvaluation(ToyInput):
    def dataset(self, mode, context):
        data = super().dataset(mode, context)
        return data.take(0) if mode == "eval" else data


class EmptyTraining(ToyInput):
    def dataset(self, mode, context):
        return super().dataset(mode, context).take(0)


def test_a_cluster_is_not_trained(tmp_path):
    with pytest.raises(ConfigError, match="would train the variables of the cluster"):
        try_run(tmp_path / "new", master="grpc://localhost:1")


def test_a_signal_ends_it_and_promises_nothing(tmp_path, temporary):
    interrupts = Interrupts()
    interrupts.received = 2
    with pytest.raises(Interrupted, match="the dry run was stopped$"):
        try_run(tmp_path / "new", interrupts=interrupts)
    assert not list(temporary.glob("tf-frame*"))


@pytest.fixture
def toy(tmp_path, monkeypatch):
    write_toy_distribution(tmp_path / "site")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    monkeypatch.chdir(tmp_path)
    return ["--plugin", "toy", "--max_steps", "9", "--dry_run"]


@pytest.mark.slow
def test_the_command_says_what_it_did_and_makes_no_folder(toy, tmp_path, temporary, capsys):
    before = sorted(os.listdir(tmp_path))
    assert main(toy) == 0
    told = capsys.readouterr().out
    assert "training" in told and "dry run: trained from the initial values to step 2" in told
    assert main([*toy, "--model_dir", "a/b/c"]) == 0
    with pytest.raises(ConfigError, match="cannot be written"):
        main([*toy, "--model_dir", "/proc/nowhere"])
    assert sorted(os.listdir(tmp_path)) == before


def test_steps_of_a_longer_run_are_those_of_its_schedule(tmp_path, temporary):
    """Two steps do not shorten a schedule that ends at the last step."""
    seen = []

    class Recorded(ToyModel):
        def build(self, features, labels, mode):
            output = super().build(features, labels, mode)
            return dataclasses.replace(output, chief_hooks=[Recorder(seen)])

    try_run(tmp_path / "new", model=Recorded, schedule="cosine", max_steps=100, evaluate=False)
    assert seen[0] == pytest.approx(0.05, rel=1e-3) and seen[1] > 0.049


class Recorder(tf.train.SessionRunHook):
    def __init__(self, seen):
        self.seen = seen

    def before_run(self, run_context):
        rate = run_context.session.graph.get_tensor_by_name("learning_rate:0")
        return tf.train.SessionRunArgs(rate)

    def after_run(self, run_context, run_values):
        self.seen.append(float(run_values.results))

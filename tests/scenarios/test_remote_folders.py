"""Model folders on another file system than the machine's: TensorFlow's `ram://`."""

import json
import sys

import pytest
import tensorflow.compat.v1 as tf

from tf_frame.cli.main import main
from tf_frame.testing.distributions import write_toy_distribution

FOLDER = "ram://remote/runs/first"
TOY = ("--plugin", "toy", "--log_every_n_steps", "2")


@pytest.fixture(scope="module", autouse=True)
def toy(tmp_path_factory):
    """The toy plugin, installed in this process."""
    site = tmp_path_factory.mktemp("site")
    write_toy_distribution(site)
    sys.path.insert(0, str(site))
    yield
    sys.path.remove(str(site))


@pytest.fixture
def call(capsys):
    """Runs a command in this process, since each process has its own `ram://`."""

    def call(*words, code=0):
        assert main([*map(str, words)]) == code
        captured = capsys.readouterr()
        assert "Traceback" not in captured.err
        return captured.out + captured.err

    return call


@pytest.fixture(scope="module")
def first(toy):
    """A run of 6 steps in the folder."""
    assert main(["run", *TOY, "--model_dir", FOLDER, "--max_steps", "6"]) == 0
    return FOLDER


def read(name):
    with tf.io.gfile.GFile(f"{FOLDER}/{name}", "r") as file:
        return file.read()


def test_a_run_writes_all_its_files_there(first):
    names = set(tf.io.gfile.listdir(FOLDER))
    assert {"checkpoint", "config.yaml", "metrics.csv", "result.json", "train.log"} <= names
    assert "model.ckpt-6.index" in names and any(n.startswith("events.") for n in names)
    assert not [name for name in names if "probe" in name or "partial" in name]
    assert json.loads(read("result.json"))["global_step"] == 6
    assert "step 6: evaluation: " in read("train.log")


def test_the_user_is_told_that_nothing_locks_it_and_a_run_resumes(first, call):
    out = call("run", "--model_dir", FOLDER, "--max_steps", 8)
    assert "cannot be locked; a second run in it would overwrite files of this one" in out
    assert f"resuming from {FOLDER}/model.ckpt-6" in out
    steps = [line.split(",")[0] for line in read("metrics.csv").splitlines()]
    assert steps == ["step", "2", "4", "6", "6", "8", "8"]


def test_other_commands_read_it(first, call, tmp_path):
    assert "mean_absolute_error" in call("evaluate", FOLDER)
    assert "linear/weights" in call("checkpoint", "show", FOLDER)
    call("export", FOLDER, "--format", "saved_model", "--output", tmp_path / "exported")
    assert list(tmp_path.glob("exported/**/saved_model.pb"))


@pytest.mark.parametrize(("words", "code"), [(["--learning_rate", "-1"], 2), (["--dry_run"], 0)])
def test_a_failed_start_and_a_dry_run_leave_no_folder(call, words, code):
    call("run", *TOY, "--model_dir", "ram://remote/none", *words, code=code)
    assert not tf.io.gfile.exists("ram://remote/none")


def test_a_file_system_that_nobody_knows_is_one_line(call):
    out = call("run", *TOY, "--model_dir", "nosuch://place/run", code=2)
    assert "tf-frame: nosuch://place/run" in out
    assert "TensorFlow knows no such file system; it knows " in out and " ram://" in out

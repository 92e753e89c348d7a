"""`tf-frame profile` where no profile is made, or not a whole one."""

import json
import signal

import pytest

from hand_made_steps import Recording
from source_plugins import install_source
from tf_frame.cli.profile import record as run
from tf_frame.profiling.step_profile import to_bytes
from tf_frame.session.interrupts import Interrupted

PLUGIN = """
from tf_frame.testing.toy import ToyInput, ToyModel


class Short(ToyInput):
    def dataset(self, mode, context):
        return super().dataset(mode, context).take(6)


class Python(ToyInput):
    def dataset(self, mode, context):
        import tensorflow as tf

        def same(x):
            return x

        @tf.autograph.experimental.do_not_convert  # It would leave a file.
        def parse(features, labels):
            x = tf.numpy_function(same, [features], tf.float32)
            return tf.ensure_shape(x, features.shape), labels

        return super().dataset(mode, context).map(parse)


class Raises(ToyModel):
    def build(self, features, labels, mode):
        import tensorflow.compat.v1 as tf

        def fail(value):
            raise ValueError("no such image")

        value = tf.numpy_function(fail, [features], tf.float32)
        value.set_shape(features.shape)
        return super().build(value, labels, mode)
"""


@pytest.fixture(autouse=True)
def installed(tmp_path, monkeypatch):
    """The plugins toy, short and raises; temporary folders are made in a fresh folder."""
    install_source(monkeypatch, tmp_path, "faults", PLUGIN, inputs="Short Python", models="Raises")
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))


@pytest.fixture
def profile(tmp_path, tf_frame):
    """Runs `tf-frame profile`, which must leave no temporary folder; returns code and output."""

    def profile(*words):
        result = tf_frame("profile", "--model_dir", "found", *words)
        assert not list((tmp_path / "temporary").iterdir())
        return result

    return profile


@pytest.fixture
def trains(monkeypatch):
    """Replaces the training by a function without arguments."""

    def trains(train):
        monkeypatch.setattr(run.training, "run_line", lambda *line, **more: train())

    return trains


@pytest.fixture
def record(tmp_path):
    """Writes a profile of two steps under a name."""

    def record(name):
        folder = tmp_path / "found" / "plugins" / "profile" / f"2026_01_31_{name}"
        folder.mkdir(parents=True)
        content = to_bytes(Recording().step(1).step(1).profile())
        (folder / "here_worker_0.steps.json.gz").write_bytes(content)

    return record


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--steps", "0"], "--steps: 0 is out of range; allowed: 1 or more"),
        (["--warmup", "-1"], "--warmup: -1 is out of range"),
        (["--stepz", "3"], "unknown option --stepz; did you mean --steps?"),
        (["--profile_at_step", "3"], "sets --profile_at_step itself"),
        (["--max_steps", "100"], "tf-frame profile sets --max_steps itself"),
        (["--dry_run"], "tf-frame profile trains; --dry_run is an option of tf-frame run"),
        (["--mode", "evaluate"], "tf-frame profile trains; --mode is an option of tf-frame run"),
    ],
)
def test_wrong_options_are_refused_before_training(profile, trains, tmp_path, words, message):
    trains(lambda: pytest.fail("it must not train"))
    code, _, err = profile("--plugin", "toy", *words)
    assert code == 2 and message in err
    assert not (tmp_path / "found").exists()


def test_a_folder_that_cannot_be_written_is_refused_before_training(profile, trains, tmp_path):
    trains(lambda: pytest.fail("it must not train"))
    (tmp_path / "found").touch()
    code, _, err = profile("--plugin", "toy")
    assert code == 2 and err.startswith("tf-frame: --model_dir found cannot be written: ")


def test_without_a_new_profile_no_old_one_is_reported(profile, trains, record):
    record("12_00_00_old")
    trains(lambda: None)
    code, printed, err = profile("--plugin", "toy")
    assert (code, printed) == (2, "")
    assert "no step was recorded in found: the training ended before step 6, or" in err


def test_the_new_profile_is_reported_whatever_the_names_of_others(profile, trains, record):
    record("later_by_name")
    trains(lambda: record("12_00_00_new"))
    code, printed, _ = profile("--plugin", "toy", "--json")
    assert code == 0 and '"2026_01_31_12_00_00_new"' in printed


def test_a_stopped_profile_says_what_there_is_and_nothing_of_checkpoints(profile, trains, record):
    def stop():
        raise Interrupted(signal.SIGINT, "resume with: tf-frame run --model_dir /tmp/away")

    trains(stop)
    assert profile("--plugin", "toy") == (
        130,
        "",
        "tf-frame: SIGINT: stopped; nothing recorded\n",
    )
    trains(lambda: (record("12_00_00"), stop()))
    code, _, err = profile("--plugin", "toy")
    assert (code, err) == (130, "tf-frame: SIGINT: stopped; see tf-frame profile show found\n")


def test_data_that_end_within_the_range_are_reported_as_far_as_they_went(profile):
    code, printed, _ = profile("--plugin", "toy", "--input", "short", "--warmup", "1")
    assert code == 0
    assert "the training data ended at step 6 of 12" in printed
    assert "4 steps, 3 to 6." in printed


def test_a_plugin_that_raises_in_its_first_step_is_named(profile):
    code, _, err = profile("--plugin", "raises", "--input", "toy", "--steps", "1")
    assert code == 2
    assert "no such image" in err.splitlines()[0] and "Traceback" not in err


def test_a_profile_of_an_input_with_python_functions_records_them_and_warns_of_no_resume(profile):
    words = ("--plugin", "toy", "--input", "python", "--warmup", "1", "--steps", "2", "--json")
    code, printed, err = profile(*words)
    assert code == 0 and json.loads(printed)["python_functions"] == [
        "same (faults_plugins.py, line 14)"
    ]
    assert "resume" not in err

"""Whole runs of the toy model inside this process."""

import json

import pytest
import tensorflow.compat.v1 as tf
import yaml

from tf_frame.errors import DataError
from tf_frame.estimator.run import run
from tf_frame.plugin import Mode
from tf_frame.session.interrupts import Interrupts
from tf_frame.testing.toy import ToyInput, ToyModel, make_job


@pytest.fixture
def go(tmp_path, capsys):
    """Runs a job of the toy model; returns its result and what it said."""

    def go(*, source=ToyInput, model=ToyModel, **options):
        lines = []
        job = make_job(model, source, str(tmp_path), **options)
        result = run(job, source=job.make_input(), interrupts=Interrupts(), say=lines.append)
        return result, "\n".join(lines)

    return go


def test_the_result_is_written(go, tmp_path):
    result, _ = go(max_steps=5)
    assert json.loads((tmp_path / "result.json").read_text()) == result
    assert result["global_step"] == 5
    assert result["examples_per_sec"] == pytest.approx(8 * result["steps_per_sec"])


def test_the_configuration_is_written_before_training(go, tmp_path):
    go(max_steps=5, optimizer="sgd", values={"model.l2": 0.5})
    written = yaml.safe_load((tmp_path / "config.yaml").read_text())
    assert (written["optimizer"], written["model"]["l2"]) == ({"name": "sgd"}, 0.5)
    assert written["schedule"] == {"name": "fixed"}


def test_a_second_run_trains_the_missing_steps_only(go):
    go(max_steps=5)
    result, said = go(max_steps=8)
    assert result["global_step"] == 8
    assert "resuming from" in said


def test_at_the_last_step_nothing_is_trained(go, tmp_path):
    go(max_steps=5)
    saved = sorted(path.name for path in tmp_path.glob("model.ckpt-*"))
    result, said = go(max_steps=5)
    assert "nothing to train" in said
    assert result["global_step"] == 5 and result["steps_per_sec"] is None
    assert sorted(path.name for path in tmp_path.glob("model.ckpt-*")) == saved


def test_without_evaluation_there_are_no_metrics(go, tmp_path):
    result, _ = go(max_steps=5, evaluate=False)
    assert result["metrics"] == {}
    assert not (tmp_path / "eval").exists()


class OneEpoch(ToyInput):
    def dataset(self, mode, context):
        return super().dataset(Mode.EVAL, context)


def test_data_that_ends_ends_training(go):
    result, said = go(max_steps=100, source=OneEpoch)
    assert result["global_step"] == 8
    assert "the training data ended at step 8 of 100" in said


def test_empty_training_data_is_an_error(go):
    with pytest.raises(DataError, match="the training data is empty"):
        go(max_steps=5, source=OneEpoch, values={"input.num_examples": 0})


class Corrupt(ToyInput):
    def dataset(self, mode, context):
        def read(features, labels):
            picture = tf.io.decode_png(tf.constant(b"no png"))
            return features, labels + tf.cast(tf.shape(picture)[0], tf.float32)

        return super().dataset(mode, context).map(read)


def test_unreadable_data_is_an_error_of_the_data(go):
    with pytest.raises(DataError, match="the data cannot be read: .*PNG"):
        go(max_steps=5, source=Corrupt)


def test_the_log_file_holds_loss_and_learning_rate(go, tmp_path):
    go(max_steps=5, log_every_n_steps=2)
    text = (tmp_path / "train.log").read_text()
    assert "step 3: loss = " in text and "learning_rate = 0.05" in text


@pytest.mark.parametrize("content", [b"[1]", b"null", b"\xff\x00", b"{"])
def test_a_spoilt_result_of_before_is_replaced(go, tmp_path, content):
    go(max_steps=3)
    (tmp_path / "result.json").write_bytes(content)
    result, _ = go(max_steps=3)
    assert json.loads((tmp_path / "result.json").read_text()) == result


def test_the_seed_decides_initial_values_and_order(tmp_path, go):
    class Random(ToyModel):
        def build(self, features, labels, mode):
            noise = tf.get_variable("noise", [3], trainable=False)
            output = super().build(features + noise, labels, mode)
            return output

    losses = []
    for index, seed in enumerate([1, 1, 2]):
        folder = tmp_path / str(index)
        folder.mkdir()
        job = make_job(Random, ToyInput, str(folder), max_steps=2, random_seed=seed)
        result = run(job, source=job.make_input(), interrupts=Interrupts(), say=print)
        losses.append(result["loss"])
    assert losses[0] == losses[1] != losses[2]

"""A run that begins with the variables of another run."""

import dataclasses
import logging

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame.errors import CheckpointError, ConfigError, TfFrameError
from tf_frame.testing.toy import ToyModel


@pytest.mark.slow
def test_a_warm_start_reports_and_only_begins_a_new_run(go, tmp_path, other_run, caplog):
    folder = other_run(max_steps=30)
    options = {"warm_start_from": str(folder), "learning_rate": 0.0}
    caplog.set_level(logging.INFO, "tf_frame")
    result, said = go(max_steps=1, **options)
    for text in (said, caplog.text):
        assert f"warm start from {folder}/model.ckpt-30: 2 of 2 variables restored; " in text
    # The table of all variables is for the log alone.
    row = "restored  linear/weights"
    assert row in caplog.text and row not in said
    assert result["total_loss"] < 1.0
    _, said = go(max_steps=2, **options)
    ignored = f"ignoring --warm_start_from {folder}: {tmp_path} already has the checkpoint"
    assert ignored in said and ignored in caplog.text


def test_a_missing_warm_start_is_an_error_before_anything_is_written(go, tmp_path):
    with pytest.raises(TfFrameError, match="/no/such"):
        go(max_steps=1, warm_start_from="/no/such")
    assert not list(tmp_path.glob("model.ckpt*"))


@pytest.mark.slow
def test_variables_that_are_not_trained_are_warm_started_too(go, tmp_path, other_run):
    class Fixed(ToyModel):
        def build(self, features, labels, mode):
            start = tf.random_normal_initializer(seed=self.params.l2)
            tf.get_variable("table", [3], initializer=start, trainable=False)
            return super().build(features, labels, mode)

    folder = other_run(Fixed, max_steps=1, random_seed=7)
    _, said = go(model=Fixed, max_steps=1, warm_start_from=str(folder))
    assert "3 of 3 variables restored" in said
    theirs, ours = (
        tf.train.load_checkpoint(str(f)).get_tensor("table") for f in (folder, tmp_path)
    )
    np.testing.assert_array_equal(ours, theirs)


@pytest.mark.slow
def test_a_model_keeps_its_own_init_fn_and_calls_it_after_a_warm_start(go, tmp_path, other_run):
    class Own(ToyModel):
        def build(self, features, labels, mode):
            output = super().build(features, labels, mode)
            weights, bias = tf.global_variables("linear/")
            told = tf.placeholder(tf.float32, [1])
            assign = bias.assign(told + tf.reduce_sum(weights.read_value()))

            def init_fn(scaffold, session):
                session.run(assign, {told: [7.0]})

            return dataclasses.replace(output, scaffold=tf.train.Scaffold(init_fn=init_fn))

    folder = other_run(max_steps=5)
    go(model=Own, max_steps=1, learning_rate=0.0, warm_start_from=str(folder))
    theirs, ours = (tf.train.load_checkpoint(str(f)) for f in (folder, tmp_path))
    weights = theirs.get_tensor("linear/weights")
    np.testing.assert_array_equal(ours.get_tensor("linear/weights"), weights)
    np.testing.assert_allclose(ours.get_tensor("linear/biases"), [7 + weights.sum()], rtol=1e-6)


@pytest.mark.slow
def test_a_warm_start_beyond_the_last_step_is_refused(go, other_run):
    folder = other_run(max_steps=10)
    options = {"warm_start_from": str(folder), "warm_start_global_step": True}
    with pytest.raises(ConfigError, match="is at step 10 of --max_steps 10, so there is nothing"):
        go(max_steps=10, **options)
    result, _ = go(max_steps=12, **options)
    assert result["global_step"] == 12


def test_a_damaged_warm_start_is_found_before_anything_is_claimed(go, other_run):
    folder = other_run(max_steps=1)
    (data,) = folder.glob("model.ckpt-1.data-*")
    data.write_bytes(data.read_bytes()[:-9])
    lines = []
    with pytest.raises(CheckpointError, match="model.ckpt-1 cannot be read"):
        go(warm_start_from=f"{folder}/model.ckpt-1", lines=lines)
    assert "restored" not in "".join(lines)
    go(warm_start_from=str(folder), max_steps=1, lines=lines)
    assert f"warning: {folder}/model.ckpt-1 cannot be read; taking {folder}/model.ckpt-0" in lines

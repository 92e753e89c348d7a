import json
import subprocess
import sys

import pytest

_PROGRAM = """
import json, os, sys
import tensorflow.compat.v1 as tf
if sys.argv[1] == "v1":
    tf.disable_v2_behavior()
from tf_frame.legacy import learning, training

folder = sys.argv[2]
with tf.Graph().as_default():
    weights = tf.get_variable("weights", [2, 1], initializer=tf.zeros_initializer())
    features = tf.constant([[1.0, 0.0], [0.0, 1.0]])
    labels = tf.constant([[2.0], [-1.0]])
    loss = tf.losses.mean_squared_error(labels, tf.matmul(features, weights))
    tf.summary.scalar("loss", loss)
    train_op = learning.create_train_op(loss, tf.train.MomentumOptimizer(0.1, 0.9))
    losses = [learning.train(
        train_op, os.path.join(folder, "slim"), number_of_steps=3, trace_every_n_steps=2)]
with tf.Graph().as_default():
    weights = tf.get_variable("weights", initializer=tf.constant(2.0))
    train_op = training.create_train_op(tf.square(weights), tf.train.GradientDescentOptimizer(0.25))
    losses.append(training.train(
        train_op, os.path.join(folder, "contrib"), hooks=[tf.train.StopAtStepHook(last_step=2)]))
print(json.dumps([float(loss) for loss in losses]))
"""


@pytest.mark.process
@pytest.mark.parametrize("behavior", ["v1", "v2"])
def test_whole_programs_train_with_v2_behaviour_off_and_on(behavior, tmp_path):
    command = [sys.executable, "-c", _PROGRAM, behavior, str(tmp_path)]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    of_slim, of_contrib = json.loads(result.stdout)
    # Momentum by hand: the error of each label shrinks by 0.9, and then to 0.72.
    assert of_slim == pytest.approx(2.5 * 0.72**2)
    assert of_contrib == pytest.approx(1.0)
    numbers = {"v1": "13", "v2": "02"}[behavior]
    for number in numbers:
        assert (tmp_path / "slim" / f"tf_trace-{number}.json").stat().st_size > 100
    assert (tmp_path / "slim" / "model.ckpt-3.index").exists()
    assert (tmp_path / "contrib" / "model.ckpt-2.index").exists()

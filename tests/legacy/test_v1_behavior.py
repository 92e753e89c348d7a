import json
import subprocess
import sys

import pytest

_PROGRAM = """
import json
import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()
from tf_frame.legacy import model_deploy, train_utils, variables_helper

def model_fn(features, labels):
    weights = tf.get_variable("weights", [2, 1], initializer=tf.zeros_initializer())
    tf.losses.mean_squared_error(labels, tf.matmul(features, weights))

features = tf.constant([[1.0, 0.0], [0.0, 1.0]])
labels = tf.constant([[2.0], [-1.0]])
rate = train_utils.get_model_learning_rate("poly", 0.5, 1, 0.1, 1000, 0.9, 0, 0.0)
model = model_deploy.deploy(
    model_deploy.DeploymentConfig(num_clones=2, clone_on_cpu=True),
    model_fn, [features, labels], optimizer=tf.train.MomentumOptimizer(rate, 0.9))
assert not variables_helper.filter_variables(tf.trainable_variables(), ["weights"])
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    losses = [float(session.run(model.train_op)) for _ in range(3)]
    session.run(model.summary_op)
print(json.dumps(losses))
"""


@pytest.mark.process
def test_old_programs_work_with_v2_behaviour_off():
    result = subprocess.run([sys.executable, "-c", _PROGRAM], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    first, second, third = json.loads(result.stdout)
    assert first == pytest.approx(2.5)
    assert first > second > third

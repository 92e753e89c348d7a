"""Programs that call `disable_v2_behavior()`, in processes of their own."""

import json
import sys

import pytest

import forked


def run(program, *words):
    return forked.succeed([sys.executable, "-c", program, *words]).stdout


RUN = """
import json, sys
import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()
from tf_frame.plugin.kinds import GRADIENT_TRANSFORM
from tf_frame.testing.toy import ToyInput, ToyModel, installed_plugin, make_setup, run_setup

parts = [("accumulate", '{"t.steps": 2}'), ("clip_by_global_norm", '{"t.norm": 100}')]
transforms = [installed_plugin(GRADIENT_TRANSFORM, name, json.loads(values), "t")
              for name, values in parts]
setup = make_setup(ToyModel, ToyInput, sys.argv[1], optimizer="adamw", transforms=transforms,
               max_steps=40, learning_rate=0.5, num_clones=2, moving_average_decay=0.9,
               loss_average_decay=0.9, summarize_gradients=True, summarize_variables=True,
               save_summaries_steps=2, loss_scale=8.0, values={"model.l2": 0.001})
result = run_setup(setup, report=lambda line: None)
print(json.dumps(result))
"""


@pytest.mark.process
def test_a_run_with_every_part_of_the_graph_learns(tmp_path):
    result = json.loads(run(RUN, str(tmp_path)).splitlines()[-1])
    assert result["global_step"] == 40
    assert result["metrics"]["mean_absolute_error"] < 1.0


LAYERS = """
import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()
from tf_frame import layers

images = tf.placeholder(tf.float32, [None, 6, 6, 3])
with layers.arg_scope([layers.conv2d], normalizer_fn=layers.batch_norm):
    net = layers.conv2d(images, 4, 3, weights_regularizer=layers.l2_regularizer(0.1))
net = layers.separable_conv2d(net, None, 3, rate=2, outputs_collections="ends")
assert list(layers.convert_collection_to_dict("ends").values()) == [net]
assert len(layers.get_variables_to_restore(exclude=["Conv/"])) == 2
net = layers.conv2d_transpose(net, 3, 2, stride=2)
net = layers.resize_bilinear(net, layers.spatial_size(images))
pooled = layers.global_average_pool(net)
gradients = tf.gradients(pooled, tf.trainable_variables())
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    session.run([gradients, updates], {images: [[[[1.0, 2.0, 3.0]] * 6] * 6]})
print(*(v.op.name for v in tf.global_variables()))
"""


@pytest.mark.process
def test_layers_work_with_v2_behaviour_off():
    assert run(LAYERS).split() == [
        *("Conv/weights", "Conv/BatchNorm/beta"),
        *("Conv/BatchNorm/moving_mean", "Conv/BatchNorm/moving_variance"),
        *("SeparableConv2d/depthwise_weights", "SeparableConv2d/biases"),
        *("Conv2d_transpose/weights", "Conv2d_transpose/biases"),
    ]


MODEL_DEPLOY = """
import json
import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()
from tf_frame_legacy import model_deploy, train_utils, variables_helper

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
    first, second, third = json.loads(run(MODEL_DEPLOY))
    assert first == pytest.approx(2.5)
    assert first > second > third


LEARNING = """
import json, os, sys
import tensorflow.compat.v1 as tf
if sys.argv[1] == "v1":
    tf.disable_v2_behavior()
from tf_frame_legacy import learning, training

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


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.parametrize("behavior", ["v1", "v2"])
def test_whole_programs_train_with_v2_behaviour_off_and_on(behavior, tmp_path):
    slim_loss, contrib_loss = json.loads(run(LEARNING, behavior, str(tmp_path)))
    # Momentum by hand: the error of each label shrinks by 0.9, and then to 0.72.
    assert slim_loss == pytest.approx(2.5 * 0.72**2)
    assert contrib_loss == pytest.approx(1.0)
    numbers = {"v1": "13", "v2": "02"}[behavior]
    for number in numbers:
        assert (tmp_path / "slim" / f"tf_trace-{number}.json").stat().st_size > 100
    assert (tmp_path / "slim" / "model.ckpt-3.index").exists()
    assert (tmp_path / "contrib" / "model.ckpt-2.index").exists()

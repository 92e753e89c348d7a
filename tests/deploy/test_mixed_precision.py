import os
import subprocess
import sys

import numpy as np
import pytest
import tensorflow.compat.v1 as tf
from tensorflow.core.protobuf import rewriter_config_pb2

from tf_frame import layers
from tf_frame.config.run_options import RunOptions
from tf_frame.deploy import mixed_precision
from tf_frame.deploy.mixed_precision import precision_rewrites, product_types
from tf_frame.errors import ConfigError

ON = rewriter_config_pb2.RewriterConfig.ON
IMAGES = np.random.RandomState(0).uniform(-1, 1, [4, 16, 16, 8]).astype(np.float32)


def proto_for(mixed_precision, *, has_gpu=False):
    proto = tf.ConfigProto()
    precision_rewrites(proto, RunOptions(mixed_precision=mixed_precision), has_gpu=has_gpu)
    return proto


@pytest.fixture(scope="module")
def needs_bfloat16():
    proto = tf.ConfigProto()
    proto.graph_options.rewrite_options.auto_mixed_precision_onednn_bfloat16 = ON
    _, types = train(proto, steps=1)
    if "bfloat16" not in types:
        pytest.skip("TensorFlow has no bfloat16 convolutions on this machine")


def train(proto, steps=8):
    """The losses of some steps, and the types of the convolutions that were run."""
    metadata = tf.RunMetadata()
    traced = tf.RunOptions(output_partition_graphs=True)
    with tf.Graph().as_default(), tf.Session(config=proto) as session:
        tf.set_random_seed(1)
        net = layers.conv2d(tf.constant(IMAGES), 16, 3, scope="a")
        net = layers.global_average_pool(layers.conv2d(net, 4, 3, scope="b"), keep_dims=False)
        loss = tf.reduce_mean(
            tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[0, 1, 2, 3], logits=net)
        )
        train_op = tf.train.GradientDescentOptimizer(0.5).minimize(loss)
        session.run(tf.global_variables_initializer())
        losses = [
            session.run([loss, train_op], options=traced, run_metadata=metadata)[0]
            for _ in range(steps)
        ]
        assert {v.dtype.base_dtype for v in tf.global_variables()} == {tf.float32}
    types = {
        tf.as_dtype(node.attr["T"].type).name
        for partition in metadata.partition_graphs
        for node in partition.node
        if "Conv2D" in node.op
    }
    return losses, types


@pytest.mark.parametrize("has_gpu", [False, True])
def test_none_changes_nothing(has_gpu):
    assert proto_for("none", has_gpu=has_gpu) == tf.ConfigProto()
    assert product_types(tf.ConfigProto()) == {"float32"}


@pytest.mark.usefixtures("needs_bfloat16")
def test_bfloat16_learns_as_float32_within_a_percent():
    assert train(tf.ConfigProto(), steps=1)[1] == {"float32"}
    assert train(proto_for("bfloat16"), steps=1)[1] == {"bfloat16"}
    plain, _ = train(tf.ConfigProto())
    mixed, _ = train(proto_for("bfloat16"))
    assert plain[-1] < plain[0] - 0.02
    np.testing.assert_allclose(mixed, plain, rtol=0.01)
    assert mixed != plain


def test_rewrites_for_other_devices_are_refused(monkeypatch):
    expected = tf.ConfigProto()
    expected.graph_options.rewrite_options.auto_mixed_precision = ON
    assert proto_for("float16", has_gpu=True) == expected
    monkeypatch.setattr(mixed_precision, "product_types", lambda proto: {"float32"})
    with pytest.raises(ConfigError, match="bfloat16 does nothing on this machine: TensorFlow left"):
        proto_for("bfloat16")
    with pytest.raises(ConfigError, match="bfloat16 is a rewrite for CPUs, and the clones run on"):
        proto_for("bfloat16", has_gpu=True)
    with pytest.raises(ConfigError, match="float16 needs a GPU, and no clone runs on one"):
        proto_for("float16")


@pytest.mark.slow
@pytest.mark.process
def test_bfloat16_is_refused_without_onednn():
    script = (
        "import tensorflow.compat.v1 as tf\n"
        "from tf_frame.config.run_options import RunOptions\n"
        "from tf_frame.deploy.mixed_precision import precision_rewrites\n"
        "config = RunOptions(mixed_precision='bfloat16')\n"
        "precision_rewrites(tf.ConfigProto(), config, has_gpu=False)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "TF_ENABLE_ONEDNN_OPTS": "0"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert "ConfigError: --mixed_precision bfloat16 does nothing on this machine" in done.stderr

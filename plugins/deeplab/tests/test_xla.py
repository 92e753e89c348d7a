"""DeepLab compiled by XLA computes what it does without."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame import InputInfo, Mode
from tf_frame.config.run_options import RunOptions
from tf_frame.graph.train_graph import xla_scope
from tf_frame_deeplab.model import DeepLab, Params

# XLA compiles the network for half a minute; the framework's tests compile a smaller one always.
pytestmark = [pytest.mark.nets, pytest.mark.process]

IMAGES = np.random.RandomState(0).uniform(0, 255, [2, 33, 33, 3]).astype(np.float32)


def loss_of_deeplab():
    info = InputInfo(num_classes=2, ignore_label=255, class_names=("dark", "light"))
    params = Params(depth_multiplier=0.1, aspp_channels=8, decoder_channels=0, image_pooling=False)
    labels = {"semantic": tf.constant((IMAGES[..., 0] > 128).astype(np.int32))}
    features = {"image": tf.constant(IMAGES)}
    return DeepLab(params=params, info=info).build(features, labels, Mode.TRAIN).loss


def train(steps, *, xla):
    """The losses of some steps, and the operations that were run in the first."""
    metadata = tf.RunMetadata()
    traced = tf.RunOptions(output_partition_graphs=True)
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(1)
        with xla_scope(RunOptions(xla=xla)):
            loss = loss_of_deeplab()
        apply = tf.train.MomentumOptimizer(0.01, 0.9).minimize(loss)
        train_op = tf.group(apply, *tf.get_collection(tf.GraphKeys.UPDATE_OPS))
        session.run(tf.global_variables_initializer())
        # The pictures for the summaries are made outside of what is compiled.
        session.run([loss, tf.summary.merge_all()])
        losses = [session.run([loss, train_op], options=traced, run_metadata=metadata)[0]]
        losses += [session.run([loss, train_op])[0] for _ in range(steps - 1)]
    return losses, [node.op for graph in metadata.partition_graphs for node in graph.node]


def test_deeplab_is_compiled_and_its_loss_is_the_same():
    plain, _ = train(4, xla=False)
    compiled, run = train(4, xla=True)
    assert "_XlaRun" in run
    assert not [op for op in run if "Backprop" in op]
    np.testing.assert_allclose(compiled, plain, rtol=1e-3)

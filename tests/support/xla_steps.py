"""A few training steps with and without XLA, for tests that compare the two."""

import tensorflow.compat.v1 as tf

from tf_frame.config.run_options import RunOptions
from tf_frame.graph.train_graph import xla_scope


def train(network, steps, *, xla, learning_rate=0.1):
    """The losses of some steps, and the operations that were run in the first.

    Args:
      network: builds a network in the default graph, and returns its loss.
      steps: number of steps.
      xla: whether XLA compiles the network.
      learning_rate: of the momentum optimizer.
    """
    metadata = tf.RunMetadata()
    traced = tf.RunOptions(output_partition_graphs=True)
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(1)
        with xla_scope(RunOptions(xla=xla)):
            loss = network()
        apply = tf.train.MomentumOptimizer(learning_rate, 0.9).minimize(loss)
        train_op = tf.group(apply, *tf.get_collection(tf.GraphKeys.UPDATE_OPS))
        session.run(tf.global_variables_initializer())
        # Summaries are made outside of the compiled part.
        session.run([loss, tf.summary.merge_all()])
        losses = [session.run([loss, train_op], options=traced, run_metadata=metadata)[0]]
        losses += [session.run([loss, train_op])[0] for _ in range(steps - 1)]
    return losses, [node.op for graph in metadata.partition_graphs for node in graph.node]

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame_legacy import batcher, model_deploy, prefetcher, slim

pytestmark = pytest.mark.usefixtures("graph")


def examples(count):
    """One example after the other: `index`, `boxes` of `[index + 1, 4]`, `name`."""
    queue = tf.train.range_input_producer(count, num_epochs=1, shuffle=False)
    index = queue.dequeue()
    boxes = tf.fill([index + 1, 4], tf.cast(index, tf.float32) + 1.0)
    return {"index": index, "boxes": boxes, "name": tf.as_string(index)}


def runs(fetches):
    """The values of each run, until the queue is empty."""
    values = []
    with tf.train.MonitoredSession() as session:
        while not session.should_stop():
            values.append(session.run(fetches))
    return values


def test_examples_of_a_batch_have_their_own_sizes():
    tensors = examples(5)
    sizes = {"batch_queue_capacity": 4, "num_batch_queue_threads": 1, "prefetch_queue_capacity": 5}
    queue = batcher.BatchQueue(tensors, batch_size=2, **sizes)
    tags = [summary.op.name for summary in tf.get_collection(tf.GraphKeys.SUMMARIES)]
    assert tags[-2:] == ["batch/fraction_of_4_full", "queue/prefetch_queue/fraction_of_5_full"]
    dequeued = queue.dequeue()
    assert sorted(tensors) == ["boxes", "index", "name"]
    assert [example["boxes"].shape.as_list() for example in dequeued] == [[None, 4]] * 2
    values = [example for batch in runs(dequeued) for example in batch]
    # The fifth example does not fill a batch.
    assert [int(example["index"]) for example in values] == [0, 1, 2, 3]
    assert [example["name"] for example in values] == [b"0", b"1", b"2", b"3"]
    for example in values:
        size = example["index"] + 1
        np.testing.assert_array_equal(example["boxes"], np.full([size, 4], size))


def test_prefetch_keeps_names_and_sizes():
    queue = prefetcher.prefetch(examples(3), capacity=7)
    *_, summary = tf.get_collection(tf.GraphKeys.SUMMARIES)
    tensors = queue.dequeue()
    assert summary.op.name == "queue/prefetch_queue/fraction_of_7_full"
    assert tensors["boxes"].shape.as_list() == [None, 4]
    assert [example["boxes"].shape for example in runs(tensors)] == [(1, 4), (2, 4), (3, 4)]


def test_a_trainer_takes_a_batch_for_each_clone(tmp_path):
    """In the order of object_detection's legacy/trainer.py."""
    deployment = model_deploy.DeploymentConfig(num_clones=2, clone_on_cpu=True)
    with tf.device(deployment.variables_device()):
        slim.create_global_step()
    with tf.device(deployment.inputs_device()):
        queue = batcher.BatchQueue(examples(10), 2, 10, 1, 5)

    def model_fn(input_queue):
        boxes = [tf.reduce_mean(example["boxes"]) for example in input_queue.dequeue()]
        tf.losses.mean_squared_error(slim.model_variable("w", []), tf.reduce_mean(boxes))

    clones = model_deploy.create_clones(deployment, model_fn, [queue])
    loss, pairs = model_deploy.optimize_clones(clones, tf.train.GradientDescentOptimizer(0.1))
    update = tf.train.GradientDescentOptimizer(0.1).apply_gradients(
        pairs, global_step=slim.get_global_step()
    )
    with tf.control_dependencies([update]):
        train_tensor = tf.identity(loss)
    # Ten examples make five batches, and those two steps with two clones. Summaries take more.
    slim.learning.train(train_tensor, str(tmp_path), log_every_n_steps=0, summary_op=None)
    assert tf.train.latest_checkpoint(str(tmp_path)).endswith("model.ckpt-2")

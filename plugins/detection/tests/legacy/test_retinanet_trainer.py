"""The trainer of a RetinaNet: its graph, and what it asks of its loop."""

import types

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame.errors import DataError
from tf_frame_detection.legacy import retinanet_trainer

from .conftest import tags


class Queue:
    """A batch of numbers, as many as the configuration says."""

    def __init__(self, config):
        self.config = config

    def dequeue(self):
        return tf.ones([self.config.batch_size])


def create_losses(queue, num_classes, config):
    """A loss of 1 for each class and example, which is returned only."""
    assert queue.config is config
    with tf.variable_scope("Retina_FPN"):
        weights = tf.get_variable("weights", [num_classes], initializer=tf.ones_initializer())
    with tf.variable_scope("Other"):
        offset = tf.get_variable("offset", [], initializer=tf.zeros_initializer())
    return tf.reduce_sum(queue.dequeue()) * tf.reduce_sum(weights) + offset


@pytest.fixture(scope="module")
def config(tmp_path_factory):
    path = tmp_path_factory.mktemp("labels") / "labels.pbtxt"
    path.write_text(
        "item { id: 1 name: 'fir' } item { id: 2 name: 'palm' } item { id: 3 name: 'oak' }"
    )
    return {
        "optimizer": "adam",
        "lr": 0.5,
        "decay_steps": 10,
        "batch_size": 4,
        "train_file_path": "train.record",
        "label_map_file": str(path),
        "keep_checkpoint_every_n_hours": 2,
    }


@pytest.fixture(scope="module")
def train(build):
    """Builds the graph of a configuration."""
    functions = {"input_queue_generator": Queue, "create_losses": create_losses}

    def train(config, **options):
        return build(retinanet_trainer.train, config, "runs/retinanet", **functions | options)

    return train


@pytest.fixture(scope="module")
def built(train, config, checkpoint):
    fine_tune = checkpoint(
        Retina_FPN__weights=np.full([3], 7.0, np.float32), Other__offset=np.float32(7)
    )
    return train(types.SimpleNamespace(**config, fine_tune_checkpoint=fine_tune))


def test_the_defaults_train_on_this_machine_without_an_end(built):
    assert (built.logdir, built.master, built.is_chief) == ("runs/retinanet", "", True)
    assert built.graph.get_operation_by_name("global_step").device == "/device:CPU:0"
    assert built.number_of_steps is None
    assert built.startup_delay_steps == 15
    assert built.save_summaries_secs == 120
    assert built.sync_optimizer is None
    saver = built.saver.as_saver_def()
    assert (saver.keep_checkpoint_every_n_hours, saver.max_to_keep) == (2, 5)
    gpu_options = built.session_config.gpu_options
    assert gpu_options.per_process_gpu_memory_fraction == pytest.approx(0.8)
    assert gpu_options.allow_growth
    assert built.session_config.allow_soft_placement


def test_the_returned_loss_is_optimised_the_rate_falls_and_only_the_network_is_restored(
    built, session_of
):
    with session_of(built) as session:
        loss, summary = session.run([built.train_op, built.summary_op])
        weights = session.run({v.op.name: v for v in tf.trainable_variables()})
        rates = []
        for step in (9, 10, 20):
            session.run(tf.train.get_global_step().assign(step))
            rates.append(tags(session.run(built.summary_op))["Learning_Rate"])
    with session_of(built) as session:
        built.init_fn(session)
        restored = session.run({v.op.name: v for v in tf.trainable_variables()})
    assert loss == 4 * 3
    found = tags(summary)
    assert (found["TotalLoss"], found["Learning_Rate"]) == (12.0, 0.5)
    assert [tag for tag in found if "TotalLoss" in tag] == ["TotalLoss"]
    # One step of Adam changes every variable by its learning rate.
    np.testing.assert_allclose(weights["Retina_FPN/weights"], [0.5] * 3, rtol=1e-5)
    np.testing.assert_allclose(rates, [0.5, 0.5 * 0.95, 0.5 * 0.95**2], rtol=1e-6)
    assert restored["Retina_FPN/weights"].tolist() == [7.0] * 3
    assert restored["Other/offset"] == 0.0


def test_two_clones_have_half_of_the_batch_each(train, config, session_of):
    source = types.SimpleNamespace(**{**config, "optimizer": "rmsprop"})
    queues = []

    def generator(view):
        assert view["input_path"] == view.input_path == "train.record"
        queues.append(Queue(view))
        return queues[-1]

    built = train(source, num_clones=2, clone_on_cpu=True, input_queue_generator=generator)
    assert [queue.config.batch_size for queue in queues] == [2]
    assert (source.batch_size, hasattr(source, "input_path")) == (4, False)
    with session_of(built) as session:
        assert session.run(built.train_op) == 2 * 3
        found = session.run({v.op.name: v for v in tf.trainable_variables()})
    # TensorFlow's mean square begins at 1.
    change = 0.5 * 2.0 / np.sqrt(0.9 + 0.1 * 2.0**2 + 1e-10)
    np.testing.assert_allclose(found["Retina_FPN/weights"], [1 - change] * 3, rtol=1e-5)


def test_losses_that_the_function_adds_count_once(train, config, session_of):
    def adding(queue, num_classes, config):
        loss = create_losses(queue, num_classes, config)
        tf.losses.add_loss(loss)
        return loss

    built = train(config, create_losses=adding)
    with session_of(built) as session:
        assert session.run(built.train_op) == 4 * 3


@pytest.mark.parametrize(
    ("changed", "error", "words"),
    [
        ({"optimizer": "sgd"}, ValueError, "Optimizer sgd not supported. It must be adam or rms"),
        ({"label_map_file": "missing.pbtxt"}, DataError, "cannot read the label map missing"),
    ],
)
def test_a_configuration_that_is_wrong(train, config, changed, error, words):
    with pytest.raises(error, match=words):
        train({**config, **changed})

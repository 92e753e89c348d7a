"""The trainer of rotated boxes: its graph, and what it asks of its loop."""

import functools
import types

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame_detection.legacy import rotated_trainer
from tf_frame_legacy.sync_replicas import SyncReplicasOptimizer

from .conftest import CONFIG, DEPLOYED, brighten, invert, tags


def turn(rboxes):
    return rboxes * [0.0, 0.0, 0.0, 0.0, 1.0]


@pytest.mark.slow
def test_the_graph_and_what_the_loop_is_asked(build, fake_detector, checkpoint, session_of):
    models, graphs = [], []

    def create_model():
        graphs.append(tf.get_default_graph())
        models.append(fake_detector.FakeRotatedDetector(fake_detector.NUM_CLASSES))
        return models[-1]

    path = checkpoint(
        Conv__weights=np.full([3, 3, 3, 4], 7.0, np.float32),
        FeatureExtractor__Conv__BatchNorm__beta=np.full([4], 7.0, np.float32),
    )
    config = {
        **CONFIG,
        "data_augmentation_options": [(invert, {})],
        "fine_tune_checkpoint": path,
        "keep_checkpoint_every_n_hours": 3,
    }
    built = build(
        rotated_trainer.train,
        functools.partial(fake_detector.create_tensor_dict, box_size=5),
        create_model,
        types.SimpleNamespace(**config),
        {"preprocess_input_options": [(brighten, {"by": 5.0}), (turn, {})]},
        **DEPLOYED,
        save_interval_secs=600,
        log_every_n_steps=7,
    )
    # A model is built for each clone, and one outside.
    assert [graph is built.graph for graph in graphs] == [False, True]
    assert (built.save_interval_secs, built.log_every_n_steps) == (600, 7)
    assert (built.save_summaries_secs, built.startup_delay_steps) == (240, 15)
    assert built.number_of_steps is None
    saver = built.saver.as_saver_def()
    assert (saver.keep_checkpoint_every_n_hours, saver.max_to_keep) == (3, 0)
    images = built.graph.get_operation_by_name("FeatureExtractor/Conv/Conv2D").inputs[0]
    with session_of(built) as session:
        images, boxes = session.run([images, models[1].groundtruth_lists("boxes")])
        built.init_fn(session)
        variables = session.run({v.op.name: v for v in tf.global_variables()})
        loss, summary = session.run([built.train_op, built.summary_op])
    # Options of the input come before the augmentation.
    assert len(images) == 4
    first = images[0]
    picture = np.random.RandomState(0).randint(0, 256, [4, 12, 10, 3])[0]
    assert first[0, 0, 0] == pytest.approx((255 - (picture[0, 0, 0] + 5)) / 255, abs=1e-5)
    assert (boxes[0].shape, boxes[1].shape) == ((2, 5), (0, 5))
    assert (boxes[0][:, :4] == 0).all()
    assert (boxes[0][:, 4] > 0).all()
    # A classifier is restored by its own names.
    assert (variables["FeatureExtractor/Conv/weights"] == 7.0).all()
    assert (variables["FeatureExtractor/Conv/BatchNorm/beta"] == 0.0).all()
    values = tags(summary)
    assert values["TotalLoss"] == pytest.approx(loss)
    assert values["Learning_Rate"] == 0.5
    assert values["Losses/regularization_loss"] > 0
    # The names are those of operations, to which TensorFlow adds a number for the summary.
    losses = {"localization_loss_1", "classification_loss_1"}
    assert values.keys() >= {"FeatureExtractor/Conv/weights_1", *losses}


@pytest.mark.slow
def test_synchronous_replicas_reach_the_loop(build, fake_detector):
    """A worker among three, whose model has upright boxes."""
    synchronous = build(
        rotated_trainer.train,
        fake_detector.create_tensor_dict,
        lambda: fake_detector.FakeDetector(fake_detector.NUM_CLASSES),
        {**CONFIG, "sync_replicas": True, "replicas_to_aggregate": 2},
        {},
        **{**DEPLOYED, "task": 1, "worker_replicas": 3, "ps_tasks": 1, "is_chief": False},
    )
    assert isinstance(synchronous.sync_optimizer, SyncReplicasOptimizer)
    assert synchronous.sync_optimizer._total_num_replicas == 3
    assert (synchronous.startup_delay_steps, synchronous.is_chief) == (0, False)
    # Unlike in the API's last version, the batch is that of a worker.
    images = synchronous.graph.get_operation_by_name("FeatureExtractor/Conv/Conv2D").inputs[0]
    assert images.shape[0] == 4
    assert (synchronous.save_interval_secs, synchronous.log_every_n_steps) == (3600, 1000)
    # A model of upright boxes gets those.
    predictor = synchronous.graph.get_operation_by_name("BoxPredictor/BoxEncodingPredictor/MatMul")
    assert predictor.outputs[0].shape[1] == 4

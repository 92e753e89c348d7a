"""The Object Detection API's trainer: its graph, and what it asks of its loop."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame_detection.legacy import rotated_trainer, trainer
from tf_frame_legacy.config import TRAIN_CONFIG, Config
from tf_frame_legacy.sync_replicas import SyncReplicasOptimizer

from .conftest import CONFIG, DEPLOYED, brighten, invert, tags


@pytest.fixture(scope="module")
def restored(checkpoint):
    return checkpoint(
        FeatureExtractor__Conv__weights=np.full([3, 3, 3, 4], 7.0, np.float32),
        FeatureExtractor__Conv__BatchNorm__beta=np.full([5], 7.0, np.float32),
        FeatureExtractor__Other=7.0,
        global_step=np.int64(99),
    )


@pytest.fixture(scope="module")
def one_clone(build, fake_detector, restored):
    """A clone; `graphs`: the default graphs when models were made, `hooks`: the calls of a hook."""
    graphs, hooks = [], []

    def create_model():
        graphs.append(tf.get_default_graph())
        return fake_detector.FakeDetector(fake_detector.NUM_CLASSES)

    def hook():
        names = {op.name for op in tf.get_default_graph().get_operations()}
        device = tf.no_op(name="of_hook").device
        seen = device, len(tf.losses.get_losses()), "total_loss" in names
        hooks.append((tf.get_default_graph(), *seen))

    config = {
        **CONFIG,
        "num_steps": 3,
        "add_regularization_loss": False,
        "data_augmentation_options": [(brighten, {"by": 5.0}), (invert, {})],
        "fine_tune_checkpoint": restored,
        "from_detection_checkpoint": True,
        "load_all_detection_checkpoint_vars": True,
        "keep_checkpoint_every_n_hours": 2,
    }
    source = fake_detector.create_tensor_dict
    built = build(trainer.train, source, create_model, config, graph_hook_fn=hook, **DEPLOYED)
    built.graphs, built.hooks = graphs, hooks
    return built


@pytest.fixture(scope="module")
def two_clones(build, fake_detector):
    """Two clones that read two inputs."""
    return build(
        trainer.train,
        [fake_detector.create_tensor_dict, fake_detector.create_tensor_dict],
        lambda: fake_detector.FakeDetector(fake_detector.NUM_CLASSES),
        {**CONFIG, "batch_size": [4, 3]},
        **{**DEPLOYED, "num_clones": 2},
    )


def images(built, scope=""):
    return built.graph.get_operation_by_name(f"{scope}FeatureExtractor/Conv/Conv2D").inputs[0]


def test_models_are_built_outside_and_for_each_clone_and_the_hook_before_the_update(one_clone):
    assert [graph is one_clone.graph for graph in one_clone.graphs] == [False, True]
    assert one_clone.hooks == [(one_clone.graph, "/device:CPU:0", 2, False)]


def test_a_batch_is_augmented_in_order_without_penalties_and_a_checkpoint_is_restored(
    one_clone, session_of
):
    with session_of(one_clone) as session:
        (first, *_), summary = session.run([images(one_clone), one_clone.summary_op])
        one_clone.init_fn(session)
        restored = session.run({v.op.name: v for v in tf.global_variables()})
    picture = np.random.RandomState(0).randint(0, 256, [4, 12, 10, 3])[0]
    assert first[0, 0, 0] == pytest.approx((255 - (picture[0, 0, 0] + 5)) / 255, abs=1e-5)
    values = tags(summary)
    losses = values["Losses/localization_loss"] + values["Losses/classification_loss"]
    assert values["Losses/TotalLoss"] == pytest.approx(losses, rel=1e-5)
    assert "Losses/regularization_loss" not in values
    # Only variables that the checkpoint has in their shape are restored.
    assert (restored["FeatureExtractor/Conv/weights"] == 7.0).all()
    assert restored["FeatureExtractor/Conv/BatchNorm/beta"].tolist() == [0.0] * 4
    assert restored["global_step"] == 0


def test_a_clone_gets_its_part_of_the_batch_of_each_input(one_clone, two_clones):
    assert images(one_clone).shape[0] == 4
    # 4 // 2 of the one input, 3 // 2 of the other.
    assert images(two_clones, "clone_0/").shape[0] == 2 + 1
    assert images(two_clones, "clone_1/").shape[0] == 2 + 1
    # Several inputs have a scope.
    names = [op.name for op in two_clones.graph.get_operations() if "queue" in op.type.lower()]
    queues = [name for name in names if name.endswith(("prefetch_queue", "prefetch_queue_1"))]
    assert queues == ["Input/prefetch_queue", "Input/prefetch_queue_1"]


def test_the_update_runs_the_updates_of_the_first_clone(two_clones):
    assert two_clones.train_op.op.name == "train_op"
    barrier = two_clones.graph.get_operation_by_name("update_barrier")
    seen, waiting = set(), [barrier]
    while waiting:
        op = waiting.pop()
        if op.name not in seen:
            seen.add(op.name)
            waiting += op.control_inputs
    assert [name for name in seen if name.startswith("clone_0/") and "AssignMovingAvg" in name]
    assert not [name for name in seen if name.startswith("clone_1/")]


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({"from_detection_checkpoint": True}, "detection"),
        ({}, "classification"),
        ({"from_detection_checkpoint": True, "fine_tune_checkpoint_type": "other"}, "other"),
    ],
)
def test_the_kind_of_checkpoint_follows_from_the_older_field(restored, config, expected):
    asked = []

    class Model:
        def restore_map(self, **kwargs):
            asked.append(kwargs)
            return {"FeatureExtractor/Other": tf.Variable(1.0)}

    with tf.Graph().as_default():
        trainer._init_fn(
            Model(), Config({**config, "fine_tune_checkpoint": restored}, TRAIN_CONFIG)
        )
    kinds = {"fine_tune_checkpoint_type": expected, "load_all_detection_checkpoint_vars": False}
    assert asked == [kinds]


def test_tags_of_the_summaries(two_clones, session_of):
    with session_of(two_clones) as session:
        loss, summary = session.run([two_clones.train_op, two_clones.summary_op])
    found = tags(summary)
    assert two_clones.summary_op.op.name == "summary_op/summary_op"
    assert found["LearningRate/LearningRate/learning_rate"] == 0.5
    assert found["Losses/TotalLoss"] == pytest.approx(loss)
    of_clones = [
        found[f"Losses/clone_{clone}/{name}_loss"]
        for clone in range(2)
        for name in ("localization", "classification")
    ]
    penalty = found["clone_0/Losses/regularization_loss"]
    assert loss == pytest.approx(sum(of_clones) / 2 + penalty, rel=1e-5)
    assert penalty > 0
    assert found.keys() >= {
        "ModelVars/FeatureExtractor/Conv/weights",
        "ModelVars/FeatureExtractor/Conv/BatchNorm/moving_mean",
        "clone_0/Losses/clone_0//clone_loss",
    }
    assert not [tag for tag in found if tag.startswith("clone_1/")]


def test_what_the_loop_is_asked(one_clone, two_clones):
    assert (one_clone.logdir, one_clone.master, one_clone.is_chief) == ("runs/detector", "", True)
    assert (one_clone.number_of_steps, two_clones.number_of_steps) == (3, None)
    assert one_clone.save_summaries_secs == 120
    assert not hasattr(one_clone, "save_interval_secs")
    assert one_clone.startup_delay_steps == 15
    assert one_clone.sync_optimizer is None
    assert two_clones.init_fn is None
    assert one_clone.session_config.allow_soft_placement
    assert not one_clone.session_config.log_device_placement
    saver = one_clone.saver.as_saver_def()
    assert (saver.keep_checkpoint_every_n_hours, saver.max_to_keep) == (2, 5)


def test_synchronous_replicas_share_the_batch_and_have_one_clone(build, fake_detector):
    def build_synchronous(**deployed):
        return build(
            trainer.train,
            fake_detector.create_tensor_dict,
            lambda: fake_detector.FakeDetector(2),
            {**CONFIG, "sync_replicas": True, "replicas_to_aggregate": 2},
            **{**DEPLOYED, **deployed},
        )

    built = build_synchronous(worker_replicas=3, ps_tasks=1, worker_job_name="worker")
    assert images(built).shape[0] == 2
    assert isinstance(built.sync_optimizer, SyncReplicasOptimizer)
    assert built.sync_optimizer._replicas_to_aggregate == 2
    assert built.sync_optimizer._total_num_replicas == 3
    assert built.startup_delay_steps == 0
    assert built.graph.get_operation_by_name("global_step").device.startswith("/job:ps/")
    with pytest.raises(ValueError, match=r"num_clones must be 1\. Found num_clones: 2$"):
        build_synchronous(num_clones=2)


@pytest.mark.slow
@pytest.mark.parametrize("trainer_of", ["api", "rotated"])
def test_synchronous_updates_are_made(fake_detector, tmp_path, trainer_of):
    config = {**CONFIG, "sync_replicas": True, "num_steps": 3}
    deployed = {**DEPLOYED, "train_dir": str(tmp_path)}
    inputs = (fake_detector.create_tensor_dict, lambda: fake_detector.FakeDetector(2), config)
    if trainer_of == "api":
        loss = trainer.train(*inputs, **deployed)
    else:
        loss = rotated_trainer.train(*inputs, {}, **deployed)
    assert np.isfinite(loss)
    reader = tf.train.load_checkpoint(str(tmp_path))
    assert reader.get_tensor("global_step") == 3
    assert np.abs(reader.get_tensor("BoxPredictor/ClassPredictor/biases")).max() > 0

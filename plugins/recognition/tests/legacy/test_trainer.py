"""The trainer on a model of one convolution, which tells two symbols apart."""

import functools
import importlib
import sys

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame.errors import ConfigError
from tf_frame_legacy import slim
from tf_frame_recognition.legacy import standard_fields, trainer

fields = standard_fields.InputDataFields
WEIGHTS = "FeatureExtractor/Convnet/conv/weights"
CONFIG = {
    "batch_size": [6, 3],
    "num_batch_queue_threads": 1,
    "num_steps": 2,
    "optimizer": {
        "momentum_optimizer": {
            "learning_rate": {"constant_learning_rate": {"learning_rate": 0.5}},
            "momentum_optimizer_value": 0.0,
        },
        "use_moving_average": False,
    },
}


class Recognizer:
    """Methods as ASTER's models; the word is `a` or `b`, for an image with a light or no light."""

    def provide_groundtruth(self, lists):
        self._texts = tf.identity(tf.stack(lists[fields.groundtruth_text]), name="texts")

    def predict(self, images):
        # The published models preprocess here, and need no other method for that.
        assert images.dtype == tf.float32
        images = tf.identity(images / 255.0, name="preprocessed")
        with tf.variable_scope("FeatureExtractor/Convnet"):
            net = slim.conv2d(images, 2, 3, normalizer_fn=slim.batch_norm, scope="conv")
        with tf.variable_scope("Predictor"):
            net = tf.reduce_mean(net, [1, 2])
            return slim.fully_connected(net, 1, activation_fn=None, scope="logits")

    def loss(self, predictions):
        labels = tf.cast(tf.equal(self._texts, "a"), tf.float32)[:, None]
        errors = tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=predictions)
        return {"recognition_loss": tf.reduce_mean(errors, name="recognition_loss")}


def example(num_epochs=None):
    light = tf.train.range_input_producer(2, num_epochs, shuffle=False).dequeue()
    image = tf.fill([4, 4, 1], tf.cast(light * 255, tf.uint8))
    text = tf.gather(["b", "a"], light)
    return {fields.image: image, fields.groundtruth_text: text, fields.key: tf.constant("k")}


def example_with_keypoints():
    return {**example(), fields.groundtruth_keypoints: tf.zeros([4])}


def shrink(tensors, size):
    image = tf.image.resize_images(tensors[fields.image], [size, size])
    return {**tensors, fields.image: image}


def train(folder, create_tensor_dict_fns=(example, example), num_clones=1, **config):
    return trainer.train(
        list(create_tensor_dict_fns),
        Recognizer,
        {**CONFIG, **config},
        master="",
        task=0,
        num_clones=num_clones,
        worker_replicas=1,
        clone_on_cpu=True,
        ps_tasks=0,
        worker_job_name="lonely_worker",
        is_chief=True,
        train_dir=str(folder),
    )


@pytest.fixture(scope="module")
def two_clones(written, tmp_path_factory):
    """Loss and files of a training of 201 steps with two clones."""
    folder = tmp_path_factory.mktemp("words")
    options = [(shrink, {"size": 2})]
    config = {"bias_grad_multiplier": 2.0, "gradient_clipping_by_norm": 1.0}
    loss = train(folder, num_clones=2, num_steps=201, data_augmentation_options=options, **config)
    files = written(folder)
    files.loss = loss
    return files


@pytest.mark.slow
def test_operations_have_the_old_names(two_clones):
    names = two_clones.nodes.keys()
    assert names >= {
        "Input/prefetch_queue",
        "Input/prefetch_queue_1",
        "Optimizer/learning_rate",
        "OptimizeClones/total_loss",
        "OptimizeClones/train_op",
        "summary_op/summary_op",
    }
    assert [name for name in names if name.startswith("OptimizeClones/clip_grads/")]


def test_a_clone_gets_its_part_of_each_input(two_clones):
    # 6 // 2 of the first input and 3 // 2 of the second.
    for clone in ("clone_0", "clone_1"):
        size = two_clones.nodes[f"{clone}/stack"].attr["N"].i
        assert size == 3 + 1


def test_tags_of_the_summaries(two_clones):
    assert two_clones.tags.keys() >= {
        "Optimizer/Learning_Rate",
        "TotalLoss",
        "clone_0/recognition_loss_1",
        "clone_1/recognition_loss_1",
        f"grad/{WEIGHTS}",
        f"{WEIGHTS}_1",
        "grad/Predictor/logits/biases",
    }
    assert [step for step, _ in two_clones.tags["TotalLoss"]] == [1, 101, 201]
    assert two_clones.tags["Optimizer/Learning_Rate"][0][1] == 0.5


def test_it_learns_and_the_step_after_200_is_traced(two_clones):
    assert two_clones.loss < 0.2 * two_clones.tags["TotalLoss"][0][1]
    assert two_clones.variables["global_step"] == 201
    assert (two_clones.timelines, two_clones.metadata) == (["timeline-201.json"], ["trace_201"])


@pytest.mark.slow
def test_gradients_of_biases_are_multiplied(tmp_path, written, monkeypatch):
    """One step of rate 0.5 on a sum of variables moves those of biases by three times that."""

    class Linear(Recognizer):
        def predict(self, images):
            names = ("bias", "conv/biases", "beta", "gamma")
            return [tf.get_variable(f"layer/{name}", initializer=0.0) for name in names]

        def loss(self, predictions):
            return {"loss": tf.add_n(predictions)}

    monkeypatch.setattr(f"{__name__}.Recognizer", Linear)
    train(tmp_path, num_steps=1, bias_grad_multiplier=3.0)
    variables = written(tmp_path).variables
    moved = {name: variables[f"layer/{name}"] for name in ("bias", "conv/biases", "beta", "gamma")}
    assert moved == {"bias": -1.5, "conv/biases": -1.5, "beta": -1.5, "gamma": -0.5}


@pytest.mark.slow
def test_a_pretrained_extractor_is_for_a_new_run_alone(two_clones, tmp_path, written):
    config = {"freeze_variables": ["FeatureExtractor"], "num_steps": 2}
    train(tmp_path, fine_tune_checkpoint=two_clones.checkpoint, **config)
    begun = written(tmp_path).variables
    np.testing.assert_array_equal(begun[WEIGHTS], two_clones.variables[WEIGHTS])
    assert begun["Predictor/logits/weights"] != pytest.approx(
        two_clones.variables["Predictor/logits/weights"]
    )
    # Of a run that goes on it need not even exist.
    train(tmp_path, fine_tune_checkpoint=str(tmp_path / "gone"), **config)
    resumed = written(tmp_path).variables
    assert (begun["global_step"], resumed["global_step"]) == (2, 4)
    np.testing.assert_array_equal(begun[WEIGHTS], resumed[WEIGHTS])


@pytest.mark.slow
def test_without_a_number_of_steps_the_input_ends_a_run(tmp_path, written):
    create = functools.partial(example, num_epochs=9)  # 18 examples, 3 batches of 6.
    train(tmp_path, [create, example], num_steps=0)
    assert written(tmp_path).variables["global_step"] == 3


@pytest.mark.slow
def test_synchronous_replicas_train(tmp_path, written):
    train(tmp_path, sync_replicas=True)
    files = written(tmp_path)
    assert files.variables["global_step"] == 2
    assert "Optimizer/Learning_Rate" in files.tags


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"batch_size": [6]}, r"batch_size is \[6\] for 2 inputs"),
        ({"batch_size": [6, 1], "num_clones": 2}, "batch_size 1 leaves no example for each of 2"),
        ({"data_augmentation_options": [shrink]}, "is not a pair of a function and its arguments"),
    ],
)
def test_what_is_refused(config, message, tmp_path):
    with pytest.raises(ConfigError, match=message):
        train(tmp_path, **config)


def test_inputs_with_different_truths_are_refused(tmp_path):
    with pytest.raises(ConfigError, match="another has groundtruth_keypoints, groundtruth_text"):
        train(tmp_path, [example, example_with_keypoints])


def test_a_missing_tf_frame_legacy_is_named_with_the_extra(monkeypatch):
    for name in [name for name in sys.modules if name.startswith("tf_frame_recognition.legacy")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "tf_frame_legacy", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'tf-frame-recognition\[legacy\]'"):
        importlib.import_module("tf_frame_recognition.legacy.trainer")

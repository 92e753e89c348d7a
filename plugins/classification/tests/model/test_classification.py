import subprocess
import sys

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame import InputInfo, Mode
from tf_frame.command_line.parsing import parse_command_line
from tf_frame.errors import ConfigError, PluginError
from tf_frame.runs.evaluation.results import find_at_chance
from tf_frame_classification.model.classification import Classification, Params

pytestmark = pytest.mark.usefixtures("graph")

INFO = InputInfo(num_classes=6, class_names=("a", "b", "c", "d", "e", "f"))


def parse_setup(*argv):
    return parse_command_line(["--plugin", "classification", *argv]).setup()


def build(mode, *, labels=True, size=32, **params):
    model = Classification(params=Params(**params), info=INFO)
    batch = {"label": tf.constant([0, 5])} if labels else None
    return model.build({"image": tf.zeros([2, size, size, 3])}, batch, mode)


def test_inputs_and_networks_that_do_not_fit_are_refused():
    with pytest.raises(ConfigError, match="number of classes"):
        Classification(params=Params(), info=InputInfo())
    with pytest.raises(PluginError):
        parse_setup("--model.name", "inceptoin_v3")


def test_a_class_that_is_not_found_is_at_chance_though_others_are():
    matrix = np.diag([20.0, 20, 20, 20, 20, 0])
    matrix[5, :2] = 10
    metrics = {"accuracy": 5 / 6, "recall_e": 1.0, "recall_f": 0.0, "confusion_matrix": matrix}
    assert find_at_chance(Classification(params=Params(), info=INFO), metrics) == {
        "recall_f": pytest.approx(1 / 6)
    }


def test_the_network_brings_its_image_size_channels_and_preprocessing():
    params = parse_setup("--model.name", "inception_v3").input.params
    assert (params.image_size, params.channels, params.preprocessing) == (299, 3, "inception")
    params = parse_setup().input.params
    assert (params.image_size, params.channels, params.preprocessing) == (28, None, "lenet")
    params = parse_setup("--input.image_size", "75", "--input.preprocessing", "vgg").input.params
    assert (params.image_size, params.preprocessing) == (75, "vgg")


def test_an_unknown_network_is_answered_before_tensorflow_loads():
    program = (
        "import sys; from tf_frame.cli.main import main;"
        "code = main(['run', '--plugin', 'classification', '--model.name', 'inceptoin_v3']);"
        "print(code, 'tensorflow' in sys.modules)"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert result.stdout.split() == ["2", "False"], result.stderr
    assert "no network plugin is called 'inceptoin_v3'; did you mean" in result.stderr
    assert "'inception_v3'" in result.stderr


def test_the_inception_trainer_is_a_preset():
    setup = parse_setup("--preset", "inception_distributed", "--num_clones", "2")
    config = setup.config
    assert (setup.optimizer.name, vars(setup.optimizer.params)) == (
        "rmsprop",
        {"decay": 0.9, "momentum": 0.9, "epsilon": 1.0, "centered": False},
    )
    schedule = setup.schedule.params
    assert (setup.schedule.name, schedule.staircase) == ("exponential", True)
    assert (schedule.decay_factor, schedule.decay_epochs) == (0.94, 2.0)
    assert (config.moving_average_decay, config.loss_average_decay) == (0.9999, 0.9)
    assert (config.sync_replicas, config.on_nan, config.num_clones) == (True, "raise", 2)
    assert config.trace_at_step == (61,)
    params = setup.model.params
    assert (params.name, params.label_smoothing) == ("inception_v3", 0.1)
    assert params.aux_loss_weight == 0.4
    # Inception v3's own decay is that trainer's 0.9997, but for short runs.
    assert (params.batch_norm_decay, params.weight_decay) == (None, 4e-5)
    assert setup.make_model(setup.make_input().info).network.own_batch_norm_decay() == 0.9997
    assert (config.learning_rate, setup.input.params.labels_offset) == (0.045, -1)
    assert (config.summarize_gradients, config.summarize_variables) == (True, True)
    assert config.save_summaries_secs == 180
    info = setup.make_input().info
    assert (info.num_classes, info.class_names[0]) == (11, "background")


def test_training_adds_losses_updates_and_summaries():
    output = build(Mode.TRAIN, name="mobilenet_v1_025", weight_decay=0.1)
    assert len(tf.losses.get_losses()) == 1
    assert tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    assert tf.losses.get_regularization_losses()
    assert not output.metrics
    tags = [op.name for op in tf.get_collection(tf.GraphKeys.SUMMARIES)]
    for name in output.end_points:
        assert any(f"activations/{name}" in tag for tag in tags)
        assert any(f"sparsity/{name}" in tag for tag in tags)
    # Summaries of activations can be left out.
    with tf.Graph().as_default():
        build(Mode.TRAIN, size=28, summarize_activations=False)
        assert not tf.get_collection(tf.GraphKeys.SUMMARIES)


def test_evaluation_has_metrics_and_no_updates_and_predictions_need_no_labels():
    output = build(Mode.EVAL, name="mobilenet_v1_025")
    assert {"accuracy", "top_5_accuracy", "mean_recall", "recall_a"} <= output.metrics.keys()
    assert not tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    with tf.Graph().as_default():
        output = build(Mode.PREDICT, labels=False, size=28)
    assert set(output.predictions) == {"label", "probabilities", "class_name"}


@pytest.mark.parametrize(
    ("words", "decay"),
    [
        ((), 0.75),
        (("--warm_start_from", "x.ckpt"), 0.75),
        (("--max_steps", "100000"), 0.9997),
        (("--model.batch_norm_decay", "0.5"), 0.5),
    ],
)
def test_the_decay_of_batch_norm_fits_the_run(words, decay):
    setup = parse_setup("--model.name", "mobilenet_v1_025", "--max_steps", "75", *words)
    model = setup.make_model(setup.make_input().info)
    assert model._context(Mode.TRAIN).batch_norm_decay == decay
    assert bool(model.notes()) == (decay == 0.75)
    assert not tf.losses.get_losses()


@pytest.mark.slow
def test_images_larger_than_the_network_need_global_pooling():
    with pytest.raises(ConfigError, match=r"--input.image_size.*--model.global_pool"):
        build(Mode.TRAIN, name="vgg_a", size=256)
    output = build(Mode.EVAL, name="resnet_v1_50", size=64, global_pool=True)
    assert output.predictions["probabilities"].shape.as_list() == [2, 6]


@pytest.mark.slow
def test_auxiliary_logits_of_a_network_are_trained_as_well():
    output = build(Mode.TRAIN, name="inception_v3", size=75)
    assert "AuxLogits" in output.end_points
    losses = [loss.op.name for loss in tf.losses.get_losses()]
    assert len(losses) == 2 and losses[0].startswith("aux_loss/")
    weights = next(v for v in tf.trainable_variables() if "/AuxLogits/" in v.op.name)
    assert tf.gradients(tf.losses.get_losses()[0], weights)[0] is not None

import logging

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from sessions import initialized_session, save_variables
from tf_frame.errors import ConfigError
from tf_frame.gradient_transforms.multiply import multiply_gradients
from tf_frame.layers import model_variable
from tf_frame_legacy import train_utils

pytestmark = pytest.mark.usefixtures("graph")


@pytest.fixture(autouse=True)
def log(caplog):
    caplog.set_level(logging.INFO, "tf_frame")
    return caplog


def messages(log):
    """Messages of tf-frame; TensorFlow's own log may be on."""
    return [record.getMessage() for record in log.records if record.name == "tf_frame"]


def model_variables(*names):
    return [model_variable(name, [2], initializer=tf.ones_initializer()) for name in names]


LAYERS = (
    "xception/conv1/weights",
    "xception/conv1/biases",
    "xception/my_logits_branch/weights",
    "logits/semantic/weights",
    "logits/semantic/biases",
)


@pytest.mark.usefixtures("variable_mode")
def test_biases_learn_twice_as_fast_and_last_layers_by_their_multiplier():
    model_variables(*LAYERS)
    tf.get_variable("logits/not_of_the_model/biases", [2])
    assert train_utils.get_model_gradient_multipliers(["aspp", "logits"], 10.0) == {
        "xception/conv1/biases": 2.0,
        "xception/my_logits_branch/weights": 10.0,
        "logits/semantic/weights": 10.0,
        "logits/semantic/biases": 20.0,
    }


def test_a_variable_in_two_last_layers_is_multiplied_once_and_multiply_gradients_takes_the_map():
    variables = model_variables(*LAYERS)
    pairs = [(tf.ones([2]), variable) for variable in variables]
    multipliers = train_utils.get_model_gradient_multipliers(["logits"], 5.0)
    with tf.Session() as session:
        changed = session.run([g for g, _ in multiply_gradients(pairs, multipliers)])
    assert [gradient[0] for gradient in changed] == [1.0, 2.0, 5.0, 5.0, 10.0]
    multipliers = train_utils.get_model_gradient_multipliers(["logits", "semantic"], 5.0)
    assert multipliers["logits/semantic/weights"] == 5.0


PRETRAINED = ("conv/weights", "logits/weights", "deep/logits/weights")


@pytest.fixture
def checkpoint(tmp_path):
    """Has the variables PRETRAINED with the values 7, and a global step of 7."""
    values = {name: np.float32([7, 7]) for name in PRETRAINED}
    values["global_step"] = np.int64(7)
    return save_variables(tmp_path / "pretrained" / "model.ckpt", values)


def init_fn(tmp_path, checkpoint, *, names=PRETRAINED, last=True, layers=("logits",), **options):
    """Makes a graph with a global step and the variables `names`, and its init function."""
    model_variables(*names)
    tf.train.create_global_step()
    folder = str(tmp_path / "train")
    return train_utils.get_model_init_fn(folder, checkpoint, last, layers, **options)


def after(restore, *scaffold):
    with initialized_session() as session:
        restore(*scaffold, session)
        return {v.op.name: np.max(session.run(v)) for v in tf.global_variables()}


@pytest.mark.usefixtures("variable_mode")
@pytest.mark.parametrize("scaffold", [(), (None,)])
def test_all_but_the_global_step_is_restored(tmp_path, checkpoint, scaffold, log):
    values = after(init_fn(tmp_path, checkpoint), *scaffold)
    assert values == {**dict.fromkeys(PRETRAINED, 7.0), "global_step": 0}
    assert messages(log) == [f"Initializing model from path: {checkpoint}"]


def test_a_scaffold_takes_the_function(tmp_path, checkpoint):
    scaffold = tf.train.Scaffold(init_fn=init_fn(tmp_path, checkpoint))
    with tf.train.MonitoredTrainingSession(scaffold=scaffold) as session:
        assert session.run(tf.model_variables()[0]).tolist() == [7.0, 7.0]


def test_last_layers_are_left_out_by_the_beginning_of_their_names(tmp_path, checkpoint):
    values = after(init_fn(tmp_path, checkpoint, last=False))
    expected = {"conv/weights": 7.0, "logits/weights": 1.0, "deep/logits/weights": 7.0}
    assert values == {**expected, "global_step": 0}


def test_without_a_checkpoint_or_with_one_of_the_run_there_is_no_function(
    tmp_path, checkpoint, log
):
    assert init_fn(tmp_path, None) is None
    folder = str(tmp_path / "pretrained")
    assert train_utils.get_model_init_fn(folder, checkpoint, True, []) is None
    assert messages(log) == [
        "Not initializing the model from a checkpoint.",
        "Ignoring initialization; other checkpoint exists",
    ]
    every_layer = ("conv", "logits", "deep", "global_step")
    folder = str(tmp_path / "train")
    assert train_utils.get_model_init_fn(folder, checkpoint, False, every_layer) is None


def test_missing_variables_are_passed_over_when_asked(tmp_path, checkpoint, log):
    names = ("conv/weights", "other/weights")
    values = after(init_fn(tmp_path, checkpoint, names=names, ignore_missing_vars=True))
    assert values == {"conv/weights": 7.0, "other/weights": 1.0, "global_step": 0}
    assert "Checkpoint is missing variable [other/weights]" in messages(log)


def test_missing_variables_another_shape_and_a_missing_checkpoint_are_errors(tmp_path, checkpoint):
    with pytest.raises(ValueError, match=r"Checkpoint is missing variable \[other/weights\]"):
        init_fn(tmp_path, checkpoint, names=("conv/weights", "other/weights"))
    with tf.Graph().as_default(), pytest.raises(ConfigError, match="there is no checkpoint"):
        init_fn(tmp_path, str(tmp_path / "nowhere" / "model.ckpt"), names=())
    with tf.Graph().as_default():
        tf.get_variable("conv/weights", [3])
        with pytest.raises(ValueError, match=r"conv/weights has shape \[3\], and \[2\] in the che"):
            init_fn(tmp_path, checkpoint, names=(), ignore_missing_vars=True)


def test_partitioned_variables_are_restored_from_the_whole(tmp_path, checkpoint):
    parts = tf.get_variable("conv/weights", [2], partitioner=tf.fixed_size_partitioner(2))
    restore = init_fn(tmp_path, checkpoint, names=())
    with initialized_session() as session:
        restore(session)
        assert session.run(tf.convert_to_tensor(parts)).tolist() == [7.0, 7.0]

"""Shapes and names of the feature extractors; graphs are built, not run."""

import pytest
import tensorflow.compat.v1 as tf

from tf_frame import Mode
from tf_frame_recognition.model import Params
from tf_frame_recognition.networks.encoder import encode


def _encoded(size=(32, 160), mode=Mode.TRAIN, **options):
    images = tf.placeholder(tf.float32, [None, *size, 1])
    return encode(images, mode, Params(**options), batch_norm_decay=0.9)


def _shapes(prefix):
    return {
        variable.op.name.removeprefix(prefix): variable.shape.as_list()
        for variable in tf.global_variables()
        if variable.op.name.startswith(prefix)
    }


def test_small():
    with tf.Graph().as_default():
        sequence = _encoded(lstm_units=8, lstm_layers=2)
        assert sequence.shape.as_list() == [None, 40, 16]
        shapes = _shapes("FeatureExtractor/Convnet/")
        assert shapes["Conv1/weights"] == [3, 3, 1, 16]
        assert shapes["Conv4/weights"] == [3, 3, 64, 128]
        assert {name.partition("/")[2] for name in shapes} == {
            "weights",
            *(f"BatchNorm/{name}" for name in ("gamma", "beta", "moving_mean", "moving_variance")),
        }
        assert set(_shapes("FeatureExtractor/Bi")) == {
            f"directionalRnn{number}/bidirectional_rnn/{direction}/lstm_cell/{name}"
            for number in ("", "_1")
            for direction in ("fw", "bw")
            for name in ("kernel", "bias")
        }


@pytest.mark.slow
def test_aster_resnet():
    with tf.Graph().as_default():
        options = {"feature_extractor": "aster_resnet", "lstm_layers": 0}
        assert _encoded((32, 100), **options).shape.as_list() == [None, 25, 512]
        shapes = _shapes("FeatureExtractor/Convnet/ResNet/")
        kernels = {k.removesuffix("/weights"): v for k, v in shapes.items() if "weights" in k}
        assert len(kernels) == 1 + 2 * 22 + 5
        assert kernels["Conv0"] == [3, 3, 1, 32]
        assert kernels["Block_3/Unit_1/Conv1"] == [3, 3, 64, 128]
        assert kernels["Block_3/Unit_1/ShortCut"] == [3, 3, 64, 128]
        assert kernels["Block_3/Unit_6/Conv1"] == [1, 1, 128, 128]
        assert kernels["Block_5/Unit_3/Conv2"] == [3, 3, 512, 512]


@pytest.mark.parametrize(("mode", "fused"), [(Mode.TRAIN, True), (Mode.PREDICT, False)])
def test_exports_have_no_op_for_a_whole_lstm(mode, fused):
    with tf.Graph().as_default() as graph:
        _encoded((16, 12), mode, lstm_units=2)
        assert ("BlockLSTM" in {op.type for op in graph.get_operations()}) == fused


def test_weight_decay_is_of_the_convolutions():
    with tf.Graph().as_default():
        _encoded((16, 12), weight_decay=0.1)
        losses = tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)
        assert len(losses) == 4

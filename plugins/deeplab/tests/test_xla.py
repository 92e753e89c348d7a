"""DeepLab compiled by XLA computes what it does without."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame import InputInfo, Mode
from tf_frame_deeplab.model import DeepLab, Params
from xla_steps import train

# XLA compiles the network for half a minute; the framework's tests compile a smaller one always.
pytestmark = [pytest.mark.slow, pytest.mark.process]

IMAGES = np.random.RandomState(0).uniform(0, 255, [2, 33, 33, 3]).astype(np.float32)


def build_loss():
    info = InputInfo(num_classes=2, ignore_label=255, class_names=("dark", "light"))
    params = Params(depth_multiplier=0.1, aspp_channels=8, decoder_channels=0, image_pooling=False)
    labels = {"semantic": tf.constant((IMAGES[..., 0] > 128).astype(np.int32))}
    features = {"image": tf.constant(IMAGES)}
    return DeepLab(params=params, info=info).build(features, labels, Mode.TRAIN).loss


def test_deeplab_is_compiled_and_its_loss_is_the_same():
    plain, _ = train(build_loss, 4, xla=False, learning_rate=0.01)
    compiled, run = train(build_loss, 4, xla=True, learning_rate=0.01)
    assert "_XlaRun" in run
    assert not [op for op in run if "Backprop" in op]
    np.testing.assert_allclose(compiled, plain, rtol=1e-3)

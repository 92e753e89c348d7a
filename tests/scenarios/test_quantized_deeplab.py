"""Quantisation of a network of the kind that it is for."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from short_backbone import shorten_backbone
from tf_frame import InputInfo, Mode
from tf_frame.graph.quantization import quantize_training_graph
from tf_frame_deeplab.model import DeepLab, Params

SMALL = Params(depth_multiplier=0.1, aspp_channels=8, decoder_channels=8, batch_norm_decay=0.9)
INFO = InputInfo(num_classes=2, ignore_label=255, class_names=("dark", "light"))
DELAY = 20


@pytest.fixture
def short(monkeypatch):
    """Numbers of kernels, and of sums, of a deeplab with a short backbone."""
    shorten_backbone(monkeypatch)
    return 36, 2


@pytest.fixture
def whole():
    """Numbers of kernels, and of sums, of deeplab as it is."""
    return 66, 12


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.parametrize("backbone", ["short", "whole"])
def test_deeplab_trains_on_when_it_is_quantised(backbone, request):
    """Bright squares on black: one batch, learnt by heart."""
    num_kernels, num_sums = request.getfixturevalue(backbone)
    images = np.zeros([2, 32, 32, 3], np.float32)
    images[:, 8:24, 8:24] = 200
    with tf.Graph().as_default() as graph, tf.Session() as session:
        tf.set_random_seed(1)
        step = tf.train.create_global_step()
        labels = {"semantic": tf.constant((images[..., 0] > 0).astype(np.int32))}
        model = DeepLab(params=SMALL, info=INFO)
        loss = model.build({"image": tf.constant(images)}, labels, Mode.TRAIN).loss
        quantized = quantize_training_graph(delay_steps=DELAY)
        optimizer = tf.train.MomentumOptimizer(0.05, 0.9)
        pairs = optimizer.compute_gradients(loss)
        apply = optimizer.apply_gradients(pairs, global_step=step)
        train_op = tf.group(apply, *tf.get_collection(tf.GraphKeys.UPDATE_OPS))
        session.run(tf.global_variables_initializer())
        losses = [session.run([loss, train_op])[0] for _ in range(DELAY + 20)]
        rounded = [
            consumer.outputs[0]
            for op in graph.get_operations()
            if op.type == "FakeQuantWithMinMaxVars"
            for consumer in op.outputs[0].consumers()
            if consumer.type == "Select"
        ]
        by_variable = {v.op.name: g for g, v in pairs if g is not None}
        tensors, gradients = session.run([rounded, by_variable])
    assert len(quantized.weights) == num_kernels
    assert len(quantized.folded) == num_kernels - 1  # All but the logits, which have biases.
    assert quantized.not_folded == []
    assert len(rounded) == num_kernels + len(quantized.activations)
    assert len(quantized.activations) == num_kernels + num_sums
    assert max(len(np.unique(tensor)) for tensor in tensors) <= 256
    assert np.isfinite(losses).all()
    assert losses[-1] < 0.7 * losses[0]
    assert losses[-1] < losses[DELAY]
    kernels = [name for name in gradients if name.endswith("weights")]
    assert len(kernels) == num_kernels
    assert all(np.isfinite(gradients[name]).all() for name in kernels)
    assert np.mean([np.abs(gradients[name]).max() > 0 for name in kernels]) > 0.9

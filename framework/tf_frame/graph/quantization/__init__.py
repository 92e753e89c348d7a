"""Quantisation-aware training: the graph computes like an 8-bit integer network.

The weights adapt to the rounding, so that a later conversion to integers costs less accuracy.

    with graph.as_default():
        logits = network(images)
        quantize_training_graph(delay_steps=2000)
        gradients = tf.gradients(loss(logits), ...)

Weights and activations are rounded to 256 levels in the forward pass; gradients pass
unchanged (Jacob et al. 2018, https://arxiv.org/abs/1712.05877). Replaces
`create_training_graph` and `create_eval_graph` of tf.contrib.quantize.

`find_layers` finds the layers and batch norm's factor on their weights, `fake_quant` rounds
tensors, `rewrite` connects both.
"""

from tf_frame.graph.quantization.fake_quant import QUANT_VARS, quantization_summaries
from tf_frame.graph.quantization.rewrite import (
    Quantized,
    quantize_eval_graph,
    quantize_training_graph,
)

__all__ = [
    "QUANT_VARS",
    "Quantized",
    "quantization_summaries",
    "quantize_eval_graph",
    "quantize_training_graph",
]

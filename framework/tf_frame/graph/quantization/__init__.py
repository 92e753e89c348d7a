"""Quantisation-aware training: the graph computes as an 8-bit integer network would.

    with graph.as_default():
        logits = network(images)
        quantize_training_graph(delay_steps=2000)
        gradients = tf.gradients(loss(logits), ...)

Weights and activations are rounded to 256 levels in the forward pass, while
gradients pass as if they were not (Jacob et al. 2018,
https://arxiv.org/abs/1712.05877). It stands in for tf.contrib.quantize's
`create_training_graph` and `create_eval_graph`.

`find` finds the layers, `fold` takes batch norm into account, `fake_quant`
rounds, `edit` puts the rounded tensors into the graph, `rewrite` does it all.
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

"""`BasicDecoder`: a cell whose next inputs come from a helper."""

from __future__ import annotations

from typing import Any, NamedTuple

import tensorflow.compat.v1 as tf
from tensorflow.python.keras.layers.legacy_rnn import rnn_cell_impl

from tf_frame_legacy.contrib.seq2seq.decoder import Decoder
from tf_frame_legacy.contrib.seq2seq.helper import Helper
from tf_frame_legacy.contrib.seq2seq.shapes import is_layer, output_size_after


class BasicDecoderOutput(NamedTuple):
    """Outputs of a `BasicDecoder`: the cell's outputs after the layer, and the helper's samples."""

    rnn_output: Any
    sample_id: Any


class BasicDecoder(Decoder):
    """A decoder of a cell, a helper and perhaps a layer.

    Args:
      cell: the cell.
      helper: the `Helper` that samples and makes the next inputs.
      initial_state: state of the cell before the first step.
      output_layer: layer after the cell; None: no layer.

    Raises:
      TypeError: the cell, helper or layer is none.
    """

    def __init__(
        self, cell: Any, helper: Any, initial_state: Any, output_layer: Any = None
    ) -> None:
        rnn_cell_impl.assert_like_rnncell("cell", cell)
        if not isinstance(helper, Helper):
            raise TypeError(f"helper must be a Helper, received: {type(helper)}")
        if output_layer is not None and not is_layer(output_layer):
            raise TypeError(f"output_layer must be a Layer, received: {type(output_layer)}")
        self._cell, self._helper = cell, helper
        self._initial_state, self._output_layer = initial_state, output_layer

    @property
    def batch_size(self) -> Any:
        """The batch size of the helper."""
        return self._helper.batch_size

    def _rnn_output_size(self) -> Any:
        return output_size_after(self._output_layer, self._cell.output_size)

    @property
    def output_size(self) -> BasicDecoderOutput:
        """Sizes of the outputs."""
        return BasicDecoderOutput(self._rnn_output_size(), self._helper.sample_ids_shape)

    @property
    def output_dtype(self) -> BasicDecoderOutput:
        """Types of the outputs: that of the state, and that of the samples."""
        dtype = tf.nest.flatten(self._initial_state)[0].dtype
        return BasicDecoderOutput(
            tf.nest.map_structure(lambda _: dtype, self._rnn_output_size()),
            self._helper.sample_ids_dtype,
        )

    def initialize(self, name: str | None = None) -> Any:
        """Returns `(finished, inputs, state)` before the first step."""
        return (*self._helper.initialize(), self._initial_state)

    def step(self, time: Any, inputs: Any, state: Any, name: str | None = None) -> Any:
        """Returns `(outputs, next_state, next_inputs, finished)`."""
        with tf.name_scope(name, "BasicDecoderStep", tf.nest.flatten((time, inputs))):
            outputs, state = self._cell(inputs, state)
            if self._output_layer is not None:
                outputs = self._output_layer(outputs)
            sample_ids = self._helper.sample(time=time, outputs=outputs, state=state)
            finished, next_inputs, next_state = self._helper.next_inputs(
                time=time, outputs=outputs, state=state, sample_ids=sample_ids
            )
        return BasicDecoderOutput(outputs, sample_ids), next_state, next_inputs, finished

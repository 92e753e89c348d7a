"""A decoder with Bahdanau's attention.

Each step attends with the output of the last step, and the cell gets the last character and the
context vector (Bahdanau et al., https://arxiv.org/abs/1409.0473). ASTER does the same: `sync:
true`, bgshih/aster, core/sync_attention_wrapper.py.

Variables, with the names of TensorFlow 1's attention and cells:

    memory_layer/kernel                    [features, units]
    bahdanau_attention/query_layer/kernel  [units, units]
    bahdanau_attention/attention_v         [units]
    lstm_cell/kernel                       [classes + 1 + features + units, 4 * units]
    lstm_cell/bias                         [4 * units]
    Logits/weights, Logits/biases          [units, classes + 1], [classes + 1]
"""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame_recognition.networks.lstm import cell, cell_variables

# Output and state of the cell, both `[batch, units]`.
State = tuple[Any, Any]


class Decoder:
    """One direction's decoder; makes its variables in the current scope.

    Args:
      sequence: `[batch, time, features]`, the memory of the attention.
      num_classes: number of characters; the class behind them is start and end.
      units: units of the cell and of the attention.
    """

    def __init__(self, sequence: Any, *, num_classes: int, units: int) -> None:
        self._sequence, self._units, self._classes = sequence, units, num_classes + 1
        features = int(sequence.shape[2])
        memory = tf.get_variable("memory_layer/kernel", [features, units])
        self._keys = tf.tensordot(sequence, memory, 1)
        with tf.variable_scope("bahdanau_attention"):
            self._query = tf.get_variable("query_layer/kernel", [units, units])
            self._attention = tf.get_variable("attention_v", [units])
        self._kernel, self._bias = cell_variables(self._classes + features, units)
        with tf.variable_scope("Logits"):
            self._weights = tf.get_variable("weights", [units, self._classes])
            zeros = tf.zeros_initializer()
            self._biases = tf.get_variable("biases", [self._classes], initializer=zeros)

    def initial_state(self) -> State:
        """Returns the state before the first step."""
        zeros = tf.zeros([tf.shape(self._sequence)[0], self._units])
        return zeros, zeros

    def step(self, previous: Any, state: State) -> tuple[Any, State]:
        """Returns logits `[batch, classes + 1]` and the next state.

        Args:
          previous: `[batch]` int32, the previous character, or the start.
          state: the state of the step before.
        """
        state = self._next(previous, state)
        return self._logits(state[0]), state

    def logits(self, previous: Any) -> Any:
        """Returns the logits of all steps, `[batch, steps, classes + 1]`.

        Args:
          previous: `[batch, steps]` int32, the character before each step; static number of steps.
        """
        state, outputs = self.initial_state(), []
        for characters in tf.unstack(previous, axis=1):
            state = self._next(characters, state)
            outputs.append(state[0])
        return self._logits(tf.stack(outputs, axis=1))

    def _next(self, previous: Any, state: State) -> State:
        output, memory = state
        inputs = [tf.one_hot(previous, self._classes), self._context(output), output]
        return cell(tf.matmul(tf.concat(inputs, axis=1), self._kernel) + self._bias, memory)

    def _context(self, output: Any) -> Any:
        query = tf.matmul(output, self._query)
        scores = tf.tensordot(tf.tanh(self._keys + query[:, tf.newaxis]), self._attention, 1)
        weights = tf.nn.softmax(scores)
        return tf.squeeze(tf.matmul(weights[:, tf.newaxis], self._sequence), axis=1)

    def _logits(self, outputs: Any) -> Any:
        return tf.tensordot(outputs, self._weights, 1) + self._biases

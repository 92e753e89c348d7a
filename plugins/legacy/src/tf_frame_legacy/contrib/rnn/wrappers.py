"""Wrappers that were in tf.nn.rnn_cell once: embeddings and projections; highways and XLA."""

from __future__ import annotations

import math
from typing import Any

import tensorflow.compat.v1 as tf
from tensorflow.python.framework import op_def_registry

from tf_frame_legacy.contrib.rnn.core import RNNCell, assert_like_rnncell
from tf_frame_legacy.contrib.rnn.parts import Activation, Wrapper, _linear, columns


class EmbeddingWrapper(Wrapper, RNNCell):
    """A cell whose inputs are rows of an embedding, the variable `embedding`.

    Args:
      cell: the wrapped cell.
      embedding_classes: number of rows of the embedding.
      embedding_size: number of its columns.
      initializer: initializer of the embedding; None: that of the scope, or uniform with
        variance one.
      reuse: whether the variables exist.

    Raises:
      TypeError: `cell` is no cell.
      ValueError: a size is not positive.
    """

    def __init__(
        self,
        cell: Any,
        embedding_classes: int,
        embedding_size: int,
        initializer: Any = None,
        reuse: Any = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        assert_like_rnncell("cell", cell)
        if embedding_classes <= 0 or embedding_size <= 0:
            raise ValueError(
                "Both embedding_classes and embedding_size must be > 0: "
                f"{embedding_classes}, {embedding_size}."
            )
        self._cell = cell
        self._shape = [embedding_classes, embedding_size]
        self._initializer = initializer

    def call(self, inputs: Any, state: Any) -> Any:
        with tf.device("/cpu:0"):
            initializer = self._initializer or tf.get_variable_scope().initializer
            limit = math.sqrt(3)
            embedding = tf.get_variable(
                "embedding",
                self._shape,
                tf.nest.flatten(state)[0].dtype,
                initializer or tf.random_uniform_initializer(-limit, limit),
            )
            embedded = tf.nn.embedding_lookup(embedding, tf.reshape(inputs, [-1]))
            return self._cell(embedded, state)


class InputProjectionWrapper(Wrapper, RNNCell):
    """A cell whose inputs pass through a linear map.

    Args:
      cell: the wrapped cell.
      num_proj: number of columns of the cell's inputs.
      activation: activation of the cell's inputs; None: none.
      input_size: does nothing.
      reuse: whether the variables exist.

    Raises:
      TypeError: `cell` is no cell.
    """

    def __init__(
        self,
        cell: Any,
        num_proj: int,
        activation: Activation | None = None,
        input_size: Any = None,
        reuse: Any = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        if input_size is not None:
            tf.logging.warn("%s: The input_size parameter is deprecated.", self)
        assert_like_rnncell("cell", cell)
        self._cell = cell
        self._num_proj = num_proj
        self._activation = activation

    def call(self, inputs: Any, state: Any) -> Any:
        projected = _linear(inputs, self._num_proj, True)
        return self._cell(self._activation(projected) if self._activation else projected, state)


class OutputProjectionWrapper(Wrapper, RNNCell):
    """A cell whose outputs pass through a linear map.

    Args:
      cell: the wrapped cell.
      output_size: number of columns of the outputs.
      activation: activation of the outputs; None: none.
      reuse: whether the variables exist.

    Raises:
      TypeError: `cell` is no cell.
      ValueError: `output_size` is not positive.
    """

    def __init__(
        self, cell: Any, output_size: int, activation: Activation | None = None, reuse: Any = None
    ) -> None:
        super().__init__(_reuse=reuse)
        assert_like_rnncell("cell", cell)
        if output_size < 1:
            raise ValueError(f"Parameter output_size must be > 0: {output_size}.")
        self._cell = cell
        self._output_size = output_size
        self._activation = activation

    @property
    def output_size(self) -> int:
        """Number of columns of the outputs."""
        return self._output_size

    def call(self, inputs: Any, state: Any) -> Any:
        outputs, state = self._cell(inputs, state)
        projected = _linear(outputs, self._output_size, True)
        return self._activation(projected) if self._activation else projected, state


class HighwayWrapper(Wrapper, RNNCell):
    """A cell with a highway from its inputs to its outputs, https://arxiv.org/abs/1505.00387.

    Args:
      cell: the wrapped cell.
      couple_carry_transform_gates: whether the transform gate is one minus the carry gate.
      carry_bias_init: initial bias of the carry gate; that of the transform gate is its negative.
    """

    def __init__(
        self, cell: Any, couple_carry_transform_gates: bool = True, carry_bias_init: float = 1.0
    ) -> None:
        super().__init__()
        self._cell = cell
        self._couple_carry_transform_gates = couple_carry_transform_gates
        self._carry_bias_init = carry_bias_init

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
        outputs, state = self._cell(inputs, state, scope=scope)
        tf.nest.assert_same_structure(inputs, outputs)
        return tf.nest.map_structure(self._highway, inputs, outputs), state

    def _highway(self, inputs: Any, outputs: Any) -> Any:
        inputs.shape.assert_is_compatible_with(outputs.shape)
        carry = self._gate("carry", inputs, self._carry_bias_init)
        if self._couple_carry_transform_gates:
            transform = 1 - carry
        else:
            transform = self._gate("transform", inputs, -self._carry_bias_init)
        return inputs * carry + outputs * transform

    def _gate(self, name: str, inputs: Any, bias: float) -> Any:
        width = columns(inputs)
        weights = tf.get_variable(f"{name}_w", [width, width])
        biases = tf.get_variable(f"{name}_b", [width], initializer=tf.constant_initializer(bias))
        return tf.sigmoid(tf.nn.xw_plus_b(inputs, weights, biases))


class CompiledWrapper(Wrapper, RNNCell):
    """A cell whose operations XLA may compile.

    Args:
      cell: the wrapped cell.
      compile_stateful: whether XLA may compile operations with a state, too.
    """

    def __init__(self, cell: Any, compile_stateful: bool = False) -> None:
        super().__init__()
        self._cell = cell
        self._compile_stateful = compile_stateful

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
        compile_ops = True if self._compile_stateful else _is_stateless
        with tf.xla.experimental.jit_scope(compile_ops=compile_ops):
            return self._cell(inputs, state, scope=scope)


def _is_stateless(node_def: Any) -> bool:
    definition = op_def_registry.get(node_def.op)
    return definition is not None and not definition.is_stateful

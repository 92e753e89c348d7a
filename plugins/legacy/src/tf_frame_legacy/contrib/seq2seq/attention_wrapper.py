"""`AttentionWrapper`: an RNN cell that attends to a memory in each step."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import tensorflow.compat.v1 as tf
from tensorflow.python.keras.layers.legacy_rnn import rnn_cell_impl

from tf_frame_legacy import layers
from tf_frame_legacy.contrib.seq2seq.attention import AttentionMechanism
from tf_frame_legacy.contrib.seq2seq.shapes import dimension

Function = Callable[..., Any]

_ADVICE = (
    "Are you using the BeamSearchDecoder? Then tile the memory and the states by "
    "tf.contrib.seq2seq.tile_batch with multiplier=beam_width, and give zero_state "
    "batch_size * beam_width."
)


class _Fields(NamedTuple):
    cell_state: Any
    attention: Any
    time: Any
    alignments: Any
    alignment_history: Any
    attention_state: Any


class AttentionWrapperState(_Fields):
    """The state of an `AttentionWrapper`.

    `alignments`, `alignment_history` and `attention_state` are tuples if the wrapper was given a
    list of mechanisms.

    Attributes:
      cell_state: state of the wrapped cell.
      attention: attention of the previous step, `[batch, attention_size]`.
      time: the step, an int32 scalar.
      alignments: alignments of the previous step, `[batch, memory_time]`.
      alignment_history: TensorArray of the alignments of all steps; or ().
      attention_state: state of the mechanism; None: its alignments, as in TensorFlow 1.4, whose
        states had no such field.
    """

    __slots__ = ()

    def __new__(
        cls,
        cell_state: Any,
        attention: Any,
        time: Any,
        alignments: Any,
        alignment_history: Any,
        attention_state: Any = None,
    ) -> AttentionWrapperState:
        if attention_state is None:
            attention_state = alignments
        fields = (cell_state, attention, time, alignments, alignment_history, attention_state)
        return super().__new__(cls, *fields)

    def clone(self, **kwargs: Any) -> Any:
        """Returns a copy with some fields replaced, whose shapes must be as they were.

        Args:
          **kwargs: new fields, such as `cell_state`.

        Raises:
          ValueError: a shape or structure differs.
          InvalidArgumentError: a shape that was unknown differs in the session.
        """
        return tf.nest.map_structure(_with_same_shape, self, self._replace(**kwargs))


def hardmax(logits: Any, name: str | None = None) -> Any:
    """Returns one-hot vectors with the 1 at the largest logit of the last axis."""
    with tf.name_scope(name, "Hardmax", [logits]):
        logits = tf.convert_to_tensor(logits, name="logits")
        return tf.one_hot(tf.argmax(logits, -1), dimension(logits, -1), dtype=logits.dtype)


class AttentionWrapper(rnn_cell_impl.RNNCell):
    """A cell that mixes its inputs with attention to a memory.

    Args:
      cell: the cell inside.
      attention_mechanism: a mechanism, or a list of several.
      attention_layer_size: depth of the layer (a list for a list of mechanisms) that makes the
        attention of the cell's outputs and the context; None: the attention is the context.
      alignment_history: whether the state keeps the alignments of all steps.
      cell_input_fn: function `(inputs, attention)` that returns the cell's inputs; None: both,
        concatenated.
      output_attention: whether the outputs are the attention (as Luong) or the cell's outputs
        (as Bahdanau).
      initial_cell_state: state of the cell that `zero_state` returns; None: zeros.
      name: name of the variable scope.
      attention_layer: layer, or list of layers, instead of `attention_layer_size`.
      attention_fn: function (mechanism, cell_output, attention_state, attention_layer) that
        returns attention, alignments and the next state; None: `_compute_attention`.
      dtype: type of the variables.

    Raises:
      TypeError: the cell is no cell, a mechanism is no mechanism, or a function not callable.
      ValueError: the numbers of layers and mechanisms differ, or both `attention_layer_size` and
        `attention_layer` are given.
    """

    def __init__(
        self,
        cell: Any,
        attention_mechanism: Any,
        attention_layer_size: Any = None,
        alignment_history: bool = False,
        cell_input_fn: Function | None = None,
        output_attention: bool = True,
        initial_cell_state: Any = None,
        name: str | None = None,
        attention_layer: Any = None,
        attention_fn: Function | None = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(name=name, dtype=dtype)
        rnn_cell_impl.assert_like_rnncell("cell", cell)
        if cell_input_fn is not None and not callable(cell_input_fn):
            raise TypeError(
                f"cell_input_fn must be callable, saw type: {type(cell_input_fn).__name__}"
            )
        self._is_multi = isinstance(attention_mechanism, (list, tuple))
        self._cell = cell
        self._attention_mechanisms = _checked_mechanisms(attention_mechanism)
        self._attention_layers = self._make_layers(attention_layer_size, attention_layer)
        self._attention_layer_size = self._size_of_attention(attention_layer_size)
        self._attention_fn = attention_fn or _compute_attention
        self._cell_input_fn = cell_input_fn or _concatenate
        self._output_attention = output_attention
        self._alignment_history = alignment_history
        with tf.name_scope(name, "AttentionWrapperInit"):
            # In a function, since Keras would wrap the tuple of an attribute.
            state = self._checked_initial_state(initial_cell_state)
            self._initial_cell_state = None if state is None else lambda: state

    def _make_layers(self, sizes: Any, attention_layers: Any) -> Any:
        if sizes is not None and attention_layers is not None:
            raise ValueError("Only one of attention_layer_size and attention_layer should be set")
        given = sizes if sizes is not None else attention_layers
        if given is None:
            return None
        given = tuple(given) if isinstance(given, (list, tuple)) else (given,)
        if len(given) != len(self._attention_mechanisms):
            raise ValueError(
                "attention_layer_size and attention_layer must have one element per "
                f"attention_mechanism, saw: {len(given)} vs {len(self._attention_mechanisms)}"
            )
        if sizes is None:
            return given
        return tuple(
            layers.Dense(size, name="attention_layer", use_bias=False, dtype=mechanism.dtype)
            for size, mechanism in zip(given, self._attention_mechanisms, strict=True)
        )

    def _size_of_attention(self, sizes: Any) -> int:
        if sizes is not None:
            return sum(tf.nest.flatten(sizes))
        depths = [m.values.shape.as_list()[-1] for m in self._attention_mechanisms]
        if self._attention_layers is None:
            return sum(depths)
        shapes = [
            layer.compute_output_shape(tf.TensorShape([None, self._cell.output_size + depth]))
            for layer, depth in zip(self._attention_layers, depths, strict=True)
        ]
        return sum(tf.TensorShape(shape).as_list()[-1] for shape in shapes)

    def _checked_initial_state(self, state: Any) -> Any:
        if state is None:
            return None
        batch_size = dimension(tf.nest.flatten(state)[-1], 0)
        return self._checked(state, batch_size, "initial_cell_state", "check_initial_cell_state")

    def _checked(self, tensors: Any, batch_size: Any, what: str, name: str) -> Any:
        message = (
            f"AttentionWrapper {self._base_name}: Non-matching batch sizes between the memory "
            f"(encoder output) and {what}. {_ADVICE}"
        )
        with tf.control_dependencies(self._batch_size_checks(batch_size, message)):
            return tf.nest.map_structure(lambda s: tf.identity(s, name=name), tensors)

    def _batch_size_checks(self, batch_size: Any, error_message: str) -> list[Any]:
        return [
            tf.assert_equal(batch_size, mechanism.batch_size, message=error_message)
            for mechanism in self._attention_mechanisms
        ]

    def _item_or_tuple(self, seq: Iterable[Any]) -> Any:
        """Returns a tuple if a list of mechanisms was given, or else its only element."""
        elements = tuple(seq)
        return elements if self._is_multi else elements[0]

    @property
    def output_size(self) -> Any:
        """Depth of the outputs."""
        return self._attention_layer_size if self._output_attention else self._cell.output_size

    @property
    def state_size(self) -> AttentionWrapperState:
        """Sizes of the state."""
        mechanisms = self._attention_mechanisms
        return AttentionWrapperState(
            cell_state=self._cell.state_size,
            time=tf.TensorShape([]),
            attention=self._attention_layer_size,
            alignments=self._item_or_tuple(m.alignments_size for m in mechanisms),
            attention_state=self._item_or_tuple(m.state_size for m in mechanisms),
            alignment_history=self._item_or_tuple(
                m.alignments_size if self._alignment_history else () for m in mechanisms
            ),
        )

    def zero_state(self, batch_size: Any, dtype: Any) -> AttentionWrapperState:
        """Returns the initial state.

        Args:
          batch_size: integer or scalar tensor; `batch_size * beam_width` with a
            `BeamSearchDecoder`.
          dtype: type of the state.

        Raises:
          InvalidArgumentError: the batch size differs from that of the memory, now or in the
            session.
        """
        mechanisms = self._attention_mechanisms
        with tf.name_scope(type(self).__name__ + "ZeroState", values=[batch_size]):
            if self._initial_cell_state is not None:
                cell_state = self._initial_cell_state()
            else:
                cell_state = self._cell.get_initial_state(batch_size=batch_size, dtype=dtype)
            alignments = [m.initial_alignments(batch_size, dtype) for m in mechanisms]
            return AttentionWrapperState(
                cell_state=self._checked(
                    cell_state, batch_size, "the requested batch size", "checked_cell_state"
                ),
                time=tf.zeros([], dtype=tf.int32),
                attention=rnn_cell_impl._zero_state_tensors(
                    self._attention_layer_size, batch_size, dtype
                ),
                alignments=self._item_or_tuple(alignments),
                attention_state=self._item_or_tuple(
                    m.initial_state(batch_size, dtype) for m in mechanisms
                ),
                alignment_history=self._item_or_tuple(map(self._new_history, alignments)),
            )

    def _new_history(self, alignments: Any) -> Any:
        if not self._alignment_history:
            return ()
        return tf.TensorArray(
            alignments.dtype, size=0, dynamic_size=True, element_shape=alignments.shape
        )

    @tf.autograph.experimental.do_not_convert  # type: ignore[untyped-decorator]
    def call(self, inputs: Any, state: Any) -> tuple[Any, AttentionWrapperState]:
        """Returns the outputs of a step and the next state.

        Args:
          inputs: `[batch, depth]`.
          state: an `AttentionWrapperState`.

        Raises:
          TypeError: the state is another one.
        """
        if not isinstance(state, AttentionWrapperState):
            raise TypeError(
                "Expected state to be instance of AttentionWrapperState. "
                f"Received type {type(state)} instead."
            )
        cell_inputs = self._cell_input_fn(inputs, state.attention)
        cell_output, cell_state = self._cell(cell_inputs, state.cell_state)
        cell_output = self._checked(
            cell_output, dimension(cell_output, 0), "the query", "checked_cell_output"
        )
        attentions, alignments, states, histories = zip(
            *self._attend(cell_output, state), strict=True
        )
        attention = tf.concat(attentions, 1)
        next_state = AttentionWrapperState(
            time=state.time + 1,
            cell_state=cell_state,
            attention=attention,
            attention_state=self._item_or_tuple(states),
            alignments=self._item_or_tuple(alignments),
            alignment_history=self._item_or_tuple(histories),
        )
        return attention if self._output_attention else cell_output, next_state

    def _attend(self, cell_output: Any, state: AttentionWrapperState) -> Any:
        """Yields attention, alignments, next state and history for each mechanism."""
        count = len(self._attention_mechanisms)
        states, histories = state.attention_state, state.alignment_history
        for mechanism, layer, attention_state, history in zip(
            self._attention_mechanisms,
            self._attention_layers or (None,) * count,
            states if self._is_multi else [states],
            histories if self._is_multi else [histories],
            strict=True,
        ):
            attention, alignments, next_state = self._attention_fn(
                mechanism, cell_output, attention_state, layer
            )
            if self._alignment_history:
                history = history.write(state.time, alignments)
            yield attention, alignments, next_state, history


def _compute_attention(
    attention_mechanism: Any, cell_output: Any, attention_state: Any, attention_layer: Any
) -> tuple[Any, Any, Any]:
    """Returns attention `[batch, depth]`, alignments `[batch, memory_time]` and the next state."""
    alignments, next_state = attention_mechanism(cell_output, state=attention_state)
    context = tf.matmul(tf.expand_dims(alignments, 1), attention_mechanism.values)
    context = tf.squeeze(context, [1])
    if attention_layer is None:
        return context, alignments, next_state
    return attention_layer(tf.concat([cell_output, context], 1)), alignments, next_state


def _concatenate(inputs: Any, attention: Any) -> Any:
    return tf.concat([inputs, attention], -1)


def _checked_mechanisms(mechanism: Any) -> tuple[Any, ...]:
    mechanisms = tuple(mechanism) if isinstance(mechanism, (list, tuple)) else (mechanism,)
    for element in mechanisms:
        if not isinstance(element, AttentionMechanism):
            raise TypeError(
                "attention_mechanism must be an AttentionMechanism or list of multiple "
                f"AttentionMechanism instances, saw type: {type(element).__name__}"
            )
    return mechanisms


def _with_same_shape(old: Any, new: Any) -> Any:
    if not (tf.is_tensor(old) and tf.is_tensor(new)):
        return new
    old.shape.assert_is_compatible_with(new.shape)
    if old.shape.is_fully_defined() and new.shape.is_fully_defined():
        return new
    message = "A field of AttentionWrapperState.clone has another shape than the state's field."
    with tf.control_dependencies([tf.assert_equal(tf.shape(new), tf.shape(old), message=message)]):
        new = tf.identity(new)
    new.set_shape(old.shape)
    return new

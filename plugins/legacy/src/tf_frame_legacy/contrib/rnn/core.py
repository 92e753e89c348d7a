"""The cells and wrappers of tf.nn.rnn_cell, on those that TensorFlow 2 still has.

TensorFlow keeps them in `tensorflow.python.keras.layers.legacy_rnn`, without a public name. The
classes here differ in one point: they do not advise the user to change over to Keras.
"""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Sequence
from typing import Any

import tensorflow.compat.v1 as tf
from tensorflow.python.autograph.core import config
from tensorflow.python.keras.layers.legacy_rnn import rnn_cell_impl
from tensorflow.python.trackable.base import Trackable
from tensorflow.python.util import deprecation

RNNCell = rnn_cell_impl.RNNCell
LSTMStateTuple = rnn_cell_impl.LSTMStateTuple
DropoutWrapper = rnn_cell_impl.DropoutWrapper
ResidualWrapper = rnn_cell_impl.ResidualWrapper
DeviceWrapper = rnn_cell_impl.DeviceWrapper
assert_like_rnncell = rnn_cell_impl.assert_like_rnncell
_BIAS_VARIABLE_NAME = rnn_cell_impl._BIAS_VARIABLE_NAME
_WEIGHTS_VARIABLE_NAME = rnn_cell_impl._WEIGHTS_VARIABLE_NAME

# AutoGraph converts `call` of each cell, and what that calls: it would take seconds for the cells
# here, and break the functions of arg_scope in a program's own cells.
config.CONVERSION_RULES = (
    config.DoNotConvert("tf_frame"),
    config.DoNotConvert("tf_frame_legacy"),
    *config.CONVERSION_RULES,
)


def _like_rnncell(cell: Any) -> bool:
    """Returns whether an object has the methods of a cell."""
    names = "output_size", "state_size", "zero_state"
    return callable(cell) and all(hasattr(cell, name) for name in names)


class LayerRNNCell(rnn_cell_impl.LayerRNNCell):
    """An RNNCell that makes its variables in `build`, as the layers of tf.layers do."""

    def add_variable(self, *args: Any, **kwargs: Any) -> Any:
        """Gets or creates a variable; see `tf.layers.Layer.add_weight`."""
        return self.add_weight(*args, **kwargs)


def _without_advice(cell: Any) -> Any:
    """Returns a subclass of a cell, of the same name, that warns of nothing."""

    def quiet(method: Any) -> Any:
        @functools.wraps(method)
        def call(self: Any, *args: Any, **kwargs: Any) -> Any:
            with warnings.catch_warnings(), deprecation.silence():
                warnings.simplefilter("ignore")
                return method(self, *args, **kwargs)

        # Programs check the settings of a cell by the names of its arguments.
        call.__signature__ = inspect.signature(method)  # type: ignore[attr-defined]
        return call

    members = {"__init__": quiet(cell.__init__), "build": quiet(cell.build)}
    members |= {"__doc__": cell.__doc__, "__module__": __name__}
    return type(cell.__name__, (cell, LayerRNNCell), members)


BasicRNNCell = _without_advice(rnn_cell_impl.BasicRNNCell)
GRUCell = _without_advice(rnn_cell_impl.GRUCell)
BasicLSTMCell = _without_advice(rnn_cell_impl.BasicLSTMCell)
LSTMCell = _without_advice(rnn_cell_impl.LSTMCell)


class MultiRNNCell(rnn_cell_impl.MultiRNNCell):
    """Cells that are stacked: the outputs of a cell are the inputs of the next one.

    Args:
      cells: the cells, the first one is next to the inputs.
      state_is_tuple: whether the state is a tuple of the cells' states; False: the states are
        concatenated along the columns.

    Raises:
      ValueError: there are no cells; or `state_is_tuple` is False, and a cell's state is a tuple.
      TypeError: `cells` is no sequence.
    """

    def __init__(self, cells: Sequence[Any], state_is_tuple: bool = True) -> None:
        # The constructor of the base class logs that Keras has StackedRNNCells.
        RNNCell.__init__(self)
        if not cells:
            raise ValueError("Must specify at least one cell for MultiRNNCell.")
        if not tf.nest.is_nested(cells):
            raise TypeError(f"cells must be a list or tuple, but saw: {cells}.")
        if len({id(cell) for cell in cells}) < len(cells):
            tf.logging.warning("MultiRNNCell has the same cell twice: they share their weights.")
        self._cells = cells
        self._state_is_tuple = state_is_tuple
        for number, cell in enumerate(cells):
            if isinstance(cell, Trackable):
                self._track_trackable(cell, name=f"cell-{number}")
        sizes = [cell.state_size for cell in cells]
        if not state_is_tuple and any(map(tf.nest.is_nested, sizes)):
            raise ValueError(
                "Some cells return tuples of states, but the flag state_is_tuple is not set. "
                f"State sizes are: {sizes}"
            )

"""Variables under the names of tf_slim, ops/variables.py, for networks and trainers of slim.

Functions that only old trainers need are here, the others are in `tf_frame.layers`. `global_step`
and its device argument are from the Inception trainer (tensorflow/models,
research/inception/inception/slim/variables.py).
"""

from __future__ import annotations

import inspect
import typing
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.layers.arg_scope import add_arg_scope as add_arg_scope
from tf_frame.layers.variable_lists import (
    filter_variables as filter_variables,
    get_local_variables as get_local_variables,
    get_model_variables as get_model_variables,
    get_trainable_variables as get_trainable_variables,
    get_unique_variable as get_unique_variable,
    get_variable_full_name as get_variable_full_name,
    get_variables as get_variables,
    get_variables_by_name as get_variables_by_name,
    get_variables_by_suffix as get_variables_by_suffix,
    get_variables_to_restore as get_variables_to_restore,
)
from tf_frame.layers.variables import (
    add_model_variable as add_model_variable,
    global_variable as global_variable,
    local_variable as local_variable,
    model_variable as model_variable,
    variable as variable,
)
from tf_frame_legacy.slim.variables.assign import (
    assign_from_checkpoint as assign_from_checkpoint,
    assign_from_checkpoint_fn as assign_from_checkpoint_fn,
    assign_from_values as assign_from_values,
    assign_from_values_fn as assign_from_values_fn,
)
from tf_frame_legacy.slim.variables.device_chooser import (
    VariableDeviceChooser as VariableDeviceChooser,
)

# tf_slim takes these from TensorFlow, too.
assert_global_step = tf.train.assert_global_step
create_global_step = tf.train.create_global_step
get_global_step = tf.train.get_global_step
get_or_create_global_step = tf.train.get_or_create_global_step


def assert_or_get_global_step(graph: Any = None, global_step_tensor: Any = None) -> Any:
    """Checks and returns a global step; by default returns the global step of a graph, or None.

    Args:
      graph: the graph; None: the default graph.
      global_step_tensor: the global step to check.

    Raises:
      TypeError: the global step is not a scalar of an integer type.
    """
    if global_step_tensor is None:
        return get_global_step(graph)
    assert_global_step(global_step_tensor)
    return global_step_tensor


@add_arg_scope
def global_step(device: Any = "") -> Any:
    """Returns the global step of the default graph, which is created if missing.

    Args:
      device: device of a new global step: a name, or a function such as a
        `VariableDeviceChooser`. May be set by an `arg_scope`.
    """
    with tf.device(device):
        return get_or_create_global_step()


if not typing.TYPE_CHECKING:
    __all__ = ["VariableDeviceChooser"]
    __all__ += [name for name, value in globals().copy().items() if inspect.isroutine(value)]

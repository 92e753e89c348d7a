"""Variables, under the names of tf_slim, ops/variables.py.

Making and finding them is `tf_frame.layers`; what only old trainers need is here.
"""

from __future__ import annotations

from tf_frame.layers.variable_lists import (
    filter_variables,
    get_local_variables,
    get_model_variables,
    get_trainable_variables,
    get_unique_variable,
    get_variable_full_name,
    get_variables,
    get_variables_by_name,
    get_variables_by_suffix,
    get_variables_to_restore,
)
from tf_frame.layers.variables import (
    add_model_variable,
    global_variable,
    local_variable,
    model_variable,
    variable,
)
from tf_frame.legacy.slim.assign import (
    assign_from_checkpoint,
    assign_from_checkpoint_fn,
    assign_from_values,
    assign_from_values_fn,
)
from tf_frame.legacy.slim.device_chooser import VariableDeviceChooser
from tf_frame.legacy.slim.global_step import (
    assert_global_step,
    assert_or_get_global_step,
    create_global_step,
    get_global_step,
    get_or_create_global_step,
    global_step,
)

__all__ = [
    "VariableDeviceChooser",
    "add_model_variable",
    "assert_global_step",
    "assert_or_get_global_step",
    "assign_from_checkpoint",
    "assign_from_checkpoint_fn",
    "assign_from_values",
    "assign_from_values_fn",
    "create_global_step",
    "filter_variables",
    "get_global_step",
    "get_local_variables",
    "get_model_variables",
    "get_or_create_global_step",
    "get_trainable_variables",
    "get_unique_variable",
    "get_variable_full_name",
    "get_variables",
    "get_variables_by_name",
    "get_variables_by_suffix",
    "get_variables_to_restore",
    "global_step",
    "global_variable",
    "local_variable",
    "model_variable",
    "variable",
]

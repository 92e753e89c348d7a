"""`slim.scopes` of the Inception trainer: `arg_scope` under the name that its networks use."""

from __future__ import annotations

from tf_frame.layers.arg_scope import (
    add_arg_scope as add_arg_scope,
    arg_scope as arg_scope,
    arg_scope_func_key as arg_scope_func_key,
    arg_scoped_arguments as arg_scoped_arguments,
    current_arg_scope as current_arg_scope,
    has_arg_scope as has_arg_scope,
)

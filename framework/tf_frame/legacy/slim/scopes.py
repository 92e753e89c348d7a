"""`slim.scopes`: arg_scope under its name in the slim of the Inception trainer."""

from __future__ import annotations

from tf_frame.layers.arg_scope import (
    add_arg_scope,
    arg_scope,
    arg_scope_func_key,
    arg_scoped_arguments,
    current_arg_scope,
    has_arg_scope,
)

__all__ = [
    "add_arg_scope",
    "arg_scope",
    "arg_scope_func_key",
    "arg_scoped_arguments",
    "current_arg_scope",
    "has_arg_scope",
]

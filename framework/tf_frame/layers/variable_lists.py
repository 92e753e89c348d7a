"""Functions that find variables by scope, suffix or pattern; source: tf_slim, ops/variables.py.

Scripts use them to choose the variables to train, or to restore from another model's checkpoint.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import tensorflow.compat.v1 as tf


def get_variables(
    scope: Any = None, suffix: str | None = None, collection: str = tf.GraphKeys.GLOBAL_VARIABLES
) -> list[Any]:
    """Returns the variables of a collection with names that match.

    Args:
      scope: regular expression for the beginning of the name, or a variable scope; None: any. "a"
        also matches "ab/weights"; write "a/".
      suffix: regular expression for the end of the name; None: any.
      collection: name of the collection.
    """
    prefix = scope.name if isinstance(scope, tf.VariableScope) else scope
    if suffix is not None:
        ending = suffix if ":" in suffix else f"{suffix}:"
        prefix = f"{prefix or ''}.*{ending}"
    return list(tf.get_collection(collection, prefix))


def get_model_variables(scope: Any = None, suffix: str | None = None) -> list[Any]:
    """Returns the variables in `MODEL_VARIABLES`.

    Args:
      scope, suffix: see `get_variables`.
    """
    return get_variables(scope, suffix, tf.GraphKeys.MODEL_VARIABLES)


def get_local_variables(scope: Any = None, suffix: str | None = None) -> list[Any]:
    """Returns the variables in `LOCAL_VARIABLES`, which are not saved.

    Args:
      scope, suffix: see `get_variables`.
    """
    return get_variables(scope, suffix, tf.GraphKeys.LOCAL_VARIABLES)


def get_trainable_variables(scope: Any = None, suffix: str | None = None) -> list[Any]:
    """Returns the variables in `TRAINABLE_VARIABLES`.

    Args:
      scope, suffix: see `get_variables`.
    """
    return get_variables(scope, suffix, tf.GraphKeys.TRAINABLE_VARIABLES)


def get_variables_by_suffix(suffix: str, scope: Any = None) -> list[Any]:
    """Returns the global variables with names that end with `suffix`.

    Args:
      suffix, scope: see `get_variables`.
    """
    return get_variables(scope=scope, suffix=suffix)


def get_variables_by_name(given_name: str, scope: Any = None) -> list[Any]:
    """Returns the global variables with this name after the last slash.

    Args:
      given_name: the name without its scopes.
      scope: see `get_variables`.
    """
    return get_variables(scope=scope, suffix=f"(/|^){given_name}:")


def get_unique_variable(var_op_name: str) -> Any:
    """Returns the global variable with this name.

    Args:
      var_op_name: the full name, including scopes.

    Raises:
      ValueError: no variable has this name.
    """
    candidates = get_variables(scope=var_op_name)
    if not candidates:
        raise ValueError(f"Couldn't find variable {var_op_name}")
    for candidate in candidates:
        if candidate.op.name == var_op_name:
            return candidate
    raise ValueError(
        f"Variable {var_op_name} does not uniquely identify a variable; "
        f"found {', '.join(variable.op.name for variable in candidates)}"
    )


def get_variable_full_name(var: Any) -> str:
    """Returns the name of a variable in checkpoints.

    All parts of a partitioned variable have the same name.
    """
    part = var.to_proto().save_slice_info_def
    return str(part.full_name or var.op.name)


def get_variables_to_restore(
    include: Sequence[Any] | None = None, exclude: Sequence[Any] | None = None
) -> list[Any]:
    """Returns the global variables of the included scopes, without the excluded scopes.

    Args:
      include: scopes as in `get_variables`; None: all variables.
      exclude: scopes to omit.

    Raises:
      TypeError: an argument is neither a list nor a tuple.
    """
    included = get_variables() if include is None else _variables_in(include, "include")
    excluded = [] if exclude is None else _variables_in(exclude, "exclude")
    # By identity: `==` of variables may be an op.
    excluded_ids = set(map(id, excluded))
    return [variable for variable in included if id(variable) not in excluded_ids]


def filter_variables(
    var_list: Iterable[Any],
    include_patterns: Iterable[str] | None = None,
    exclude_patterns: Iterable[str] | None = None,
    reg_search: bool = True,
) -> list[Any]:
    """Returns the variables with names that match an included and no excluded pattern.

    Args:
      var_list: the variables.
      include_patterns: regular expressions; None: all variables.
      exclude_patterns: regular expressions of the names to omit.
      reg_search: match anywhere in the name; otherwise at its beginning.
    """
    match = re.search if reg_search else re.match
    included = None if include_patterns is None else list(include_patterns)
    excluded = list(exclude_patterns or ())

    def is_included(name: str) -> bool:
        if included is not None and not any(match(pattern, name) for pattern in included):
            return False
        return not any(match(pattern, name) for pattern in excluded)

    return [variable for variable in var_list if is_included(variable.name)]


def _variables_in(scopes: Any, argument: str) -> list[Any]:
    if not isinstance(scopes, list | tuple):
        raise TypeError(f"{argument} is provided but is not a list or a tuple.")
    return [variable for scope in scopes for variable in get_variables(scope)]

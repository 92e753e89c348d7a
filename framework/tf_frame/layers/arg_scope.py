"""Default arguments of layers, set once for a block of code.

    with layers.arg_scope([layers.conv2d], padding="VALID", weights_regularizer=penalty):
        net = layers.conv2d(images, 32, 3)
        net = layers.conv2d(net, 64, 3, padding="SAME")  # explicit arguments win
        with layers.arg_scope([layers.conv2d], stride=2) as scope:  # adds to the outer scope
            net = layers.conv2d(net, 64, 3)
    with layers.arg_scope(scope):  # replaces all outer scopes
        net = layers.conv2d(net, 64, 3)

Source of the behaviour: tf_slim, ops/arg_scope.py. A scope applies to the thread
that entered it.
"""

from __future__ import annotations

import contextlib
import contextvars
import functools
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar, cast

Function = TypeVar("Function", bound=Callable[..., Any])
# Key of a function -> its default arguments.
Scope = dict[str, dict[str, Any]]

_SCOPE: contextvars.ContextVar[Scope] = contextvars.ContextVar("arg_scope")
# Key -> the function, kept alive because its address is part of the key.
_DECORATED: dict[str, Callable[..., Any]] = {}


def add_arg_scope(func: Function) -> Function:
    """Decorates a function so that `arg_scope` can set its default arguments."""
    key = arg_scope_func_key(func)

    @functools.wraps(func)
    def with_defaults(*args: Any, **kwargs: Any) -> Any:
        return func(*args, **{**current_arg_scope().get(key, {}), **kwargs})

    _DECORATED[key] = func
    with_defaults._key_op = key  # type: ignore[attr-defined]
    return cast(Function, with_defaults)


@contextlib.contextmanager
def arg_scope(
    list_ops_or_scope: Sequence[Callable[..., Any]] | Mapping[str, dict[str, Any]], **kwargs: Any
) -> Iterator[Scope]:
    """Sets default arguments of decorated functions within a `with` block.

    Args:
      list_ops_or_scope: list or tuple of functions decorated with `add_arg_scope`; or
        the scope that an earlier `arg_scope` yielded, which then replaces all outer
        scopes.
      **kwargs: the defaults; each function must have these arguments.

    Yields:
      The defaults inside the block: key of a function -> argument -> value.

    Raises:
      TypeError: `list_ops_or_scope` is neither a list or tuple nor a dictionary.
      ValueError: a function is not decorated, or an earlier scope comes with arguments.
    """
    if isinstance(list_ops_or_scope, Mapping):
        if kwargs:
            raise ValueError(
                "When attempting to re-use a scope by suppling a dictionary, kwargs must be empty; "
                f"found {', '.join(kwargs)}: set them in an arg_scope of their own."
            )
        scope = dict(list_ops_or_scope)
    else:
        scope = _extend_scope(list_ops_or_scope, kwargs)
    token = _SCOPE.set(scope)
    try:
        yield scope
    finally:
        _SCOPE.reset(token)


def current_arg_scope() -> Scope:
    """Returns the current defaults: key of a function -> argument -> value."""
    return _SCOPE.get({})


def has_arg_scope(func: Callable[..., Any]) -> bool:
    """Returns whether a function is decorated with `add_arg_scope`."""
    return arg_scope_func_key(func) in _DECORATED


def arg_scoped_arguments(func: Callable[..., Any]) -> tuple[str, ...]:
    """Returns the names of the arguments of a decorated function that have defaults.

    Raises:
      ValueError: the function is not decorated with `add_arg_scope`.
    """
    _check_decorated(func)
    parameters = inspect.signature(_DECORATED[arg_scope_func_key(func)]).parameters.values()
    return tuple(p.name for p in parameters if p.default is not inspect.Parameter.empty)


def arg_scope_func_key(func: Callable[..., Any]) -> str:
    """Returns the key of a function in a scope."""
    return str(getattr(func, "_key_op", func))


def _extend_scope(functions: Any, kwargs: dict[str, Any]) -> Scope:
    if not isinstance(functions, list | tuple):
        raise TypeError(
            "list_ops_or_scope must either be a list/tuple or reused scope (i.e. dict); "
            f"it is a {type(functions).__name__}: put brackets around a single function."
        )
    scope = dict(current_arg_scope())
    for func in functions:
        _check_decorated(func)
        key = arg_scope_func_key(func)
        scope[key] = {**scope.get(key, {}), **kwargs}
    return scope


def _check_decorated(func: Any) -> None:
    if not has_arg_scope(func):
        name = (getattr(func, "__module__", None), getattr(func, "__name__", repr(func)))
        raise ValueError(f"{name} is not decorated with @add_arg_scope")

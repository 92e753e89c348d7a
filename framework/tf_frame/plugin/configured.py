"""Constructs plugins with their parameters, in one place, so that errors name the plugin.

`ConfiguredPlugin.make` replaces the class of a new plugin by a subclass. If a contract method of
the subclass fails, the names of plugin and method are added to the exception, where
`tf_frame.plugin.fault` finds them. The rest of tf-frame simply calls `model.build(...)`. Hooks,
optimizers and writers that a plugin makes get such a subclass as well.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import inspect
import types
from collections.abc import Callable, Iterable
from typing import Any

from tf_frame.config.option import declared_options
from tf_frame.plugin.fault import calling
from tf_frame.plugin.find import PluginInfo
from tf_frame.plugin.kinds import HOOK, MODEL, OPTIMIZER
from tf_frame.plugin.load import LoadedPlugin
from tf_frame.plugin.origin import MARK, is_foreign

# The methods of session hooks and checkpoint listeners.
_HOOK_METHODS = (
    *("begin", "after_create_session", "before_run", "before_step", "after_run", "after_step"),
    *("before_save", "after_save", "end"),
)
_WRITER = "prediction_writer"
# Classes of these modules define a contract. Callers compare methods with them to find out whether
# a class overrides a method, so inherited methods stay as they are.
_CONTRACTS = ("tf_frame.plugin.", "tf_frame.hooks.base", "tensorflow.")


@dataclasses.dataclass(frozen=True)
class ConfiguredPlugin:
    """One plugin with its parameters.

    Attributes:
      name: the name that the user gave.
      plugin: its class and its package.
      params: an instance of its `Params`.
    """

    name: str
    plugin: LoadedPlugin
    params: Any

    def make(self, **context: Any) -> Any:
        """Constructs the plugin with its parameters."""
        return self._construct(self.plugin.cls, "__init__", context)

    def make_without_data(self, info: Any) -> Any:
        """Constructs an input from the `info` of the training's; None if it needs its data."""
        # An input need not inherit from `tf_frame.Input`.
        make = getattr(self.plugin.cls, "without_data", None)
        return self._construct(make, "without_data", {"info": info}) if make else None

    def values(self) -> dict[str, Any]:
        """Option name -> value."""
        return {o.name: getattr(self.params, o.name) for o in declared_options(type(self.params))}

    def _construct(self, make: Any, method: str, context: dict[str, Any]) -> Any:
        info = self.plugin.info
        with calling(info, method):
            plugin = make(params=self.params, **context)
        names = [name for name in vars(info.kind.base) if not name.startswith("_")]
        return guard(plugin, info, [*names, info.kind.method])


def guard(
    thing: Any, info: PluginInfo, methods: Iterable[str] = (), label: str | None = None
) -> Any:
    """Moves an object to a subclass that names the plugin in the errors of its methods.

    Args:
      thing: the plugin, or an object that the plugin made.
      info: the plugin.
      methods: names of methods and properties.
      label: name of the methods in the errors; None: their own names.

    Returns:
      The object. An object stays as it is if its class allows no subclass.
    """
    if not isinstance(thing, type) and MARK not in vars(type(thing)):
        with contextlib.suppress(Exception):
            cls: Any = type(thing)
            object.__setattr__(thing, "__class__", _guarded_class(cls, info, tuple(methods), label))
    return thing


@functools.cache
def _guarded_class(cls: Any, info: PluginInfo, methods: tuple[str, ...], label: str | None) -> type:
    """Returns a subclass with the plugin as an attribute and methods that note their call."""
    members: dict[str, Any] = {
        # Empty slots: the objects of both classes must have the same layout.
        **{MARK: info, "__slots__": ()},
        **{name: getattr(cls, name) for name in ("__module__", "__qualname__", "__doc__")},
    }
    guarded = types.new_class(cls.__name__, (cls,), exec_body=lambda body: body.update(members))
    for name in methods:
        owner = next((base for base in cls.__mro__ if name in vars(base)), object)
        if not f"{owner.__module__}.".startswith(_CONTRACTS):
            _guard_member(guarded, vars(owner).get(name), info, name, label or name)
    return guarded


def _guard_member(guarded: type, member: Any, info: PluginInfo, name: str, label: str) -> None:
    """Overrides a method or a property in a guarded class."""

    # Both functions look up the method at each call, since tests replace methods of a class.
    def read(thing: Any) -> Any:
        with calling(info, label):
            return getattr(super(guarded, thing), name)

    def call(thing: Any, /, *args: Any, **kwargs: Any) -> Any:
        with calling(info, label):
            result = getattr(super(guarded, thing), name)(*args, **kwargs)
        return guard_result(result, info) if guard_result else result

    guard_result = _RESULTS.get((info.kind, name)) if is_foreign(info) else None
    if inspect.isfunction(member):
        setattr(guarded, name, functools.wraps(member)(call))
    elif isinstance(member, property):
        setattr(guarded, name, property(read, member.fset, member.fdel))
    elif isinstance(member, functools.cached_property):
        cached = functools.cached_property(read)
        cached.__set_name__(guarded, name)
        setattr(guarded, name, cached)


def _guard_output(output: Any, info: PluginInfo) -> Any:
    for name in ("hooks", "chief_hooks"):
        _guard_hooks(getattr(output, name, ()), info)
    return guard(output, info)


def _guard_hooks(hooks: Any, info: PluginInfo) -> Any:
    for hook in hooks if isinstance(hooks, (list, tuple)) else [hooks]:
        guard(hook, info, _HOOK_METHODS)
    return hooks


def _guard_writer(writer: Any, info: PluginInfo) -> Any:
    if not inspect.isfunction(writer):
        return guard(writer, info, ["__call__", "describe"], _WRITER)

    @functools.wraps(writer)
    def write(*args: Any) -> None:
        with calling(info, _WRITER):
            writer(*args)

    return write


# Kind and method with a result that has code of its own -> a function that guards the result.
_RESULTS: dict[Any, Callable[[Any, PluginInfo], Any]] = {
    (MODEL, "build"): _guard_output,
    (MODEL, _WRITER): _guard_writer,
    (OPTIMIZER, "__call__"): guard,
    (HOOK, "__call__"): _guard_hooks,
}

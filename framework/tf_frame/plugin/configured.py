"""`ConfiguredPlugin` constructs plugins, and is the one gate that names a plugin in its errors.

A plugin that comes out of the gate is of a subclass of its class. The contract methods of the
subclass note on an exception which method of which plugin was called. So tf-frame simply calls
`model.build(...)` or `transform(...)`, and `tf_frame.plugin.fault` can name the plugin of an error.
The hooks, optimizers and writers that a plugin makes pass through the same gate.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import inspect
import types
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tf_frame.config.option import declared_options
from tf_frame.plugin.fault import calling
from tf_frame.plugin.find import PluginInfo
from tf_frame.plugin.kinds import HOOK, MODEL, OPTIMIZER
from tf_frame.plugin.load import LoadedPlugin
from tf_frame.plugin.origin import MARK, is_foreign

_NO_METHODS: Mapping[str, str] = {}
# The methods of session hooks and checkpoint listeners.
_HOOK_METHODS = {
    name: name
    for name in (
        *("begin", "after_create_session", "before_run", "before_step", "after_run"),
        *("after_step", "before_save", "after_save", "end"),
    )
}
# Classes of these modules define a contract. Callers ask whether a class overrides their methods,
# so the methods stay as they are.
_CONTRACTS = ("tf_frame.plugin.", "tf_frame.hooks.base", "tensorflow.")


@dataclasses.dataclass(frozen=True)
class ConfiguredPlugin:
    """One plugin with its parameters.

    Attributes:
      name: the name that the user gave.
      plugin: its class, and the package that brings it.
      params: an instance of its `Params`.
    """

    name: str
    plugin: LoadedPlugin
    params: Any

    def make(self, **context: Any) -> Any:
        """Constructs the plugin with its parameters."""
        return self._construct(self.plugin.cls, "__init__", context)

    def make_without_data(self, info: Any) -> Any:
        """Constructs an input without its data; None if the input needs the data.

        Args:
          info: the `InputInfo` of the training's input.
        """
        # An input need not inherit from `tf_frame.Input`.
        make = getattr(self.plugin.cls, "without_data", None)
        return self._construct(make, "without_data", {"info": info}) if make else None

    def values(self) -> dict[str, Any]:
        """Option name -> value."""
        return {o.name: getattr(self.params, o.name) for o in declared_options(type(self.params))}

    def _construct(self, make: Any, method: str, context: dict[str, Any]) -> Any:
        info = self.plugin.info
        with calling(info, method):
            made = make(params=self.params, **context)
        names = [name for name in vars(info.kind.base) if not name.startswith("_")]
        return guard(made, info, {name: name for name in [*names, info.kind.method]})


def guard(made: Any, info: PluginInfo, methods: Mapping[str, str] = _NO_METHODS) -> Any:
    """Makes an object name its plugin in the errors of its methods.

    Args:
      made: the plugin, or an object that the plugin made.
      info: the plugin.
      methods: the methods, properties included -> their names in the errors.

    Returns:
      The object, of a subclass of its class. An object of a class that allows none is left alone.
    """
    if made is not None and not isinstance(made, type):
        with contextlib.suppress(Exception):
            guarded = _guarded_class(type(made), info, tuple(methods.items()))  # type: ignore[arg-type]
            object.__setattr__(made, "__class__", guarded)
    return made


@functools.cache
def _guarded_class(cls: type, info: PluginInfo, methods: Iterable[tuple[str, str]]) -> type:
    """Returns a subclass with the plugin as an attribute and methods that note their call."""
    members: dict[str, Any] = {
        # Without slots of its own: else objects of the class could not become of the subclass.
        **{MARK: info, "__slots__": ()},
        **{name: getattr(cls, name) for name in ("__module__", "__qualname__", "__doc__")},
    }
    guarded = types.new_class(cls.__name__, (cls,), exec_body=lambda body: body.update(members))
    for name, shown in methods:
        owner = next((base for base in cls.__mro__ if name in vars(base)), object)
        if not f"{owner.__module__}.".startswith(_CONTRACTS):
            _guard_member(guarded, vars(owner).get(name), info, name, shown)
    return guarded


def _guard_member(guarded: type, member: Any, info: PluginInfo, name: str, shown: str) -> None:
    """Overrides a method or a property in a guarded class."""

    # Both ask the plugin's class anew, since tests replace methods of a class.
    def read(thing: Any) -> Any:
        with calling(info, shown):
            return getattr(super(guarded, thing), name)

    def call(thing: Any, /, *args: Any, **kwargs: Any) -> Any:
        with calling(info, shown):
            made = getattr(super(guarded, thing), name)(*args, **kwargs)
        return give_out(made, info) if give_out else made

    give_out = _GIVE_OUT.get((info.kind, name)) if is_foreign(info) else None
    if inspect.isfunction(member):
        setattr(guarded, name, functools.wraps(member)(call))
    elif isinstance(member, property):
        setattr(guarded, name, property(read, member.fset, member.fdel))
    elif isinstance(member, functools.cached_property):
        cached = functools.cached_property(read)
        cached.__set_name__(guarded, name)
        setattr(guarded, name, cached)


def _give_out_output(output: Any, info: PluginInfo) -> Any:
    for name in ("hooks", "chief_hooks"):
        _give_out_hooks(getattr(output, name, ()), info)
    return guard(output, info)


def _give_out_hooks(made: Any, info: PluginInfo) -> Any:
    for hook in made if isinstance(made, (list, tuple)) else [made]:
        guard(hook, info, _HOOK_METHODS)
    return made


def _give_out_writer(writer: Any, info: PluginInfo) -> Any:
    if not inspect.isfunction(writer):
        return guard(writer, info, {"__call__": "prediction_writer"})

    @functools.wraps(writer)
    def write(*args: Any) -> None:
        with calling(info, "prediction_writer"):
            writer(*args)

    return write


# The methods that make objects with code of their own -> the way of these objects through the gate.
_GIVE_OUT: dict[Any, Callable[[Any, PluginInfo], Any]] = {
    (MODEL, "build"): _give_out_output,
    (MODEL, "prediction_writer"): _give_out_writer,
    (OPTIMIZER, "__call__"): guard,
    (HOOK, "__call__"): _give_out_hooks,
}

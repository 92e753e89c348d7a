"""Defines the kinds of plugins and their entry-point groups; checks that a class fits its kind.

The check is made when a plugin is loaded. So a missing method, a method with other arguments, a
class of another kind or an option of an impossible type is reported before a graph is built.
"""

from __future__ import annotations

import dataclasses
import inspect
import os
from collections.abc import Mapping
from typing import Any

from tf_frame.config import declared_options
from tf_frame.config.values import nearest
from tf_frame.errors import ConfigError
from tf_frame.plugin import (
    contracts,
    network_contracts,
    training_contracts,
    weights_contract,
)
from tf_frame.text import brief, short_repr, with_article

# The beginning of the modules with the abstract bases of plugins.
_CONTRACTS = "tf_frame.plugin."


@dataclasses.dataclass(frozen=True)
class Kind:
    """A kind of plugin.

    Attributes:
      word: its name in messages.
      group: its entry-point group.
      base: the class that declares the contract; a plugin need not inherit from it.
      method: the method that a class of this kind must define.
      prefix: prefix of its options; `{name}` stands for the name of the plugin.
      shown_by: the command that lists the plugins of this kind.
      reserved: names that no package may give to a plugin of this kind.
    """

    word: str
    group: str
    base: type
    method: str = "__call__"
    prefix: str = ""
    shown_by: str = "tf-frame plugins list"
    reserved: tuple[str, ...] = ()


MODEL = Kind("model", "tf_frame.models", contracts.Model, "build", "model")
INPUT = Kind("input", "tf_frame.inputs", contracts.Input, "dataset", "input")
CONVERTER = Kind("converter", "tf_frame.converters", training_contracts.Converter, "convert")
GRADIENT_TRANSFORM = Kind(
    "gradient transform",
    "tf_frame.gradient_transforms",
    training_contracts.GradientTransform,
    prefix="transform.{name}",
)
OPTIMIZER = Kind(
    "optimizer", "tf_frame.optimizers", training_contracts.Optimizer, prefix="optimizer"
)
LEARNING_RATE = Kind(
    "learning rate", "tf_frame.learning_rates", training_contracts.LearningRate, prefix="schedule"
)
HOOK = Kind("hook", "tf_frame.hooks", training_contracts.HookPlugin, prefix="hook.{name}")
NETWORK = Kind("network", "tf_frame.networks", network_contracts.Network)
PREPROCESSING = Kind("preprocessing", "tf_frame.preprocessing", network_contracts.Preprocessing)
WEIGHTS = Kind(
    "weights",
    "tf_frame.weights",
    weights_contract.Weights,
    "file",
    shown_by="tf-frame weights list",
)
# The commands of `tf_frame.cli`, and `tf-frame help`.
_OWN_COMMANDS = (
    *("run", "launch", "status", "evaluate", "predict", "export", "profile", "plugins", "convert"),
    *(
        "runs",
        "compare",
        "checkpoint",
        "weights",
        "tune",
        "doctor",
        "tensorboard",
        "completion",
        "help",
    ),
)
COMMAND = Kind(
    "command", "tf_frame.commands", training_contracts.Command, "run", reserved=_OWN_COMMANDS
)

# In the order of `tf-frame plugins list`.
KINDS = (
    *(MODEL, INPUT, CONVERTER, GRADIENT_TRANSFORM, OPTIMIZER, LEARNING_RATE, HOOK),
    *(NETWORK, PREPROCESSING, WEIGHTS, COMMAND),
)

# Attribute of a model or an input -> its types, and a description of the types.
_ATTRIBUTES: dict[str, tuple[tuple[type, ...], str]] = {
    "default_input": ((str, type(None)), "a text or None"),
    "default_transforms": ((list, tuple), "a list of names"),
    "run_defaults": ((dict, Mapping), "a mapping of option to value"),
    "variants": ((dict, Mapping), "a mapping of name to options"),
    "presets": ((dict, Mapping), "a mapping of name to options"),
    "feature_names": ((list, tuple), "a list of names"),
    "label_names": ((list, tuple), "a list of names"),
}


def check_contract(plugin: Any, kind: Kind) -> str:
    """Returns the first violation of the contract of `kind`, in words; empty if there is none."""
    return (
        _check_definition(plugin, kind)
        or check_options(plugin, kind)
        or check_methods(plugin, kind)
    )


def check_class(plugin: Any, kind: Kind) -> str:
    """Returns the first violation of the contract but for the options; empty if there is none."""
    return _check_definition(plugin, kind) or check_methods(plugin, kind)


def _check_definition(plugin: Any, kind: Kind) -> str:
    if not inspect.isclass(plugin):
        return f"expected a class, found {brief(plugin)} of type {type(plugin).__name__}"
    base_kind = next((k for k in KINDS if issubclass(plugin, k.base)), kind)
    if not issubclass(plugin, kind.base) and base_kind != kind:
        return (
            f"class {plugin.__name__} is {with_article(base_kind.word)} "
            f"(tf_frame.{base_kind.base.__name__}); its entry point must be in the group "
            f"{base_kind.group}, not in {kind.group}"
        )
    return _missing_method(plugin, kind) or _check_attributes(plugin, kind)


def _missing_method(plugin: type, kind: Kind) -> str:
    if _defines(plugin, kind.method):
        return ""
    own = [n for n, value in vars(plugin).items() if callable(value) and not hasattr(kind.base, n)]
    near = nearest(kind.method, own)
    hint = f"; is {near}() misspelt?" if near else ""
    return f"class {plugin.__name__} has no method {kind.method}(){_place(plugin)}{hint}"


def _place(plugin: type) -> str:
    """Returns the file and the line of a class in brackets; empty if there is no file."""
    try:
        file, line = inspect.getsourcefile(plugin) or "", inspect.getsourcelines(plugin)[1]
    except (OSError, TypeError):
        return ""
    return f" ({os.path.basename(file)}, line {line})"


def check_methods(plugin: type, kind: Kind) -> str:
    """Returns why a class cannot be constructed and called; empty if it can."""
    signatures = (_check_signature(plugin, kind, name) for name in ("__init__", kind.method))
    return _missing_method(plugin, kind) or next(filter(None, signatures), "")


def refused_call(method: Any, contract: Any) -> str:
    """Returns how a method differs from the calls that its contract announces.

    Args:
      method: a method of an object, or another function without `self`.
      contract: the function of the contract, with `self`.

    Returns:
      Such as `takes (x), but is called with (features, labels, mode)`; empty if it can be
      called so.
    """
    try:
        signature = inspect.signature(method)
    except (TypeError, ValueError):
        return ""  # Written in C.
    _, *parameters = inspect.signature(contract).parameters.values()
    positional = [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
    named = [p.name for p in parameters if p.kind is p.KEYWORD_ONLY]
    try:
        signature.bind(*positional, **dict.fromkeys(named))
    except TypeError:
        arguments = [*positional, *(f"{name}=" for name in named)]
        return f"takes {signature}, but is called with ({', '.join(arguments)})"
    return ""


def _check_signature(plugin: type, kind: Kind, method: str) -> str:
    # An object without a call of its constructor: binds `self`, or not, for any kind of method.
    if plugin.__init__ is object.__init__:  # type: ignore[misc]
        return f"class {plugin.__name__} has no __init__() that takes its params"
    try:
        bound = getattr(object.__new__(plugin), method)
    except TypeError as error:  # Such as an abstract class.
        return str(error)
    problem = refused_call(bound, getattr(kind.base, method))
    return f"{plugin.__name__}.{method}() {problem}" if problem else ""


def _defines(plugin: type, method: str) -> bool:
    """Returns whether the class has the method, not only from an abstract base of tf-frame."""
    owner = next((cls for cls in plugin.__mro__ if method in vars(cls)), object)
    return callable(vars(owner).get(method)) and not owner.__module__.startswith(_CONTRACTS)


def _check_attributes(plugin: type, kind: Kind) -> str:
    # A network has the same methods as other kinds, so its attributes tell them apart.
    required = ("default_image_size", "channels", "preprocessing") if kind == NETWORK else ()
    missing = [name for name in required if not hasattr(plugin, name)]
    if missing:
        return f"class {plugin.__name__} has no {missing[0]} (see tf_frame.Network)"
    for name, (types, words) in _ATTRIBUTES.items() if kind in (MODEL, INPUT) else ():
        value = getattr(plugin, name, types[0]())
        if not isinstance(value, types):
            return f"{plugin.__name__}.{name} is {short_repr(value)}; expected {words}"
    return ""


def check_options(plugin: Any, kind: Kind) -> str:
    """Describes the first unusable option of a plugin; empty if all are usable."""
    params = getattr(plugin, "Params", None)
    if not (inspect.isclass(params) and dataclasses.is_dataclass(params)):
        return f"class {plugin.__name__} has no dataclass Params (see tf_frame.option)"
    try:
        _check_each_option(params, kind)
    # Annotations and default factories are code of the plugin and may raise anything.
    except Exception as error:
        return f"{plugin.__name__}.Params: {error}"
    return ""


def _check_each_option(params: type, kind: Kind) -> None:
    for option in declared_options(params):
        if kind in (NETWORK, PREPROCESSING, WEIGHTS):
            raise ConfigError(f"a {kind.word} has no options of its own, but here is {option.name}")
        # In YAML, `name` stands next to the options of every plugin but the model.
        if option.name == "name" and kind != MODEL:
            raise ConfigError("an option cannot be called 'name'; YAML uses it")
        option.check_definition()

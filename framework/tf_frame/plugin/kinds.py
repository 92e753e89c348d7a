"""The kinds of plugins with their entry-point groups, and the check of a class by its kind.

The check is made when a plugin is loaded: a method that is missing, or an option of a type that
a flag cannot have, is reported at once, and not in the midst of building the graph.
"""

from __future__ import annotations

import dataclasses
import inspect
from typing import Any

from tf_frame.config import options_of
from tf_frame.errors import ConfigError

# The abstract bases of plugins are in modules that begin with this.
_CONTRACTS = "tf_frame.plugin."


@dataclasses.dataclass(frozen=True)
class Kind:
    """A kind of plugin.

    Attributes:
      word: its name in messages.
      group: its entry-point group.
      method: the method that a class of this kind must define.
    """

    word: str
    group: str
    method: str


MODEL = Kind("model", "tf_frame.models", "build")
INPUT = Kind("input", "tf_frame.inputs", "dataset")
GRADIENT_TRANSFORM = Kind("gradient transform", "tf_frame.gradient_transforms", "__call__")
OPTIMIZER = Kind("optimizer", "tf_frame.optimizers", "__call__")
LEARNING_RATE = Kind("learning rate", "tf_frame.learning_rates", "__call__")
HOOK = Kind("hook", "tf_frame.hooks", "__call__")
NETWORK = Kind("network", "tf_frame.networks", "__call__")
PREPROCESSING = Kind("preprocessing", "tf_frame.preprocessing", "__call__")

# In the order of `tf-frame plugins list`.
KINDS = (MODEL, INPUT, GRADIENT_TRANSFORM, OPTIMIZER, LEARNING_RATE, HOOK, NETWORK, PREPROCESSING)


def check_contract(plugin: Any, kind: Kind) -> str:
    """Returns the first violation of the contract of `kind`, in words; empty if there is none."""
    if not inspect.isclass(plugin):
        return f"expected a class, found {plugin!r:.80} of type {type(plugin).__name__}"
    if not _defines(plugin, kind.method):
        return f"class {plugin.__name__} has no method {kind.method}()"
    return _check_attributes(plugin, kind) or _check_params(plugin, kind)


def _defines(plugin: type, method: str) -> bool:
    """Returns whether the class has the method, not only from an abstract base of tf-frame."""
    owner = next((cls for cls in plugin.__mro__ if method in vars(cls)), object)
    return callable(vars(owner).get(method)) and not owner.__module__.startswith(_CONTRACTS)


def _check_attributes(plugin: type, kind: Kind) -> str:
    # A network has the same methods as other kinds, so its attributes tell them apart.
    wanted = ("default_image_size", "channels", "preprocessing") if kind == NETWORK else ()
    missing = [name for name in wanted if not hasattr(plugin, name)]
    return f"class {plugin.__name__} has no {missing[0]} (see tf_frame.Network)" if missing else ""


def _check_params(plugin: Any, kind: Kind) -> str:
    params = getattr(plugin, "Params", None)
    if not (inspect.isclass(params) and dataclasses.is_dataclass(params)):
        return f"class {plugin.__name__} has no dataclass Params (see tf_frame.option)"
    try:
        _check_options(params, kind)
    # Annotations and default factories are code of the plugin and may raise anything.
    except Exception as error:
        return f"{plugin.__name__}.Params: {error}"
    return ""


def _check_options(params: type, kind: Kind) -> None:
    for option in options_of(params):
        if kind in (NETWORK, PREPROCESSING):
            raise ConfigError(f"a {kind.word} has no options of its own, but here is {option.name}")
        # In YAML, `name` stands beside the options of every plugin but the model.
        if option.name == "name" and kind != MODEL:
            raise ConfigError("an option cannot be called 'name'; YAML uses it")
        option.check_definition()

"""Whether a loaded object keeps the contract of its kind."""

from __future__ import annotations

import dataclasses
import inspect
from typing import Any

from tf_frame.config import options_of
from tf_frame.errors import ConfigError
from tf_frame.plugin.contracts import (
    GradientTransform,
    HookPlugin,
    Input,
    LearningRate,
    Model,
    Optimizer,
)
from tf_frame.plugin.kinds import MODEL, NETWORK, PREPROCESSING, Kind
from tf_frame.plugin.network_contracts import Network, Preprocessing

_BASES = (
    Model,
    Input,
    GradientTransform,
    Optimizer,
    LearningRate,
    HookPlugin,
    Network,
    Preprocessing,
)
_NETWORK_ATTRIBUTES = ("default_image_size", "channels", "preprocessing")


def check_contract(plugin: Any, kind: Kind) -> str:
    """Says what `plugin` lacks as a plugin of this kind; empty if nothing."""
    if not inspect.isclass(plugin):
        return f"expected a class, found {plugin!r:.80} of type {type(plugin).__name__}"
    if not _defines(plugin, kind.method):
        return f"class {plugin.__name__} has no method {kind.method}()"
    return _check_attributes(plugin, kind) or _check_params(plugin, kind)


def _defines(plugin: type, method: str) -> bool:
    """Whether the class has the method from elsewhere than our abstract bases."""
    for cls in plugin.__mro__:
        if method in vars(cls):
            return cls not in _BASES and callable(vars(cls)[method])
    return False


def _check_attributes(plugin: type, kind: Kind) -> str:
    # Other kinds, such as preprocessing, have the same method.
    wanted = _NETWORK_ATTRIBUTES if kind == NETWORK else ()
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
        # A model is named by `plugin`; for the others, `name` stands beside their options.
        if option.name == "name" and kind != MODEL:
            raise ConfigError("an option cannot be called 'name'; YAML uses it")
        option.check_definition()

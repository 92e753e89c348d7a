"""Compares the features and labels that a model reads with the features and labels of an input.

Both may declare names (`feature_names`, `label_names`). Then a run with an unfit input ends before
the data is read. The error names fitting inputs; the model would raise a `KeyError`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

from tf_frame.errors import ConfigError, PluginError
from tf_frame.plugin.find import BROKEN, OK, find_plugins
from tf_frame.plugin.kinds import INPUT, MODEL, Kind
from tf_frame.plugin.load import LoadedPlugin, load_plugin_info
from tf_frame.plugin.origin import describe_owner
from tf_frame.text import brief, short

_PARTS = {"features": "feature_names", "labels": "label_names"}


def check_declared(model: LoadedPlugin, source: LoadedPlugin) -> None:
    """Compares the declarations of two classes, before either is constructed.

    Raises:
      ConfigError: the input declares names, and lacks one that the model declares.
    """
    for part in _PARTS:
        yielded = _declared(source.cls, part)
        missing = [name for name in _declared(model.cls, part) if yielded and name not in yielded]
        if missing:
            names = source.info.described, model.info.described
            raise _unfit(*names, part, missing[0], model.cls)


def check_batch(model: Any, source: Any, features: Any, labels: Any) -> None:
    """Compares a batch, or its specs, with the declarations of the model that is to read it.

    Args:
      model, source: the model and the input, constructed.
      features, labels: of a batch; parts of an input with several data sets are not
        compared, and labels that are None only if the model predicts.

    Raises:
      ConfigError: the batch lacks a feature or label.
    """
    for part, batch in (("features", features), ("labels", labels)):
        if isinstance(batch, list) or batch is None:
            continue
        names = batch if isinstance(batch, Mapping) else ()
        missing = [name for name in _declared(model, part) if name not in names]
        if missing:
            raise _unfit(describe_owner(source), describe_owner(model), part, missing[0], model)


def declares(plugin: Any) -> bool:
    """Returns whether a class declares any names of features or labels."""
    return any(_declared(plugin, part) for part in _PARTS)


def fitting_inputs(model: Any) -> list[str]:
    """Lists the installed inputs that declare all that a model declares."""
    return [name for name, cls in _installed(INPUT) if _fits(model, cls)]


def fitting_models(source: Any) -> list[str]:
    """Lists the installed models that declare names, all of which an input declares."""
    return [name for name, cls in _installed(MODEL) if declares(cls) and _fits(cls, source)]


def _installed(kind: Kind) -> Iterator[tuple[str, Any]]:
    """Yields name and class of the plugins of a kind that can be loaded."""
    for info in find_plugins():
        if info.kind == kind and info.state in (OK, BROKEN):
            with contextlib.suppress(PluginError):
                yield info.name, load_plugin_info(info).cls


def _fits(model: Any, source: Any) -> bool:
    return all(set(_declared(model, part)) <= set(_declared(source, part)) for part in _PARTS)


def _declared(plugin: Any, part: str) -> tuple[str, ...]:
    # A plugin need not inherit from the contract's class.
    return tuple(getattr(plugin, _PARTS[part], ()))


def _unfit(source: str, model: str, part: str, name: str, needing: Any) -> ConfigError:
    fitting = fitting_inputs(needing)
    hint = f"inputs for it: {', '.join(fitting)}" if fitting else "no installed input has it"
    return ConfigError(
        f"{short(source)} yields no {part}[{brief(name)}], which {model} needs; {hint}"
    )

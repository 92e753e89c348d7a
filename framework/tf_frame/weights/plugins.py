"""Finds and loads weights by name: plugins of the kind `weights`."""

from __future__ import annotations

import contextlib
import glob
import os
import re
from typing import Any

from tf_frame.errors import ConfigError
from tf_frame.plugin.contracts import NoParams
from tf_frame.plugin.find import OK, PluginInfo, find_plugins
from tf_frame.plugin.imports import BrokenPluginError
from tf_frame.plugin.kinds import WEIGHTS
from tf_frame.plugin.load import load_plugin, load_plugin_info
from tf_frame.plugin.matching import did_you_mean, matching_plugins
from tf_frame.plugin.weights_contract import Weights
from tf_frame.text import short

# `distribution:name` where two packages share a name.
_NAME = re.compile(r"[\w.-]+(:[\w.-]+)?")


def find_weights() -> list[PluginInfo]:
    """Returns the installed weights, sorted by name."""
    return [info for info in find_plugins(kind=WEIGHTS) if info.kind == WEIGHTS]


def load_weights(plugin: str | PluginInfo) -> Weights:
    """Loads and constructs weights, by their name or as `find_weights` returns them.

    Raises:
      PluginError: there are no such weights, or they are broken.
    """
    loaded = load_plugin(WEIGHTS, plugin) if isinstance(plugin, str) else load_plugin_info(plugin)
    weights: Weights = loaded.cls(params=NoParams())
    return weights


def is_weights_name(text: str) -> bool:
    """Returns whether a text is the name of installed weights; a file of that name comes first."""
    if not _NAME.fullmatch(text) or os.path.exists(text):
        return False
    return bool(matching_plugins(text, find_weights()))


def check_source(text: str) -> None:
    """Refuses a value of `--warm_start_from` that is neither a name of weights nor of a file.

    Paths in other folders, which may be remote, are left to the reader of the checkpoint. An empty
    text is no source.

    Raises:
      ConfigError: there is neither; the message has near names of weights.
    """
    if not text:
        return
    path = os.path.expanduser(text)
    is_there = os.path.exists(path) or glob.glob(f"{glob.escape(path)}.*")
    if os.path.basename(path) != path or is_there or is_weights_name(text):
        return
    near = did_you_mean(text, find_weights())
    raise ConfigError(
        f"--warm_start_from {short(text)}: there is no such file, and no weights have this name; "
        f"{near}{' ' if near else ''}tf-frame weights list shows all weights"
    )


def network_option(model: Any) -> str:
    """Returns the name of the option of a model's class that names its network; or no name."""
    # A model need not inherit from `tf_frame.Model`.
    return getattr(model, "network_option", "")


def fitting_weights(model: str, network: str = "", *, is_chosen: bool = False) -> list[str]:
    """Returns the names of verified weights for a run of a model plugin, the best first.

    These are the weights that the model predicts with, and those of its network. Weights of the
    network come first, then those of the model, those of packages before downloads, and those of
    more classes, which have seen more. With `is_chosen`, there are only those of the network. A
    broken package is left out.
    """
    found: list[tuple[bool, bool, bool, int, str]] = []
    for info in find_weights():
        if info.state == OK:
            with contextlib.suppress(BrokenPluginError):
                weights = load_weights(info)
                others = (weights.network != network, weights.model != model)
                if weights.verified and not (others[0] if is_chosen else all(others)):
                    is_download = bool(weights.file().url)
                    found.append((*others, is_download, -weights.num_classes, info.name))
    return [row[-1] for row in sorted(found)]

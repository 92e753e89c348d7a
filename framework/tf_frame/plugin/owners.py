"""Finds the plugins that have an option, to explain why the plugin in use does not take it."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from tf_frame.config.option import options_of
from tf_frame.errors import PluginError
from tf_frame.plugin.find import PluginInfo
from tf_frame.plugin.kinds import Kind
from tf_frame.plugin.load import load_plugin_info


def plugins_with_option(
    kind: Kind, option: str, installed: Sequence[PluginInfo], *, first: Collection[str]
) -> list[str]:
    """Returns the names of the plugins of a kind that have an option.

    Args:
      kind: the kind.
      option: name of the option, without a prefix.
      installed: all installed plugins.
      first: distributions to look through first, and alone if one of their plugins has the
        option: importing a plugin of another one may take long.
    """
    of_kind = [info for info in installed if info.kind == kind]
    near = [info for info in of_kind if info.distribution in first]
    far = [info for info in of_kind if info.distribution not in first]
    for group in (near, far):
        names = [info.name for info in group if _has_option(info, option)]
        if names:
            return names
    return []


def _has_option(info: PluginInfo, option: str) -> bool:
    try:
        params = load_plugin_info(info).cls.Params
    except PluginError:
        return False  # A plugin that cannot be used is no answer to the user's question.
    return option in [each.name for each in options_of(params)]

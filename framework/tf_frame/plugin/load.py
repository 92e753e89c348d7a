"""Loads only the plugins that a run names, so that a broken plugin stops no other run."""

from __future__ import annotations

import dataclasses
import sys
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from packaging.utils import canonicalize_name

import tf_frame
from tf_frame.config.option import declared_options
from tf_frame.errors import ConfigError, PluginError
from tf_frame.plugin import kinds
from tf_frame.plugin.contracts import API_VERSION, OLDEST_API_VERSION
from tf_frame.plugin.find import BROKEN, CONFLICT, DISABLED, OK, PluginInfo, find_plugins
from tf_frame.plugin.imports import BrokenPluginError, import_target
from tf_frame.plugin.matching import matching_plugins, unknown_plugin
from tf_frame.plugin.modules import malformed
from tf_frame.plugin.network_contracts import Network, Preprocessing
from tf_frame.plugin.origin import register
from tf_frame.plugin.packages import tell_authors
from tf_frame.plugin.switches import read_switches
from tf_frame.text import brief, short_word

if TYPE_CHECKING:
    # PyYAML takes a tenth of a second, which commands without YAML need not wait for.
    from tf_frame.config.yaml_file import Named


# How a plugin is used that was given for one of another kind.
_HOW_TO_USE = {
    kinds.NETWORK: ": tf-frame run --plugin classification --model.name {name}",
    kinds.INPUT: ": --input {name}",
    kinds.WEIGHTS: ": --warm_start_from {name}",
    kinds.OPTIMIZER: ": --optimizer {name}",
    kinds.LEARNING_RATE: ": --schedule {name}",
    kinds.GRADIENT_TRANSFORM: ": --transform {name}",
    kinds.HOOK: ": --hook {name}",
    kinds.CONVERTER: ": tf-frame convert {name}",
}


@dataclasses.dataclass(frozen=True)
class LoadedPlugin:
    """An imported and checked plugin.

    Attributes:
      info: its metadata.
      cls: its class.
    """

    info: PluginInfo
    cls: Any


def load_plugin(
    kind: kinds.Kind,
    name: str,
    *,
    prefer: str | None = None,
    installed: Sequence[PluginInfo] | None = None,
) -> LoadedPlugin:
    """Loads one plugin.

    Args:
      kind: its kind.
      name: its name; `distribution:name` where two packages share one.
      prefer: the distribution that resolves a conflict of names.
      installed: the result of `find_plugins`, for callers that load several.

    Raises:
      PluginError: there is no such plugin, or it is broken; the message names entry
        point, distribution, version, cause and remedy.
    """
    switches = read_switches()
    installed = find_plugins(switches) if installed is None else installed
    if switches.strict:
        _refuse_problems(installed)
    candidates = [p for p in installed if p.kind == kind]
    matches = matching_plugins(name, candidates, prefer=prefer)
    if matches:
        # The error of a plugin that is only in conflict says how to choose between them.
        return load_plugin_info(min(matches, key=lambda p: p.state != CONFLICT))
    none = f"none (pip install a package with a {kind.group} entry point)"
    error = unknown_plugin(
        f"{kind.word} plugin",
        name,
        candidates,
        none=none,
        shown_by=kind.shown_by,
        installed=installed,
    )
    raise PluginError(f"{error}{_of_another_kind(name, installed)}")


def _of_another_kind(name: str, installed: Sequence[PluginInfo]) -> str:
    """Returns a sentence on plugins of this name and another kind; empty without any."""
    others = matching_plugins(name, installed)
    if not others:
        return ""
    words = {other.kind: _HOW_TO_USE.get(other.kind, "") for other in others}
    uses = [f"{kind.word} {name}{use.format(name=name)}" for kind, use in words.items()]
    return f"; there is the {', and the '.join(uses)}"


def load_network(name: str, *, prefer: str | None = None) -> Network:
    """Loads and constructs a network plugin.

    Args:
      name: its name; `distribution:name` where two packages share one.
      prefer: the distribution that resolves a conflict of names; None: there is none.

    Raises:
      PluginError: there is no such plugin, or it is broken; the message names cause and remedy.
    """
    network: Network = _make(load_plugin(kinds.NETWORK, name, prefer=prefer))
    return network


def load_preprocessing(name: str, *, prefer: str | None = None) -> Preprocessing:
    """Loads and constructs a preprocessing plugin.

    Args:
      name: its name; `distribution:name` where two packages share one.
      prefer: the distribution that resolves a conflict of names; None: there is none.

    Raises:
      PluginError: there is no such plugin, or it is broken; the message names cause and remedy.
    """
    preprocessing: Preprocessing = _make(load_plugin(kinds.PREPROCESSING, name, prefer=prefer))
    return preprocessing


def _make(plugin: LoadedPlugin) -> Any:
    """Constructs a plugin of a kind without options."""
    return plugin.cls(params=plugin.cls.Params())


def _refuse_problems(installed: Iterable[PluginInfo]) -> None:
    lines = [
        f"  {info.described}: {info.problem}"
        for info in installed
        if info.state not in (OK, DISABLED)
    ]
    if lines:
        heading = (
            "plugins are strict (TF_FRAME_STRICT_PLUGINS, strict_plugins), and there are problems:"
        )
        raise PluginError("\n".join([heading, *lines]))


def load_plugin_info(info: PluginInfo) -> LoadedPlugin:
    """Imports and checks one plugin of `find_plugins`; raises as `load_plugin` does."""
    loaded = import_plugin(info)
    problem = unsupported_version(loaded.cls)
    if problem:
        newer = isinstance(loaded.cls.api_version, int) and loaded.cls.api_version > API_VERSION
        package = "tf-frame" if newer else info.distribution
        raise BrokenPluginError(info, problem, f"pip install --upgrade {package}")
    problem = kinds.check_contract(loaded.cls, info.kind)
    if problem:
        raise BrokenPluginError(info, problem, tell_authors(info.distribution))
    version = getattr(loaded.cls, "api_version", None) or API_VERSION
    if version < API_VERSION:
        line = f"is written for version {version} of the plugin contracts, this is {API_VERSION}"
        print(f"tf-frame: {info.described} {line}; a later tf-frame refuses it", file=sys.stderr)
    register(loaded.cls, info)
    return loaded


def import_plugin(info: PluginInfo) -> LoadedPlugin:
    """Imports one plugin of `find_plugins` without a check of its definition.

    Raises:
      BrokenPluginError: the plugin may not be used, or cannot be imported.
    """
    malformation = malformed(info.name, info.target)
    # A plugin with another fault in its metadata may load nonetheless.
    if malformation or info.state not in (OK, BROKEN):
        remedy = info.remedy or tell_authors(info.distribution)
        raise BrokenPluginError(info, info.problem or malformation, remedy)
    return LoadedPlugin(info, import_target(info))


def unsupported_version(cls: Any) -> str:
    """Describes the version of the contracts that a class is written for; empty if supported.

    For a class without a version, the package's requirement on tf-frame decides.
    """
    version = getattr(cls, "api_version", None)
    if version is None or version in range(OLDEST_API_VERSION, API_VERSION + 1):
        return ""
    supported = str(API_VERSION)
    if OLDEST_API_VERSION < API_VERSION:
        supported = f"{OLDEST_API_VERSION} to {API_VERSION}"
    return (
        f"it is written for version {brief(version)} of the plugin contracts (api_version), "
        f"tf-frame {tf_frame.__version__} has version {supported}"
    )


def plugins_with_option(
    kind: kinds.Kind, option: str, installed: Sequence[PluginInfo], *, first: Collection[str]
) -> list[str]:
    """Returns the names of the plugins of a kind that have an option.

    Args:
      kind: the kind.
      option: name of the option, without a prefix.
      installed: all installed plugins.
      first: distributions that are searched before all others. If one of their plugins has the
        option, no other plugin is imported, which may take long.
    """
    candidates = [info for info in installed if info.kind == kind]
    for is_first in (True, False):
        plugins = [info for info in candidates if (info.distribution in first) == is_first]
        names = [info.name for info in plugins if _has_option(info, option)]
        if names:
            return names
    return []


def _has_option(info: PluginInfo, name: str) -> bool:
    try:
        params = load_plugin_info(info).cls.Params
    except PluginError:
        return False  # A plugin that cannot be used is no answer to the user's question.
    return name in [option.name for option in declared_options(params)]


@dataclasses.dataclass(frozen=True)
class NamedPlugin:
    """A plugin of a run; transforms and hooks may use the same plugin twice.

    Attributes:
      name: its name, without a value.
      plugin: the loaded plugin.
      prefix: the prefix of its options: `optimizer`; `transform.NAME`, or `transform.NAME_2` for
        the second plugin of the same name.
      values: dotted option name -> raw value, for options that are given with the name.
    """

    name: str
    plugin: LoadedPlugin
    prefix: str
    values: Mapping[str, Any]


def load_named_plugins(
    word: str, chosen: Sequence[Named], *, prefer: str, installed: Sequence[PluginInfo]
) -> list[NamedPlugin]:
    """Loads the gradient transforms or the hooks of a run.

    Args:
      word: `transform` or `hook`.
      chosen: names with options; a name may have a value, as in `clip_by_norm:10`.
      prefer: the distribution that resolves a conflict of names.
      installed: all installed plugins.

    Raises:
      PluginError: a plugin cannot be used.
      ConfigError: a value for a plugin that has no options.
    """
    kind = {"transform": kinds.GRADIENT_TRANSFORM, "hook": kinds.HOOK}[word]
    candidates = [p for p in installed if p.kind == kind]
    count: Counter[str] = Counter()
    loaded = []
    for named in chosen:
        name, value = split_name(named.name, candidates)
        count[name] += 1
        prefix = f"{word}.{name}" + (f"_{count[name]}" if count[name] > 1 else "")
        plugin = load_plugin(kind, name, prefer=prefer, installed=candidates)
        options = {**_first_option(f"--{word} {name}", plugin, value), **named.values}
        values = {f"{prefix}.{option}": raw for option, raw in options.items()}
        loaded.append(NamedPlugin(name, plugin, prefix, values))
    return loaded


def split_name(text: str, plugins: Sequence[PluginInfo]) -> tuple[str, str | None]:
    """Splits `NAME:VALUE` of `--transform` or `--hook`; the name may be `distribution:name`."""
    head, colon, tail = text.partition(":")
    short, second, value = tail.partition(":")
    package = canonicalize_name(head)
    if any(canonicalize_name(p.distribution) == package and p.name == short for p in plugins):
        return f"{head}:{short}", value if second else None
    return head, tail if colon else None


def _first_option(flag: str, plugin: LoadedPlugin, value: str | None) -> dict[str, Any]:
    """Assigns the value after the colon to the first option of the plugin."""
    if value is None:
        return {}
    options = declared_options(plugin.cls.Params)
    if not options:
        raise ConfigError(
            f"{short_word(flag)}:{short_word(value)}: {flag.split()[-1]} has no options; leave out "
            f":{short_word(value)}"
        )
    return {options[0].name: value}

"""Checks and merges the arguments, run options and TF_CONFIG of a `RunConfig`.

The same setting can stand in two of them; a contradiction is an error, so that neither wins
unnoticed.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any

from tf_frame.cluster.tf_config import ClusterConfig
from tf_frame.config.option import EXCLUSIVE, Option, check_names
from tf_frame.config.run_options import run_options
from tf_frame.errors import ConfigError

Values = Mapping[str, Any]

_SOURCE = "RunConfig(options=...)"
_RUN_OPTIONS = {option.name: option for option in run_options()}
_PLUGINS = ("optimizer", "schedule")
_LISTS = ("transforms", "hooks")
CLUSTER_OPTIONS = ("master", "task", "worker_replicas", "num_ps_tasks")
_PLUGIN_OPTIONS = tuple(Option(name, str, None) for name in (*_PLUGINS, *_LISTS))
_PREFIXES = tuple(f"{name}." for name in (*_PLUGINS, "transform", "hook"))
_ELSEWHERE = {
    "model_dir": "it is an argument, RunConfig(model_dir=...)",
    "plugin": "the model is an argument of the Estimator",
    "model": "the model, with its parameters, is an argument of the Estimator",
    "input": "the input is an argument of the Estimator's methods",
    "versions": "it belongs to a config.yaml that a run wrote",
    "lock": "it belongs to a config.yaml that a run wrote",
}
_NO_STRATEGIES = (
    "is {value!r}, but tf-frame has no distribution strategies; use "
    'RunConfig(options={{"num_clones": N}}) for N copies of the model on one machine, and '
    "TF_CONFIG for several machines"
)


class Field:
    """An argument of `RunConfig` and the read-only property that shows its value.

    Args:
      doc: docstring of the property.
      allows: whether a value is allowed; None always is.
      rule: the error for other values, without the name of the field before it.
      option: the run option of the same meaning; empty if there is none.
      to_option, to_field: convert a value of the field to one of the option, and back.
    """

    def __init__(
        self,
        doc: str,
        allows: Callable[[Any], bool] = lambda value: True,
        rule: str = "",
        option: str = "",
        to_option: Callable[[Any], Any] = lambda value: value,
        to_field: Callable[[Any], Any] = lambda value: value,
    ) -> None:
        self.__doc__ = doc
        self._allows = allows
        self._rule = rule
        self.option = option
        self.to_option = to_option
        self.to_field = to_field

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, config: Any, owner: type | None = None) -> Any:
        return self if config is None else config._fields[self.name]

    def __set__(self, config: Any, value: Any) -> None:
        raise AttributeError(f"{self.name} is read-only; use replace({self.name}={value!r})")

    def check(self, value: Any) -> None:
        """Raises a ValueError with the text of tensorflow_estimator for a value out of range."""
        if value is not None and not self._allows(value):
            raise ValueError(f"{self.name} {self._rule.format(value=value)}")


def strategy() -> Any:
    """Returns the field of a distribution strategy, which has to be None."""
    doc = "Always None; there are no distribution strategies."
    return Field(doc, lambda value: False, _NO_STRATEGIES)


def of_cluster(name: str, doc: str) -> Any:
    """Returns a read-only property that shows an attribute of `RunConfig.cluster`."""
    return property(lambda config: getattr(config.cluster, name), doc=doc)


def normalized(options: Values | None) -> dict[str, Any]:
    """Checks names and values of run options, and turns sections into dotted names.

    Args:
      options: option name -> raw value, as config.yaml has them:
        `{"optimizer": {"name": "adam", "beta1": 0.8}}` and
        `{"optimizer": "adam", "optimizer.beta1": 0.8}` are the same.

    Raises:
      ConfigError: an unknown name, or a value of the wrong type or out of range.
    """
    if options is not None and not isinstance(options, Mapping):
        raise ConfigError(f"{_SOURCE}: expected a mapping of names to values, found {options!r}")
    flat: dict[str, Any] = {}
    for name, value in (options or {}).items():
        is_section = name in _PLUGINS and isinstance(value, Mapping)
        for key, each in value.items() if is_section else [("name", value)]:
            flat[str(name) if key == "name" else f"{name}.{key}"] = each
    _check(flat)
    return copy.deepcopy(flat)


def _check(options: Values) -> None:
    for name in options:
        hint = _ELSEWHERE.get(name.split(".")[0])
        if hint:
            raise ConfigError(f"{_SOURCE}: {name} does not belong there; {hint}")
    plain = {k: v for k, v in options.items() if not k.startswith(_PREFIXES)}
    check_names(plain, [*_RUN_OPTIONS.values(), *_PLUGIN_OPTIONS], _SOURCE)
    for name, value in plain.items():
        if name in _RUN_OPTIONS:
            _RUN_OPTIONS[name].parse(value)
        elif name in _PLUGINS and not (value is None or isinstance(value, str)):
            raise ConfigError(f"{_SOURCE}: {name!r} takes a name, found {value!r}")
        elif name in _LISTS and not (value is None or isinstance(value, (list, tuple))):
            raise ConfigError(f"{_SOURCE}: {name!r} takes a list, found {value!r}")


def parsed_options(options: Values) -> dict[str, tuple[str, Any]]:
    """Returns run option -> (the option that was given, value).

    The two options differ where an option is unset by another one that excludes it.
    """
    parsed = {k: (k, _RUN_OPTIONS[k].parse(v)) for k, v in options.items() if k in _RUN_OPTIONS}
    for name, rival in EXCLUSIVE.items():
        if rival not in parsed and parsed.get(name, (name, None))[1] is not None:
            parsed[rival] = (name, None)
    return parsed


def cluster_merged(cluster: ClusterConfig, options: Values) -> ClusterConfig:
    """Returns the cluster that TF_CONFIG describes or, without one, the options.

    Args:
      cluster: the cluster of TF_CONFIG.
      options: as `normalized` returns them.

    Raises:
      ValueError: both describe a cluster, and differently.
    """
    given = {
        name: _RUN_OPTIONS[name].parse(options[name]) for name in CLUSTER_OPTIONS if name in options
    }
    if not given or not cluster.trains:
        return cluster
    known = cluster.run_options()
    for name in given if known else ():
        if given[name] != known[name]:
            raise ValueError(
                f"TF_CONFIG means {name}={known[name]!r} and options={{{name!r}: "
                f"{options[name]!r}}} says another; leave out one of them"
            )
    if known:
        return cluster
    task = given.get("task", 0)  # Counted as slim does: the chief is worker 0.
    return ClusterConfig(
        task_id=task,
        master=given.get("master", ""),
        is_chief=task == 0,
        num_ps=given.get("num_ps_tasks", 0),
        num_workers=given.get("worker_replicas", 1),
        global_id=task,
    )

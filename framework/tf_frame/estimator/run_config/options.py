"""Checks and merges the arguments, run options and TF_CONFIG of a `RunConfig`.

The same setting may occur in two sources; a contradiction is an error, so that no value is ignored
unnoticed.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from tf_frame.cluster.tf_config import ClusterConfig, TaskType
from tf_frame.config.option import EXCLUSIVE, Option, check_names, resolve
from tf_frame.config.option_groups import DeviceOptions
from tf_frame.config.run_options import run_options
from tf_frame.deploy.session_config import session_fields
from tf_frame.errors import ConfigError
from tf_frame.text import brief

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
    "environment": "variables must be set before the process starts",
    "versions": "it belongs to a config.yaml that a run wrote",
    "lock": "it belongs to a config.yaml that a run wrote",
}
_NO_STRATEGIES = (
    "is {value!r:.80}, but tf-frame has no distribution strategies of TensorFlow 2; use "
    'RunConfig(options={{"num_clones": N}}) for N copies of the model on one machine, or '
    "tf_frame_legacy.contrib.distribute.MirroredStrategy for a model function with its own "
    "optimizer, and TF_CONFIG for several machines"
)


@dataclasses.dataclass(eq=False)
class Field:
    """An argument of `RunConfig` and the read-only property that shows its value.

    Attributes:
      doc: docstring of the property.
      allows: returns whether a value is allowed; None always is.
      rule: the error for other values, without the name of the field.
      option: the run option of the same meaning; empty if there is none.
      to_option, to_field: convert a value of the field to a value of the option, and back.
    """

    doc: str
    allows: Callable[[Any], bool] = lambda value: True
    rule: str = ""
    option: str = ""
    to_option: Callable[[Any], Any] = lambda value: value
    to_field: Callable[[Any], Any] = lambda value: value

    def __post_init__(self) -> None:
        self.__doc__ = self.doc

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, config: Any, owner: type | None = None) -> Any:
        return self if config is None else config._fields[self.name]

    def __set__(self, config: Any, value: Any) -> None:
        raise AttributeError(f"{self.name} is read-only; use replace({self.name}={brief(value)})")

    def check(self, value: Any) -> None:
        """Raises a ValueError with the text of tensorflow_estimator for a value out of range."""
        if value is not None and not self.allows(value):
            raise ValueError(f"{self.name} {self.rule.format(value=value)}")


def strategy_field() -> Any:
    """Returns the field of a distribution strategy: None, a single device, or one that mirrors.

    A strategy that mirrors has the methods `mirror_model(model_fn)` and `mirror_source(source)`, as
    those of tf-frame-legacy.
    """
    doc = "Strategy of several devices of this machine, from tf-frame-legacy; or None."
    return Field(doc, _is_supported, _NO_STRATEGIES)


def _is_supported(strategy: Any) -> bool:
    single = getattr(strategy, "num_replicas_in_sync", None) == 1
    return single or hasattr(strategy, "mirror_model")


def cluster_property(name: str, doc: str) -> Any:
    """Returns a read-only property that shows an attribute of `RunConfig.cluster`."""
    return property(lambda config: getattr(config.cluster, name), doc=doc)


def normalize(options: Values | None) -> dict[str, Any]:
    """Checks names and values of run options, and turns sections into dotted names.

    Args:
      options: option name -> raw value, as in config.yaml:
        `{"optimizer": {"name": "adam", "beta1": 0.8}}` and
        `{"optimizer": "adam", "optimizer.beta1": 0.8}` are the same.

    Raises:
      ConfigError: an unknown name, or a value of the wrong type or out of range.
    """
    if options is not None and not isinstance(options, Mapping):
        raise ConfigError(
            f"{_SOURCE}: expected a mapping of names to values, found {brief(options)}"
        )
    flat: dict[str, Any] = {}
    for name, value in (options or {}).items():
        is_section = name in _PLUGINS and isinstance(value, Mapping)
        for key, entry in value.items() if is_section else [("name", value)]:
            flat[str(name) if key == "name" else f"{name}.{key}"] = entry
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
            raise ConfigError(f"{_SOURCE}: {brief(name)} takes a name, found {brief(value)}")
        elif name in _LISTS and not (value is None or isinstance(value, (list, tuple))):
            raise ConfigError(f"{_SOURCE}: {brief(name)} takes a list, found {brief(value)}")


def parse_options(options: Values) -> dict[str, tuple[str, Any]]:
    """Returns run option -> (option that was given, value).

    The two differ for an option that was unset because the given option excludes it.
    """
    parsed = {k: (k, _RUN_OPTIONS[k].parse(v)) for k, v in options.items() if k in _RUN_OPTIONS}
    for name, rival in EXCLUSIVE.items():
        if rival not in parsed and parsed.get(name, (name, None))[1] is not None:
            parsed[rival] = (name, None)
    return parsed


def merge_cluster(cluster: ClusterConfig, options: Values) -> ClusterConfig:
    """Returns the cluster of TF_CONFIG or, without one, the cluster of the normalized options.

    Raises:
      ValueError: TF_CONFIG and the options describe different clusters.
    """
    values = {
        name: _RUN_OPTIONS[name].parse(options[name]) for name in CLUSTER_OPTIONS if name in options
    }
    if not values or not cluster.trains:
        return cluster
    from_tf_config = cluster.run_options()
    for name in values if from_tf_config else ():
        if values[name] != from_tf_config[name]:
            raise ValueError(
                f"TF_CONFIG means {name}={brief(from_tf_config[name])} and "
                f"options={{{brief(name)}: {brief(options[name])}}} says another; leave out one "
                "of them"
            )
    if from_tf_config:
        return cluster
    task = values.get("task", 0)  # Counted as in slim: the chief is worker 0.
    return ClusterConfig(
        task_id=task,
        master=values.get("master", ""),
        is_chief=task == 0,
        num_ps=values.get("num_ps_tasks", 0),
        num_workers=values.get("worker_replicas", 1),
        global_id=task,
    )


def default_session_config(options: Mapping[str, Any] | None = None) -> Any:
    """Returns the `ConfigProto` for `RunConfig(options=...)`, such as `gpu_memory_growth`."""
    return session_fields(device_options(options))


def device_options(options: Mapping[str, Any] | None) -> DeviceOptions:
    """Returns the options of GPUs, memory and threads among `RunConfig(options=...)`."""
    return resolve(DeviceOptions, [normalize(options)])


def cluster_session_config(cluster: ClusterConfig, options: Mapping[str, Any] | None) -> Any:
    """Returns the default with filters for the devices that a task of a cluster uses.

    With these filters a worker does not wait for other workers. Source: tensorflow_estimator,
    run_config.py.
    """
    filters = {
        TaskType.MASTER: ["/job:ps", "/job:master"],
        TaskType.CHIEF: ["/job:ps", "/job:chief"],
        TaskType.WORKER: ["/job:ps", f"/job:worker/task:{cluster.task_id}"],
        TaskType.PS: ["/job:ps", "/job:worker", "/job:chief", "/job:master"],
    }
    proto = default_session_config(options)
    if cluster.cluster:
        proto.device_filters.extend(filters.get(cluster.task_type, []))
    return proto

"""Which arguments of a `RunConfig` and which run options are the same thing."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Mapping, Set
from typing import Any

from tf_frame.cluster.tf_config import ClusterConfig
from tf_frame.config.option import Option
from tf_frame.config.resolve import EXCLUSIVE, check_names
from tf_frame.config.run_options import run_options
from tf_frame.errors import ConfigError

# As many hours as mean that no checkpoint is kept for its hour (tensorflow_estimator).
_NEVER_HOURS = 10000
_SOURCE = "RunConfig(options=...)"
_RUN_OPTIONS = {option.name: option for option in run_options()}
_PARTS = ("optimizer", "schedule")
_LISTS = ("transforms", "hooks")
_CLUSTER = ("master", "task", "worker_replicas", "num_ps_tasks")
_PART_OPTIONS = tuple(Option(name, str, None) for name in (*_PARTS, *_LISTS))
_PREFIXES = tuple(f"{name}." for name in (*_PARTS, "transform", "hook"))
_ELSEWHERE = {
    "model_dir": "it is an argument, RunConfig(model_dir=...)",
    "plugin": "the model is an argument of the Estimator",
    "model": "the model, with its parameters, is an argument of the Estimator",
    "input": "the input is an argument of the Estimator's methods",
    "versions": "it belongs to a config.yaml that a run wrote",
}


def _as_it_is(value: Any) -> Any:
    return value


def _none_for_zero(value: Any) -> Any:
    return value or None


def _zero_for_none(value: Any) -> Any:
    return value or 0


@dataclasses.dataclass(frozen=True)
class Pair:
    """A field and an option that say the same thing.

    Attributes:
      field, option: their names.
      to_option: the option's value for one of the field.
      to_field: the field's value for one of the option.
    """

    field: str
    option: str
    to_option: Callable[[Any], Any] = _as_it_is
    to_field: Callable[[Any], Any] = _as_it_is


PAIRS = (
    Pair("tf_random_seed", "random_seed"),
    Pair("save_summary_steps", "save_summaries_steps", _none_for_zero),
    Pair("save_checkpoints_steps", "save_checkpoint_steps", _none_for_zero),
    Pair("save_checkpoints_secs", "save_checkpoint_secs", _none_for_zero),
    Pair("keep_checkpoint_max", "max_to_keep", _zero_for_none),
    Pair(
        "keep_checkpoint_every_n_hours",
        "keep_checkpoint_every_n_hours",
        lambda hours: None if hours is None or hours >= _NEVER_HOURS else hours,
        lambda hours: _NEVER_HOURS if hours is None else hours,
    ),
    Pair("log_step_count_steps", "log_every_n_steps", _zero_for_none, _none_for_zero),
)


def normalized(options: Mapping[str, Any] | None) -> dict[str, Any]:
    """Checks the names and the values of run options, and makes sections dotted names.

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
        flat.update(_section(name, value) if name in _PARTS else {str(name): value})
    _check(flat)
    return copy.deepcopy(flat)


def _section(part: str, value: Any) -> dict[str, Any]:
    """`{"optimizer": {"name": "adam", "beta1": 0.8}}` with dotted names."""
    if not isinstance(value, Mapping):
        return {part: value}
    return {part if name == "name" else f"{part}.{name}": each for name, each in value.items()}


def _check(options: Mapping[str, Any]) -> None:
    for name in options:
        if name.split(".")[0] in _ELSEWHERE:
            hint = _ELSEWHERE[name.split(".")[0]]
            raise ConfigError(f"{_SOURCE}: {name} does not belong there; {hint}")
    plain = {k: v for k, v in options.items() if not k.startswith(_PREFIXES)}
    check_names(plain, [*_RUN_OPTIONS.values(), *_PART_OPTIONS], _SOURCE)
    for name, value in plain.items():
        if name in _RUN_OPTIONS:
            _RUN_OPTIONS[name].parse(value)
        elif name in _PARTS and not (value is None or isinstance(value, str)):
            raise ConfigError(f"{_SOURCE}: {name!r} takes a name, found {value!r}")
        elif name in _LISTS and not (value is None or isinstance(value, (list, tuple))):
            raise ConfigError(f"{_SOURCE}: {name!r} takes a list, found {value!r}")


def merged(fields: Mapping[str, Any], said: Set[str], options: Mapping[str, Any]) -> dict[str, Any]:
    """The fields as the options would have them.

    Args:
      fields: field name -> value.
      said: the fields that somebody gave a value; the others are defaults.
      options: as `normalized` returns them.

    Raises:
      ValueError: a field that was given and an option say different things.
    """
    merged = dict(fields)
    told = _with_rivals(options)
    for pair in PAIRS:
        if pair.option not in told:
            continue
        teller, value = told[pair.option]
        if pair.to_option(fields[pair.field]) == pair.to_option(value):
            continue
        if pair.field in said:
            raise ValueError(
                f"RunConfig({pair.field}={fields[pair.field]!r}) and options={{{teller!r}: "
                f"{options[teller]!r}}} say different things; leave out one of them"
            )
        merged[pair.field] = pair.to_field(value)
    return merged


def _with_rivals(options: Mapping[str, Any]) -> dict[str, tuple[str, Any]]:
    """Option -> who says so, and the value; one of two that exclude each other unsets the other."""
    told = {name: (name, _parsed(name, options)) for name in options if name in _RUN_OPTIONS}
    for name, rival in EXCLUSIVE.items():
        if rival not in told and told.get(name, (name, None))[1] is not None:
            told[rival] = (name, None)
    return told


def _parsed(name: str, options: Mapping[str, Any]) -> Any:
    return _RUN_OPTIONS[name].parse(options[name])


def cluster_merged(cluster: ClusterConfig, options: Mapping[str, Any]) -> ClusterConfig:
    """The cluster that TF_CONFIG describes, or else the options.

    Args:
      cluster: what TF_CONFIG says.
      options: as `normalized` returns them.

    Raises:
      ValueError: both describe it, and differently.
    """
    told = {name: _parsed(name, options) for name in _CLUSTER if name in options}
    if not told or not cluster.trains:
        return cluster
    known = cluster.run_options()
    for name in told if known else ():
        if told[name] != known[name]:
            raise ValueError(
                f"TF_CONFIG means {name}={known[name]!r} and options={{{name!r}: "
                f"{options[name]!r}}} says another; leave out one of them"
            )
    return cluster if known else _cluster_of(told)


def _cluster_of(told: Mapping[str, Any]) -> ClusterConfig:
    """Workers counted as slim does: the chief is worker 0."""
    task = told.get("task", 0)
    return ClusterConfig(
        task_id=task,
        master=told.get("master", ""),
        is_chief=task == 0,
        num_ps=told.get("num_ps_tasks", 0),
        num_workers=told.get("worker_replicas", 1),
        global_id=task,
    )


def run_options_of(
    fields: Mapping[str, Any], said: Set[str], cluster: ClusterConfig, options: Mapping[str, Any]
) -> dict[str, Any]:
    """The raw run options that fields, TF_CONFIG and options stand for together.

    Args:
      fields: as `merged` returns them.
      said: the fields to be told; a field for which an option was given is always told.
      cluster: what TF_CONFIG says.
      options: as `normalized` returns them.
    """
    told = _with_rivals(options)
    raw = dict(options)
    for pair in PAIRS:
        if pair.field in said or pair.option in told:
            raw[pair.option] = pair.to_option(fields[pair.field])
    if not (fields["save_checkpoints_steps"] or fields["save_checkpoints_secs"]):
        for name in ("save_checkpoint_steps", "save_checkpoint_secs"):
            raw.pop(name, None)
    if raw.get("random_seed", 0) is None:
        del raw["random_seed"]
    if not cluster.trains:
        raw = {name: value for name, value in raw.items() if name not in _CLUSTER}
    return {**raw, **cluster.run_options()}

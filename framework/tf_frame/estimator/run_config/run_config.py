"""`RunConfig`: arguments of tf.estimator, TF_CONFIG and run options in one configuration.

Scripts for tf.estimator keep their `RunConfig`, and can use every option of `tf-frame run`.
"""

from __future__ import annotations

import copy
import dataclasses
import inspect
import os
import tempfile
from collections.abc import Mapping
from typing import Any, TypeVar

import tensorflow.compat.v1 as tf

from tf_frame.cluster.tf_config import ClusterConfig, cluster_config, read_tf_config
from tf_frame.config.run_options import RunOptions
from tf_frame.deploy.session_config import device_fields
from tf_frame.estimator.run_config.options import (
    CLUSTER_OPTIONS,
    Field,
    cluster_property,
    cluster_session_config,
    default_session_config,
    device_options,
    merge_cluster,
    normalize,
    parse_options,
    strategy_field,
)
from tf_frame.text import short

C = TypeVar("C", bound="RunConfig")

_USE_DEFAULT: Any = object()
_STEPS, _SECS = "save_checkpoints_steps", "save_checkpoints_secs"
_DEFAULT_SECS = 600
# From this value on, keep_checkpoint_every_n_hours is off, as in tensorflow_estimator.
_NEVER_HOURS = 10000


def _takes_only_op(function: Any) -> bool:
    """Returns whether `op` is the only positional parameter of a function, method or partial."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # Not a function, or one in C without a signature.
        return False
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [argument.name for argument in parameters if argument.kind in positional] == ["op"]


def _or_none(number: Any) -> Any:
    return number or None


def _or_zero(number: Any) -> Any:
    return number or 0


_SEED = (lambda seed: isinstance(seed, int), "must be integer.")
_COUNT = (lambda number: number >= 0, "should be >= 0")
_POSITIVE = (lambda number: number > 0, "should be > 0")


class RunConfig:
    """Configuration of the training of an `Estimator`, and of its task in a cluster.

    Takes the arguments of `tf.estimator.RunConfig`; each one is a read-only property with a
    docstring. The keyword argument `options` takes any option of `tf-frame run` by name, as in
    config.yaml: `{"num_clones": 2, "optimizer": "adam", "optimizer.beta1": 0.8, "transforms":
    ["clip_by_norm:10"]}`. If an argument has its default, the option of the same meaning decides,
    and the property shows its value. The constructor reads the environment variable TF_CONFIG.

    Raises:
      ValueError: a value out of range, a cluster or task that breaks a rule, or an
        argument and an option that contradict each other.
      TypeError: TF_CONFIG has the wrong form.
      ConfigError: an option does not exist, or has a wrong value.
    """

    model_dir = Field("Folder for everything that is written.", bool, "should be non-empty")
    tf_random_seed = Field(
        "Seed of initial values and random operations; the default of the option without one.",
        *_SEED,
        "random_seed",
    )
    save_summary_steps = Field(
        "Steps between summaries; 0 or None for none.", *_COUNT, "save_summaries_steps", _or_none
    )
    save_checkpoints_steps = Field(
        "Steps between checkpoints; see `checkpoints_disabled` for 0 and None.",
        *_COUNT,
        "save_checkpoint_steps",
        _or_none,
    )
    save_checkpoints_secs = Field(
        f"Seconds between checkpoints; {_DEFAULT_SECS} if neither steps nor seconds are given.",
        *_COUNT,
        "save_checkpoint_secs",
        _or_none,
    )
    session_config = Field(
        "The `tf.ConfigProto` of sessions; its fields may be set before the Estimator is made.",
        lambda proto: isinstance(proto, tf.ConfigProto),
        "must be instance of ConfigProto",
    )
    keep_checkpoint_max = Field(
        "Number of checkpoints to keep; 0 or None keeps all.", *_COUNT, "max_to_keep", _or_zero
    )
    keep_checkpoint_every_n_hours = Field(
        f"Hours between further checkpoints to keep; none for {_NEVER_HOURS} and more.",
        *_POSITIVE,
        "keep_checkpoint_every_n_hours",
        lambda hours: None if hours is None or hours >= _NEVER_HOURS else hours,
        lambda hours: _NEVER_HOURS if hours is None else hours,
    )
    log_step_count_steps = Field(
        "Steps between log lines, or None.", *_POSITIVE, "log_every_n_steps", _or_zero, _or_none
    )
    train_distribute = strategy_field()
    device_fn = Field(
        "Function of `op` that returns the device of an operation.",
        _takes_only_op,
        'must be callable with exactly one argument "op".',
    )
    protocol = Field(
        "Protocol of the servers that are started; None is grpc.",
        lambda protocol: protocol in ("grpc", "grpc+verbs"),
        "should be grpc or grpc+verbs",
    )
    eval_distribute = strategy_field()
    experimental_distribute = strategy_field()
    experimental_max_worker_delay_secs = Field(
        "Longest delay in seconds between the start of the chief and of a worker.",
        lambda delay: isinstance(delay, int),
        "must be an integer if set.",
    )
    session_creation_timeout_secs = Field("Seconds to wait for a session.", *_POSITIVE)
    checkpoint_save_graph_def = Field("Whether graph.pbtxt and .meta files are written.")

    task_type = cluster_property(
        "task_type", "Type of this task: chief, master, worker, ps or evaluator."
    )
    task_id = cluster_property("task_id", "Number of this task among the tasks of its type.")
    global_id_in_cluster = cluster_property("global_id", "Number of this task among all, or None.")
    master = cluster_property("master", "Target of training sessions; empty inside this process.")
    evaluation_master = cluster_property("evaluation_master", "Target of evaluation sessions.")
    is_chief = cluster_property("is_chief", "Whether this task initialises, saves and summarises.")
    num_ps_replicas = cluster_property("num_ps", "Number of tasks that hold variables.")
    num_worker_replicas = cluster_property(
        "num_workers", "Number of tasks that train, with the chief."
    )
    service = cluster_property("service", "Entry `service` of TF_CONFIG; or None.")

    def __init__(
        self,
        model_dir: Any = None,
        tf_random_seed: int | None = None,
        save_summary_steps: int | None = 100,
        save_checkpoints_steps: int | None = _USE_DEFAULT,
        save_checkpoints_secs: float | None = _USE_DEFAULT,
        session_config: Any = None,
        keep_checkpoint_max: int | None = 5,
        keep_checkpoint_every_n_hours: float | None = _NEVER_HOURS,
        log_step_count_steps: int | None = 100,
        train_distribute: None = None,
        device_fn: Any = None,
        protocol: str | None = None,
        eval_distribute: None = None,
        experimental_distribute: None = None,
        experimental_max_worker_delay_secs: int | None = None,
        session_creation_timeout_secs: float = 7200,
        checkpoint_save_graph_def: bool = True,
        *,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        arguments = {name: value for name, value in locals().items() if name in _DEFAULTS}
        explicit = frozenset(k for k, default in _DEFAULTS.items() if arguments[k] != default)
        tf_config = read_tf_config(os.environ)
        if tf_config:
            tf.logging.info("TF_CONFIG environment variable: %s", tf_config)
        arguments["model_dir"] = _checked_model_dir(
            _path_text(model_dir), tf_config.get("model_dir")
        )
        _check_one_interval(arguments if {_STEPS, _SECS} <= explicit else {})
        arguments.update({name: None for name in (_STEPS, _SECS) if name not in explicit})
        if not {_STEPS, _SECS} & explicit:
            arguments[_SECS] = _DEFAULT_SECS
        self._environment = cluster_config(tf_config)
        if session_config is None:
            arguments["session_config"] = cluster_session_config(self._environment, options)
        self._settle(arguments, explicit)

    def _settle(self, arguments: dict[str, Any], explicit: frozenset[str]) -> None:
        """Checks arguments and merges them with the options; called once for each object."""
        for name, field in FIELDS.items():
            field.check(arguments[name])
        options = normalize(arguments["options"])
        self._arguments, self._explicit = {**arguments, "options": options}, explicit
        self._fields = dict(self._arguments)
        for name, (source, value) in self._fields_from_options().items():
            field = FIELDS[name]
            if field.to_option(arguments[name]) == field.to_option(value):
                continue
            if name in explicit:
                raise ValueError(
                    f"RunConfig({name}={arguments[name]!r}) and options={{{source!r}: "
                    f"{options[source]!r}}} say different things; leave out one of them"
                )
            self._fields[name] = field.to_field(value)
        if self._fields["tf_random_seed"] is None:
            self._fields["tf_random_seed"] = RunOptions().random_seed
        self._cluster = merge_cluster(self._environment, options)

    def _set_masters(self, master: str, evaluation_master: str) -> None:
        """Replaces the targets of sessions; for constructors of subclasses with such arguments."""
        self._environment, self._cluster = (
            dataclasses.replace(cluster, master=master, evaluation_master=evaluation_master)
            for cluster in (self._environment, self._cluster)
        )

    def _fields_from_options(self) -> dict[str, tuple[str, Any]]:
        """Returns field -> (option that was given, value) for fields that an option decides."""
        parsed = parse_options(self._arguments["options"])
        return {k: parsed[field.option] for k, field in FIELDS.items() if field.option in parsed}

    @property
    def options(self) -> dict[str, Any]:
        """Run options that were given, with dotted names."""
        return copy.deepcopy(self._arguments["options"])

    @property
    def cluster(self) -> ClusterConfig:
        """This task and its cluster."""
        return self._cluster

    @property
    def cluster_spec(self) -> Any:
        """The cluster as a `tf.train.ClusterSpec`; empty for a process alone."""
        return tf.train.ClusterSpec(
            {job: dict(tasks) for job, tasks in self.cluster.cluster.items()}
        )

    @property
    def checkpoints_disabled(self) -> bool:
        """True if no checkpoint is ever saved: steps and seconds are both 0 or None."""
        return not (self.save_checkpoints_steps or self.save_checkpoints_secs)

    def run_options(self, *, with_defaults: bool = True) -> dict[str, Any]:
        """Returns the raw run options of the same meaning, as in config.yaml.

        Leaves out `save_checkpoint_steps` and `save_checkpoint_secs` if `checkpoints_disabled`,
        because there is no option for that; `random_seed` unless a seed was given; and the
        cluster of a task that does not train in it.

        Args:
          with_defaults: include arguments with default values. Without them, the
            `run_defaults` of a model apply.
        """
        raw, included = self.options, self._explicit | self._fields_from_options().keys()
        for name, field in FIELDS.items():
            if field.option and (with_defaults or name in included):
                raw[field.option] = field.to_option(self._fields[name])
        excluded = [] if self._environment.trains else list(CLUSTER_OPTIONS)
        if self.checkpoints_disabled:
            excluded += ["save_checkpoint_steps", "save_checkpoint_secs"]
        if "tf_random_seed" not in included or raw.get("random_seed", 0) is None:
            excluded.append("random_seed")
        options = {name: value for name, value in raw.items() if name not in excluded}
        return options | self._environment.run_options()

    def replace(self: C, **kwargs: Any) -> C:
        """Returns a copy with other values; TF_CONFIG is not read again.

        Args:
          **kwargs: arguments of the constructor, by name. `save_checkpoints_steps` unsets
            `save_checkpoints_secs`, and vice versa.

        Raises:
          ValueError: an unknown argument, or a value that the constructor refuses.
        """
        for name in kwargs:
            if name not in _DEFAULTS:
                raise ValueError(
                    f"Replacing {name} is not supported. Allowed properties are {list(_DEFAULTS)}."
                )
        _check_one_interval(kwargs)
        new = copy.deepcopy(self)
        arguments = {**new._arguments, **kwargs}
        if "options" in kwargs and not {"session_config"} & (self._explicit | kwargs.keys()):
            # The fields that the caller has set stay.
            fields = device_fields(device_options(kwargs["options"]))
            arguments["session_config"].MergeFrom(fields)
        arguments["model_dir"] = _path_text(arguments["model_dir"])
        for name, alternative in ((_STEPS, _SECS), (_SECS, _STEPS)):
            if kwargs.get(name) is not None and alternative not in kwargs:
                arguments[alternative] = None
        new._settle(arguments, self._explicit | frozenset(kwargs))
        return new

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RunConfig):
            return NotImplemented
        return (self._fields, self._environment) == (other._fields, other._environment)

    def __deepcopy__(self: C, memo: dict[int, Any]) -> C:
        # The copy of a bound method would be another function.
        memo[id(self.device_fn)] = self.device_fn
        new = copy.copy(self)
        new.__dict__.update(copy.deepcopy(self.__dict__, memo))
        return new

    def __hash__(self) -> int:
        return hash((self.model_dir, self.task_type, self.task_id))

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={value!r}" for name, value in self._fields.items())
        return f"{type(self).__name__}({fields}) as {self._cluster!r}"


FIELDS = {name: field for name, field in vars(RunConfig).items() if isinstance(field, Field)}
_PARAMETERS = inspect.signature(RunConfig).parameters
_DEFAULTS = {name: parameter.default for name, parameter in _PARAMETERS.items()}


def _check_one_interval(arguments: Mapping[str, Any]) -> None:
    if arguments.get(_STEPS) is not None and arguments.get(_SECS) is not None:
        raise ValueError("`save_checkpoints_steps` and `save_checkpoints_secs` cannot be both set.")


def _path_text(path: Any) -> Any:
    """Returns a `pathlib.Path` as text, any other value unchanged."""
    return os.fsdecode(path) if isinstance(path, os.PathLike) else path


def _checked_model_dir(model_dir: Any, in_tf_config: str | None) -> Any:
    """Returns the folder that the argument or TF_CONFIG names, None if neither does."""
    if model_dir == "":
        raise ValueError("model_dir should be non-empty.")
    if in_tf_config == "":
        raise ValueError("model_dir in TF_CONFIG should be non-empty.")
    if in_tf_config and model_dir and in_tf_config != model_dir:
        raise ValueError(
            "`model_dir` provided in RunConfig construct, if set, "
            "must have the same value as the model_dir in TF_CONFIG. "
            f'model_dir: {short(model_dir)}\nTF_CONFIG["model_dir"]: {in_tf_config}.\n'
        )
    if in_tf_config:
        tf.logging.info("Using model_dir in TF_CONFIG: %s", in_tf_config)
    return model_dir or in_tf_config


def maybe_overwrite_model_dir(config: RunConfig | None, model_dir: Any) -> RunConfig:
    """Returns the configuration of an Estimator: with a folder and a session configuration.

    Source: `maybe_overwrite_model_dir_and_session_config` of tensorflow_estimator,
    estimator.py.

    Args:
      config: the argument of the Estimator; None for the default.
      model_dir: the argument of the Estimator; without any folder, a temporary one is made.

    Raises:
      ValueError: the two folders differ, or `config` is not a `RunConfig`.
    """
    if config is None:
        config = RunConfig()
        tf.logging.info("Using default config.")
    if not isinstance(config, RunConfig):
        raise ValueError(f"config must be an instance of `RunConfig`, but provided {config}.")
    if config.session_config is None:
        config = config.replace(session_config=default_session_config(config.options))
    model_dir = _path_text(model_dir)
    if model_dir is not None and config.model_dir not in (None, model_dir):
        raise ValueError(
            "`model_dir` are set both in constructor and `RunConfig`, but with different values. "
            f"In constructor: '{short(model_dir)}', in `RunConfig`: '{short(config.model_dir)}' "
        )
    if not model_dir and config.model_dir is None:
        model_dir = tempfile.mkdtemp()
        tf.logging.warning("Using temporary folder as model directory: %s", model_dir)
    return config.replace(model_dir=model_dir) if model_dir else config

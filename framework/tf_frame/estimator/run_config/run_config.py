"""What an `Estimator` is told about its runs: the arguments of old, TF_CONFIG and run options."""

from __future__ import annotations

import copy
import os
import tempfile
from collections.abc import Mapping
from typing import Any, TypeVar

import tensorflow.compat.v1 as tf

from tf_frame.cluster.tf_config import cluster_config, read_tf_config
from tf_frame.estimator.run_config import options as run_config_options
from tf_frame.estimator.run_config.checks import check_fields, checked_model_dir, path_text
from tf_frame.estimator.run_config.device_filters import (
    cluster_session_config,
    default_session_config,
)
from tf_frame.estimator.run_config.fields import REPLACEABLE, RunConfigFields

C = TypeVar("C", bound="RunConfig")

_USE_DEFAULT: Any = object()
_DEFAULT_CHECKPOINT_SECS = 600
_BOTH = "`save_checkpoints_steps` and `save_checkpoints_secs` cannot be both set."
_DEFAULTS = {
    "tf_random_seed": None,
    "save_summary_steps": 100,
    "keep_checkpoint_max": 5,
    "keep_checkpoint_every_n_hours": 10000,
    "log_step_count_steps": 100,
}


class RunConfig(RunConfigFields):
    """How an `Estimator` trains and evaluates, and which task of a cluster it is.

    Arguments and properties are those of `tf.estimator.RunConfig`; `options` adds
    what `tf-frame run` has more of. An argument left at its default says
    nothing: the option that means the same then decides, and the property shows it.
    The environment variable TF_CONFIG is read once, here.

    Args:
      model_dir: folder for everything that is written; a path or None.
      tf_random_seed: seed of initial values and random operations.
      save_summary_steps: steps between summaries; 0 or None for none.
      save_checkpoints_steps: steps between checkpoints.
      save_checkpoints_secs: seconds between checkpoints; 600 if neither is given.
        Where both are 0 or None, nothing is saved.
      session_config: a `tf.ConfigProto`.
      keep_checkpoint_max: checkpoints kept; 0 or None keeps all.
      keep_checkpoint_every_n_hours: hours of training for each of which one more
        is kept; 10000 and more for none.
      log_step_count_steps: steps between log lines; None for none.
      train_distribute, eval_distribute, experimental_distribute: None; there are
        no distribution strategies here.
      device_fn: function of `op` that returns the device of an operation.
      protocol: `grpc` or `grpc+verbs`, of the servers that are started; None for the first.
      experimental_max_worker_delay_secs: seconds that a worker waits at most
        before it begins, behind the chief.
      session_creation_timeout_secs: seconds to wait for a session.
      checkpoint_save_graph_def: write graph.pbtxt, and a .meta beside every checkpoint.
      options: any option of `tf-frame run` by name, as config.yaml has it, such as
        `{"num_clones": 2, "optimizer": "adam", "optimizer.beta1": 0.8,
        "transforms": ["clip_by_norm:10"]}`.

    Raises:
      ValueError: a value out of range, a cluster or task that breaks a rule, or an
        argument and an option that say different things.
      TypeError: TF_CONFIG is of another form than it should be.
      ConfigError: an option that does not exist, or a wrong value of one.
    """

    def __init__(
        self,
        model_dir: Any = None,
        tf_random_seed: int | None = None,
        save_summary_steps: int | None = 100,
        save_checkpoints_steps: int | None = _USE_DEFAULT,
        save_checkpoints_secs: float | None = _USE_DEFAULT,
        session_config: Any = None,
        keep_checkpoint_max: int | None = 5,
        keep_checkpoint_every_n_hours: float | None = 10000,
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
        given = {name: value for name, value in locals().items() if name in REPLACEABLE}
        said = {name for name, default in _DEFAULTS.items() if given[name] != default}
        said |= _decide_checkpoints(given)
        tf_config = read_tf_config(os.environ)
        if tf_config:
            tf.logging.info("TF_CONFIG environment variable: %s", tf_config)
        in_tf_config = tf_config.get("model_dir")
        given["model_dir"] = checked_model_dir(path_text(model_dir), in_tf_config)
        if in_tf_config:
            tf.logging.info("Using model_dir in TF_CONFIG: %s", in_tf_config)
        check_fields(given)
        self._environment = cluster_config(tf_config)
        if session_config is None:
            given["session_config"] = cluster_session_config(self._environment)
        self._settle(given, frozenset(said))

    def _settle(self, given: dict[str, Any], said: frozenset[str]) -> None:
        """Sets everything from the arguments, and which of them are more than defaults."""
        given = {**given, "options": run_config_options.normalized(given["options"])}
        self._given, self._said = given, said
        self._fields = run_config_options.merged(given, said, given["options"])
        self._cluster = run_config_options.cluster_merged(self._environment, given["options"])

    @property
    def options(self) -> dict[str, Any]:
        """The run options that were given, with dotted names."""
        return copy.deepcopy(self._given["options"])

    @property
    def checkpoints_disabled(self) -> bool:
        """Whether no checkpoint is to be saved at all, not even at the end."""
        return not (self.save_checkpoints_steps or self.save_checkpoints_secs)

    def run_options(self, *, with_defaults: bool = True) -> dict[str, Any]:
        """What this configuration says, as raw run options: those that config.yaml has.

        Without `save_checkpoint_steps` and `save_checkpoint_secs` where
        `checkpoints_disabled`, for which there is no option; without `random_seed`
        unless it was given; with a cluster only for a task that trains in one.

        Args:
          with_defaults: also tell what arguments say that nobody gave. Without
            them, the options may stand before a model's `run_defaults`.
        """
        said = frozenset(self._fields) if with_defaults else self._said
        return run_config_options.run_options_of(
            self._fields, said, self._environment, self.options
        )

    def replace(self: C, **kwargs: Any) -> C:
        """Returns a copy with other values; TF_CONFIG is not read again.

        Args:
          **kwargs: arguments of the constructor, by name. One of
            `save_checkpoints_steps` and `save_checkpoints_secs` unsets the other.

        Raises:
          ValueError: an unknown argument, or a value that the constructor refuses.
        """
        for name in kwargs:
            if name not in REPLACEABLE:
                raise ValueError(
                    f"Replacing {name} is not supported. Allowed properties are {REPLACEABLE}."
                )
        new = copy.deepcopy(self)
        given = {**new._given, **kwargs}
        given["model_dir"] = path_text(given["model_dir"])
        _unset_other_checkpoints(given, kwargs)
        check_fields(given)
        new._settle(given, self._said | frozenset(kwargs))
        return new

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RunConfig):
            return NotImplemented
        return (self._fields, self._environment) == (other._fields, other._environment)

    def __deepcopy__(self: C, memo: dict[int, Any]) -> C:
        # A copy of the object that a method belongs to would be another function.
        memo[id(self.device_fn)] = self.device_fn
        new = copy.copy(self)
        new.__dict__.update(copy.deepcopy(self.__dict__, memo))
        return new

    def __hash__(self) -> int:
        return hash((self.model_dir, self.task_type, self.task_id))

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={value!r}" for name, value in self._fields.items())
        return f"{type(self).__name__}({fields}) as {self._cluster!r}"


def _decide_checkpoints(given: dict[str, Any]) -> set[str]:
    """Puts values for the two defaults, which depend on each other; returns what was said."""
    steps, secs = "save_checkpoints_steps", "save_checkpoints_secs"
    said = {name for name in (steps, secs) if given[name] is not _USE_DEFAULT}
    if said == {steps, secs} and None not in (given[steps], given[secs]):
        raise ValueError(_BOTH)
    given.update({name: None for name in (steps, secs) if name not in said})
    if not said:
        given[secs] = _DEFAULT_CHECKPOINT_SECS
    return said


def _unset_other_checkpoints(given: dict[str, Any], replaced: Mapping[str, Any]) -> None:
    pair = ("save_checkpoints_steps", "save_checkpoints_secs")
    if all(replaced.get(name) is not None for name in pair):
        raise ValueError(_BOTH)
    for name, other in (pair, pair[::-1]):
        if replaced.get(name) is not None and other not in replaced:
            given[other] = None


def maybe_overwrite_model_dir(config: RunConfig | None, model_dir: Any) -> RunConfig:
    """The configuration of an Estimator: with a folder and a session configuration.

    Source: `maybe_overwrite_model_dir_and_session_config` of tensorflow_estimator,
    estimator.py.

    Args:
      config: what the Estimator was given; None for the default.
      model_dir: the same; without any folder, a temporary one is made.

    Raises:
      ValueError: the folder differs from that of `config`, or `config` is none.
    """
    if config is None:
        config = RunConfig()
        tf.logging.info("Using default config.")
    if not isinstance(config, RunConfig):
        raise ValueError(f"config must be an instance of `RunConfig`, but provided {config}.")
    if config.session_config is None:
        config = config.replace(session_config=default_session_config())
    model_dir = path_text(model_dir)
    if model_dir is not None and config.model_dir not in (None, model_dir):
        raise ValueError(
            "`model_dir` are set both in constructor and `RunConfig`, but with different values. "
            f"In constructor: '{model_dir}', in `RunConfig`: '{config.model_dir}' "
        )
    if not model_dir and config.model_dir is None:
        model_dir = tempfile.mkdtemp()
        tf.logging.warning("Using temporary folder as model directory: %s", model_dir)
    return config.replace(model_dir=model_dir) if model_dir else config

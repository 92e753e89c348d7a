"""Configurations of old trainers: dictionaries, objects or protocol buffers, with defaults.

config = Config({"batch_size": 8}, defaults=TRAIN_CONFIG)
config.batch_size, config["num_steps"]  # 8, 0
"""

from __future__ import annotations

import types
from collections.abc import Mapping
from typing import Any

from tf_frame.errors import ConfigError
from tf_frame.text import short_repr

# Defaults of the Object Detection API (research/object_detection/protos/train.proto); the default
# of startup_delay_steps depends on sync_replicas, see `training_graph`.
TRAIN_CONFIG = types.MappingProxyType(
    {
        "add_regularization_loss": True,
        "batch_queue_capacity": 150,
        "batch_size": 32,
        "bias_grad_multiplier": 0.0,
        "data_augmentation_options": (),
        "fine_tune_checkpoint": "",
        "fine_tune_checkpoint_type": "",
        "freeze_variables": (),
        "from_detection_checkpoint": False,
        "gradient_clipping_by_norm": 0.0,
        "keep_checkpoint_every_n_hours": 10000,
        "load_all_detection_checkpoint_vars": False,
        "merge_multiple_label_boxes": False,
        "num_batch_queue_threads": 8,
        "num_steps": 0,
        "prefetch_queue_capacity": 5,
        "replicas_to_aggregate": 1,
        "startup_delay_steps": None,
        "sync_replicas": False,
        "use_multiclass_scores": False,
    }
)


class Config:
    """A view of a configuration: its fields are both attributes and items.

    Assignments stay in the view and do not change the configuration. A field that is None counts
    as missing.

    Args:
      source: the configuration.
      defaults: field -> value if it is missing.
    """

    def __init__(self, source: Any, defaults: Mapping[str, Any] | None = None) -> None:
        vars(self).update(_source=source, _defaults=defaults or {}, _assigned={})

    def __getattr__(self, name: str) -> Any:
        if name in self._assigned:
            return self._assigned[name]
        source = self._source
        if isinstance(source, Mapping) and name in source:
            value = source[name]
        else:
            # Of a dictionary only its methods; its attributes may be another view of its items.
            owner = type(source) if isinstance(source, Mapping) else source
            value = getattr(source, name) if hasattr(owner, name) else None
        if value is not None:
            return value
        if name in self._defaults:
            return self._defaults[name]
        raise AttributeError(f"the configuration {short_repr(self._source)} has no {name}")

    def __setattr__(self, name: str, value: Any) -> None:
        self._assigned[name] = value

    __getitem__ = __getattr__
    __setitem__ = __setattr__


def chosen(source: Any, kind: str) -> str | None:
    """Returns the field of a configuration with a name that ends with `_KIND`: `adam_optimizer`.

    Args:
      source: a dictionary, an object, or a protocol buffer with the `oneof` of that name.
      kind: `optimizer` or `learning_rate`.

    Returns:
      The name of the field; None without such a field.

    Raises:
      ConfigError: several fields.
    """
    if hasattr(source, "WhichOneof"):
        name: str | None = source.WhichOneof(kind)
        return name
    if isinstance(source, Mapping):
        names = [name for name in source if source[name] is not None]
    else:
        names = [name for name in dir(source) if getattr(source, name) is not None]
    names = [name for name in names if name.endswith(f"_{kind}")]
    if len(names) > 1:
        raise ConfigError(f"the configuration has {' and '.join(names)}; leave one of them")
    return names[0] if names else None


def message(source: Any, name: str, defaults: Mapping[str, Any]) -> Config:
    """Returns the field `name` of a configuration, itself a configuration.

    Raises:
      ConfigError: the field is a dictionary with a key that is not among the defaults.
    """
    inner = Config(source)[name]
    unknown = sorted(set(inner) - set(defaults)) if isinstance(inner, Mapping) else []
    if unknown:
        raise ConfigError(
            f"{name} has no field {unknown[0]}; its fields are {', '.join(sorted(defaults))}"
        )
    return Config(inner, defaults)

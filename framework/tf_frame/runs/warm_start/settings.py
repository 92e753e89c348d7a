"""`WarmStartSettings`: the argument `warm_start_from` of an Estimator, for fine-tuning.

WarmStartSettings("runs/first", vars_to_warm_start="encoder/")
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

import tensorflow.compat.v1 as tf

VocabInfo = tf.train.VocabInfo


class _Fields(NamedTuple):
    ckpt_to_initialize_from: Any
    vars_to_warm_start: Any
    var_name_to_vocab_info: Mapping[str, Any]
    var_name_to_prev_var_name: Mapping[str, str]


class WarmStartSettings(_Fields):
    """Variables that begin with values of a checkpoint, and their names in the checkpoint.

    Args:
      ckpt_to_initialize_from: a path prefix, a folder with checkpoints, or a SavedModel.
      vars_to_warm_start: one of

        * a regular expression for the begin of names: matching trainable variables;
        * a list of such expressions: matching global variables, including slots of an optimizer
          and moving statistics;
        * a list of variables;
        * None: only the trainable variables in `var_name_to_vocab_info`.
      var_name_to_vocab_info: name of a variable -> `VocabInfo`, for variables with a row or
        column for each entry of a vocabulary that may have changed.
      var_name_to_prev_var_name: name of a variable -> different name in the checkpoint.

    Raises:
      ValueError: `ckpt_to_initialize_from` is empty.
    """

    __slots__ = ()

    def __new__(
        cls,
        ckpt_to_initialize_from: Any,
        vars_to_warm_start: Any = ".*",
        var_name_to_vocab_info: Mapping[str, Any] | None = None,
        var_name_to_prev_var_name: Mapping[str, str] | None = None,
    ) -> WarmStartSettings:
        if not ckpt_to_initialize_from:
            raise ValueError("`ckpt_to_initialize_from` MUST be set in WarmStartSettings")
        vocabularies, names = var_name_to_vocab_info or {}, var_name_to_prev_var_name or {}
        return super().__new__(
            cls, ckpt_to_initialize_from, vars_to_warm_start, vocabularies, names
        )


def as_settings(warm_start_from: Any) -> WarmStartSettings | None:
    """Returns the settings for an argument `warm_start_from`.

    Args:
      warm_start_from: settings; a path, for all trainable variables; or None.

    Raises:
      ValueError: the argument has another type.
    """
    if warm_start_from is None or isinstance(warm_start_from, WarmStartSettings):
        return warm_start_from
    if isinstance(warm_start_from, (str, bytes, os.PathLike)):
        return WarmStartSettings(os.fsdecode(warm_start_from))
    raise ValueError(
        "warm_start_from must be a string or a WarmStartSettings, instead got "
        f"{type(warm_start_from)}"
    )

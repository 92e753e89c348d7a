"""`WarmStartSettings`: the argument `warm_start_from` of an Estimator.

For fine-tuning, it says which variables begin with the values of which checkpoint:

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
    """Variables that begin with values of a checkpoint, and the names of these values.

    Args:
      ckpt_to_initialize_from: a path prefix, a folder with checkpoints, or a SavedModel.
      vars_to_warm_start: one of

        * a regular expression: the trainable variables whose names it matches at their beginning;
        * a list of regular expressions: the global variables whose names one of them matches,
          so slots of an optimizer and moving statistics as well;
        * a list of variables;
        * None: the trainable variables in `var_name_to_vocab_info`, and no others.
      var_name_to_vocab_info: name of a variable -> `VocabInfo`, for variables whose rows
        or columns belong to the entries of a vocabulary, which may have changed.
      var_name_to_prev_var_name: name of a variable -> its name in the checkpoint, if
        the two differ.

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

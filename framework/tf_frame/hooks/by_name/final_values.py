"""Logs the values of tensors after the last step (`--hook final_values`)."""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

from tf_frame.hooks.base import Hook, Phase
from tf_frame.hooks.by_name.feed import value_by_name
from tf_frame.types import Session

_LOG = logging.getLogger("tf_frame")


@dataclasses.dataclass(eq=False)
class FinalValuesHook(Hook):
    """Logs and keeps the values of tensors after the last step.

    The hook is `tf.compat.v1.train.FinalOpsHook` for names. It makes an extra session call; a
    tensor that depends on the input reads another batch, and fails if the input has ended. After
    an error in training there is no call.

    Args:
      tensors: name -> tensor, or names of tensors and variables of the graph.
      feeds: feed dict for the session call.

    Attributes:
      values: name -> value after training, None before.

    Raises:
      ConfigError: from `begin`: the graph has no tensor of that name.
    """

    phase = Phase.LOG
    option = "--hook final_values"

    tensors: Mapping[str, Any] | Sequence[str]
    _: dataclasses.KW_ONLY
    feeds: Mapping[Any, Any] | None = None

    def __post_init__(self) -> None:
        self.values: dict[str, Any] | None = None
        super().__init__()

    def begin(self) -> None:
        graph = tf.get_default_graph()
        if isinstance(self.tensors, Mapping):
            self._fetches = dict(self.tensors)
        else:
            self._fetches = {name: value_by_name(graph, name) for name in self.tensors}

    def end(self, session: Session) -> None:
        self.values = session.run(self._fetches, self.feeds)
        for name, value in self.values.items():
            text = np.array2string(np.asarray(value), precision=6, separator=", ", threshold=20)
            _LOG.info("after training: %s = %s", name, " ".join(text.split()))

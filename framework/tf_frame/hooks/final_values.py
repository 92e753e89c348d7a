"""Evaluates tensors once, when training has ended."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

from tf_frame.hooks.base import Hook, Phase
from tf_frame.hooks.session_feed import value_called

_LOG = logging.getLogger("tf_frame")


class FinalValuesHook(Hook):
    """Logs the values that tensors have after the last step, and keeps them.

    This is `tf.compat.v1.train.FinalOpsHook` for names. The tensors are run by
    themselves: one that depends on the input takes another batch, and the input
    may have ended. After an error nothing is run.

    Args:
      tensors: name -> tensor, or names of tensors and variables of the graph.
      feeds: feed dict for the run.

    Attributes:
      values: name -> value once training has ended, None before.

    Raises:
      ConfigError: from `begin`: the graph has no tensor of that name.
    """

    phase = Phase.LOG

    def __init__(
        self, tensors: Mapping[str, Any] | Sequence[str], *, feeds: Mapping[Any, Any] | None = None
    ) -> None:
        self._tensors = tensors
        self._feeds = feeds
        self.values: dict[str, Any] | None = None
        super().__init__()

    def begin(self) -> None:
        graph, tensors = tf.get_default_graph(), self._tensors
        if isinstance(tensors, Mapping):
            self._fetches = dict(tensors)
        else:
            self._fetches = {name: value_called(graph, name) for name in tensors}

    def end(self, session: Any) -> None:
        self.values = session.run(self._fetches, self._feeds)
        for name, value in self.values.items():
            text = np.array2string(np.asarray(value), precision=6, separator=", ", threshold=20)
            _LOG.info("after training: %s = %s", name, " ".join(text.split()))

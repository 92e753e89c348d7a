"""`GraphFiles`: writes the graph of a training beside its checkpoints, as tf.estimator did.

Programs import it to freeze or to export a model:

    saver = tf.train.import_meta_graph(checkpoint + ".meta")
"""

from __future__ import annotations

import logging
import os
from typing import Any

import tensorflow.compat.v1 as tf
from google.protobuf import message

from tf_frame.hooks.stock.checkpoint_saver import write_graph

_LOG = logging.getLogger("tf_frame")
_INDEX, _META = ".index", ".meta"


class GraphFiles(tf.train.CheckpointSaverListener):  # type: ignore[misc]
    """Writes `graph.pbtxt`, and the meta graph of each checkpoint that has none.

    The checkpoint that is removed takes its meta graph along.

    Args:
      folder: the folder of the checkpoints.
    """

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._meta_graph: bytes | None = None

    def after_save(self, session: Any, global_step_value: int) -> None:
        """Writes the files; the graph is final, so it is written down once."""
        prefix = os.path.join(self._folder, f"model.ckpt-{global_step_value}")
        if not tf.io.gfile.exists(prefix + _INDEX) or tf.io.gfile.exists(prefix + _META):
            return  # A hook of the program saves, elsewhere or with its own meta graph.
        if self._meta_graph is None:
            self._meta_graph = self._written_down(session.graph)
        if self._meta_graph:
            with tf.io.gfile.GFile(prefix + _META, "wb") as file:
                file.write(self._meta_graph)

    def _written_down(self, graph: Any) -> bytes:
        """Writes `graph.pbtxt`; returns the meta graph, empty for a graph that is too large."""
        savers = graph.get_collection(tf.GraphKeys.SAVERS)
        try:
            write_graph(graph, self._folder)
            meta_graph = tf.train.export_meta_graph(
                graph=graph, saver_def=savers[0].as_saver_def() if savers else None
            )
            return bytes(meta_graph.SerializeToString())
        except (ValueError, message.EncodeError) as error:  # Two gigabytes are the limit.
            _LOG.warning("no graph.pbtxt and .meta files are written: %s", error)
            return b""

"""`GraphFiles`: writes the graph of a training beside its checkpoints, as tf.estimator did.

Programs import it to freeze or to export a model:

    saver = tf.train.import_meta_graph(checkpoint + ".meta")
"""

from __future__ import annotations

import os
from typing import Any

import tensorflow.compat.v1 as tf

_INDEX, _META = ".index", ".meta"
_GRAPH = "graph.pbtxt"


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
            graph = session.graph
            tf.io.write_graph(graph.as_graph_def(add_shapes=True), self._folder, _GRAPH)
            savers = graph.get_collection(tf.GraphKeys.SAVERS)
            saver_def = savers[0].as_saver_def() if savers else None
            meta_graph = tf.train.export_meta_graph(graph=graph, saver_def=saver_def)
            self._meta_graph = meta_graph.SerializeToString()
        with tf.io.gfile.GFile(prefix + _META, "wb") as file:
            file.write(self._meta_graph)

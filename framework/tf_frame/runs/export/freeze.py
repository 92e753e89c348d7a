"""Graphs with constants instead of variables, and with batch norm in the weights before it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.errors import TfFrameError, short_reason
from tf_frame.graph.inference.fold_batch_norm import fold_batch_norms


def frozen(session: Any, ends: Iterable[Any], *, fold: bool = False) -> Any:
    """Returns the `GraphDef`, with constants, that computes tensors or runs operations.

    Args:
      session: a session with the values of the variables.
      ends: tensors and operations of its graph.
      fold: whether to fold batch norm into the weights before it.

    Raises:
      TfFrameError: the graph assigns to a variable.
    """
    names = [getattr(end, "op", end).name for end in ends]
    try:
        graph_def = tf.graph_util.convert_variables_to_constants(
            session, session.graph.as_graph_def(), names
        )
        for node in graph_def.node:
            node.device = ""  # The graph may run on other devices than the training.
        return _folded(graph_def, names) if fold else graph_def
    except ValueError as error:
        raise TfFrameError(
            "the model cannot be written with constants instead of variables: "
            f"{short_reason(error)}\nexport it as a saved_model, without --freeze"
        ) from error


def _folded(graph_def: Any, names: Sequence[str]) -> Any:
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(graph_def, name="")
        fold_batch_norms(graph)
        return tf.graph_util.extract_sub_graph(graph.as_graph_def(), names)


def add_frozen_meta_graph(
    builder: Any, session: Any, meta_graph: Mapping[str, Any], *, fold: bool
) -> None:
    """Adds a graph to a SavedModel, with constants instead of variables.

    Args:
      builder: a `tf.saved_model.Builder`.
      session: a session with restored variables; its graph is the default graph.
      meta_graph: the arguments of `add_meta_graph_and_variables` for the graph as it is. Of its
        `main_op` only the initialisation of tables is left.
      fold: see `frozen`.
    """
    if meta_graph["main_op"] is not None:
        session.run(meta_graph["main_op"])  # Local variables become constants, too.
    graph, assets = session.graph, meta_graph["assets_collection"]
    ends = [tf.tables_initializer(), *assets]
    for signature in meta_graph["signature_def_map"].values():
        infos = [*signature.inputs.values(), *signature.outputs.values()]
        ends += [graph.get_tensor_by_name(info.name) for info in infos]
    graph_def = frozen(session, ends, fold=fold)
    with tf.Graph().as_default() as new_graph, tf.Session() as new_session:
        tf.import_graph_def(graph_def, name="")
        changes = {
            "assets_collection": [new_graph.get_tensor_by_name(asset.name) for asset in assets],
            "main_op": new_graph.get_operation_by_name(ends[0].name),
            "saver": None,
        }
        builder.add_meta_graph_and_variables(new_session, **{**meta_graph, **changes})

"""Collections of outputs, each under the name of the layer that made it.

A tensor carries its names in the attribute `aliases`, as in tf_slim,
layers/utils.py.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from typing import Any

import tensorflow.compat.v1 as tf


def collect_named_outputs(collections: Any, alias: str, outputs: Any) -> Any:
    """Adds a tensor to collections under a name.

    Args:
      collections: a collection, or a list of them; nothing is done without.
      alias: the name, such as "inception_v3/conv1".
      outputs: the tensor.

    Returns:
      The tensor.
    """
    if collections:
        append_tensor_alias(outputs, alias)
        for collection in [collections] if isinstance(collections, str) else collections:
            tf.add_to_collection(collection, outputs)
    return outputs


def append_tensor_alias(tensor: Any, alias: str) -> Any:
    """Gives a tensor one more name, without a slash at its end; returns the tensor."""
    tensor.aliases = [*getattr(tensor, "aliases", []), alias.removesuffix("/")]
    return tensor


def append_tensor_aliases(tensor: Any, aliases: Iterable[str]) -> Any:
    """Gives a tensor several more names; returns the tensor."""
    for alias in aliases:
        append_tensor_alias(tensor, alias)
    return tensor


def get_tensor_aliases(tensor: Any) -> list[str]:
    """Returns the names of a tensor; that of its op, or its own, when it has none."""
    return list(getattr(tensor, "aliases", [tensor.name.removesuffix(":0")]))


def gather_tensors_aliases(tensors: Iterable[Any]) -> list[str]:
    """Returns the names of several tensors, one after the other."""
    return [alias for tensor in tensors for alias in get_tensor_aliases(tensor)]


def convert_collection_to_dict(
    collection: str, clear_collection: bool = False
) -> OrderedDict[str, Any]:
    """Returns the tensors of a collection by name, in their order.

    Args:
      collection: the collection.
      clear_collection: whether to empty it.
    """
    output = OrderedDict(
        (alias, tensor)
        for tensor in tf.get_collection(collection)
        for alias in get_tensor_aliases(tensor)
    )
    if clear_collection:
        tf.get_default_graph().clear_collection(collection)
    return output


def get_variable_collections(variables_collections: Any, name: str) -> Any:
    """Returns the collections that a layer's argument `variables_collections` names.

    Args:
      variables_collections: a list for all variables, or a dictionary of lists.
      name: which variable: "weights", "biases", "beta" ...
    """
    if isinstance(variables_collections, dict):
        return variables_collections.get(name)
    return variables_collections

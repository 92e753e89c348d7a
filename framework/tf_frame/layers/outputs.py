"""Collects the outputs of layers by alias, for the end points of a network.

End points map aliases to outputs; a decoder, for example, needs them. A tensor has its aliases in
the attribute `aliases`, as in tf_slim, layers/utils.py.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from typing import Any

import tensorflow.compat.v1 as tf


def collect_named_outputs(collections: Any, alias: str, outputs: Any) -> Any:
    """Adds a tensor to collections, with an alias such as "inception_v3/conv1"; returns the tensor.

    Args:
      collections: a collection, or a list of collections; None or empty: none.
      alias: the alias; not added without a collection.
      outputs: the tensor.
    """
    if collections:
        append_tensor_alias(outputs, alias)
        for collection in [collections] if isinstance(collections, str) else collections:
            tf.add_to_collection(collection, outputs)
    return outputs


def finish_layer(outputs: Any, activation_fn: Any, collections: Any, scope: Any) -> Any:
    """Applies the activation of a layer, if any, collects the outputs, and returns them.

    The name of the layer's variable scope becomes the alias.
    """
    if activation_fn is not None:
        outputs = activation_fn(outputs)
    return collect_named_outputs(collections, scope.name, outputs)


def append_tensor_alias(tensor: Any, alias: str) -> Any:
    """Adds an alias to a tensor, without a trailing slash; returns the tensor.

    Args:
      tensor: the tensor.
      alias: the alias, such as "inception_v3/conv1".
    """
    tensor.aliases = [*getattr(tensor, "aliases", []), alias.removesuffix("/")]
    return tensor


def append_tensor_aliases(tensor: Any, aliases: Iterable[str]) -> Any:
    """Adds several aliases to a tensor; returns the tensor.

    Args:
      tensor: the tensor.
      aliases: the aliases, such as "inception_v3/conv1".
    """
    for alias in aliases:
        append_tensor_alias(tensor, alias)
    return tensor


def get_tensor_aliases(tensor: Any) -> list[str]:
    """Returns the aliases of a tensor; without any, its name without `:0`."""
    return list(getattr(tensor, "aliases", [tensor.name.removesuffix(":0")]))


def gather_tensors_aliases(tensors: Iterable[Any]) -> list[str]:
    """Returns the aliases of several tensors in one list."""
    return [alias for tensor in tensors for alias in get_tensor_aliases(tensor)]


def convert_collection_to_dict(
    collection: str, clear_collection: bool = False
) -> OrderedDict[str, Any]:
    """Returns the tensors of a collection by alias, in the order of the collection.

    Args:
      collection: name of the collection.
      clear_collection: whether to empty the collection.
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
    """Returns the collections of one variable of a layer.

    Args:
      variables_collections: list of collections, or variable name -> list of collections.
      name: the variable: "weights", "biases", "beta" ...
    """
    if isinstance(variables_collections, dict):
        return variables_collections.get(name)
    return variables_collections

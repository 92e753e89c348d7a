"""slim's decoders of `tf.train.Example` and `SequenceExample`, with their item handlers.

A decoder parses features to tensors; an item handler converts some of the tensors to an item, such
as an image or the boxes. All handlers are here, as in tf_slim, data/tfexample_decoder.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame_legacy.slim.data_decoder import DataDecoder
from tf_frame_legacy.slim.tfexample_decoder.box_handlers import (
    BoundingBox as BoundingBox,
    BoundingBoxSequence as BoundingBoxSequence,
    KeypointsSequence as KeypointsSequence,
    NumBoxesSequence as NumBoxesSequence,
)
from tf_frame_legacy.slim.tfexample_decoder.image_handler import Image as Image
from tf_frame_legacy.slim.tfexample_decoder.item_handlers import (
    BackupHandler as BackupHandler,
    ItemHandler as ItemHandler,
    ItemHandlerCallback as ItemHandlerCallback,
    LookupTensor as LookupTensor,
    SparseTensor as SparseTensor,
    Tensor as Tensor,
)


class TFExampleDecoder(DataDecoder):
    """Decodes serialized `tf.train.Example`.

    Args:
      keys_to_features: key of a feature -> `tf.io.FixedLenFeature` or `tf.io.VarLenFeature`.
      items_to_handlers: item -> its `ItemHandler`.
    """

    def __init__(
        self, keys_to_features: Mapping[str, Any], items_to_handlers: Mapping[str, ItemHandler]
    ) -> None:
        self._keys_to_features = keys_to_features
        self._items_to_handlers = items_to_handlers

    def list_items(self) -> Iterable[str]:
        return list(self._items_to_handlers)

    def decode(self, serialized_example: Any, items: Sequence[str] | None = None) -> list[Any]:
        """Returns a tensor for each item.

        Args:
          serialized_example: scalar string tensor.
          items: names from `list_items()`; None: all items.

        Raises:
          ValueError: an item has no handler, or a handler reads a feature that is not parsed.
        """
        parsed = tf.parse_single_example(serialized_example, self._keys_to_features)
        _give_shapes(parsed, self._keys_to_features)
        return _items(parsed, self._items_to_handlers, items)


class TFSequenceExampleDecoder(DataDecoder):
    """Decodes serialized `tf.train.SequenceExample`.

    Args:
      keys_to_context_features: key of a feature of the context -> `tf.io.FixedLenFeature` or
        `tf.io.VarLenFeature`.
      keys_to_sequence_features: key of a feature of the sequence ->
        `tf.io.FixedLenSequenceFeature` or `tf.io.VarLenFeature`.
      items_to_handlers: item -> its `ItemHandler`.

    Raises:
      ValueError: context and sequence have a key in common.
    """

    def __init__(
        self,
        keys_to_context_features: Mapping[str, Any],
        keys_to_sequence_features: Mapping[str, Any],
        items_to_handlers: Mapping[str, ItemHandler],
    ) -> None:
        if set(keys_to_context_features) & set(keys_to_sequence_features):
            raise ValueError(
                "Context and sequence keys are not unique. \n"
                f" Context keys: {list(keys_to_context_features)} \n"
                f" Sequence keys: {list(keys_to_sequence_features)}"
            )
        self._keys_to_context_features = keys_to_context_features
        self._keys_to_sequence_features = keys_to_sequence_features
        self._items_to_handlers = items_to_handlers

    def list_items(self) -> Iterable[str]:
        return list(self._items_to_handlers)

    def decode(self, serialized_example: Any, items: Sequence[str] | None = None) -> list[Any]:
        """Returns a tensor for each item; arguments and errors as of `TFExampleDecoder`."""
        context, sequence = tf.io.parse_single_sequence_example(
            serialized_example, self._keys_to_context_features, self._keys_to_sequence_features
        )
        _give_shapes(context, self._keys_to_context_features)
        return _items({**sequence, **context}, self._items_to_handlers, items)


def _give_shapes(parsed: dict[str, Any], features: Mapping[str, Any]) -> None:
    # Sorted, so that ops are created in the same order in each run.
    for key in sorted(features):
        if isinstance(features[key], tf.io.FixedLenFeature):
            parsed[key] = tf.reshape(parsed[key], features[key].shape)


def _items(
    parsed: Mapping[str, Any],
    handlers: Mapping[str, ItemHandler],
    items: Sequence[str] | None,
) -> list[Any]:
    return [_item(item, parsed, handlers) for item in items or handlers]


def _item(item: str, parsed: Mapping[str, Any], handlers: Mapping[str, ItemHandler]) -> Any:
    if item not in handlers:
        raise ValueError(f"Item [{item}] is invalid. Valid entries include: {list(handlers)}")
    missing = [key for key in handlers[item].keys if key not in parsed]
    if missing:
        raise ValueError(
            f"The handler of item [{item}] reads {missing}, but only {sorted(parsed)} are parsed: "
            "add these keys to the features of the decoder"
        )
    return handlers[item].tensors_to_item({key: parsed[key] for key in handlers[item].keys})

"""Inputs of an exported model that takes raw data, such as image files, and prepares it itself.

`tf_frame.Input.raw_serving` defines one or more forms of raw data. A graph with several forms has
placeholders for the inputs of each form, and computes the features from the form that is fed.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.errors import PluginError
from tf_frame.plugin import ServingForm
from tf_frame.runs.export.input_receivers import Received
from tf_frame.runs.export.input_signature import InputSignature, operation_name
from tf_frame.text import listed, short_repr


@dataclasses.dataclass(frozen=True, kw_only=True)
class RawSignature(InputSignature):
    """The inputs of a model that takes raw data in one of several forms.

    Attributes:
      forms: form name -> form, the default one first; all input names differ.
    """

    forms: Mapping[str, ServingForm]

    def receive(self) -> Received:
        """Adds the placeholders and the preparation to the default graph."""
        with tf.name_scope("inputs"):
            tensors = {
                key: {name: self._placeholder(name, spec) for name, spec in form.specs.items()}
                for key, form in self.forms.items()
            }
        with tf.name_scope("prepared"):
            features = self._features(tensors)
        default, *alternatives = tensors
        return Received(features, tensors[default], {key: tensors[key] for key in alternatives})

    def for_one_example(self) -> RawSignature:
        """Returns the same inputs with batch dimension 1 and no unknown dimension."""
        forms = {
            key: dataclasses.replace(
                form,
                specs={
                    name: tf.TensorSpec([1, *spec.shape[1:]], spec.dtype)
                    for name, spec in form.specs.items()
                },
            )
            for key, form in self.forms.items()
        }
        return dataclasses.replace(self, forms=forms)

    def _placeholder(self, name: str, spec: Any) -> Any:
        name = operation_name(name)
        if len(self.forms) == 1:
            return tf.placeholder(spec.dtype, spec.shape, name=name)
        empty = tf.zeros([size or 0 for size in spec.shape], spec.dtype)
        return tf.placeholder_with_default(empty, spec.shape, name=name)

    def _features(self, tensors: Mapping[str, Mapping[str, Any]]) -> Any:
        """Returns the features of the form that is fed."""
        first, *remaining = tensors
        if not remaining:
            return self.forms[first].features(tensors[first])
        is_fed = tf.size(next(iter(tensors[first].values()))) > 0
        return tf.cond(
            is_fed,
            lambda: self.forms[first].features(tensors[first]),
            lambda: self._features({key: tensors[key] for key in remaining}),
        )


def raw_signature(
    forms: Mapping[str, ServingForm], batch_size: int, origin: str = "raw_serving()"
) -> RawSignature:
    """Makes the inputs of a model, and a batch of examples for each form.

    Args:
      forms: result of `tf_frame.Input.raw_serving`.
      batch_size: largest number of examples.
      origin: the method that returned the forms, for messages.

    Raises:
      PluginError: a value is no form, or two forms have an input of the same name.
    """
    values = list(forms.values()) if isinstance(forms, Mapping) else [forms]
    if not all(isinstance(form, ServingForm) for form in values):
        raise PluginError(
            f"{origin} returned {short_repr(forms)}; it must return a mapping of names to "
            "tf_frame.ServingForm"
        )
    specs = {name: spec for form in forms.values() for name, spec in form.specs.items()}
    if len(specs) < sum(len(form.specs) for form in forms.values()):
        raise PluginError(
            f"{origin} has an input name in several of the forms {listed(forms)}; each "
            "form needs names of its own"
        )
    batch: dict[str, Any] = {}
    for form in forms.values():
        batch.update(form.examples(batch_size))
    are_real = all(form.are_real for form in forms.values())
    texts = {name: text for form in forms.values() for name, text in form.values.items()}
    return RawSignature(specs=specs, batch=batch, is_real=are_real, values=texts, forms=forms)

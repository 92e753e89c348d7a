"""One layer of batch normalisation: which way it is computed, and what it updates."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.layers.batch_norm_statistics import Normalized, fused_normalize, normalize
from tf_frame.layers.batch_norm_variables import (
    Parameters,
    make_parameters,
    moving_update,
    unbiased_update,
)
from tf_frame.layers.batch_renorm import Renorm
from tf_frame.layers.channels import channel_axis
from tf_frame.layers.conditions import constant_value, smart_where
from tf_frame.layers.moments import batch_moments
from tf_frame.layers.shared_moments import shared_moments

_HALVES = (tf.float16, tf.bfloat16)


@dataclasses.dataclass(frozen=True)
class BatchNormLayer:
    """The arguments of `batch_norm`, with the inputs as a tensor; see there.

    Call it within the variable scope of the layer.
    """

    inputs: Any
    decay: Any
    center: bool
    scale: bool
    epsilon: float
    param_initializers: Mapping[str, Any]
    param_regularizers: Mapping[str, Any]
    updates_collections: Any
    is_training: Any
    variables_collections: Any
    trainable: bool
    batch_weights: Any
    fused: bool
    data_format: str
    zero_debias_moving_mean: bool
    renorm: bool
    renorm_clipping: Mapping[str, Any]
    renorm_decay: Any
    adjustment: Callable[[Any], tuple[Any, Any]] | None
    sync: bool

    def __post_init__(self) -> None:
        if self.renorm and not self._in_core:
            raise ValueError(
                "renorm is not supported with batch_weights, updates_collections or "
                "zero_debias_moving_mean"
            )
        if self.renorm and self.sync:
            # One clone would move what the others still correct by.
            raise ValueError("renorm is not supported with sync: leave out one of them")

    def apply(self) -> Any:
        """Makes the variables, the outputs and the updates; returns the outputs."""
        parameters = self._make_parameters()
        renorm = self._make_renorm(parameters) if self.renorm else None
        if self._as_fused and not (self.sync and self._may_train):
            normalized = fused_normalize(
                self.inputs, self._axis, parameters, self.epsilon, self.is_training
            )
        else:
            normalized = self._normalize(parameters, renorm)
        outputs = self._update(parameters, renorm, normalized)
        outputs.set_shape(self.inputs.shape)
        return outputs

    @functools.cached_property
    def _axis(self) -> int:
        """Of the channels."""
        return channel_axis(self.inputs, self.data_format)

    @property
    def _channels(self) -> int:
        axis = self._axis
        return int(self.inputs.shape.as_list()[axis])

    @property
    def _may_train(self) -> bool:
        return constant_value(self.is_training) is not False

    @property
    def _can_be_fused(self) -> bool:
        return self.batch_weights is None and not self.renorm and self.adjustment is None

    @functools.cached_property
    def _in_core(self) -> bool:
        """Whether slim left the work to a layer of Keras, and did not do it itself."""
        return (
            self.batch_weights is None
            and self.updates_collections == tf.GraphKeys.UPDATE_OPS
            and not self.zero_debias_moving_mean
            and not (self.inputs.shape.rank == 2 and self.fused and self._can_be_fused)
        )

    @functools.cached_property
    def _as_fused(self) -> bool:
        """Whether the fused kernel is used, or would be but for `sync`."""
        return (
            self.fused
            and self._can_be_fused
            and self.inputs.dtype in (*_HALVES, tf.float32)
            # Slim itself knew the kernel of rank 4 only.
            and self.inputs.shape.rank in ((2, 4, 5) if self._in_core else (2, 4))
        )

    def _make_parameters(self) -> Parameters:
        used = [name for name, is_used in (("gamma", self.scale), ("beta", self.center)) if is_used]
        return make_parameters(
            self._channels,
            # Half a float is too little for a mean that moves by thousandths.
            tf.float32 if self.inputs.dtype in _HALVES else self.inputs.dtype,
            factors=used if self._in_core else used[::-1],
            initializers=self.param_initializers,
            regularizers=self.param_regularizers,
            collections=self.variables_collections,
            trainable=self.trainable,
        )

    def _make_renorm(self, parameters: Parameters) -> Renorm:
        return Renorm(
            parameters,
            clipping=self.renorm_clipping,
            decay=self.renorm_decay,
            epsilon=self.epsilon,
            is_training=self.is_training,
        )

    def _normalize(self, parameters: Parameters, renorm: Renorm | None) -> Normalized:
        moments = None
        if self._may_train:
            dtype = parameters.moving_mean.dtype.base_dtype
            moments = batch_moments(self.inputs, self._axis, dtype, self.batch_weights)
            moments = shared_moments(moments) if self.sync else moments
        return normalize(
            self.inputs,
            self._axis,
            parameters,
            self.epsilon,
            self.is_training,
            moments=moments,
            unbiased=self._as_fused,
            corrections=[*([renorm.correct] if renorm else []), *self._adjustments()],
        )

    def _adjustments(self) -> list[Callable[..., tuple[Any, Any]]]:
        if self.adjustment is None:
            return []
        factor, offset = self.adjustment(tf.shape(self.inputs))
        factor = smart_where(self.is_training, factor, tf.ones_like(factor))
        offset = smart_where(self.is_training, offset, tf.zeros_like(offset))
        return [lambda *_: (factor, offset)]

    def _update(self, parameters: Parameters, renorm: Renorm | None, normalized: Normalized) -> Any:
        """Returns the outputs, which carry the updates along if there is no collection."""
        outputs, mean, variance = normalized
        if not self._may_train or (self._in_core and not self.trainable):
            return outputs
        if renorm:
            updates = renorm.updates(mean, variance, self.decay)
        else:
            updates = self._moving_updates(parameters, mean, variance)
        if self.updates_collections is None:
            with tf.control_dependencies(updates):
                return tf.identity(outputs)
        for update in updates:
            tf.get_default_graph().add_to_collections(self.updates_collections, update)
        return outputs

    def _moving_updates(self, parameters: Parameters, mean: Any, variance: Any) -> list[Any]:
        of_mean = unbiased_update if self.zero_debias_moving_mean else moving_update
        return [
            of_mean(parameters.moving_mean, mean, self.decay, self.is_training),
            moving_update(parameters.moving_variance, variance, self.decay, self.is_training),
        ]

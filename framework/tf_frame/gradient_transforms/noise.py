"""The gradient transform `noise`: Gaussian noise that decreases during training.

    --transform noise:0.3

Neelakantan et al. 2015, "Adding Gradient Noise Improves Learning for Very Deep
Networks", arXiv:1511.06807.
"""

from __future__ import annotations

import dataclasses
import functools
import zlib
from typing import Any, ClassVar

from tf_frame import GradientTransform, option
from tf_frame.gradient_transforms.values import GradsAndVars, on_values


class Noise(GradientTransform):
    """Adds Gaussian noise of decreasing variance to each gradient.

    All runs of one step share the global step, hence the noise. With `accumulate`,
    noise on each run is therefore the same as noise on the mean.
    """

    @dataclasses.dataclass(frozen=True)
    class Params:
        """Options of the transform."""

        eta: float = option(0.3, "variance of the noise at step 0; in the paper 0.01 to 1", min=0)
        gamma: float = option(
            0.55, "exponent of the decrease, eta / (1 + step)^gamma; 0: constant variance", min=0
        )
        seed: int | None = option(None, "seed of the noise; none: --random_seed", min=0)

    name: ClassVar[str] = "noise"

    def __call__(self, grads_and_vars: GradsAndVars) -> GradsAndVars:
        """Adds noise that depends only on seed, step and the variable's name.

        A resumed run therefore draws the same numbers as an uninterrupted one. A sparse
        gradient stays sparse: its slices get the noise. None gradients are kept.
        """
        import tensorflow.compat.v1 as tf

        step = tf.train.get_global_step()
        if step is None:
            raise RuntimeError("noise depends on the global step, and the graph has none")
        seed = tf.get_default_graph().seed if self.params.seed is None else self.params.seed
        # Equation 1 of the paper.
        variance = self.params.eta / tf.pow(1.0 + tf.cast(step, tf.float32), self.params.gamma)
        stddev = tf.sqrt(variance)

        def noisy(values: Any, name: str) -> Any:
            stream = tf.stack([zlib.crc32(f"{seed or 0}/{name}".encode()), tf.cast(step, tf.int64)])
            return values + tf.random.stateless_normal(
                tf.shape(values), stream, stddev=tf.cast(stddev, values.dtype), dtype=values.dtype
            )

        return [
            (on_values(gradient, functools.partial(noisy, name=variable.op.name)), variable)
            for gradient, variable in grads_and_vars
        ]

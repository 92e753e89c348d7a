"""The gradient transform `noise`: Gaussian noise that fades as training goes on.

    --transform noise:0.3

Neelakantan et al. 2015, "Adding Gradient Noise Improves Learning for Very Deep
Networks", arXiv:1511.06807.
"""

from __future__ import annotations

import dataclasses
import zlib
from typing import Any, ClassVar

from tf_frame import GradientTransform, option
from tf_frame.gradient_transforms.values import GradsAndVars, on_values


class Noise(GradientTransform):
    """Adds Gaussian noise that fades to every gradient (Neelakantan et al., arXiv:1511.06807).

    Noise before `accumulate` is the same in all runs of one step, for they
    share the global step: noise on the mean, the same as after it.
    """

    @dataclasses.dataclass(frozen=True)
    class Params:
        """Options of the transform."""

        eta: float = option(0.3, "variance of the noise at step 0; the paper has 0.01 to 1", min=0)
        gamma: float = option(
            0.55, "how fast the variance fades, eta / (1 + step)^gamma; 0: not at all", min=0
        )
        seed: int | None = option(None, "seed of the noise; none: --random_seed", min=0)

    name: ClassVar[str] = "noise"

    def __call__(self, grads_and_vars: GradsAndVars) -> GradsAndVars:
        import tensorflow.compat.v1 as tf

        step = tf.train.get_global_step()
        if step is None:
            raise RuntimeError("noise fades with the global step, and the graph has none")
        seed = tf.get_default_graph().seed if self.params.seed is None else self.params.seed
        stddev = noise_stddev(step, self.params.eta, self.params.gamma)
        return add_gradient_noise(grads_and_vars, stddev, seed=seed or 0, step=step)


def noise_stddev(step: Any, eta: float, gamma: float) -> Any:
    """`sqrt(eta / (1 + step)^gamma)`, equation 1 of arXiv:1511.06807.

    Args:
      step: scalar integer tensor or variable.
      eta: variance at step 0.
      gamma: exponent of the fading.

    Returns:
      A scalar float32 tensor.
    """
    import tensorflow.compat.v1 as tf

    return tf.sqrt(eta / tf.pow(1.0 + tf.cast(step, tf.float32), gamma))


def add_gradient_noise(
    grads_and_vars: GradsAndVars, stddev: Any, *, seed: int, step: Any
) -> GradsAndVars:
    """Adds Gaussian noise that follows from seed, step and the variable's name alone.

    A run that goes on from a checkpoint therefore draws the same numbers again.
    Sparse gradients get noise on their slices and stay sparse.

    Args:
      grads_and_vars: pairs; None gradients pass.
      stddev: number or scalar tensor.
      seed: any whole number.
      step: scalar integer tensor or variable.
    """
    return [
        (on_values(gradient, _Noisy(stddev, f"{seed}/{variable.op.name}", step)), variable)
        for gradient, variable in grads_and_vars
    ]


@dataclasses.dataclass(frozen=True)
class _Noisy:
    stddev: Any
    stream: str
    step: Any

    def __call__(self, values: Any) -> Any:
        import tensorflow.compat.v1 as tf

        seed = tf.stack([zlib.crc32(self.stream.encode()), tf.cast(self.step, tf.int64)])
        return values + tf.random.stateless_normal(
            tf.shape(values), seed, stddev=tf.cast(self.stddev, values.dtype), dtype=values.dtype
        )

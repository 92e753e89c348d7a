"""Gradient transforms that break one rule each."""

from nonconforming import tf
from tf_frame import GradientTransform, HookPlugin
from tf_frame.gradient_transforms.values import on_values


class Halve(GradientTransform):
    """Half of each gradient; passes every check."""

    def __call__(self, grads_and_vars):
        return [(on_values(gradient, self.changed), v) for gradient, v in grads_and_vars]

    def changed(self, values):
        return values * 0.5


class InheritsFromAnotherKind(HookPlugin):
    """Works, but is a hook."""

    def __call__(self, grads_and_vars):
        return Halve(params=self.params)(grads_and_vars)


class KeepsTensors(Halve):
    factor = None

    def changed(self, values):
        if self.factor is None:
            self.factor = tf.constant(0.5)
        return values * tf.cast(self.factor, values.dtype)


class Sorts(Halve):
    def __call__(self, grads_and_vars):
        pairs = super().__call__(grads_and_vars)
        return sorted(pairs, key=lambda pair: pair[1].op.name)


class DropsPairs(Halve):
    """Leaves out embeddings, as if they had been declared."""

    def __call__(self, grads_and_vars):
        return [pair for pair in super().__call__(grads_and_vars) if "embed" not in pair[1].name]


class FailsOnNone(Halve):
    def __call__(self, grads_and_vars):
        assert all(gradient.dtype for gradient, _ in grads_and_vars)
        return super().__call__(grads_and_vars)


class FailsOnSlices(Halve):
    """Uses what only a dense gradient has."""

    def __call__(self, grads_and_vars):
        assert all(
            gradient.value_index >= 0 for gradient, _ in grads_and_vars if gradient is not None
        )
        return super().__call__(grads_and_vars)


class FailsOnFloat64(Halve):
    def changed(self, values):
        return values * tf.constant(0.5)


class GivesZerosForNone(Halve):
    def __call__(self, grads_and_vars):
        pairs = super().__call__(grads_and_vars)
        return [(tf.zeros(v.shape) if g is None else g, v) for g, v in pairs]


class CastsToFloat32(Halve):
    def changed(self, values):
        return tf.cast(values, tf.float32) * 0.5


class MakesDense(Halve):
    def __call__(self, grads_and_vars):
        return [
            (None if gradient is None else tf.convert_to_tensor(gradient) * 0.5, variable)
            for gradient, variable in grads_and_vars
        ]


class DecaysWeights(Halve):
    def __call__(self, grads_and_vars):
        decayed = [tf.assign(v, v * 0.9 + 0.01).op for _, v in grads_and_vars]
        with tf.control_dependencies(decayed):
            return [(on_values(g, tf.identity), v) for g, v in grads_and_vars]


class ReadyIsANumber(Halve):
    def ready(self):
        return 1


class SwapsThePairs(Halve):
    def __call__(self, grads_and_vars):
        return [(variable, gradient) for gradient, variable in super().__call__(grads_and_vars)]

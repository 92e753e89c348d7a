"""Transforms, optimizers, schedules, hooks, networks and preprocessings with one fault each."""

import dataclasses

import tensorflow.compat.v1 as tf

from faulty import fault, sound
from tf_frame import (
    GradientTransform,
    HookPlugin,
    LearningRate,
    Network,
    Optimizer,
    Preprocessing,
    option,
)
from tf_frame.hooks import Cadence, Hook
from tf_frame.testing.toy import ToyInput


@fault(
    "__init__() of {me} raised AttributeError: 'NoParams' object has no attribute 'factor' "
    "({here})",
)
class TransformInitRaises(GradientTransform):
    def __init__(self, *, params):
        super().__init__(params=params)
        self.factor = params.factor  # here

    def __call__(self, grads_and_vars):
        return grads_and_vars


@fault(
    "__call__() of {me} raised AttributeError: 'TransformRaises' object has no attribute "
    "'scale' ({here})",
)
class TransformRaises(GradientTransform):
    def __call__(self, grads_and_vars):
        return [(gradient / self.scale, v) for gradient, v in grads_and_vars]  # here


@fault("__call__() of {me} returned None; it must return a list of (gradient, variable) pairs")
class TransformReturnsNone(GradientTransform):
    def __call__(self, grads_and_vars):
        pass


@fault(
    "__call__() of {me} returned [<tf.Tensor "
    "'gradients/MatMul_grad/tuple/control_dependen[...] dtype=float32>] of type list; it "
    "must return a list of (gradient, variable) pairs",
)
class TransformReturnsGradients(GradientTransform):
    def __call__(self, grads_and_vars):
        return [gradient for gradient, _ in grads_and_vars]


@fault(
    "__call__() of {me} returned a pair with <tf.Variable 'linear/weights:0' shape=(3, 1) "
    "dtype=float32> of type ResourceVariable; it must return each of the 2 variables that "
    "it is given at most once, and no other",
)
class TransformReturnsTwice(GradientTransform):
    def __call__(self, grads_and_vars):
        return [*grads_and_vars, grads_and_vars[0]]


@fault(
    "__call__() of {me} returned for linear/weights a gradient of shape (3, 1, 1); the "
    "variable has shape (3, 1)",
)
class TransformOfWrongShape(GradientTransform):
    def __call__(self, grads_and_vars):
        return [(tf.reshape(gradient, [-1, 1, 1]), v) for gradient, v in grads_and_vars]


@fault(
    "__call__() of {me} returned for linear/weights a gradient of type float64; the "
    "variable has type float32",
)
class TransformOfWrongType(GradientTransform):
    def __call__(self, grads_and_vars):
        return [(tf.cast(gradient, tf.float64), v) for gradient, v in grads_and_vars]


@fault("no trainable variable is left with a gradient after {me}; do they freeze everything?")
class TransformDropsAll(GradientTransform):
    def __call__(self, grads_and_vars):
        return [(None, v) for _, v in grads_and_vars]


@fault("ready() of {me} returned False of type bool; it must return a scalar bool tensor, or None")
class TransformIsNeverReady(GradientTransform):
    def __call__(self, grads_and_vars):
        return grads_and_vars

    def ready(self):
        return False


@fault(
    "__call__() of {me} raised TypeError: AdamOptimizer.__init__() got an unexpected "
    "keyword argument 'beta_1' ({here})",
)
class OptimizerRaises(Optimizer):
    def __call__(self, learning_rate):
        return tf.train.AdamOptimizer(learning_rate, beta_1=0.9)  # here


@fault(
    "__call__() of {me} returned 'adam' of type str; it must return a tf.compat.v1.train.Optimizer"
)
class OptimizerOfKeras(Optimizer):
    def __call__(self, learning_rate):
        return "adam"


@fault("_resource_apply_dense() of {me} raised NotImplementedError: no dense gradients ({here})")
class OptimizerRaisesWhenApplied(Optimizer):
    def __call__(self, learning_rate):
        class Own(tf.train.GradientDescentOptimizer):
            def _resource_apply_dense(self, grad, handle):
                raise NotImplementedError("no dense gradients")  # here

        return Own(learning_rate)


@fault(
    "{me} cannot be used: class ReallyAHook is a hook (tf_frame.HookPlugin); its entry "
    "point must be in the group tf_frame.hooks, not in tf_frame.optimizers",
    kind="optimizer",
)
class ReallyAHook(HookPlugin):
    def __call__(self, context):
        return []


@fault(
    "__call__() of {me} raised AttributeError: 'ScheduleContext' object has no attribute "
    "'rate' ({here})",
)
class ScheduleRaises(LearningRate):
    def __call__(self, step):
        return self.context.rate  # here


@fault("__call__() of {me} returned None; it must return a floating-point scalar")
class ScheduleReturnsNone(LearningRate):
    def __call__(self, step):
        pass


@fault(
    "__call__() of {me} returned <tf.Tensor 'ones:0' shape=(2,) dtype=float32> of type "
    "SymbolicTensor; it must return a floating-point scalar",
)
class ScheduleReturnsVector(LearningRate):
    def __call__(self, step):
        return tf.ones([2])


@fault(
    "__init__() of {me} raised ImportError: libsensor.so: cannot open shared object file ({here})"
)
class HookInitRaises(HookPlugin):
    def __init__(self, *, params):
        raise ImportError("libsensor.so: cannot open shared object file")  # here

    def __call__(self, context):
        return []


@fault(
    "__call__() of {me} raised TypeError: Cadence.__init__() got an unexpected keyword "
    "argument 'every' ({here})",
)
class HookCallRaises(HookPlugin):
    def __call__(self, context):
        return Hook(Cadence(every=3))  # here


@fault(
    "__call__() of {me} returned 'no hook' of type str; it must return "
    "tf.train.SessionRunHook objects or tf.train.CheckpointSaverListener objects",
)
class HookIsText(HookPlugin):
    def __call__(self, context):
        return "no hook"


class MakesHook(HookPlugin):
    """Returns an object of the class `made`."""

    def __call__(self, context):
        return self.made()


@fault("begin() of {me} raised RuntimeError: too early ({here})")
class HookBeginRaises(MakesHook):
    class made(tf.train.SessionRunHook):
        def begin(self):
            raise RuntimeError("too early")  # here


@fault("begin() of {me} raised KeyError: \"The name 'no_such_tensor:0' refers to [...] ({here})")
class HookOfTensorFlowFails(HookPlugin):
    def __call__(self, context):
        return tf.train.LoggingTensorHook(["no_such_tensor:0"], every_n_iter=1)


@fault("at step 1, before_run() of {me} raised RuntimeError: not ready ({here})")
class HookBeforeRunRaises(MakesHook):
    class made(tf.train.SessionRunHook):
        def before_run(self, run_context):
            raise RuntimeError("not ready")  # here


@fault(
    "at step 1, before_run() of {me} raised ValueError: Argument `fetch` = no_such_tensor:0 cannot "
    "be interpreted as a Tensor. [...] ({here})",
)
class HookFetchesNonsense(MakesHook):
    class made(tf.train.SessionRunHook):
        def before_run(self, run_context):
            return tf.train.SessionRunArgs(["no_such_tensor:0"])


@fault("at step 1, before_step() of {me} raised RuntimeError: step 1 ({here})")
class HookBeforeStepRaises(HookPlugin):
    def __call__(self, context):
        class Before(Hook):
            def before_step(self, run_context, step):
                raise RuntimeError(f"step {step}")  # here

        return Before(Cadence(every_steps=2))


@fault("at step 2, after_step() of {me} raised RuntimeError: step 2 ({here})")
class HookAfterStepRaises(HookPlugin):
    def __call__(self, context):
        class After(Hook):
            def after_step(self, run_context, run_values, step):
                raise RuntimeError(f"step {step}")  # here

        return After(Cadence(every_steps=2, first=False))


@fault(
    "at step 1, after_step() of {me} raised TypeError: "
    "HookAfterStepTakesLess.__call__.<locals>.After.after_step() takes 3 positional "
    "arguments but 4 were given ({here})",
)
class HookAfterStepTakesLess(HookPlugin):
    def __call__(self, context):
        class After(Hook):
            def after_step(self, run_context, step):
                pass

        return After(Cadence(every_steps=2))


@fault("end() of {me} raised RuntimeError: cannot close ({here})")
class HookEndRaises(MakesHook):
    class made(tf.train.SessionRunHook):
        def end(self, session):
            raise RuntimeError("cannot close")  # here


@fault("after_save() of {me} raised RuntimeError: no upload ({here})")
class ListenerRaises(MakesHook):
    class made(tf.train.CheckpointSaverListener):
        def after_save(self, session, global_step_value):
            raise RuntimeError("no upload")  # here


@fault("__call__() of {me} raised ValueError: Dimension size must be evenly [...] 7 [...] ({here})")
class NetworkRaises(Network):
    def __call__(self, images, context):
        return tf.reshape(images, [-1, 7])[:, context.classes]  # here


@fault("__call__() of {me} raised ValueError: Dimensions must be equal, [...], [5,1]. ({here})")
class NetworkOfWrongShapes(Network):
    def __call__(self, images, context):
        return tf.matmul(images, tf.get_variable("w", [5, 1])), {}  # here


@fault(
    "__call__() of {me} raised AttributeError: 'SymbolicTensor' object has no attribute "
    "'resize' ({here})",
)
class PreprocessingRaises(Preprocessing):
    def __call__(self, image, *, height, width, is_training, seed):
        return image.resize(height, width)  # here


@fault(
    "{me} cannot be used: PreprocessingTakesLess.__call__() takes (image, *, height, "
    "width), but is called with (image, height=, width=, is_training=, seed=)",
)
class PreprocessingTakesLess(Preprocessing):
    def __call__(self, image, *, height, width):
        pass


@sound
class WithPreprocessing(ToyInput):
    """The toy input, with a preprocessing of a plugin."""

    @dataclasses.dataclass(frozen=True)
    class Params(ToyInput.Params):
        by: str = option("", "name of the preprocessing")

    def dataset(self, mode, context):
        from tf_frame.plugin.kinds import PREPROCESSING
        from tf_frame.plugin.load import load_plugin

        cls = load_plugin(PREPROCESSING, self.params.by).cls
        prepare = cls(params=cls.Params())

        def prepared(features, labels):
            size = {"height": 3, "width": 3}
            return prepare(features, **size, is_training=True, seed=[0, 0]), labels

        return super().dataset(mode, context).map(prepared)

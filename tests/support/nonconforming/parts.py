"""Parts of training, networks, converters and commands that break one rule each."""

import dataclasses

from nonconforming import tf
from tf_frame import (
    Command,
    Converter,
    LearningRate,
    Network,
    Optimizer,
    Preprocessing,
    Weights,
    WeightsFile,
    option,
)
from tf_frame.errors import ConfigError, DataError


class Constant(LearningRate):
    """Passes every check."""

    def __call__(self, step):
        return tf.constant(self.context.learning_rate, tf.float32)


class ConstantIsANetwork(Network):
    """Works as a learning rate, but is a network."""

    def __init__(self, *, params, context):
        super().__init__(params=params)
        self.context = context

    def __call__(self, step):
        return Constant(params=self.params, context=self.context)(step)


class ConstantWithoutHelp(Constant):
    @dataclasses.dataclass(frozen=True)
    class Params:
        depth: int = 3


class ConstantWithAWrongDefault(Constant):
    @dataclasses.dataclass(frozen=True)
    class Params:
        depth: int = option(0, "number of layers", min=1)


class ConstantWithoutDefault(Constant):
    @dataclasses.dataclass(frozen=True)
    class Params:
        depth: int


class ConstantOfTwoSteps(Constant):
    def __call__(self, step, last_step):
        return super().__call__(step)


class ConstantOfVersion9(Constant):
    api_version = 9


class ConstantThatIsInterrupted(Constant):
    def __call__(self, step):
        raise KeyboardInterrupt


Number = 3


class ConstantKeepsTensors(Constant):
    rate = None

    def __call__(self, step):
        self.rate = super().__call__(step) if self.rate is None else self.rate
        return self.rate * 1.0


class ConstantOfFloat64(Constant):
    def __call__(self, step):
        return tf.cast(super().__call__(step), tf.float64)


class FallsBelowZero(Constant):
    def __call__(self, step):
        return super().__call__(step) * (1.0 - step / self.context.num_steps)


class NeedsAnOption(Constant):
    """Has no usable default, which is no fault."""

    @dataclasses.dataclass(frozen=True)
    class Params:
        every: int = option(0, "steps between changes", min=0)

    def __init__(self, *, params, context):
        super().__init__(params=params, context=context)
        if not params.every:
            raise ConfigError("give --schedule.every")


class Descent(Optimizer):
    """Passes every check."""

    def __call__(self, learning_rate):
        return tf.train.MomentumOptimizer(learning_rate, 0.9)


class DescentKeepsTheOptimizer(Descent):
    made = None

    def __call__(self, learning_rate):
        self.made = self.made or super().__call__(learning_rate)
        return self.made


class DescentWithoutTheStep(Descent):
    """Takes the gradients for nothing where a global step is given."""

    def __call__(self, learning_rate):
        made = super().__call__(learning_rate)
        apply = made.apply_gradients

        def without_step(grads_and_vars, global_step=None, name=None):
            if "dense/weights" in [v.op.name for _, v in grads_and_vars]:
                return apply(grads_and_vars, None, name)
            return apply(grads_and_vars, global_step, name)

        made.apply_gradients = without_step
        assert isinstance(made, tf.train.Optimizer)
        return made


class DescentWithLocalState(Descent):
    def __call__(self, learning_rate):
        local = [tf.GraphKeys.LOCAL_VARIABLES]
        updates = tf.Variable(0.0, trainable=False, collections=local, name="updates")
        return tf.train.GradientDescentOptimizer(learning_rate / tf.assign_add(updates, 1.0))


class Flat(Network):
    """Passes every check."""

    default_image_size = 4
    preprocessing = "none"

    def __call__(self, images, context):
        flat = tf.reshape(images, [images.shape[0], -1])
        weights = self.weights([flat.shape[1], self.classes(context)], context)
        logits = tf.matmul(flat, weights)
        return logits, {"logits": logits}

    def weights(self, shape, context):
        return tf.get_variable("weights", shape)

    def classes(self, context):
        return context.num_classes


class FlatWithOtherVariables(Flat):
    def weights(self, shape, context):
        if not context.is_training:
            tf.get_variable("scale", [])
        return super().weights(shape, context)


class FlatWithABackgroundClass(Flat):
    def classes(self, context):
        return context.num_classes + 1


class Resize(Preprocessing):
    """Passes every check."""

    def __call__(self, image, *, height, width, is_training, seed):
        resized = tf.image.resize_images(image, [height, width])
        return resized + (self.noise(seed) if is_training else 0.0)

    def noise(self, seed):
        return tf.random.stateless_uniform([], seed)


class ResizeToSquares(Resize):
    def __call__(self, image, *, height, width, is_training, seed):
        return super().__call__(
            image, height=height, width=height, is_training=is_training, seed=seed
        )


class ResizeByChance(Resize):
    def noise(self, seed):
        return tf.random_uniform([])


class Copy(Converter):
    """Passes every check."""

    def convert(self, source, output, report):
        raise DataError(f"there is no {source}")


class CopyOfNothing(Copy):
    def convert(self, source, output, report):
        report(f"wrote {output}")


class Greet(Command):
    """Passes every check."""

    @dataclasses.dataclass(frozen=True)
    class Params:
        loud: bool = option(False, "in capitals")

    def run(self, words):
        print("hello", *words)
        return 0


class GreetWithoutText(Greet):
    __doc__ = None


class GreetByNumber(Greet):
    """Takes numbers only."""

    def run(self, words):
        return int(words[0])


class GreetWithoutCode(Greet):
    """Returns no exit code."""

    def run(self, words):
        print("hello", *words)


class GreetRudely(Greet):
    """Takes any option."""

    @dataclasses.dataclass(frozen=True)
    class Params:
        there_is_no_such_option: bool = option(False, "takes the option of the check")


class GreetSlowly(Greet):
    """Its module imports TensorFlow."""


class GoodWeights(Weights):
    about = "LeNet, digits"
    network = "lenet"
    licence = "CC0"
    origin = "nobody"
    verified = False
    address = "https://no.such.host.invalid/lenet.tar.gz"

    def file(self):
        return WeightsFile(url=self.address)


class WeightsWithoutALicence(GoodWeights):
    licence = ""


class WeightsOfNoNetwork(GoodWeights):
    network = "no_such_network"


class WeightsWithFewNames(GoodWeights):
    num_classes = 3

    def class_names(self):
        return ["a", "b"]


class WeightsInTheClear(GoodWeights):
    address = "http://no.such.host.invalid/lenet.tar.gz"


class VerifiedWithoutAHash(GoodWeights):
    verified = True


class WeightsOfAnotherNetwork(GoodWeights):
    network = "mobilenet_v1_050"
    num_classes = 1001

    def file(self):
        return WeightsFile(
            package="tf_frame_weights", path="data/mobilenet_v1_1.0_224_imagenet.npz"
        )


class WeightsWithoutTheirFile(GoodWeights):
    def file(self):
        return WeightsFile(package="tf_frame_weights", path="data/none.npz")

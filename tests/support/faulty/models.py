"""Models with one fault each."""

import dataclasses
import importlib

import tensorflow as tf2
import tensorflow.compat.v1 as tf

from faulty import fault
from tf_frame import Model, ModelOutput, option
from tf_frame.testing.toy import ToyModel

_INEXACT = "--allow_inexact_resume"


class Faulty(ToyModel):
    """The toy model, with its own name for the variable."""

    def weights(self, dtype=tf.float32):
        return tf.get_variable("weights", [3, 1], dtype)


@fault("__init__() of {me} raised RuntimeError: no licence ({here})")
class InitRaises(Faulty):
    def __init__(self, *, params, info):
        raise RuntimeError("no licence")  # here


@fault("build() of {me} raised ValueError: too deep ({here})")
class BuildRaises(Faulty):
    def build(self, features, labels, mode):
        raise ValueError("too deep")  # here


@fault("build() of {me} raised KeyError: 'no\\nsuch' ({here})")
class BuildRaisesInHelper(Faulty):
    def build(self, features, labels, mode):
        return self.helper({})

    def helper(self, mapping):
        return mapping["no\nsuch"]  # here


@fault("build() of {me} raised SystemExit: 3 ({here})")
class BuildExits(Faulty):
    def build(self, features, labels, mode):
        raise SystemExit(3)  # here


@fault("build() of {me} raised BrokenPipeError: Broken pipe ({here})")
class BuildLosesPipe(Faulty):
    def build(self, features, labels, mode):
        raise BrokenPipeError(32, "Broken pipe")  # here


@fault("No space left on device; make room, and give the command again", code=1)
class BuildFillsItsDisk(Faulty):
    def build(self, features, labels, mode):
        raise OSError(28, "No space left on device")  # here


@fault("build() of {me} raised ValueError: wrapped ({here})")
class BuildRaisesFromDeepInside(Faulty):
    def build(self, features, labels, mode):
        self.descend(50)

    def descend(self, levels):
        if levels:
            self.descend(levels - 1)
        raise ValueError("wrapped") from KeyError("first")  # here


class Unusual(BaseException):
    """An exception that is no `Exception`."""


@fault("build() of {me} raised Unusual: unusual ({here})")
class BuildRaisesUnusual(Faulty):
    def build(self, features, labels, mode):
        raise Unusual("unusual")  # here


@fault("build() of {me} raised ValueError: red " + "x" * 443 + "..." + "x" * 150 + " ({here})")
class BuildRaisesMuch(Faulty):
    def build(self, features, labels, mode):
        raise ValueError("\x1b[31mred " + "x" * 9999)  # here


@fault("build() of {me} raised ModuleNotFoundError: No module named 'einopts' ({here})")
class BuildImportsMissing(Faulty):
    def build(self, features, labels, mode):
        importlib.import_module("einopts")  # here


@fault("build() of {me} returned None; it must return a ModelOutput")
class ReturnsNone(Faulty):
    def build(self, features, labels, mode):
        pass


@fault("build() of {me} returned {{'loss': 1.0}} of type dict; it must return a ModelOutput")
class ReturnsDict(Faulty):
    def build(self, features, labels, mode):
        return {"loss": 1.0}


@fault(
    "build() of {me} returned no loss; put a scalar tensor into ModelOutput(loss=...), or "
    "add losses to tf.GraphKeys.LOSSES (tf.compat.v1.losses does)",
)
class LossNone(Faulty):
    def build(self, features, labels, mode):
        return ModelOutput(predictions={"value": features @ self.weights()})


@fault(
    "build() of {me} returned the number 0.5 as loss; make it a tensor that depends on the "
    "variables, or nothing can be trained",
)
class LossIsNumber(Faulty):
    def build(self, features, labels, mode):
        self.weights()
        return ModelOutput(loss=0.5)


@fault(
    "the loss of build() of {me} has shape (8, 1) and type float32; it must be a "
    "floating-point scalar, which tf.reduce_mean makes of one loss per example",
)
class LossIsVector(Faulty):
    def build(self, features, labels, mode):
        return ModelOutput(loss=features @ self.weights() - labels)


@fault("the loss of build() of {me} is [<tf.Tensor [...], None] of type list; it must be a scalar")
class LossIsList(Faulty):
    def build(self, features, labels, mode):
        return ModelOutput(loss=[tf.reduce_mean(self.weights()), None])


@fault(
    "the loss is nan at global step 2 (tensor train_op); the step was not saved. Lower "
    "--learning_rate, look for a division or log of zero, or name the gradient with "
    "--transform check_finite",
    code=1,
)
class LossBecomesNan(Faulty):
    def build(self, features, labels, mode):
        loss = tf.reduce_mean(tf.square(features @ self.weights() - labels))
        diverged = tf.train.get_global_step() >= 1
        return ModelOutput(loss=loss * tf.where(diverged, float("nan"), 1.0))


@fault(
    "build() of {me} made no trainable variable, so there is nothing to train; make "
    "variables by tf.compat.v1.get_variable",
)
class NoVariables(Faulty):
    def build(self, features, labels, mode):
        return ModelOutput(loss=tf.reduce_mean(tf.square(labels)))


_NO_GRADIENT = (
    "the loss of build() of {me} depends on no trainable variable (there are: weights), so "
    "there is nothing to train; make the loss from the variables, by operations that have a "
    "gradient"
)


@fault(_NO_GRADIENT)
class LossWithoutVariables(Faulty):
    def build(self, features, labels, mode):
        self.weights()
        return ModelOutput(loss=tf.reduce_mean(tf.square(labels)))


@fault(_NO_GRADIENT)
class IntegerVariables(Faulty):
    def build(self, features, labels, mode):
        weights = tf.cast(self.weights(tf.int32), tf.float32)
        return ModelOutput(loss=tf.reduce_mean(tf.square(features @ weights - labels)))


@fault("build() of {me} raised ValueError: Argument `initial_value` [...] lifted [...] ({here})")
class VariablesInLoop(Faulty):
    def build(self, features, labels, mode):
        loss = tf.map_fn(lambda row: row[None] @ tf.Variable(tf.ones([3, 1])), features)  # here
        return ModelOutput(loss=tf.reduce_mean(tf.square(loss)))


_CLONE_0 = (
    "build() of {me} made trainable variables for clone 0 alone: VARIABLES; clones share the "
    "variables of tf.compat.v1.get_variable: use it instead of tf.Variable, and tf_frame.layers "
    "instead of Keras layers; or --num_clones 1"
)


@fault(_CLONE_0.replace("VARIABLES", "clone_0/Variable"), "--num_clones=2")
class OwnVariablesPerClone(Faulty):
    def build(self, features, labels, mode):
        weights = tf.Variable(tf.ones([3, 1]))
        return ModelOutput(loss=tf.reduce_mean(tf.square(features @ weights - labels)))


@fault(_CLONE_0.replace("VARIABLES", "clone_0/dense/kernel, clone_0/dense/bias"), "--num_clones=2")
class KerasLayersInClones(Faulty):
    def build(self, features, labels, mode):
        error = tf2.keras.layers.Dense(1)(features) - labels
        return ModelOutput(loss=tf.reduce_mean(tf.square(error)))


@fault(
    "the input 'toy' of tf-frame-toy 1.0 yields no features['image'], which {me} needs; "
    "inputs for it: cifar10, coco_json, coco_masks, detection_tfrecord, digit_strings, dota, "
    "fashion_mnist, image_folder, image_tfrecord, labelme, labelme_masks, nuclei, "
    "nuclei_boxes, rendered_words, segmentation_folder, segmentation_tfrecord, text_folder, "
    "text_tfrecord, trees, voc_xml, yolo, yolo_masks",
)
class NeedsFeature(Faulty):
    feature_names = ("image",)


@fault(
    "the input 'toy' of tf-frame-toy 1.0 yields no labels['mask'], which {me} needs; inputs"
    " for it: with_mask",
)
class NeedsLabel(Faulty):
    label_names = ("mask",)


@fault("build() of {me} raised TypeError: Only integers, [...] indices, got 'image' ({here})")
class IndexesFeatures(Faulty):
    def build(self, features, labels, mode):
        return ModelOutput(loss=tf.reduce_mean(features["image"]))  # here


@fault("build() of {me} raised ValueError: Dimensions must be equal, [...], [3,1]. ({here})")
class ShapesThatNeverFit(Faulty):
    def build(self, features, labels, mode):
        return ModelOutput(loss=tf.reduce_mean(labels @ self.weights()))  # here


@fault(
    "at step 2, the operation 'Gather' of build() of {me} raised InvalidArgumentError: "
    "indices = 3 is not in [0, 3) ({here})",
)
class IndexOutOfRange(Faulty):
    def build(self, features, labels, mode):
        rows = tf.cast(tf.train.get_global_step() + 2, tf.int32)
        row = tf.gather(self.weights(), rows)  # here
        return ModelOutput(loss=tf.reduce_mean(row))


@fault(
    "the metric 'mean' of build() of {me} is <tf.Tensor 'ones:0' shape=() dtype=float32> of"
    " type SymbolicTensor; it must be a pair of value tensor and update op, as the "
    "functions of tf.compat.v1.metrics return",
)
class MetricIsTensor(Faulty):
    def build(self, features, labels, mode):
        return ModelOutput(loss=tf.reduce_mean(self.weights()), metrics={"mean": tf.ones([])})


@fault("build() of {me} raised ValueError: Can not squeeze dim[2], [...] shapes: [7,7,7]. ({here})")
class MetricRaises(Faulty):
    def build(self, features, labels, mode):
        metrics = {"wrong": tf.metrics.mean(features, weights=tf.ones([7, 7, 7]))}  # here
        return ModelOutput(loss=tf.reduce_mean(self.weights()), metrics=metrics)


@fault("the metrics of build() of {me} have the key 5; names are text")
class MetricNameIsNumber(Faulty):
    def build(self, features, labels, mode):
        metrics = {5: tf.metrics.mean(features)}
        return ModelOutput(loss=tf.reduce_mean(self.weights()), metrics=metrics)


@fault(
    "the metric 'loss' of build() of {me} has the name of a figure of every evaluation; give it "
    "another one",
)
class MetricNamedLoss(Faulty):
    def build(self, features, labels, mode):
        metrics = {"loss": tf.metrics.mean(features)}
        return ModelOutput(loss=tf.reduce_mean(self.weights()), metrics=metrics)


@fault(
    "the collection tf.GraphKeys.SUMMARIES contains 5 of type int; it is for the tensors that "
    "tf.compat.v1.summary returns",
)
class SummaryIsNumber(Faulty):
    def build(self, features, labels, mode):
        tf.add_to_collection(tf.GraphKeys.SUMMARIES, 5)
        return ModelOutput(loss=tf.reduce_mean(self.weights()))


@fault(
    "at step 1, the operation 'assert_less/Assert/AssertGuard' of build() of {me} raised "
    "InvalidArgumentError: too large ({here})",
)
class UpdateOpAsserts(Faulty):
    def build(self, features, labels, mode):
        check = tf.debugging.assert_less(features, -5.0, message="too large")  # here
        tf.add_to_collection(tf.GraphKeys.UPDATE_OPS, check)
        return ModelOutput(loss=tf.reduce_mean(self.weights()))


@fault("the metrics of build() of {me} are [] of type list; they must be a mapping")
class MetricsAreList(Faulty):
    def build(self, features, labels, mode):
        return ModelOutput(loss=tf.reduce_mean(self.weights()), metrics=[])


@fault("graph_hook() of {me} raised RuntimeError: cannot prune ({here})")
class GraphHookRaises(Faulty):
    def graph_hook(self):
        raise RuntimeError("cannot prune")  # here


@fault(
    "{me} cannot be used: TakesOtherArguments.build() takes (images, is_training), but is "
    "called with (features, labels, mode)",
)
class TakesOtherArguments(Model):
    def build(self, images, is_training):
        pass


@fault(
    "{me} cannot be used: DefaultOfWrongType.Params: option 'depth': its default is "
    "refused: 'deep' is not a whole number",
)
class DefaultOfWrongType(Faulty):
    @dataclasses.dataclass(frozen=True)
    class Params:
        depth: int = "deep"


@fault("__post_init__() of {me} raised ValueError: too deep ({here})", "--model.depth=3")
class ParamsRaise(Faulty):
    @dataclasses.dataclass(frozen=True)
    class Params:
        depth: int = option(1, "the depth")

        def __post_init__(self):
            if self.depth > 2:
                raise ValueError("too deep")  # here


@fault("input_defaults() of {me} raised AttributeError: [...] no attribute 'image_size' ({here})")
class InputDefaultsRaise(Faulty):
    @classmethod
    def input_defaults(cls, params):
        return {"image_size": params.image_size}  # here


@fault(
    "run_defaults of the model run_defaults_are_nonsense: unknown option max_stepz; did you"
    " mean max_steps?",
)
class RunDefaultsAreNonsense(Faulty):
    run_defaults = {"max_stepz": 3}


@fault(
    "{me} cannot be used: RunDefaultsAreList.run_defaults is ['max_steps'] of type list; "
    "expected a mapping of option to value",
)
class RunDefaultsAreList(Faulty):
    run_defaults = ["max_steps"]


@fault("at step 1, after_run() of {me} raised OSError: no such sensor ({here})")
class HookOfModelRaises(Faulty):
    def build(self, features, labels, mode):
        class Watch(tf.train.SessionRunHook):
            def after_run(self, run_context, run_values):
                raise OSError(5, "no such sensor")  # here

        return ModelOutput(loss=tf.reduce_mean(self.weights()), hooks=[Watch()])


@fault("the hooks of build() of {me}: found None; each must be a tf.train.SessionRunHook")
class HooksOfModelAreNone(Faulty):
    def build(self, features, labels, mode):
        return ModelOutput(loss=tf.reduce_mean(self.weights()), hooks=[None])


@fault("at step 1, check() of {me} raised ValueError: out of bounds ({here})", _INEXACT)
class PythonFunctionRaises(Faulty):
    def build(self, features, labels, mode):
        def check(value):
            raise ValueError("out of bounds")  # here

        loss = tf.reduce_mean(self.weights())
        with tf.control_dependencies([tf.py_func(check, [loss], tf.float32)]):
            return ModelOutput(loss=tf.identity(loss))

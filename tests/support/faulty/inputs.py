"""Inputs with one fault each."""

from pathlib import Path

import numpy as np
import tensorflow as tf

from faulty import fault, sound
from tf_frame import InputInfo, Mode
from tf_frame.errors import DataError
from tf_frame.testing.toy import ToyInput

_INEXACT = "--allow_inexact_resume"
_SPEC = (tf.TensorSpec([None, 3]), tf.TensorSpec([None, 1]))


def examples(count=64):
    return np.ones([count, 3], np.float32), np.ones([count, 1], np.float32)


@fault(
    "__init__() of {me} raised FileNotFoundError: /no/such/data: No such file or directory ({here})"
)
class OpensMissingFile(ToyInput):
    def __init__(self, *, params):
        super().__init__(params=params)
        self.bytes = Path("/no/such/data").read_bytes()  # here


@fault("no data in /no/such; give --input.data_dir")
class SaysWhatIsMissing(ToyInput):
    def __init__(self, *, params):
        raise DataError("no data in /no/such; give --input.data_dir")


@fault(
    "info() of {me} raised AttributeError: 'InfoRaises' object has no attribute 'files' ({here})"
)
class InfoRaises(ToyInput):
    @property
    def info(self):
        return InputInfo(num_examples=len(self.files))  # here


@fault("info of {me} is None; it must be an InputInfo")
class InfoIsNone(ToyInput):
    info = None


@fault("dataset() of {me} raised AttributeError: 'Params' object has no attribute 'files' ({here})")
class DatasetRaises(ToyInput):
    def dataset(self, mode, context):
        return tf.data.TFRecordDataset(self.params.files)  # here


_NO_DATASET = (
    "dataset() of {me} returned VALUE; it must return a tf.data.Dataset of batched "
    "(features, labels), a function that returns a batch of them, or a list of these"
)


@fault(_NO_DATASET.replace("VALUE", "None"))
class DatasetIsNone(ToyInput):
    def dataset(self, mode, context):
        pass


_ARRAY = "{{'x': array([[1., 1., 1.], [...], [1., 1., 1.]])}} of type dict"


@fault(_NO_DATASET.replace("VALUE", _ARRAY))
class DatasetIsArrays(ToyInput):
    def dataset(self, mode, context):
        return {"x": np.ones([8, 3])}


@fault(
    "{me} cannot be used: TakesNoContext.dataset() takes (mode), but is called with (mode, "
    "context)",
)
class TakesNoContext(ToyInput):
    def dataset(self, mode):
        pass


@fault(
    "dataset() of {me} returned a data set of TensorSpec(shape=(None, 3), dtype=tf.float32,"
    " name=None); it must yield (features, labels)",
)
class YieldsFeaturesOnly(ToyInput):
    def dataset(self, mode, context):
        return tf.data.Dataset.from_tensor_slices(examples()[0]).batch(8)


@fault(
    "build() of the model 'linear' of faulty 1.0 raised ValueError: Shape must be rank 2 "
    "but is rank 1 for matmul with input shapes: [3], [3,1]. ({linear})",
)
class Unbatched(ToyInput):
    def dataset(self, mode, context):
        return tf.data.Dataset.from_tensor_slices(examples()).repeat()


@fault(
    "build() of the model 'linear' of faulty 1.0 raised ValueError: Shape must be rank 2 "
    "but is rank 0 for matmul with input shapes: [], [3,1]. ({linear})",
)
class Scalars(ToyInput):
    def dataset(self, mode, context):
        return tf.data.Dataset.from_tensors((1.0, 2.0)).repeat()


@fault(
    "build() of the model 'linear' of faulty 1.0 raised ValueError: Dimensions must be "
    "equal, but are 64 and 7 for sub with input shapes: [64,1], [7,1]. ({linear})",
)
class LabelsOfAnotherLength(ToyInput):
    def dataset(self, mode, context):
        features, labels = examples()
        return tf.data.Dataset.from_tensors((features, labels[:7])).repeat()


@fault(
    "at step 2, the operation 'sub' of build() of the model 'linear' of faulty 1.0 raised "
    "InvalidArgumentError: Incompatible shapes: [8,1] vs. [7,1] ({linear})",
    _INEXACT,
)
class LabelsOfAnotherShapeLater(ToyInput):
    def dataset(self, mode, context):
        def batches():
            features, labels = examples(8)
            yield features, labels
            yield features, labels[:7]

        return tf.data.Dataset.from_generator(batches, output_signature=_SPEC)


@fault("at step 2, batches() of {me} raised ValueError: record 8 is cut ({here})", _INEXACT)
class GeneratorRaises(ToyInput):
    def dataset(self, mode, context):
        def batches():
            yield examples(8)
            raise ValueError("record 8 is cut")  # here

        return tf.data.Dataset.from_generator(batches, output_signature=_SPEC)


@fault(
    "the data of {me} cannot be read: TypeError: `generator` yielded an element [...] was [['a']].",
    _INEXACT,
)
class GeneratorYieldsOtherTypes(ToyInput):
    def dataset(self, mode, context):
        def batches():
            yield [["a"]], [["b"]]

        return tf.data.Dataset.from_generator(batches, output_signature=_SPEC)


@fault("dataset() of {me} raised TypeError: Only integers, [...] indices, got 'image' ({here})")
class MapRaises(ToyInput):
    def dataset(self, mode, context):
        def parse(features, labels):
            return features["image"], labels  # here

        return super().dataset(mode, context).map(parse)


@fault("the data of {me} cannot be read: Could not parse `serialized` as TensorProto, base64: Y3V0")
class MapFailsLater(ToyInput):
    def dataset(self, mode, context):
        def parse(features, labels):
            return tf.ensure_shape(tf.io.parse_tensor(b"cut", tf.float32), [None, 3]), labels

        return super().dataset(mode, context).map(parse)


@fault("the data of {me} cannot be read: /no/such/file; No such file or directory")
class ReadsMissingFile(ToyInput):
    def dataset(self, mode, context):
        lines = tf.data.TextLineDataset("/no/such/file").batch(8).repeat()
        return lines.map(lambda line: (tf.ones([8, 3]), tf.ones([8, 1])))


@fault("the data of {me} cannot be read: Cannot add tensor to the batch: [...], [batch]: [1,3]")
class ShapesThatMakeNoBatch(ToyInput):
    def dataset(self, mode, context):
        numbers = tf.data.Dataset.range(9).repeat()
        return numbers.map(lambda i: (tf.ones([i % 3 + 1, 3]), tf.ones([1]))).batch(4)


@fault("the training split of {me} is empty; there was not one batch", "--noevaluate")
class EmptyTraining(ToyInput):
    def dataset(self, mode, context):
        return super().dataset(mode, context).take(0 if mode == Mode.TRAIN else -1)


@fault("the evaluation split of {me} is empty; there was not one batch", "--eval_every_n_steps=2")
class EmptyEvaluation(ToyInput):
    def dataset(self, mode, context):
        return super().dataset(mode, context).take(0 if mode == Mode.EVAL else -1)


@fault("the evaluation data never ends; say how much: --eval_steps N, or steps=N", "--evaluate")
class EndlessEvaluation(ToyInput):
    def dataset(self, mode, context):
        return super().dataset(mode, context).repeat()


@fault("a lambda of {me} raised IndexError: tuple index out of range ({here})")
class QueueFunctionRaises(ToyInput):
    def dataset(self, mode, context):
        return lambda: examples()[2]  # here


@sound
class WithMask(ToyInput):
    """Declares masks."""

    label_names = ("mask",)


@sound
class Images(ToyInput):
    """Small images."""

    def dataset(self, mode, context):
        images = tf.data.Dataset.from_tensors((np.ones([4, 8, 8, 3], "f"), np.ones([4, 1], "f")))
        return images.repeat()

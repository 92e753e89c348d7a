"""Inputs that break one rule each."""

import itertools

import numpy as np

from nonconforming import tf
from nonconforming.healthy import Points
from tf_frame import DataReport, InputInfo, Mode, SplitReport


class TwoSizes(Points):
    """Keeps the rules: two data sets, each with a batch size of its own."""

    def dataset(self, mode, context):
        parts = [self.examples(mode), self.examples(mode)]
        if mode == Mode.TRAIN:
            parts = [part.repeat() for part in parts]
        return [parts[0].batch(context.batch_size), parts[1].batch(1)]


class ChangesTheSizeOfOne(TwoSizes):
    def dataset(self, mode, context):
        first, second = super().dataset(mode, context)
        if mode == Mode.TRAIN:
            second = self.examples(mode).batch(2).repeat()
        return [first, second]


class FeatureNamesAreAText(Points):
    feature_names = "x"


class CountsByText(Points):
    """Has a mode that the contract does not know."""

    @property
    def info(self):
        return InputInfo(num_examples={**self.sizes, "test": 3})


class ReportsAnotherNumber(Points):
    def data_report(self):
        return DataReport(splits={Mode.TRAIN: SplitReport(examples=99)})


class ReportsNoJson(Points):
    def data_report(self):
        return DataReport(remarks=(b"bytes",))


class ReportsOtherCounts(Points):
    def data_report(self):
        examples = self.info.num_examples[Mode.TRAIN]
        split = SplitReport(examples=examples, counts={"a": 1, "b": 1})
        return DataReport(splits={Mode.TRAIN: split})


class LacksAFeature(Points):
    feature_names = ("x", "weight")


class OtherTypesInEvaluation(Points):
    def dataset(self, mode, context):
        dtype = tf.float64 if mode == Mode.EVAL else tf.float32
        return super().dataset(mode, context).map(lambda x, y: (x, tf.cast(y, dtype)))


class UnknownRank(Points):
    def dataset(self, mode, context):
        def with_a_size(x, y):
            size = tf.numpy_function(lambda y: y, [y], tf.float32, stateful=False)
            return {**x, "size": size}, y

        return super().dataset(mode, context).map(with_a_size)


class LeavesARemainder(Points):
    def dataset(self, mode, context):
        dataset = self.examples(mode).batch(context.batch_size)
        return dataset.repeat() if mode == Mode.TRAIN else dataset


class Ends(Points):
    def dataset(self, mode, context):
        return self.examples(mode).batch(context.batch_size, drop_remainder=mode == Mode.TRAIN)


class RepeatsEvaluation(Points):
    def dataset(self, mode, context):
        dataset = super().dataset(mode, context)
        return dataset.repeat() if mode == Mode.EVAL else dataset


class CountsWrongly(Points):
    @property
    def info(self):
        return InputInfo(num_examples={**self.sizes, Mode.EVAL: 8})


class DrawsByAStatefulOperation(Points):
    def dataset(self, mode, context):
        def noisy(x, y):
            return x, y + tf.random_uniform([])

        return super().dataset(mode, context).map(noisy)


class CountsInPython(Points):
    """Called stateless by its author, so that the position can be saved."""

    def dataset(self, mode, context):
        counter = itertools.count()

        def counted(x, y):
            number = tf.numpy_function(
                lambda y: y + np.float32(next(counter)), [y], tf.float32, stateful=False
            )
            return x, tf.ensure_shape(number, y.shape)

        return super().dataset(mode, context).map(counted)


class CallsPython(Points):
    """Its functions have a state for all TensorFlow knows."""

    def dataset(self, mode, context):
        def twice(x, y):
            return x, tf.ensure_shape(tf.numpy_function(lambda y: 2 * y, [y], tf.float32), y.shape)

        return super().dataset(mode, context).map(twice)


class EndsAfterManyBatches(Points):
    """So late that a check does not read up to the end."""

    def dataset(self, mode, context):
        dataset = self.examples(mode)
        dataset = dataset.repeat(1000) if mode == Mode.TRAIN else dataset
        return dataset.batch(context.batch_size, drop_remainder=mode == Mode.TRAIN)


class OtherNamesInEvaluation(Points):
    feature_names = ()

    def dataset(self, mode, context):
        dataset = super().dataset(mode, context)
        return dataset if mode == Mode.TRAIN else dataset.map(lambda x, y: ({"X": x["x"]}, y))


class DrawsInItsConstructor(Points):
    def __init__(self, *, params):
        super().__init__(params=params)
        self.order = np.random.permutation(9)


class InfoIsADict(Points):
    info = {"num_classes": 3}


class TrainsOnNothing(Points):
    def dataset(self, mode, context):
        dataset = super().dataset(mode, context)
        return dataset.take(0).repeat() if mode == Mode.TRAIN else dataset


class SparsePoints(Points):
    """Passes every check; its features are sparse tensors."""

    feature_names = ()

    def dataset(self, mode, context):
        return super().dataset(mode, context).map(lambda x, y: (tf.sparse.from_dense(x["x"]), y))


class EndsBySystemExit(Points):
    def dataset(self, mode, context):
        raise SystemExit(3)

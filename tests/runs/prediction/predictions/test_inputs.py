import logging

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from recorded_steps import Recording
from tf_frame import Input, Mode
from tf_frame.errors import DataError

from .conftest import ROWS, SUMS, Sums, predicted, rows


def test_labels_are_dropped():
    def make():
        return rows().map(lambda features: (features, features["x"] * 2)).batch(5)

    assert len(list(predicted(make=make))) == 5


def tensors():
    return {"x": tf.constant(ROWS)}


@pytest.mark.parametrize("make", [tensors, lambda: (tensors(), tf.zeros([5]))])
def test_tensors_are_predicted_for_ever_and_that_is_said(make, caplog):
    with caplog.at_level(logging.WARNING, "tf_frame"):
        endless = predicted(make=make)
        found = [next(endless) for _ in range(12)]
    np.testing.assert_array_equal(
        [each["first"] for each in found], ROWS[[*range(5), *range(5), 0, 1], 0]
    )
    assert "Input graph does not use tf.data.Dataset or contain a QueueRunner." in caplog.text
    endless.close()


def queue():
    producer = tf.train.input_producer(ROWS, num_epochs=1, shuffle=False)
    return {"x": producer.dequeue_up_to(2)}


@pytest.mark.parametrize("make", [lambda: rows().batch(2), queue])
def test_data_sets_and_queues_are_read_to_their_end_and_not_said_to_be_endless(make, caplog):
    with caplog.at_level(logging.WARNING, "tf_frame"):
        assert [example["first"] for example in predicted(make=make)] == ROWS[:, 0].tolist()
    assert "QueueRunner" not in caplog.text


def test_data_that_repeats_is_predicted_as_far_as_one_asks():
    endless = predicted(make=lambda: rows().repeat().batch(2))
    assert [next(endless)["first"] for _ in range(6)] == [0, 3, 6, 9, 12, 0]
    endless.close()


class Native(Input):
    """A tf-frame input; remembers what it was asked for."""

    def __init__(self, made):
        super().__init__(params=None)
        self.made = made

    def dataset(self, mode, context):
        self.asked = mode, context
        return self.made()


def test_an_input_is_asked_for_data_to_predict_on():
    source = Native(lambda: rows().batch(2))
    found = predicted(source=source, config={"random_seed": 5})
    assert [example["first"] for example in found] == ROWS[:, 0].tolist()
    mode, context = source.asked
    assert mode == Mode.PREDICT
    assert (context.batch_size, context.seed, context.num_shards) == (2, 5, 1)


def test_data_that_must_end_and_does_not_is_an_error():
    hook, endless = Recording(), Native(lambda: rows().repeat().batch(2))
    assert len(list(predicted(hooks=[hook], must_end=True))) == 5
    assert hook.calls.count("before") == 4
    hook = Recording()
    with pytest.raises(DataError, match="never ends; say how much: --eval_steps N"):
        next(predicted(source=endless, hooks=[hook], must_end=True))
    assert hook.calls == ["begin", "created"]


def test_an_input_of_functions_and_lists():
    class Joined(Sums):
        def build(self, features, labels, mode):
            return super().build({"x": tf.concat([f["x"] for f in features], axis=0)}, labels, mode)

    assert next(predicted(source=Native(lambda: tensors)))["first"] == 0
    pair = lambda features: (features, features["x"])  # noqa: E731
    source = Native(lambda: [rows().batch(1), rows().map(pair).batch(1)])
    found = predicted(Joined(), source=source)
    assert [each["first"] for each in found] == np.repeat(ROWS[:, 0], 2).tolist()


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (lambda: None, r"Native.dataset\(\) returned None"),
        (lambda: lambda: (1, 2, 3), r"Native.dataset\(\) yields 3 parts to predict on"),
        (lambda: tf.data.Dataset.zip((rows(),)).batch(1), r"yields 1 parts to predict on"),
    ],
)
def test_an_input_that_returns_something_else_is_an_error(made, text):
    with pytest.raises(DataError, match=text):
        next(predicted(source=Native(made)))


def test_features_come_along(checkpoint):
    def make():
        names = [b"a", b"b", b"c", b"d", b"e"]
        batches = rows(name=names).batch(2)
        return batches.map(lambda f: {**f, "scale": 3.0, "sparse": tf.sparse.from_dense(f["x"])})

    pairs = list(predicted(make=make, checkpoint=checkpoint, with_features=True))
    assert [features["name"] for features, _ in pairs] == [b"a", b"b", b"c", b"d", b"e"]
    np.testing.assert_array_equal([features["x"] for features, _ in pairs], ROWS)
    np.testing.assert_array_equal([found["sum"] for _, found in pairs], SUMS)
    assert sorted(pairs[0][0]) == ["name", "scale", "x"]
    assert pairs[0][0]["scale"] == 3
    batches = predicted(make=make, with_features=True, yield_single_examples=False)
    assert [len(features["x"]) for features, _ in batches] == [2, 2, 1]


def test_features_that_are_one_tensor_come_along():
    class Plain(Sums):
        def build(self, features, labels, mode):
            return super().build({"x": features}, labels, mode)

    make = lambda: tf.data.Dataset.from_tensor_slices(ROWS).batch(2)  # noqa: E731
    pairs = list(predicted(Plain(), make=make, with_features=True))
    np.testing.assert_array_equal([features for features, _ in pairs], ROWS)

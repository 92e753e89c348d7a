import sys
import types

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from refusals import refusal
from tf_frame import Input, InputContext, Mode
from tf_frame_legacy.estimator.inputs import numpy_input_fn, pandas_input_fn

X = np.arange(10, dtype=np.float32).reshape(5, 2)
Y = np.arange(5, dtype=np.int64)
WORDS = np.array(["a", "bb", "ccc", "d", "e"])


def read_rows(batches, input_fn, **more):
    return np.concatenate(batches(input_fn, **more))


def test_arrays_come_in_their_order_and_the_last_batch_is_smaller(batches):
    pairs = batches(numpy_input_fn(X, Y, batch_size=2, shuffle=False))
    assert [labels.tolist() for _, labels in pairs] == [[0, 1], [2, 3], [4]]
    np.testing.assert_array_equal(np.concatenate([features for features, _ in pairs]), X)
    # The defaults are 128 rows and one pass.
    first, second = batches(numpy_input_fn(np.arange(200), shuffle=False))
    assert (first.tolist(), len(second)) == (list(range(128)), 72)
    ((features),) = batches(numpy_input_fn({"x": X}, shuffle=False))
    assert list(features) == ["x"]


def test_a_batch_may_span_two_epochs_and_no_epochs_are_no_batches(batches):
    values = batches(numpy_input_fn(Y, batch_size=4, num_epochs=2, shuffle=False))
    assert [batch.tolist() for batch in values] == [[0, 1, 2, 3], [4, 0, 1, 2], [3, 4]]
    for shuffle in (False, True):
        assert batches(numpy_input_fn(X, num_epochs=0, shuffle=shuffle)) == []


def test_without_a_number_of_epochs_there_is_no_end_and_batches_have_a_known_size(batches):
    tensors = []
    input_fn = numpy_input_fn(X, batch_size=3, num_epochs=None, shuffle=False)
    values = batches(input_fn, most=4, tensors=tensors)
    assert np.concatenate(values)[:, 0].tolist() == [0, 2, 4, 6, 8, 0, 2, 4, 6, 8, 0, 2]
    assert tensors[0].shape.as_list() == [3, 2]


def test_dictionaries_come_back_as_dictionaries_with_types_and_texts(batches):
    tensors = []
    input_fn = numpy_input_fn(
        {"x": X, "word": WORDS, "flag": Y > 2}, {"y": Y, "z": WORDS.astype("S")}, shuffle=False
    )
    ((features, labels),) = batches(input_fn, tensors=tensors)
    assert list(features) == ["flag", "word", "x"] and list(labels) == ["y", "z"]
    np.testing.assert_array_equal(features["x"], X)
    assert features["word"].tolist() == labels["z"].tolist() == [b"a", b"bb", b"ccc", b"d", b"e"]
    assert features["flag"].tolist() == [False, False, False, True, True]
    assert tensors[0][0]["x"].shape.as_list() == [None, 2]
    assert tensors[0][0]["x"].dtype == tf.float32 and tensors[0][1]["y"].dtype == tf.int64


def test_an_order_of_its_own_in_each_epoch_with_every_row_once(batches):
    rows = read_rows(
        batches, numpy_input_fn(np.arange(20), batch_size=7, num_epochs=3, shuffle=True)
    )
    epochs = [epoch.tolist() for epoch in np.split(rows, 3)]
    assert all(sorted(epoch) == list(range(20)) for epoch in epochs)
    assert len({tuple(epoch) for epoch in [*epochs, range(20)]}) == 4


def test_features_and_labels_are_shuffled_together(batches):
    values = batches(numpy_input_fn({"x": X, "word": WORDS}, Y, 2, shuffle=True))
    for features, labels in values:
        np.testing.assert_array_equal(features["x"], X[labels])
        assert features["word"].tolist() == [WORDS[label].encode() for label in labels]


def test_the_order_follows_from_the_seed_of_the_graph(batches):
    input_fn = numpy_input_fn(np.arange(50), shuffle=True)
    first, again, reseeded = (
        read_rows(batches, input_fn, seed=seed).tolist() for seed in (1, 1, 2)
    )
    assert first == again != reseeded
    first, second = (read_rows(batches, input_fn, seed=None).tolist() for _ in range(2))
    assert first != second


def test_arrays_are_not_part_of_the_graph():
    with tf.Graph().as_default() as graph:
        numpy_input_fn(np.zeros([1000, 1000]), shuffle=False)()
        assert graph.as_graph_def().ByteSize() < 100_000


def test_it_is_an_input_whose_data_set_begins_anew_and_whose_position_can_be_saved():
    source = numpy_input_fn({"x": X}, batch_size=2, num_epochs=None, shuffle=True)
    assert isinstance(source, Input)
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(3)
        dataset = source.dataset(Mode.TRAIN, InputContext(batch_size=100, num_shards=2))
        iterator = tf.data.make_initializable_iterator(dataset)
        (features, labels) = iterator.get_next()
        assert labels is None
        features = features["x"]
        handle = iterator.initializer.inputs[1]
        fail_on_state = 2
        state = tf.io.serialize_tensor(
            tf.raw_ops.SerializeIterator(
                resource_handle=handle, external_state_policy=fail_on_state
            )
        )
        session.run(iterator.initializer)
        first = session.run(features)
        saved = session.run(state)
        remaining = [session.run(features) for _ in range(5)]
        session.run(iterator.initializer)
        np.testing.assert_array_equal(session.run(features), first)
        put = tf.raw_ops.DeserializeIterator(
            resource_handle=handle, serialized=tf.io.parse_tensor(saved, tf.variant)
        )
        session.run(put)
        np.testing.assert_array_equal([session.run(features) for _ in range(5)], remaining)


@pytest.mark.parametrize("shuffle", [None, 1, "yes"])
def test_shuffle_must_be_said(shuffle):
    with pytest.raises(ValueError, match=rf"shuffle must be provided and explic.*; got {shuffle}$"):
        numpy_input_fn(X, shuffle=shuffle)


LENGTHS = (
    "Length of tensors in x and y is mismatched. All elements in x and y must have the same "
    "length.\n"
)


@pytest.mark.parametrize(
    ("x", "y", "error", "message"),
    [
        ([1, 2], None, TypeError, "x must be a dict or array; got list"),
        ({}, None, ValueError, "x cannot be an empty dict"),
        (np.zeros([0]), None, ValueError, "x cannot be an empty array"),
        (X, {}, ValueError, "y cannot be empty dict, use None instead."),
        ({"a": X}, {"a": Y}, ValueError, "1 duplicate keys are found in both x and y: {'a'}"),
        (
            {"a": X, "b": Y[:3]},
            None,
            ValueError,
            f"{LENGTHS}Shapes in x: {{'a': (5, 2), 'b': (3,)}}\nShapes in y: None\n",
        ),
        (
            X,
            Y[:3],
            ValueError,
            f"{LENGTHS}Shapes in x: {{'__direct_np_input__': (5, 2)}}\nShapes in y: (3,)\n",
        ),
        (
            {"a": X},
            {"b": Y[:3]},
            ValueError,
            f"{LENGTHS}Shapes in x: {{'a': (5, 2)}}\nShapes in y: {{'b': (3,)}}\n",
        ),
    ],
)
def test_wrong_arrays_are_refused_when_the_function_is_called(x, y, error, message):
    input_fn = numpy_input_fn(x, y, shuffle=False)
    with tf.Graph().as_default():
        assert refusal(input_fn) == (error, message)


def test_each_clone_gets_rows_of_its_own(tmp_path):
    from tf_frame_legacy import estimator

    def model_fn(features, labels, mode):
        weight = tf.get_variable("weight", [], initializer=tf.zeros_initializer())
        return estimator.EstimatorSpec(mode, loss=weight * tf.reduce_mean(labels) + 0 * features[0])

    labels = np.array([1, 2, 3, 6], np.float32)
    input_fn = numpy_input_fn(labels, labels, batch_size=2, shuffle=False)
    options = {"num_clones": 2, "optimizer": "sgd", "learning_rate": 1.0}
    config = estimator.RunConfig(options=options)
    regressor = estimator.Estimator(model_fn, str(tmp_path), config).train(input_fn, steps=1)
    # Gradients of the clones are 1.5 and 4.5; with the same rows for both it would be 1.5.
    assert regressor.get_variable_value("weight") == pytest.approx(-3.0)


class Frame:
    """Stand-in for a `pandas.DataFrame`, with the methods that are used."""

    def __init__(self, values, index=None):
        self.values = values
        self.columns = list(values)
        rows = len(next(iter(values.values())))
        self.index = np.arange(rows) if index is None else np.array(index)

    def __contains__(self, name):
        return name in self.values

    def __getitem__(self, name):
        return self.values[name]


class Series:
    def __init__(self, values, index=None):
        self.values = values
        self.index = np.arange(len(values)) if index is None else np.array(index)

    def __array__(self, dtype=None, copy=None):
        return np.array(self.values, dtype)


@pytest.fixture
def pandas(monkeypatch):
    """Whatever is installed, a module of this name is values."""
    module = types.ModuleType("pandas")
    module.__spec__ = types.SimpleNamespace(name="pandas")
    monkeypatch.setitem(sys.modules, "pandas", module)


@pytest.mark.usefixtures("pandas")
def test_columns_become_features_and_a_series_the_labels(batches):
    frame = Frame({"x": X[:, 0], "word": WORDS})
    values = batches(pandas_input_fn(frame, Series(Y), batch_size=3, shuffle=False))
    assert [labels.tolist() for _, labels in values] == [[0, 1, 2], [3, 4]]
    assert set(values[0][0]) == {"word", "x"}
    assert values[1][0]["x"].tolist() == [6, 8]
    assert values[1][0]["word"].tolist() == [b"d", b"e"]


@pytest.mark.usefixtures("pandas")
def test_a_frame_of_labels_becomes_a_dictionary_also_with_columns_of_the_features(batches):
    x, y = Frame({"a": X[:, 0]}), Frame({"a": Y, "b": X[:, 1]})
    ((features, labels),) = batches(pandas_input_fn(x, y, shuffle=False))
    assert features["a"].tolist() == [0, 2, 4, 6, 8]
    assert labels["a"].tolist() == [0, 1, 2, 3, 4]
    assert labels["b"].tolist() == [1, 3, 5, 7, 9]
    (features,) = batches(pandas_input_fn(x, shuffle=False))
    assert list(features) == ["a"]


@pytest.mark.usefixtures("pandas")
def test_what_becomes_of_a_frame_later_does_not_matter(batches):
    x = Frame({"a": Y.copy()})
    input_fn = pandas_input_fn(x, shuffle=False)
    x.values["a"][:] = 7
    (features,) = batches(input_fn)
    assert features["a"].tolist() == [0, 1, 2, 3, 4]


@pytest.mark.usefixtures("pandas")
def test_wrong_frames_are_refused():
    x = Frame({"target": Y, "b": Y})
    assert refusal(pandas_input_fn, x, Series(Y), shuffle=False) == (
        ValueError,
        "Cannot use name target for target column: DataFrame already has a column with that name: "
        "['target', 'b']",
    )
    pandas_input_fn(x, Series(Y), shuffle=False, target_column="other")
    y = Series(Y, index=[4, 3, 2, 1, 0])
    assert refusal(pandas_input_fn, Frame({"a": Y}), y, shuffle=False) == (
        ValueError,
        "Index for x and y are mismatched.\nIndex for x: [0 1 2 3 4]\nIndex for y: [4 3 2 1 0]\n",
    )
    with pytest.raises(TypeError, match="target_column must be a string type"):
        pandas_input_fn(x, shuffle=False, target_column=3)
    with pytest.raises(ValueError, match="shuffle must be provided and explicitly set"):
        pandas_input_fn(x)


def test_without_pandas_the_function_is_refused(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    message = "pandas_input_fn should not be called without pandas installed"
    assert refusal(pandas_input_fn, None, shuffle=False) == (TypeError, message)

import sys
import types

import numpy as np
import pytest

from tf_frame.legacy.estimator.inputs import pandas_input_fn

X = np.arange(10, dtype=np.float32).reshape(5, 2)
Y = np.arange(5, dtype=np.int64)
WORDS = np.array(["a", "bb", "ccc", "d", "e"])


class Frame:
    """As much of a `pandas.DataFrame` as is used."""

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
    """Whatever is installed, a module of this name is found."""
    module = types.ModuleType("pandas")
    module.__spec__ = types.SimpleNamespace(name="pandas")
    monkeypatch.setitem(sys.modules, "pandas", module)


@pytest.mark.usefixtures("pandas")
def test_columns_become_features_and_a_series_the_labels(batches):
    frame = Frame({"x": X[:, 0], "word": WORDS})
    found = batches(pandas_input_fn(frame, Series(Y), batch_size=3, shuffle=False))
    assert [labels.tolist() for _, labels in found] == [[0, 1, 2], [3, 4]]
    assert set(found[0][0]) == {"word", "x"}
    assert found[1][0]["x"].tolist() == [6, 8]
    assert found[1][0]["word"].tolist() == [b"d", b"e"]


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
    with pytest.raises(ValueError) as caught:
        pandas_input_fn(x, Series(Y), shuffle=False)
    assert str(caught.value) == (
        "Cannot use name target for target column: DataFrame already has a column with that name: "
        "['target', 'b']"
    )
    pandas_input_fn(x, Series(Y), shuffle=False, target_column="other")
    with pytest.raises(ValueError) as caught:
        pandas_input_fn(Frame({"a": Y}), Series(Y, index=[4, 3, 2, 1, 0]), shuffle=False)
    assert str(caught.value) == (
        "Index for x and y are mismatched.\nIndex for x: [0 1 2 3 4]\nIndex for y: [4 3 2 1 0]\n"
    )
    with pytest.raises(TypeError, match="target_column must be a string type"):
        pandas_input_fn(x, shuffle=False, target_column=3)
    with pytest.raises(ValueError, match="shuffle must be provided and explicitly set"):
        pandas_input_fn(x)


def test_without_pandas_the_function_is_refused(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(TypeError) as caught:
        pandas_input_fn(None, shuffle=False)
    assert str(caught.value) == "pandas_input_fn should not be called without pandas installed"

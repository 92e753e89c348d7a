"""Inputs of `predict`, `evaluate` and `export` where the training data is gone or differs."""

import dataclasses
from types import SimpleNamespace

import pytest
from hypothesis import strategies

from properties import COUNTS, TEXTS, check_many
from source_plugins import install_source
from tf_frame import Input, InputInfo, Mode, option
from tf_frame.cli.main import main
from tf_frame.cli.trained_input import (
    _read_names,
    input_for_export,
    input_for_files,
)
from tf_frame.errors import DataError
from tf_frame.plugin.data_warnings import different_classes
from tf_frame.runs.export.description_files import write_class_names
from tf_frame.runs.setup.model_dir import INPUT_FILE, write_input_info
from tf_frame.testing.toy import ToyModel, make_setup

CLASSES = InputInfo(num_examples={Mode.TRAIN: 4}, num_classes=2, class_names=("cat", "dog"))

PLUGIN = '''
import dataclasses
import os

from tf_frame import InputInfo, option
from tf_frame.errors import DataError
from tf_frame.testing.toy import ToyInput


class Kept(ToyInput):
    """The toy input, with a folder that has to exist, and files of three numbers."""

    @dataclasses.dataclass(frozen=True)
    class Params(ToyInput.Params):
        data_dir: str = option("", "folder")

    def __init__(self, *, params, info=None):
        super().__init__(params=params)
        if info is None and not os.path.isdir(params.data_dir):
            raise DataError(f"the folder {params.data_dir} does not exist.")

    @classmethod
    def without_data(cls, *, params, info):
        return cls(params=params, info=info)

    def serving_features(self):
        import tensorflow as tf

        return tf.TensorSpec([None, 3], tf.float32)

    def prediction_dataset(self, paths, context):
        import tensorflow as tf

        def row(path):
            numbers = tf.strings.to_number(tf.strings.split(tf.io.read_file(path), ","))
            return {"name": path, "x": tf.ensure_shape(numbers, [3])}

        return tf.data.Dataset.from_tensor_slices(list(paths)).map(row).batch(context.batch_size)


class Linear:
    """The toy model, for features with a name."""

    from tf_frame.testing.toy import ToyModel

    Params = ToyModel.Params
    default_input = "kept"

    def __init__(self, *, params, info):
        self.model = self.ToyModel(params=params, info=info)

    def graph_hook(self):
        pass

    def build(self, features, labels, mode):
        x = features["x"] if isinstance(features, dict) else features
        return self.model.build(x, labels, mode)


class Greedy(Kept):
    """Nothing works without the data."""

    @classmethod
    def without_data(cls, *, params, info):
        return None
'''


@pytest.fixture
def trained(tmp_path, monkeypatch):
    """Trains a step on a folder, which is then removed; returns the folder of the run."""
    classes = {"inputs": "Kept Greedy", "models": "Linear"}
    install_source(monkeypatch, tmp_path, "kept-test", PLUGIN, **classes)

    def train(source="kept"):
        (tmp_path / "data").mkdir()
        words = ["--plugin", "linear", "--input", source, "--input.data_dir", "data"]
        assert main(["run", *words, "--model_dir", "run", "--max_steps", "1"]) == 0
        (tmp_path / "data").rmdir()
        return tmp_path / "run"

    return train


def test_files_are_predicted_and_models_exported_without_the_data(trained, tmp_path, tf_frame):
    folder = trained()
    (tmp_path / "a.txt").write_text("1,2,3")
    words = ("--input", tmp_path / "a.txt", "--output", "out", "--format", "csv")
    assert tf_frame("predict", folder, *words)[0] == 0
    assert len((tmp_path / "out" / "predictions.csv").read_text().splitlines()) == 2
    code, out, _ = tf_frame("export", folder, "--format", "frozen_graph")
    assert code == 0
    assert "note: exporting without evaluation data: the folder data does not exist." in out
    assert "loaded again, on random data" in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["evaluate", "run"], "an evaluation needs the data, labels included: the folder data"),
        (["predict", "run", "--output", "out"], "no evaluation split to predict on; name files: "),
    ],
)
def test_what_needs_the_data_says_so(trained, tf_frame, words, message):
    trained()
    code, _, err = tf_frame(*words)
    assert code == 2
    assert "the folder data does not exist" in err and message in err


def test_an_input_without_the_method_needs_its_data_as_before(trained, tmp_path, tf_frame):
    folder = trained("greedy")
    (tmp_path / "a.txt").write_text("1,2,3")
    words = [("predict", folder, "--input", "a.txt", "--output", "out")]
    words.append(("export", folder, "--format", "tflite"))
    for command_words in words:
        code, _, err = tf_frame(*command_words)
        assert (code, "the folder data does not exist" in err) == (2, True)


@pytest.mark.slow
def test_a_folder_of_an_earlier_version_needs_its_data(trained, tf_frame, tmp_path):
    folder = trained()
    (folder / INPUT_FILE).unlink()
    assert tf_frame("export", folder, "--format", "tflite")[0] == 2
    (tmp_path / "data").mkdir()
    code, out, _ = tf_frame("export", folder, "--format", "frozen_graph")
    assert (code, "on a batch of the evaluation data" in out) == (0, True)


def test_a_damaged_record_is_named(trained, tf_frame):
    folder = trained()
    (folder / INPUT_FILE).write_text("{")
    code, _, err = tf_frame("export", folder, "--format", "tflite")
    assert code == 2
    assert f"{INPUT_FILE} is damaged" in err and "remove the f" in err


def test_evaluate_warns_of_other_classes_or_refuses_them(trained, tf_frame, tmp_path):
    folder = trained()
    (tmp_path / "data").mkdir()
    write_input_info(str(folder), "kept", InputInfo(num_classes=3))
    code, out, _ = tf_frame("evaluate", folder)
    assert code == 0
    assert "warning: the data has None classes, the training had 3" in out
    code, _, err = tf_frame("evaluate", folder, "--strict")
    assert code == 2
    assert "the data has None classes, the training had 3 (an error because of --strict)" in err


class Animals(Input):
    """Has the classes of an option; `info` is that of the training without data."""

    @dataclasses.dataclass(frozen=True)
    class Params:
        class_names: tuple[str, ...] = option(("cat", "dog"), "classes")

    def __init__(self, *, params, info=None):
        super().__init__(params=params)
        names = params.class_names
        self.trained = info
        self._info = info or InputInfo(num_classes=len(names), class_names=names)

    @classmethod
    def without_data(cls, *, params, info):
        return cls(params=params, info=info)

    @property
    def info(self):
        return self._info


def animals(folder, *names):
    setup = make_setup(ToyModel, Animals, str(folder), values={"input.class_names": names})
    write_input_info(str(folder), setup.input.name, CLASSES)
    return setup


def test_files_get_the_classes_of_the_training(tmp_path):
    assert input_for_files(animals(tmp_path, "ant", "cat", "dog")).info == CLASSES


def test_an_export_takes_data_of_the_same_classes_only(tmp_path):
    source, no_data = input_for_export(animals(tmp_path, "cat", "dog"))
    assert (source.trained, no_data) == (None, "")
    source, no_data = input_for_export(animals(tmp_path, "dog", "cat"))
    assert source.trained == CLASSES
    assert no_data == "class 0 of the data is 'dog', the training had 'cat'"


def test_other_classes_are_an_error_for_an_input_that_needs_its_data(tmp_path, monkeypatch):
    setup = animals(tmp_path, "ant", "cat", "dog")
    monkeypatch.setattr(Animals, "without_data", lambda **_: None)
    with pytest.raises(DataError, match="the data has 3 classes, the training had 2"):
        input_for_export(setup)


def test_the_record_of_another_input_does_not_count(tmp_path):
    setup = animals(tmp_path, "ant", "cat", "dog")
    write_input_info(str(tmp_path), "other", CLASSES)
    assert input_for_files(setup).info.class_names == ("ant", "cat", "dog")


def test_unnamed_classes_do_not_differ():
    assert not different_classes(InputInfo(num_classes=2), CLASSES)


@pytest.mark.slow
@COUNTS
def test_names_of_an_export_are_those_of_class_names(tmp_path, count):
    def check(names, numbered):
        info = InputInfo(num_classes=len(names), class_names=tuple(names))
        path = write_class_names(SimpleNamespace(model=SimpleNamespace(info=info)), str(tmp_path))
        if numbered:
            text = "".join(f"{label}: {name}\r\n" for label, name in enumerate(names))
            (tmp_path / "class_names.txt").write_bytes(text.encode("utf-16"))
        assert _read_names(path) == tuple(names)

    # A line holds no line end, and its reader leaves out blanks around it.
    names = TEXTS.filter(lambda name: not set(name) & set("\r\n\0"))
    names = names.map(lambda name: name.strip(" \t")).filter(lambda name: name and name[0] != "0")
    check_many(
        check,
        count,
        names=strategies.lists(names, min_size=1, max_size=4),
        numbered=strategies.booleans(),
    )

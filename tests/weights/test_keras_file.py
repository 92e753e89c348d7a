"""Files of Keras, and other HDF5 files, without Keras."""

import io
import zipfile

import h5py
import numpy as np
import pytest

from tf_frame.errors import DataError
from tf_frame.weights import keras_file
from tf_frame.weights.keras_file import read_keras


def write(path, datasets, **attributes):
    with h5py.File(path, "w") as file:
        for name, value in datasets.items():
            file[name] = value
        for name, value in attributes.items():
            group, _, attribute = name.rpartition(":")
            file[group or "/"].attrs[attribute] = value
    return str(path)


@pytest.fixture
def taken(monkeypatch):
    """The arguments that networks would get."""
    monkeypatch.setattr(keras_file, "_of_network", lambda path, values: values)


def test_names_of_variables_are_taken_as_they_are(tmp_path):
    path = write(tmp_path / "a.h5", {"net/conv/weights": np.ones([2]), "net/step": np.int64(3)})
    assert {name: value.tolist() for name, value in read_keras(path)} == {
        "net/conv/weights": [1, 1],
        "net/step": 3,
    }


@pytest.mark.usefixtures("taken")
@pytest.mark.parametrize("top", ["", "model_weights/"])
def test_models_and_weights_as_keras_2_wrote_them(tmp_path, top):
    names = {
        "conv1/conv1/kernel:0": "conv1/kernel",
        "block1_conv1/block1_conv1_W_1:0": "block1_conv1/kernel",
        "block1_conv1/block1_conv1_b_1:0": "block1_conv1/bias",
        "Conv/BatchNorm/Conv/BatchNorm/gamma:0": "Conv/BatchNorm/gamma",
        "mobilenet/conv1_bn/moving_mean:0": "conv1_bn/moving_mean",
    }
    datasets = {f"{top}{name}": np.zeros(1) for name in names}
    datasets["optimizer_weights/adam/m:0"] = np.zeros(1)
    path = write(tmp_path / "a.h5", datasets, **{f"{top[:-1]}:layer_names": ["conv1"]})
    assert sorted(name for name, _ in read_keras(path)) == sorted(names.values())


@pytest.mark.usefixtures("taken")
def test_weights_as_keras_3_writes_them(tmp_path):
    datasets = {f"layers/batch_normalization_1/vars/{n}": np.full(1, n) for n in range(3)}
    datasets |= {"layers/conv2d/vars/0": np.full(1, 5), "optimizer/vars/0": np.zeros(1)}
    path = tmp_path / "a.weights.h5"
    write(path, datasets, **{"layers/conv2d/vars:name": "first"})
    expected = {"first/kernel": 5}
    norm = ("beta", "moving_mean", "moving_variance")  # Three values: no scale.
    expected |= {f"batch_normalization_1/{name}": n for n, name in enumerate(norm)}
    assert {name: value.item() for name, value in read_keras(str(path))} == expected
    with zipfile.ZipFile(tmp_path / "a.keras", "w") as archive:
        archive.write(path, "model.weights.h5")
    assert len(list(read_keras(str(tmp_path / "a.keras")))) == len(expected)


def test_layers_that_no_network_has(tmp_path):
    datasets = {f"layer_{n}/layer_{n}/kernel": np.zeros(1) for n in range(5)}
    path = write(tmp_path / "a.h5", datasets, **{":layer_names": ["layer_0"]})
    message = "layers of this file of Keras: layer_0/kernel, layer_1/kernel, .* and 2 more; docs"
    with pytest.raises(DataError, match=message) as error:
        list(read_keras(path))
    assert "\n" not in str(error.value)


def empty_archive():
    file = io.BytesIO()
    zipfile.ZipFile(file, "w").close()
    return file.getvalue()


@pytest.mark.parametrize("content", [b"", b"no file of Keras", empty_archive()])
@pytest.mark.parametrize("name", ["a.h5", "a.keras"])
def test_damaged_files_are_named(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match="is no file of Keras") as error:
        list(read_keras(str(tmp_path / name)))
    assert str(tmp_path / name) in str(error.value)

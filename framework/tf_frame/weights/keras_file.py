"""Reads files of Keras without Keras: `.h5`, `.weights.h5`, and `.keras`, which has the latter.

    model_weights/conv1/conv1/kernel       a model or weights in .h5; weights have no model_weights/
    block1_conv1/block1_conv1_W_1:0        the same, as written by Keras 1
    layers/conv2d_3/vars/0                 .weights.h5, with the attribute `name` of `vars`

A network plugin knows the layers of Keras that compute the same (`Network.from_keras`). Any other
HDF5 file has the names of variables: `MobilenetV1/Conv2d_0/weights`.
"""

from __future__ import annotations

import contextlib
import io
import zipfile
from collections.abc import Iterator, Mapping
from typing import Any

import h5py

from tf_frame.errors import DataError
from tf_frame.plugin.find import OK, find_plugins
from tf_frame.plugin.imports import BrokenPluginError
from tf_frame.plugin.kinds import NETWORK
from tf_frame.plugin.load import load_plugin_info
from tf_frame.text import short, short_word

_SHOWN = 3
_VARS = "vars"
_MODEL = "model_weights/"
# Of a batch norm and of other layers, in the order of Keras's layers; without a scale the first is
# missing.
_NORM = ("gamma", "beta", "moving_mean", "moving_variance")
_LAYER = ("kernel", "bias")
_KERAS_1 = {"W": "kernel", "W_1": "kernel", "b": "bias", "b_1": "bias"}


def read_keras(path: str) -> Iterator[tuple[str, Any]]:
    """Yields name and array of each variable.

    Raises:
      DataError: the file cannot be read, or no network plugin knows its layers.
    """
    try:
        with contextlib.ExitStack() as stack:
            file = stack.enter_context(h5py.File(_opened(path, stack)))
            datasets = _datasets(file)
            is_keras = "layer_names" in (file.get("model_weights") or file).attrs
            is_keras |= any(name.split("/")[-2:-1] == [_VARS] for name in datasets)
            values = {name: dataset[()] for name, dataset in datasets.items()}
            if is_keras:
                names = {name: _layer_and_weight(name, file) for name in values}
                values = {names[name]: value for name, value in values.items()}
    except (OSError, KeyError, zipfile.BadZipFile) as error:
        raise DataError(f"{short(path)} is no file of Keras: {short_word(error)}") from None
    yield from (_of_network(path, values) if is_keras else values).items()


def _opened(path: str, stack: contextlib.ExitStack) -> Any:
    if not zipfile.is_zipfile(path):
        return path
    archive = stack.enter_context(zipfile.ZipFile(path))
    return io.BytesIO(archive.read("model.weights.h5"))


def _datasets(file: Any) -> dict[str, Any]:
    """Returns path -> dataset; without the state of an optimizer."""
    found: dict[str, Any] = {}

    def visit(name: str, item: Any) -> None:
        if isinstance(item, h5py.Dataset) and not name.startswith("optimizer"):
            found[name] = item

    file.visititems(visit)
    return found


def _layer_and_weight(name: str, file: Any) -> str:
    """Returns `conv1/kernel` for the path of a dataset."""
    *folders, last = name.removeprefix(_MODEL).partition(":")[0].split("/")
    if folders[-1:] == [_VARS]:
        group = file[name.rpartition("/")[0]]
        weights = _NORM if "batch_normalization" in folders[-2] else _LAYER
        missing = len(_NORM) - len(group) if weights is _NORM else 0
        return f"{group.attrs.get('name', folders[-2])}/{weights[int(last) + missing]}"
    half = len(folders) // 2
    # A layer within a model has the name of the model before its own.
    layer = "/".join(folders[half:]) if folders[:half] == folders[half:] else folders[-1]
    last = last.removeprefix(f"{layer}_")
    return f"{layer}/{_KERAS_1.get(last, last)}"


def _of_network(path: str, values: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns the variables of the network plugin that knows the layers of a file."""
    for info in find_plugins(kind=NETWORK):
        if info.kind == NETWORK and info.state == OK:
            with contextlib.suppress(BrokenPluginError):
                cls = load_plugin_info(info).cls
                variables: Mapping[str, Any] = cls(params=cls.Params()).from_keras(values)
                if variables:
                    return variables
    shown = ", ".join(list(values)[:_SHOWN])
    raise DataError(
        f"{short(path)}: no installed network has the layers of this file of Keras: {shown} and "
        f"{max(len(values) - _SHOWN, 0)} more; docs/weights/keras.md has the networks that can be "
        "read"
    )

"""The modules of TensorFlow 1 as objects: the names of the table, then those of TensorFlow 2.

    tf = view("tf")
    tf.contrib.rnn.LSTMCell  # a row of the table
    tf.matmul                # tensorflow.compat.v1.matmul

A name is looked up once; from then on it is an attribute like any other.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import pkgutil
import types
from collections.abc import Callable
from typing import Any

from tf_frame_legacy.names import ANY, NOT_OFFERED, canonical, children, table
from tf_frame_legacy.names.keras_part import COMPLETED, KERAS, KERAS_PART, OF_KERAS_3
from tf_frame_legacy.program.not_offered import NotOfferedError, explain

ROOT = "tf"
_V1 = "tensorflow.compat.v1"
# TensorFlow 2 answers these names with an error only.
_EMPTY = {"tf.layers", "tf.nn.rnn_cell"}
# The private modules, which programs import as if they were public.
_PRIVATE_KERAS = "tf.python.keras"
# The public names of Keras 3 for TensorFlow.
_KERAS_3 = "keras._tf_keras.keras"
# They make graphs, and do not mix with layers of Keras 2.
_MODELS_OF_KERAS_3 = ("keras.applications.", "keras.layers.", "keras.optimizers.")
# The package Keras 2, and its modules whose names are those of the package around them today.
OWN_KERAS = "keras"
_OWN_MODULES = {
    "keras.backend": "tensorflow_backend",
    "keras.engine": "base_layer input_layer network sequential topology training",
    "keras.layers": "advanced_activations convolutional convolutional_recurrent core embeddings "
    "local merge noise normalization pooling recurrent wrappers",
    "keras.utils": "training_utils",
}
_VERSION = "1.15.5"
_VERSIONS = {"tf.__version__", "tf.VERSION", "tf.version.VERSION"}


# The names of a module that were used so far.
_known: Callable[[types.ModuleType], dict[str, Any]] = vars(types.ModuleType)["__dict__"].__get__


class View(types.ModuleType):
    """A module as an old program knows it.

    Args:
      path: its name in the table: `tf.contrib.rnn`.
      real: the module of this name today; None: there is none.
    """

    _path: str
    _real: types.ModuleType | None

    def __init__(self, path: str, real: types.ModuleType | None) -> None:
        super().__init__(_spelled(path), getattr(real, "__doc__", None))
        self.__path__: list[str] = []  # Makes it a package for `from ... import`.
        _known(self).update(_path=path, _real=real)

    def __getattr__(self, name: str) -> Any:
        if name == "__all__":
            return [name for name in dir(self) if not name.startswith("_")]
        if name.startswith("__") and name not in ("__version__", "__git_version__"):
            return getattr(self._real, name)
        value = _known(self)[name] = find(self._path, name, self._real)
        return value

    @property
    def __dict__(self) -> dict[str, Any]:  # type: ignore[override]
        """All names with their values, such as for a class by its name."""
        for name in dir(self):
            with contextlib.suppress(AttributeError, ImportError):
                getattr(self, name)
        return _known(self)

    def __dir__(self) -> list[str]:
        names = children().get(self._path, set()) | set(dir(self._real) if self._real else ())
        return sorted(name for name in names if _is_offered(f"{self._path}.{name}"))


@functools.cache
def view(path: str) -> View:
    """Returns the module with this name of the table; a new one every time would lose changes."""
    return View(path, _real_module(path))


def find(path: str, name: str, real: types.ModuleType | None) -> Any:
    """Returns what a name of a module stands for.

    Raises:
      NotOfferedError: nothing does.
    """
    full_name = canonical(f"{path}.{name}")
    row = table().get(full_name)
    if f"{path}.".startswith(f"{_PRIVATE_KERAS}."):
        public = view(KERAS + path.removeprefix(_PRIVATE_KERAS))
        if public._real is not None:
            value = getattr(public, name, None)
            if value is not None and not isinstance(value, types.ModuleType):
                return value
        if row is not None and row.target.startswith(_MODELS_OF_KERAS_3):
            raise NotOfferedError(explain(f"{public._path}.{name}", None))
    if row is not None and path.startswith(KERAS) and hasattr(real, name):
        return getattr(real, name)  # The rows are for programs with Keras 3.
    if row is not None and row.kind != NOT_OFFERED:
        return load(row.target)
    if full_name in _VERSIONS:
        return _VERSION
    if path.split(".")[0] == OWN_KERAS:
        return _find_in_own_keras(path, name)
    if row is None:
        if full_name == ROOT or full_name in children() or full_name in COMPLETED:
            return view(full_name)
        with contextlib.suppress(AttributeError, ModuleNotFoundError):
            return _attribute(real, name) if real else _private_module(full_name)
    raise NotOfferedError(explain(full_name, row or table().get(f"{path}.{ANY}")))


def _find_in_own_keras(path: str, name: str) -> Any:
    """Returns a name of the package Keras 2: of tf.keras, or of a module that is private there.

    Raises:
      NotOfferedError: neither has it.
    """
    full_name = f"{path}.{name}"
    with contextlib.suppress(AttributeError):
        value = getattr(view(f"tf.{path}") if path == OWN_KERAS else _own_real(path), name)
        return view(full_name) if isinstance(value, types.ModuleType) else value
    is_module = name in _OWN_MODULES.get(path, "").split() or full_name in _OWN_MODULES
    if is_module or _own_real(full_name) is not None:
        return view(full_name)
    around, _, last = path.rpartition(".")
    if path == "keras.engine":
        layers = view("keras.layers")
        return getattr(layers if hasattr(layers, name) else view("keras.models"), name)
    if last in _OWN_MODULES.get(around, "").split():
        return getattr(view(around), name)
    raise NotOfferedError(explain(f"tf.{full_name}", None))


def _own_real(path: str) -> types.ModuleType | None:
    """Returns the module of today with the names of a module of Keras 2."""
    if path == "keras.engine":
        return None
    real = view(f"tf.{path}")._real
    package = "tf_keras.src" if _keras().__name__ != KERAS_PART else KERAS_PART
    if real is None:
        with contextlib.suppress(ModuleNotFoundError):
            return importlib.import_module(package + path.removeprefix(OWN_KERAS))
    return real


def load(target: str) -> Any:
    """Returns the object with a full name; its module is imported."""
    parent, _, name = target.rpartition(".")
    try:
        return getattr(pkgutil.resolve_name(parent), name)
    except AttributeError:  # A module that nothing has imported.
        return importlib.import_module(target)


def _attribute(real: types.ModuleType, name: str) -> Any:
    try:
        return getattr(real, name)
    except AttributeError:
        # A private module that nothing has imported yet is no attribute.
        base = "tensorflow" if real.__name__.endswith("compat.v1") else real.__name__
        if base == KERAS_PART and name in OF_KERAS_3:
            base = _KERAS_3
        return importlib.import_module(f"{base}.{name}")


def _is_offered(full_name: str) -> bool:
    row = table().get(full_name)
    return row is None or row.kind != NOT_OFFERED


def _private_module(full_name: str) -> types.ModuleType:
    return importlib.import_module(_spelled(full_name))


def _real_module(path: str) -> types.ModuleType | None:
    if path == ROOT:
        return importlib.import_module(_V1)
    if path in _EMPTY:
        return None
    if path == KERAS:
        return _keras()
    if path.split(".")[0] == OWN_KERAS:
        return _own_real(path)
    if path in COMPLETED and _keras().__name__ == KERAS_PART:
        return importlib.import_module(COMPLETED[path])
    if f"{path}.".startswith(f"{_PRIVATE_KERAS}.") and _keras().__name__ != KERAS_PART:
        with contextlib.suppress(ImportError):
            return importlib.import_module("tf_keras.src" + path.removeprefix(_PRIVATE_KERAS))
    parent, _, name = path.rpartition(".")
    with contextlib.suppress(ImportError, AttributeError):
        if not parent:
            return importlib.import_module(path)
        above = view(parent)._real
        real = _attribute(above, name) if above else None
        return real if isinstance(real, types.ModuleType) else None
    return None


def _keras() -> types.ModuleType:
    """Returns Keras 2, which graphs need; the part of it in TensorFlow unless it is installed."""
    try:
        keras = importlib.import_module("tf_keras.api._v1.keras")
    except ImportError:
        keras = importlib.import_module("tf_frame_legacy.keras_part").completed()
    # Its own functions write the version into files.
    vars(keras).setdefault("__version__", "2.2.4-tf")
    return keras


def _spelled(path: str) -> str:
    return "tensorflow" + path.removeprefix(ROOT) if path.split(".")[0] == ROOT else path

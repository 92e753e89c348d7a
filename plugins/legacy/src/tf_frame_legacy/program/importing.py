"""The imports of an old program: its files get the modules of TensorFlow 1, all others do not.

Modules of the program are executed with built-ins of their own, whose `__import__` answers
`tensorflow` by a view. So no other import changes, and nothing is slower.
"""

from __future__ import annotations

import builtins
import contextlib
import functools
import importlib
import logging
import sys
import types
import warnings
from collections.abc import Iterator, Mapping, Sequence
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from typing import Any

from tf_frame.tensorflow_log import quiet_import
from tf_frame_legacy.names import canonical, table
from tf_frame_legacy.names.families.old_packages import (
    LOST_MODULES,
    OLD_PACKAGES,
    PYTHON_2_MODULES,
    WITH_METHODS,
)
from tf_frame_legacy.program.not_offered import NotOfferedImportError, explain_missing
from tf_frame_legacy.program.old_packages import restore_methods, sources
from tf_frame_legacy.program.project import Project
from tf_frame_legacy.program.view import OWN_KERAS, ROOT, View, view
from tf_frame_legacy.source.old_packages import PYTHON_2_BUILTINS, RESTORED_BUILTINS

# Whatever is installed under these names, the program was not written for it.
_REPLACED = {"tensorflow", "tf_slim", "tensorflow_estimator"}
# The table has all that programs use of them, or as much as SciPy had of images.
_NEED_NOT_BE_INSTALLED = {*_REPLACED, *LOST_MODULES, "scipy"}
# Built-in names of Python 2.
_PYTHON_2 = {name: getattr(builtins, PYTHON_2_BUILTINS[name]) for name in RESTORED_BUILTINS}


class Imports:
    """The imports of the files of a program.

    Args:
      project: the program.
      old_packages: whether the program sees old versions of NumPy, SciPy, Pillow ... as well.
      resource_variables: whether its variables are resource variables.
    """

    def __init__(
        self, project: Project, *, old_packages: bool = False, resource_variables: bool = False
    ) -> None:
        self.project = project
        self._resource_variables = resource_variables
        names = {**_PYTHON_2, **sources.BUILTINS} if old_packages else {}
        self._is_rewritten = old_packages
        self.builtins = {**vars(builtins), **names, "__import__": self._import}
        self._restored = WITH_METHODS if old_packages else {}
        self._renamed = PYTHON_2_MODULES if old_packages else {}
        self._replaced = _REPLACED | ({*OLD_PACKAGES, OWN_KERAS} if old_packages else set())
        # Most programs bring these modules along, such as `deployment` and `object_detection`.
        self._offered = {name.partition(".")[0] for name in table()} - {ROOT, *OLD_PACKAGES}

    @contextlib.contextmanager
    def installed(self) -> Iterator[None]:
        """Gives the modules of the program, within the block, these imports."""
        finder = _Finder(self)
        sys.meta_path.insert(sys.meta_path.index(PathFinder), finder)
        try:
            yield
        finally:
            sys.meta_path.remove(finder)

    def compiled(self, source: bytes, path: str) -> types.CodeType:
        """Returns the code of a file of the program."""
        text: Any = sources.rewritten(source, path) if self._is_rewritten else source
        return compile(text, path, "exec", dont_inherit=True)

    def start_tensorflow(self) -> None:
        """Imports TensorFlow with the behaviour of TensorFlow 1, unless that has happened."""
        _start_tensorflow(self._resource_variables)

    def _import(
        self,
        name: str,
        globals: Mapping[str, Any] | None = None,
        locals: Mapping[str, Any] | None = None,
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> types.ModuleType:
        root = name.partition(".")[0]
        if level == 0 and root in self._replaced - OLD_PACKAGES:
            self.start_tensorflow()
        if level == 0 and root in self._restored and not _is_starting(root):
            restore_methods(root)
        if level == 0 and root in self._replaced and not self._is_own(root):
            if root not in _NEED_NOT_BE_INSTALLED:
                importlib.import_module(root)
            return _import_view(name, fromlist or ())
        try:
            return builtins.__import__(name, globals, locals, fromlist or (), level)
        except ModuleNotFoundError as error:
            if error.name == name and name in self._renamed and not level:
                return importlib.import_module(self._renamed[name])
            if level or root not in self._offered or not f"{name}.".startswith(f"{error.name}."):
                raise
            return _import_view(name, fromlist or ())

    def _is_own(self, package: str) -> bool:
        """Returns whether the program brings a package along, such as a copy of NetworkX."""
        if package in _REPLACED or package in sys.stdlib_module_names:
            return False
        file = _find_file(package, tuple(sys.path))
        return bool(file) and self.project.contains(file)


@functools.cache
def _find_file(package: str, path: tuple[str, ...]) -> str:
    spec = PathFinder.find_spec(package, path)
    return (spec.origin or "") if spec else ""


class _Finder:
    """Finds modules as Python does; those of the program get a loader with its imports."""

    def __init__(self, imports: Imports) -> None:
        self._imports = imports

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: Any = None
    ) -> ModuleSpec | None:
        spec = PathFinder.find_spec(name, path, target)
        if spec is None or not isinstance(spec.loader, SourceFileLoader):
            return spec
        file = spec.loader.path
        if self._imports.project.contains(file):
            spec.loader = _Loader(self._imports, name, file)
        return spec


class _Loader(SourceFileLoader):
    """Executes a module of the program with the built-ins of the program."""

    def __init__(self, imports: Imports, name: str, path: str) -> None:
        super().__init__(name, path)
        self._imports = imports

    def exec_module(self, module: types.ModuleType) -> None:
        module.__dict__["__builtins__"] = self._imports.builtins
        super().exec_module(module)

    def get_code(self, fullname: str) -> types.CodeType:
        """Returns the code, compiled each time: the folder of the program stays as it is."""
        return self._imports.compiled(self.get_data(self.path), self.path)


@functools.cache
def _start_tensorflow(resource_variables: bool) -> None:
    """Imports TensorFlow, with the behaviour of TensorFlow 1."""
    with quiet_import():
        import tensorflow.compat.v1 as tf
        from absl import logging as absl_logging
        from tensorflow.python.util import deprecation

        from tf_frame_legacy.program.sessions import turn_channels_on_cpu
        from tf_frame_legacy.program.shapes import mix_with_tensors, take_whole_numbers
    # Programs for TensorFlow 1 use little else than deprecated functions.
    deprecation._PRINT_DEPRECATION_WARNINGS = False
    # So are the cells in TensorFlow's own part of Keras, which they stand on.
    warnings.filterwarnings("ignore", category=UserWarning, module=r"tensorflow\.python\.keras")
    tf.disable_v2_behavior()
    turn_channels_on_cpu()
    take_whole_numbers()
    mix_with_tensors()
    if resource_variables:
        tf.enable_resource_variables()
    # The default of TensorFlow 1; `tf.logging.set_verbosity` holds for tf-frame's lines, too.
    tensorflow_log = tf.get_logger()
    tensorflow_log.setLevel(logging.WARNING)
    logging.getLogger("tf_frame").addFilter(lambda record: record.levelno >= tensorflow_log.level)
    # `tf.app.run` of TensorFlow 1 added no handler. Abseil's writes each line once more.
    absl_logging.get_absl_handler().addFilter(
        lambda record: record.name != tensorflow_log.name or not tensorflow_log.handlers
    )


def _is_starting(module: str) -> bool:
    """Returns whether a module is being imported: a copy in the program imports its own parts."""
    spec = getattr(sys.modules.get(module), "__spec__", None)
    return bool(getattr(spec, "_initializing", False))


def _import_view(name: str, names: Sequence[str]) -> types.ModuleType:
    """Returns what `import name` does: the first module, or the last if names follow."""
    root, *parts = canonical(name).split(".")
    module: Any = view(root)
    for part in parts:
        module = _submodule(module, part)
    for member in names:
        if member != "*":
            _member(module, member)
    return module if names else view(root)


def _submodule(module: types.ModuleType, name: str) -> Any:
    """Returns a module of a package, also if the package has something else of its name."""
    if not isinstance(module, View):
        with contextlib.suppress(ModuleNotFoundError):
            return importlib.import_module(f"{module.__name__}.{name}")
    return _member(module, name)


def _member(module: types.ModuleType, name: str) -> Any:
    try:
        return getattr(module, name)
    except AttributeError as error:
        # A module that nothing has imported yet is no attribute; views import theirs themselves.
        if not isinstance(module, View):
            with contextlib.suppress(ModuleNotFoundError):
                return importlib.import_module(f"{module.__name__}.{name}")
        reason = explain_missing(module.__name__, name) or str(error)
        raise NotOfferedImportError(reason, name=module.__name__) from None

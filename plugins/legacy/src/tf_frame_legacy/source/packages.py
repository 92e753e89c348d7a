"""Lists the packages that a program imports, and whether they are installed."""

from __future__ import annotations

import ast
import dataclasses
import sys
from collections.abc import Iterator, Mapping

from tf_frame_legacy.source.installed import is_installed
from tf_frame_legacy.source.lookup import look_up
from tf_frame_legacy.source.old_packages import MODULES, RESTORED
from tf_frame_legacy.source.resolve import Binding, Names

_PIP_NAMES = {
    "absl": "absl-py",
    "bs4": "beautifulsoup4",
    "Crypto": "pycryptodome",
    "cv2": "opencv-python-headless",
    "dateutil": "python-dateutil",
    "google": "protobuf",
    "mpl_toolkits": "matplotlib",
    "PIL": "Pillow",
    "pkg_resources": "setuptools<81",
    "serial": "pyserial",
    "skimage": "scikit-image",
    "sklearn": "scikit-learn",
    "yaml": "PyYAML",
    "zmq": "pyzmq",
}
_PRESENT = (*sys.stdlib_module_names, "tensorflow", "tf_frame", "tf_frame_legacy")


@dataclasses.dataclass(frozen=True)
class Package:
    """A package that a program imports.

    Attributes:
      module: the name in the import.
      pip: the name for pip.
      path: a file that imports the package.
      line: the line of the import.
      is_installed: whether the package is installed here.
    """

    module: str
    pip: str
    path: str
    line: int
    is_installed: bool


def packages(files: Mapping[str, Names]) -> list[Package]:
    """Returns the packages of a program, by name; without those that it can do without.

    Args:
      files: the names of each file.
    """
    found: dict[str, Package] = {}
    for path, names in files.items():
        for binding in _needed(names):
            module = binding.target.partition(".")[0]
            line = binding.statement.lineno
            package = Package(
                module, _PIP_NAMES.get(module, module), path, line, is_installed(module)
            )
            found.setdefault(module, package)
    return sorted(found.values(), key=lambda package: package.module.lower())


def _needed(names: Names) -> Iterator[Binding]:
    for binding in names.bindings:
        root = binding.target.partition(".")[0]
        is_absent = root not in _PRESENT and root not in MODULES
        if binding.alias and not binding.optional and is_absent and look_up(_full(binding)) is None:
            # `scipy.misc` is no reason to install SciPy, which has not its names any more.
            if root != "scipy" or any(_is_missed(name) for name in _names(names, binding)):
                yield binding


def _full(binding: Binding) -> str:
    """Returns the module that a statement imports: `import a.b` binds only `a`."""
    assert binding.alias
    is_plain = isinstance(binding.statement, ast.Import)
    return binding.alias.name if is_plain else binding.target


def _names(names: Names, binding: Binding) -> Iterator[str]:
    for use in names.uses:
        if binding in use.bindings:
            yield from use.names


def _is_missed(name: str) -> bool:
    return name not in RESTORED and name != "scipy.misc"

"""Lists the packages that a program imports, and whether they are installed."""

from __future__ import annotations

import ast
import dataclasses
import sys
from collections.abc import Iterator, Mapping

from tf_frame_legacy.source.bindings import Binding
from tf_frame_legacy.source.installed import is_installed
from tf_frame_legacy.source.lookup import look_up
from tf_frame_legacy.source.old_packages import MODULES, replacement
from tf_frame_legacy.source.resolve import Names

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
# Packages with one name for both; for a package that is in neither list, pip's name is not known.
_SAME = (
    "contextlib2 cython easydict h5py imageio keras lxml matplotlib mock networkx numpy pandas "
    "psutil pycocotools requests scipy shapely six tqdm"
)
_PRESENT = (*sys.stdlib_module_names, "tensorflow", "tf_frame", "tf_frame_legacy")


@dataclasses.dataclass(frozen=True)
class Package:
    """A package that a program imports.

    Attributes:
      module: the name in the import.
      pip: the name for pip; empty if not known.
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
            same = module if module.lower() in _SAME.split() else ""
            pip, line = _PIP_NAMES.get(module, same), binding.statement.lineno
            found.setdefault(module, Package(module, pip, path, line, is_installed(module)))
    return sorted(found.values(), key=lambda package: package.module.lower())


def _needed(names: Names) -> Iterator[Binding]:
    for binding in names.bindings:
        root = binding.target.partition(".")[0]
        is_import = binding.alias is not None and not binding.optional
        is_other = root not in _PRESENT and root not in MODULES
        if is_import and is_other and look_up(_full(binding)) is None:
            # `scipy.misc` is no reason to install SciPy, which has not its names any more.
            if root == "scipy" and all(map(_is_restored, _names(names, binding))):
                continue
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


def _is_restored(name: str) -> bool:
    return bool(replacement(name)) or name == "scipy.misc"

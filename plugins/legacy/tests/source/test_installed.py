import sys

import pytest

from tf_frame_legacy.source import installed


@pytest.fixture
def package(tmp_path, monkeypatch):
    files = {
        "__init__.py": "from .functions import run as start\nfrom . import lazy\nVERSION: str = ''",
        "functions.py": "import os\nfrom .star import *\ntry:\n  def run(): pass\nexcept E: pass\n"
        "first, second = 1, 2\nfrom old_program_package.lazy import sub as other",
        "star.py": "def of_star(): pass\n_hidden = 1",
        "lazy.py": "def __getattr__(name): pass",
        "sub_pb2.py": "",
        "types.pyi": "class Stub: ...",
        "sub/deep.py": "class Deep: pass",
    }
    for path, text in files.items():
        file = tmp_path / "old_program_package" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    for function in (installed._file, installed._names, installed.is_installed):
        function.cache_clear()
    yield "old_program_package"
    assert "old_program_package" not in sys.modules


@pytest.mark.parametrize(
    "name",
    [
        *("start", "start.attribute", "VERSION", "lazy.anything", "functions.os", "functions.run"),
        *("functions.of_star", "functions.second", "functions.other.anything", "sub_pb2.Message"),
        *("types.Stub", "sub.deep.Deep.method", "__version__", "sub"),
    ],
)
def test_names_of_a_package_are_found_without_importing_it(package, name):
    assert installed.has(f"{package}.{name}")


@pytest.mark.parametrize("name", ["absent", "functions.absent", "sub.absent", "functions.run2.x"])
def test_other_names_are_not(package, name):
    assert not installed.has(f"{package}.{name}")


def test_tensorflow():
    assert installed.has("tensorflow._api.v2.compat.v1.train.Saver.save")
    assert installed.has("tensorflow.python.ops.math_ops.reduce_sum")
    assert not installed.has("tensorflow._api.v2.compat.v1.contrib")
    assert installed.split_module("tensorflow.python.ops.math_ops.add") == (
        "tensorflow.python.ops.math_ops",
        ["add"],
    )
    assert not installed.has("no_such_package.name")

"""The files of modules, found without an import."""

import importlib
import sys

import pytest

from tf_frame.plugin.modules import find_missing_part, find_root, target_module


@pytest.fixture
def tree(site):
    """A package with a module, a namespace with a package, and a module: all imports fail."""
    for path in ("fake_tree/__init__.py", "fake_tree/part.py", "fake_space/pack/__init__.py"):
        (site / path).parent.mkdir(parents=True, exist_ok=True)
        (site / path).write_text("raise SystemExit('imported')")
    (site / "fake_single.py").write_text("raise SystemExit('imported')")
    importlib.invalidate_caches()
    return site


@pytest.mark.parametrize(
    ("module", "missing"),
    [
        ("fake_tree", ""),
        ("fake_tree.part", ""),
        ("fake_space.pack", ""),
        ("fake_single", ""),
        ("importlib.metadata", ""),
        ("fake_gone.part", "fake_gone"),
        ("fake_tree.gone", "fake_tree.gone"),
        ("fake_single.gone", "fake_single.gone"),
        ("fake_tree.gone.deeper", "fake_tree.gone"),
    ],
)
def test_the_first_missing_part_is_named(tree, module, missing):
    assert find_missing_part(module) == missing
    assert "fake_tree" not in sys.modules


@pytest.mark.parametrize(
    ("module", "root"),
    [
        ("fake_tree.part", "fake_tree"),
        ("fake_space.pack", "fake_space/pack"),
        ("fake_space.pack.part", "fake_space/pack"),
        ("fake_single", "fake_single.py"),
        ("fake_gone", None),
    ],
)
def test_the_root_is_the_first_package_or_the_file(tree, module, root):
    assert find_root(module) == ((root, str(tree / root)) if root else ("", ""))


@pytest.mark.parametrize(
    ("target", "module"),
    [("a.b:C", "a.b"), ("a : C.D [x]", "a"), ("a", ""), ("", ""), (":C", ""), ("a b:C", "")],
)
def test_the_module_of_a_target(target, module):
    assert target_module(target) == module

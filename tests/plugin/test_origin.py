"""Plugins of objects and of lines of code."""

import importlib
import os
import sys
from pathlib import Path

import pytest

from tf_frame.plugin.configured import guard
from tf_frame.plugin.kinds import MODEL, OPTIMIZER
from tf_frame.plugin.load import load_plugin
from tf_frame.plugin.origin import (
    describe_method,
    describe_owner,
    find_method,
    find_owner,
    find_package,
    find_plugin_at_line,
    owner_suffix,
)
from tf_frame.testing.distributions import write_distribution

NET = """
from tf_frame import Model
class Base(Model):
    def build(self, features, labels, mode):
        pass
class {}(Base):
    pass
"""


@pytest.fixture
def package(site):
    """A package of two modules with two models, and a single module."""
    folder = site / "fake_pack" / "deep"
    folder.mkdir(parents=True)
    for path in (folder.parent, folder):
        (path / "__init__.py").write_text("")
    (folder / "one.py").write_text(NET.format("One"))
    (folder / "two.py").write_text(
        "from fake_pack.deep.one import Base\nclass Two(Base):\n    pass"
    )
    (site / "fake_single.py").write_text("")
    models = {f"tf_frame.models: {n}": f"fake_pack.deep.{n}:{n.title()}" for n in ("one", "two")}
    write_distribution(site, "fake-pack", models, version="2.0")
    importlib.invalidate_caches()
    return site


def test_an_object_of_a_plugin_is_named_by_kind_name_and_package(package):
    cls = load_plugin(MODEL, "one").cls
    model = cls(params=None, info=None)
    assert describe_owner(model) == "the model 'one' of fake-pack 2.0"
    assert describe_method(model, "build") == "build() of the model 'one' of fake-pack 2.0"
    assert owner_suffix(model) == " of the model 'one' of fake-pack 2.0"


def test_an_object_that_no_package_registers_is_named_by_its_class_or_name():
    names = describe_owner(3), describe_method(3, "build"), owner_suffix(3)
    assert names == ("int", "int.build()", "")
    assert (describe_owner(len), describe_method(len, "__call__")) == ("len", "len()")


def test_an_object_that_a_plugin_made_belongs_to_the_plugin(package):
    plugin = load_plugin(MODEL, "one").cls(params=None, info=None)
    assert find_owner(guard(Path(), find_owner(plugin))).name == "one"
    assert guard(3, find_owner(plugin)) == 3
    assert find_owner(guard(Path(), load_plugin(MODEL, "two").info)).name == "two"


def test_a_file_belongs_to_the_package_of_its_plugin(package):
    load_plugin(MODEL, "one")
    info, short = find_package(str(package / "fake_pack" / "helpers.py"))
    assert (info.distribution, short) == ("fake-pack", os.path.join("fake_pack", "helpers.py"))
    assert find_package(str(package / "fake_single.py")) is None
    assert find_package(os.__file__) is None


def test_files_of_tf_frame_belong_to_no_plugin():
    load_plugin(OPTIMIZER, "adam")
    assert find_package(sys.modules["tf_frame.optimizers.built_in"].__file__) is None


def test_a_line_in_a_class_belongs_to_the_plugin_of_the_class(package):
    first, second = (load_plugin(MODEL, name).info for name in ("one", "two"))
    path = str(package / "fake_pack" / "deep" / "one.py")
    assert find_plugin_at_line(path, 6) == first
    assert find_plugin_at_line(path, 2) is None
    for info in (first, second):  # In a base of both.
        assert find_plugin_at_line(path, 4, expected=info) == info


def test_the_place_of_a_method_is_its_definition_or_else_the_class(package):
    info = load_plugin(MODEL, "one").info
    path = str(package / "fake_pack" / "deep" / "one.py")
    assert find_method(info, "build") == (path, 4)
    assert find_method(info, "no_such_method") == (path, 6)

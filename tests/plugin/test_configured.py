"""Plugins with parameters, and errors that name them."""

import copy
import dataclasses
import functools
import inspect

import pytest

from tf_frame import Input
from tf_frame.plugin.configured import ConfiguredPlugin, guard
from tf_frame.plugin.fault import find_fault
from tf_frame.plugin.find import PluginInfo
from tf_frame.plugin.kinds import HOOK, INPUT
from tf_frame.plugin.load import LoadedPlugin
from tf_frame.plugin.origin import find_owner


class Points(Input):
    @property
    def info(self):
        return self.params["info"]

    @functools.cached_property
    def feature_values(self):
        return self.params["values"]

    def serving_features(self):
        raise KeyboardInterrupt

    @staticmethod
    def notes():
        return ("a note",)

    def dataset(self, mode, context):
        return self.info, mode

    @classmethod
    def without_data(cls, *, params, info):
        return cls(params=params) if info else None


def configured(cls, params=None, kind=INPUT):
    info = PluginInfo(kind, "points", "points:Points", "my-points", "1.0")
    return ConfiguredPlugin("points", LoadedPlugin(info, cls), params)


def called(function):
    """Returns the plugin method that an error names."""
    with pytest.raises(BaseException) as caught:
        function()
    fault = find_fault(caught.value)
    return fault and fault.headline.partition(" of ")[0]


def test_a_plugin_behaves_as_without_the_gate():
    plugin = configured(Points, {"info": 3, "values": 4}).make()
    assert (type(plugin).__name__, type(plugin).__module__) == ("Points", __name__)
    assert isinstance(plugin, Points)
    assert find_owner(plugin).name == "points"
    assert (plugin.dataset("a", None), plugin.feature_values) == ((3, "a"), 4)
    assert plugin.notes() == ("a note",)
    assert find_owner(copy.copy(plugin)) == find_owner(plugin)
    assert str(inspect.signature(plugin.dataset)) == "(mode, context)"
    # Callers ask whether a class defines a method itself.
    assert type(plugin).raw_serving is Input.raw_serving


def test_a_method_of_the_class_may_be_replaced(monkeypatch):
    plugin = configured(Points, {}).make()
    monkeypatch.setattr(Points, "dataset", lambda self, mode: mode)
    assert plugin.dataset(5) == 5


def test_errors_of_contract_methods_of_any_form_name_the_method():
    plugin = configured(Points, {}).make()
    assert called(lambda: plugin.info) == "info()"
    assert called(lambda: plugin.feature_values) == "feature_values()"
    assert called(plugin.dataset) == "dataset()"
    # The outermost method, where a plugin calls its own.
    assert called(lambda: plugin.dataset("a", None)) == "dataset()"
    with pytest.raises(KeyboardInterrupt) as stopped:
        plugin.serving_features()
    assert not vars(stopped.value)


def test_errors_of_constructors_name_the_constructor():
    assert called(lambda: configured(Points).make(no_such=3)) == "__init__()"
    plugin = configured(Points, {}).make_without_data("info")
    assert called(lambda: plugin.info) == "info()"
    assert configured(Points, {}).make_without_data(None) is None
    assert configured(object).make_without_data("info") is None


@dataclasses.dataclass(frozen=True)
class Frozen:
    value: int = 0

    def begin(self):
        return {}[self.value]


class Slotted:
    __slots__ = ()

    def begin(self):
        raise KeyError


class Registered:
    def __init_subclass__(cls):
        raise TypeError("no subclasses")


@pytest.mark.parametrize("hooks", [Frozen(), [Slotted()], (Frozen(3), Slotted())])
def test_hooks_of_a_hook_plugin_name_the_plugin(hooks):
    class Plugin:
        def __init__(self, *, params):
            pass

        def __call__(self, context):
            return hooks

    plugin = configured(Plugin, kind=HOOK).make()
    assert plugin(None) is hooks
    classes = [type(hook) for hook in hooks] if isinstance(hooks, list) else []
    plugin(None)  # A hook that is made again keeps its class.
    assert not classes or classes == [type(hook) for hook in hooks]
    for hook in hooks if isinstance(hooks, (list, tuple)) else [hooks]:
        assert called(hook.begin) == "begin()"


@pytest.mark.parametrize("thing", [None, 3, "hook", Frozen, Registered()])
def test_an_object_that_allows_no_subclass_stays_as_it_is(thing):
    cls = type(thing)
    assert guard(thing, configured(Points).plugin.info) is thing
    assert type(thing) is cls
    assert find_owner(thing) is None

"""Side effects of loading a plugin are found in a fresh process, one start for all of them."""

import re

import pytest

from nonconforming.healthy import Line
from nonconforming.parts import Constant
from tf_frame.plugin.kinds import LEARNING_RATE
from tf_frame.testing.conformance.side_effects import EFFECTS, effects_of_loading, examine

LOADS = "test_loads_without_side_effects"
# Module of `nonconforming.effects` -> part of the problem.
FAULTS = {
    "output": r"writes to standard output \(6 bytes: 'hello'\)",
    "environment": r"changes the environment \(TF_GPU_THREAD_MODE\)",
    "logs": r"changes handlers or levels of logging \(root\)",
    "seeds": r"random numbers \(random\)",
    "tensorflow_seed": "sets the seed of TensorFlow",
    "operations": r"makes operations or tensors \(an eager tensor\)",
    "sessions": r"starts a session \(1 of them\)",
    "behaviour": r"disable_v2_behavior\(\) \(eager execution, ",
    "fails": r"fails: RuntimeError: no licence \(fails.py, line 5\)",
}


def stand_in(module):
    """A class with the name of the one in a module that must not be imported here."""
    name = f"nonconforming.effects.{module}"
    return type("Plugin", (Constant,), {"__module__": name, "__qualname__": "Plugin"})


@pytest.fixture(scope="module")
def plugins():
    made = {module: stand_in(module) for module in (*FAULTS, "advised")}
    examine([*made.values(), Line, Constant])
    return made


def test_healthy_plugins_have_no_effect(plugins):
    assert effects_of_loading(Line) == effects_of_loading(Constant) == {}


def test_every_effect_has_a_fault(plugins):
    found = {name for plugin in plugins.values() for name in effects_of_loading(plugin)}
    assert found == {*EFFECTS, "error", "tensorflow"}


@pytest.mark.parametrize("module", FAULTS)
def test_only_the_check_of_side_effects_fails(only_failure, plugins, module):
    found = only_failure(LOADS, LEARNING_RATE, plugins[module])
    assert re.search(FAULTS[module], found), found


def test_an_import_of_tensorflow_is_advised_against(results, plugins):
    found = results(LEARNING_RATE, plugins["advised"])
    assert {each.state for each in found.values()} == {"ok"}
    assert "import it inside build()" in found[LOADS].problem

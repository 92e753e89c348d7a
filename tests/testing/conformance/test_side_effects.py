"""Side effects of loading a plugin are found in a fresh process, one start for all of them."""

import pytest

from nonconforming.healthy import Line
from nonconforming.parts import Constant
from tf_frame.plugin.kinds import LEARNING_RATE
from tf_frame.testing.conformance.side_effects import EFFECTS, examine, loading_effects

LOADS = "test_loads_without_side_effects"
TF = "import tensorflow.compat.v1 as tf"
# Module -> statements that have a side effect when they run, part of the problem.
FAULTS = {
    "prints": ("print('hello')", r"writes to standard output \(6 bytes: 'hello'\)"),
    "sets_variable": (
        "import os; os.environ['TF_GPU_THREAD_MODE'] = 'gpu_private'",
        r"changes the environment \(TF_GPU_THREAD_MODE\)",
    ),
    "logs": (
        "import logging; logging.basicConfig(level=logging.DEBUG)",
        r"changes handlers or levels of logging \(root\)",
    ),
    "seeds": ("import random; random.seed(1)", r"random numbers \(random\)"),
    "tensorflow_seed": (f"{TF}; tf.random.set_random_seed(1)", "sets the seed of TensorFlow"),
    "operations": (f"{TF}; tf.constant(1)", r"makes operations or tensors \(an eager tensor\)"),
    "sessions": (f"{TF}; tf.Session(graph=tf.Graph())", r"starts a session \(1 of them\)"),
    "behaviour": (
        f"{TF}; tf.disable_v2_behavior()",
        r"disable_v2_behavior\(\) \(eager execution, ",
    ),
    "fails": (
        "raise RuntimeError('no licence')",
        r"fails: RuntimeError: no licence \(fails.py, line 2\)",
    ),
}


def stand_in(module):
    """A class with the name of the one in a module that must not be imported here."""
    name = f"effects.{module}"
    return type("Plugin", (Constant,), {"__module__": name, "__qualname__": "Plugin"})


@pytest.fixture(scope="module")
def plugins(tmp_path_factory):
    """Module name -> stand-in of its plugin; the modules are examined."""
    folder = tmp_path_factory.mktemp("site")
    (folder / "effects").mkdir()
    statements = {module: statement for module, (statement, _) in FAULTS.items()} | {"advised": TF}
    for module, statement in statements.items():
        lines = [
            "from nonconforming.parts import Constant",
            statement,
            "class Plugin(Constant): ...",
        ]
        (folder / "effects" / f"{module}.py").write_text("\n".join(lines))
    stand_ins = {module: stand_in(module) for module in statements}
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        examine([*stand_ins.values(), Line, Constant])
    return stand_ins


@pytest.mark.slow
def test_healthy_plugins_have_no_effect(plugins):
    assert loading_effects(Line) == loading_effects(Constant) == {}


def test_every_effect_has_a_fault(plugins):
    effects = {name for plugin in plugins.values() for name in loading_effects(plugin)}
    assert effects == {*EFFECTS, "error", "tensorflow"}


@pytest.mark.parametrize("module", FAULTS)
def test_only_the_check_of_side_effects_fails(fails_only, plugins, module):
    fails_only(LOADS, FAULTS[module][1], LEARNING_RATE, plugins[module])


def test_an_import_of_tensorflow_is_advised_against(passes, plugins):
    checks = passes(LEARNING_RATE, plugins["advised"])
    assert "import it inside build()" in checks[LOADS].problem

import pytest

from tf_frame import HookPlugin
from tf_frame.errors import PluginError
from tf_frame.plugin.kinds import HOOK, MODEL, NETWORK, OPTIMIZER, PREPROCESSING
from tf_frame.plugin.load import load_plugin
from tf_frame.testing.distributions import write_distribution

PARAMS = "import dataclasses\n@dataclasses.dataclass\nclass P:\n    x: int = 1\n"
NET = f"""{PARAMS}
class Net:
    Params = P
    def __init__(self, *, params, info): pass
    def build(self, features, labels, mode): pass
"""
BUILT = "class Net:\n    Params = P\n    def build(self): pass"
HOOK_WITH_PARAMS = f"""{PARAMS}
class Net:
    Params = P
    def __init__(self, params): pass
    def __call__(self, context): pass
"""
TF_FRAME_HOOK = "import tf_frame\nclass Net(tf_frame.HookPlugin):\n"
CALL = "    def __call__(self): pass\n"
NETWORK_SOURCE = f"import tf_frame\nclass Net(tf_frame.Network):\n{CALL}"
PREPROCESSING_SOURCE = NETWORK_SOURCE.replace("Network", "Preprocessing")


@pytest.fixture
def load(site):
    """Loads the class `Net` of a source as a plugin."""

    def load(source, kind=MODEL):
        (site / "fake_bad.py").write_text(source)
        write_distribution(site, "fake-bad", {f"{kind.group}: bad": "fake_bad:Net"}, version="1.2")
        return load_plugin(kind, "bad").cls

    return load


def field(text):
    """A model with an option."""
    head = "import dataclasses, pathlib, tf_frame\n@dataclasses.dataclass\nclass P:\n"
    return f"{head}    x: {text}\n{BUILT}"


@pytest.mark.parametrize(
    ("source", "cause"),
    [
        ("Net = 3", "expected a class, found 3 of type int"),
        ("def Net(): pass", "expected a class, found <function Net"),
        ("class Net: pass", "class Net has no method build() (fake_bad.py, line 1)"),
        (
            "class Net:\n    def bild(self, x, y, mode): pass",
            "class Net has no method build() (fake_bad.py, line 1); is bild() misspelt?",
        ),
        ("class Net:\n    build = 3", "class Net has no method build()"),
        ("import tf_frame\nclass Net(tf_frame.Model): pass", "class Net has no method build()"),
        ("class Net:\n    def build(self): pass", "class Net has no dataclass Params"),
        (BUILT.replace("= P", "= int"), "class Net has no dataclass Params"),
        (PARAMS + BUILT.replace("= P", "= P()"), "class Net has no dataclass Params"),
        (PARAMS.replace(" = 1", "") + BUILT, "Net.Params: option 'x' has no default"),
        (
            PARAMS.replace("int", "'Unknown'") + BUILT,
            "Net.Params: name 'Unknown' is not defined",
        ),
        (
            f"{PARAMS}class Net:\n    Params = P\n    def build(self, x, y, mode): pass",
            "class Net has no __init__() that takes its params",
        ),
        *[
            (f"{NET}    {method}\n", f"Net.{problem}")
            for method, problem in {
                "def build(self, images): pass": "build() takes (images), but is called with (f",
                "def build(self, features, labels, mode, *, scale): pass": "build() takes "
                "(features, labels, mode, *, scale), but is called with",
                "def __init__(self, params): pass": "__init__() takes (params), but is called with",
            }.items()
        ],
        *[
            (f"{NET}    {attribute}\n", f"Net.{problem}")
            for attribute, problem in {
                "run_defaults = ['max_steps']": "run_defaults is ['max_steps'] of type list; ex",
                "presets = 3": "presets is 3 of type int; expected a mapping",
                "default_transforms = 'freeze'": "default_transforms is 'freeze' of type str;",
                "feature_names = 'image'": "feature_names is 'image' of type str; expected a list",
                "default_input = ['toy']": "default_input is ['toy'] of type list; expected a",
            }.items()
        ],
        *[
            (field(text), f"Net.Params: {problem}")
            for text, problem in {
                "list[int] = None": "option 'x': there are no options of type list[int]; there",
                "pathlib.Path = None": "option 'x': there are no options of type Path; there are",
                "dict = None": "option 'x': there are no options of type dict; there are bool",
                "int = tf_frame.option('three', 'x')": "option 'x': its default is refused: 'thre",
                "int = tf_frame.option('3', 'x')": "option 'x': its default is refused: '3' should",
                "int = tf_frame.option(0, 'x', min=1)": "option 'x': its default is refused: 0 is",
                "int = None": "option 'x': its default is refused: None is not a whole number",
                "str = tf_frame.option('a', 'x', min=1)": "option 'x': its default is refused: '<'",
                "int = dataclasses.field(default_factory=lambda: 1 / 0)": "division by zero",
            }.items()
        ],
    ],
)
def test_a_model_that_breaks_its_contract_is_explained(load, source, cause):
    with pytest.raises(PluginError) as error:
        load(source)
    message = str(error.value)
    assert message.startswith(f"the model 'bad' of fake-bad 1.2 cannot be used: {cause}")
    assert message.endswith("remedy: tell the authors of fake-bad, or uninstall it")


@pytest.mark.parametrize(
    ("kind", "source", "cause"),
    [
        (HOOK, "class Net:\n    def after_run(self): pass", "class Net has no method __call__()"),
        (HOOK, f"class Net:\n{CALL}", "class Net has no dataclass Params"),
        (HOOK, f"{TF_FRAME_HOOK}    pass", "class Net has no method __call__()"),
        (HOOK, HOOK_WITH_PARAMS.replace("x:", "name:"), "Net.Params: an option cannot be called "),
        (
            OPTIMIZER,
            f"{TF_FRAME_HOOK}{CALL}",
            "class Net is a hook (tf_frame.HookPlugin); its entry point must be in the group "
            "tf_frame.hooks, not in tf_frame.optimizers",
        ),
        (NETWORK, PREPROCESSING_SOURCE, "class Net is a preprocessing (tf_frame.Preprocessing)"),
        (NETWORK, f"class Net:\n{CALL}", "class Net has no default_image_size (see tf_frame.N"),
        (
            NETWORK,
            f"{PARAMS}{NETWORK_SOURCE}    Params = P\n",
            "Net.Params: a network has no options of its own, but here is x",
        ),
        (
            PREPROCESSING,
            f"{PARAMS}{PREPROCESSING_SOURCE}    Params = P\n",
            "Net.Params: a preprocessing has no options of its own, but here is x",
        ),
    ],
)
def test_another_plugin_that_breaks_its_contract_is_explained(load, kind, source, cause):
    with pytest.raises(PluginError) as error:
        load(source, kind)
    assert f" cannot be used: {cause}" in str(error.value)


@pytest.mark.parametrize(
    ("kind", "source"),
    [
        (MODEL, f"{NET.replace('class Net', 'class Base')}class Net(Base): pass"),
        (MODEL, f"{NET}    def build(self, x, y, z, more=None): pass\n"),
        (MODEL, f"{NET}    def build(*args): pass\n"),
        (MODEL, f"{NET}    @staticmethod\n    def build(features, labels, mode): pass\n"),
        (HOOK, HOOK_WITH_PARAMS),
        (HOOK, f"{TF_FRAME_HOOK}    def __call__(self, context): pass"),
    ],
)
def test_a_class_may_keep_its_contract_in_any_way(load, kind, source):
    assert load(source, kind).__name__ == "Net"


def test_a_model_may_have_an_option_called_name(load):
    assert load(NET.replace("x:", "name:")).Params().name == 1


def test_the_base_of_hooks_asks_for_a_call():
    hook = HookPlugin(params=HookPlugin.Params())
    with pytest.raises(NotImplementedError, match="HookPlugin does not define __call__()"):
        hook(None)

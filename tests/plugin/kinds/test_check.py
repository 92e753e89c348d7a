import pytest

from tf_frame import HookPlugin
from tf_frame.errors import PluginError
from tf_frame.plugin.kinds import HOOK, MODEL as MODEL_KIND, NETWORK, OPTIMIZER, PREPROCESSING
from tf_frame.plugin.load import load_plugin
from tf_frame.testing.distributions import write_distribution

PARAMS = "import dataclasses\n@dataclasses.dataclass\nclass P:\n    x: int = 1\n"
MODEL = """
class {}:
    Params = P
    def __init__(self, *, params, info): pass
    def build(self, features, labels, mode): pass
"""


@pytest.mark.parametrize(
    ("source", "cause"),
    [
        ("Net = 3", "expected a class, found 3 of type int"),
        ("def Net(): pass", "expected a class, found <function Net"),
        ("class Net: pass", "class Net has no method build()"),
        ("class Net:\n    build = 3", "class Net has no method build()"),
        (
            "import tf_frame\nclass Net(tf_frame.Model): pass",
            "class Net has no method build()",
        ),
        ("class Net:\n    def build(self): pass", "class Net has no dataclass Params"),
        (
            "class Net:\n    class Params: x = 1\n    def build(self): pass",
            "class Net has no dataclass Params",
        ),
        (
            PARAMS + "class Net:\n    Params = P()\n    def build(self): pass",
            "class Net has no dataclass Params",
        ),
        (
            PARAMS.replace(" = 1", "") + "class Net:\n    Params = P\n    def build(self): pass",
            "Net.Params: option 'x' has no default",
        ),
        (
            PARAMS.replace("int", "'Unknown'")
            + "class Net:\n    Params = P\n    def build(self): pass",
            "Net.Params: name 'Unknown' is not defined",
        ),
    ],
)
def test_a_plugin_that_breaks_its_contract_is_explained(install, source, cause):
    install("fake-bad", "bad", source, version="1.2")
    with pytest.raises(PluginError) as error:
        load_plugin(MODEL_KIND, "bad")
    message = str(error.value)
    assert f" cannot be used: {cause}" in message
    assert "fake-bad 1.2" in message
    assert "remedy: tell the authors of fake-bad, or uninstall it" in message


def test_a_model_may_have_an_option_called_name(install):
    source = PARAMS.replace("x:", "name:") + MODEL.format("Net")
    install("fake-a", "neta", source)
    assert load_plugin(MODEL_KIND, "neta").cls.Params().name == 1


def test_an_inherited_method_keeps_the_contract(install):
    source = f"{PARAMS}{MODEL.format('Base')}class Net(Base): pass"
    install("fake-a", "neta", source)
    assert load_plugin(MODEL_KIND, "neta").cls.__name__ == "Net"


HOOK_WITH_PARAMS = f"""{PARAMS}
class H:
    Params = P
    def __init__(self, params): pass
    def __call__(self, context): pass
"""


@pytest.fixture
def install_hook(site):
    """Writes a package that brings one hook, with the source of its module."""

    def install_hook(source):
        (site / "fake_hook.py").write_text(source)
        write_distribution(site, "fake-hook", {"tf_frame.hooks: h": "fake_hook:H"})

    return install_hook


@pytest.mark.parametrize(
    "source",
    [
        HOOK_WITH_PARAMS,
        "import tf_frame\nclass H(tf_frame.HookPlugin):\n    def __call__(self, context): pass",
    ],
)
def test_a_hook_is_made_of_params_by_a_call(install_hook, source):
    install_hook(source)
    assert load_plugin(HOOK, "h").cls.__name__ == "H"


@pytest.mark.parametrize(
    ("source", "cause"),
    [
        (
            "class H:\n    def after_run(self, context, values): pass",
            "class H has no method __call__()",
        ),
        ("class H:\n    def __call__(self, context): pass", "class H has no dataclass Params"),
        ("import tf_frame\nclass H(tf_frame.HookPlugin): pass", "class H has no method __call__()"),
        (HOOK_WITH_PARAMS.replace("x:", "name:"), "H.Params: an option cannot be called 'name'"),
    ],
)
def test_a_hook_that_breaks_its_contract_is_explained(install_hook, source, cause):
    install_hook(source)
    with pytest.raises(PluginError) as error:
        load_plugin(HOOK, "h")
    assert f" cannot be used: {cause}" in str(error.value)


def test_the_base_of_hooks_asks_for_a_call():
    hook = HookPlugin(params=HookPlugin.Params())
    with pytest.raises(NotImplementedError, match="HookPlugin does not define __call__()"):
        hook(None)


def source_with(field):
    head = "import dataclasses, pathlib, tf_frame\n@dataclasses.dataclass\nclass P:\n"
    return f"{head}    x: {field}\nclass Net:\n    Params = P\n    def build(self): pass"


@pytest.mark.parametrize(
    ("field", "cause"),
    [
        ("list[int] = None", "option 'x': there are no options of type list[int]; there are bool"),
        ("pathlib.Path = None", "option 'x': there are no options of type Path; there are bool"),
        ("dict = None", "option 'x': there are no options of type dict; there are bool"),
        ("int = tf_frame.option('three', 'x')", "default is refused: 'three' is not a whole"),
        ("int = tf_frame.option('3', 'x')", "default is refused: '3' should be 3"),
        ("int = tf_frame.option(0, 'x', min=1)", "default is refused: 0 is out of range"),
        ("int = None", "option 'x': its default is refused: None is not a whole number"),
        ("str = tf_frame.option('a', 'x', min=1)", "option 'x': its default is refused: '<' not"),
        ("int = dataclasses.field(default_factory=lambda: 1 / 0)", "division by zero"),
    ],
)
def test_an_option_that_could_never_work_is_explained(install, field, cause):
    install("fake-bad", "bad", source_with(field))
    with pytest.raises(PluginError) as error:
        load_plugin(MODEL_KIND, "bad")
    assert " cannot be used: Net.Params: " in str(error.value)
    assert cause in str(error.value)


NETWORK_SOURCE = "import tf_frame\nclass N(tf_frame.Network):\n    def __call__(self): pass\n"
FAMILY_SOURCE = NETWORK_SOURCE.replace("Network", "Preprocessing")


@pytest.mark.parametrize(
    ("kind", "source", "cause"),
    [
        (NETWORK, FAMILY_SOURCE, "class N is a preprocessing (tf_frame.Preprocessing); its entry"),
        (
            NETWORK,
            "class N:\n    def __call__(self): pass",
            "class N has no default_image_size (see tf_frame.Network)",
        ),
        (
            NETWORK,
            PARAMS + NETWORK_SOURCE + "    Params = P\n",
            "N.Params: a network has no options of its own, but here is x",
        ),
        (
            PREPROCESSING,
            PARAMS + FAMILY_SOURCE + "    Params = P\n",
            "N.Params: a preprocessing has no options of its own, but here is x",
        ),
    ],
)
def test_a_network_that_breaks_its_contract_is_explained(site, kind, source, cause):
    (site / "fake_network.py").write_text(source)
    write_distribution(site, "fake-network", {f"{kind.group}: n": "fake_network:N"})
    with pytest.raises(PluginError) as error:
        load_plugin(kind, "n")
    assert f" cannot be used: {cause}" in str(error.value)


@pytest.mark.parametrize(
    ("method", "cause"),
    [
        (
            "def build(self, images): pass",
            "Net.build() takes (images), but is called with (features, labels, mode)",
        ),
        (
            "def build(self, features, labels, mode, *, scale): pass",
            "Net.build() takes (features, labels, mode, *, scale), but is called with",
        ),
        (
            "def __init__(self, params): pass",
            "Net.__init__() takes (params), but is called with (params=, info=)",
        ),
    ],
)
def test_a_method_that_cannot_be_called_as_announced_is_explained(install, method, cause):
    install("fake-bad", "bad", f"{PARAMS}{MODEL.format('Net')}    {method}\n")
    with pytest.raises(PluginError) as error:
        load_plugin(MODEL_KIND, "bad")
    assert f" cannot be used: {cause}" in str(error.value)


@pytest.mark.parametrize(
    "method",
    [
        "def build(self, x, y, z, more=None): pass",
        "def build(*args): pass",
        "@staticmethod\n    def build(features, labels, mode): pass",
    ],
)
def test_a_method_may_take_its_arguments_in_any_way(install, method):
    install("fake-a", "neta", f"{PARAMS}{MODEL.format('Net')}    {method}\n")
    assert load_plugin(MODEL_KIND, "neta").cls.__name__ == "Net"


def test_a_class_without_a_constructor_for_its_params_is_explained(install):
    source = f"{PARAMS}class Net:\n    Params = P\n    def build(self, x, y, mode): pass"
    install("fake-bad", "bad", source)
    with pytest.raises(PluginError, match="class Net has no __init__.. that takes its params"):
        load_plugin(MODEL_KIND, "bad")


def test_a_class_of_another_kind_is_explained(site):
    source = "import tf_frame\nclass H(tf_frame.HookPlugin):\n    def __call__(self, c): pass"
    (site / "fake_kind.py").write_text(source)
    write_distribution(site, "fake-kind", {"tf_frame.optimizers: o": "fake_kind:H"})
    with pytest.raises(PluginError) as error:
        load_plugin(OPTIMIZER, "o")
    assert "class H is a hook (tf_frame.HookPlugin); its entry point must be in the group" in str(
        error.value
    )
    assert "tf_frame.hooks, not in tf_frame.optimizers" in str(error.value)


@pytest.mark.parametrize(
    ("attribute", "cause"),
    [
        ("run_defaults = ['max_steps']", "run_defaults is ['max_steps'] of type list; expected a"),
        ("presets = 3", "presets is 3 of type int; expected a mapping"),
        ("default_transforms = 'freeze'", "default_transforms is 'freeze' of type str; expected"),
        ("feature_names = 'image'", "feature_names is 'image' of type str; expected a list"),
        ("default_input = ['toy']", "default_input is ['toy'] of type list; expected a text or"),
    ],
)
def test_an_attribute_of_a_wrong_type_is_explained(install, attribute, cause):
    install("fake-bad", "bad", f"{PARAMS}{MODEL.format('Net')}    {attribute}\n")
    with pytest.raises(PluginError) as error:
        load_plugin(MODEL_KIND, "bad")
    assert f"cannot be used: Net.{cause}" in str(error.value)

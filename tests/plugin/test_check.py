import pytest

from tf_frame.errors import PluginError
from tf_frame.plugin.kinds import HOOK, MODEL
from tf_frame.plugin.load import load_plugin
from tf_frame.testing.distributions import write_distribution

PARAMS = "import dataclasses\n@dataclasses.dataclass\nclass P:\n    x: int = 1\n"


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
        (
            PARAMS.replace("x:", "name:") + "class Net:\n    Params = P\n    def build(self): pass",
            "Net.Params: an option cannot be called 'name'",
        ),
    ],
)
def test_a_plugin_that_breaks_its_contract_is_explained(install, source, cause):
    install("fake-bad", "bad", source, version="1.2")
    with pytest.raises(PluginError) as error:
        load_plugin(MODEL, "bad")
    message = str(error.value)
    assert f"  cause: {cause}" in message
    assert "fake-bad 1.2" in message
    assert "remedy: tell the authors of fake-bad, or uninstall it" in message


def test_an_inherited_method_keeps_the_contract(install):
    source = (
        PARAMS + "class Base:\n    Params = P\n    def build(self): pass\nclass Net(Base): pass"
    )
    install("fake-a", "neta", source)
    assert load_plugin(MODEL, "neta").cls.__name__ == "Net"


def test_a_hook_needs_no_params(site):
    (site / "fake_hook.py").write_text("class H:\n    def after_run(self, context, values): pass")
    write_distribution(site, "fake-hook", {"tf_frame.hooks: h": "fake_hook:H"})
    assert load_plugin(HOOK, "h").cls.__name__ == "H"


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
        load_plugin(MODEL, "bad")
    assert "  cause: Net.Params: " in str(error.value)
    assert cause in str(error.value)

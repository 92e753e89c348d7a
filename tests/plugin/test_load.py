import json
import sys

import pytest

from tf_frame.errors import PluginError
from tf_frame.plugin import API_VERSION
from tf_frame.plugin.find import BROKEN, find_plugins
from tf_frame.plugin.imports import BrokenPluginError
from tf_frame.plugin.kinds import GRADIENT_TRANSFORM, MODEL, OPTIMIZER
from tf_frame.plugin.load import load_plugin, load_plugin_info, plugins_with_option
from tf_frame.testing.distributions import write_distribution

pytestmark = pytest.mark.usefixtures("filtered_tracebacks")

MODEL_SOURCE = """
from tf_frame import Model
class Net(Model):
    def build(self, features, labels, mode): ...
"""
MISSING = "import no_such_module.of_theirs"


def load_error(name):
    with pytest.raises(PluginError) as error:
        load_plugin(MODEL, name)
    return error.value


def cause(name):
    error = load_error(name)
    assert f" cannot be used: {error.cause}\n" in str(error)
    return error.cause


def test_one_plugin_is_loaded_and_no_other(install):
    install("fake-a", "neta", version="2.5")
    install("fake-b", "netb", "raise RuntimeError('imported')")
    loaded = load_plugin(MODEL, "neta")
    assert loaded.cls is sys.modules["fake_a"].Net
    assert (loaded.info.distribution, loaded.info.version) == ("fake-a", "2.5")
    assert "fake_b" not in sys.modules


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("raise ImportError('libcuda.so')", "ImportError: libcuda.so (fake_bad.py, line 1)"),
        ("assert False, 'old numpy'", "AssertionError: old numpy (fake_bad.py, line 1)"),
        ("raise SystemExit(3)", "SystemExit: 3 (fake_bad.py, line 1)"),
        ("\nraise SystemExit", "SystemExit (fake_bad.py, line 2)"),
        ("def f():\n    1 / 0\nf()", "ZeroDivisionError: division by zero (fake_bad.py, line 2)"),
        ("x = 1\n\nlen(x)", "TypeError: object of type 'int' has no len() (fake_bad.py, line 3)"),
        ("raise ValueError('two\\nlines')", "ValueError: two lines (fake_bad.py, line 1)"),
        ("Other = 1", "AttributeError: module 'fake_bad' has no attribute 'Net'"),
    ],
)
def test_a_plugin_that_fails_to_import_is_explained(install, source, expected):
    install("fake-bad", "bad", source, version="1.2")
    first, where, remedy = str(load_error("bad")).splitlines()
    assert first == f"the model 'bad' of fake-bad 1.2 cannot be used: {expected}"
    assert where == "  entry point tf_frame.models: bad = fake_bad:Net of fake-bad 1.2"
    assert remedy == "  remedy: pip install --upgrade fake-bad, or uninstall it"


def test_the_place_of_an_error(site, install):
    (site / "fake_helper.py").write_text("\n\n1 / 0\n")
    install("fake-bad", "bad", "import fake_helper")
    assert cause("bad").endswith("(fake_helper.py, line 3)")
    source = "import dataclasses\n\n@dataclasses.dataclass\nclass Params:\n    sizes: list = []\n"
    install("fake-params", "params", source)
    assert cause("params").endswith("(fake_params.py, line 3)")
    install("fake-syntax", "syntax", "\ndef broken(:")
    assert cause("syntax").startswith("SyntaxError: ")
    assert cause("syntax").endswith(" (fake_syntax.py, line 2): def broken(:")
    install("fake-gone", "gone", target="no_such_module:Net")
    assert cause("gone") == "ModuleNotFoundError: No module named 'no_such_module'"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("Net = 3", "expected a class, found 3 of type int"),
        (
            "class Odd:\n    def __repr__(self): return 'two\\nlines'\nNet = Odd()",
            "expected a class, found two lines of type Odd",
        ),
    ],
)
def test_a_broken_contract_is_a_cause_of_one_line(install, source, expected):
    install("fake-bad", "bad", source)
    assert cause("bad") == expected


def test_a_missing_module_is_not_mended_by_an_upgrade_of_the_plugin(install):
    install("fake-bad", "bad", MISSING)
    assert cause("bad").endswith("(fake_bad.py, line 1)")
    remedy = load_error("bad").remedy
    assert "upgrade" not in remedy
    assert "the package that has the module 'no_such_module'" in remedy
    assert "fake-bad to list it among the requirements" in remedy


@pytest.mark.parametrize(
    ("source", "requires", "remedy"),
    [
        (
            MISSING,
            ["tf-frame", "no-such_module >= 2"],
            "pip install no-such_module, which fake-bad requires",
        ),
        # A requirement that is not met may explain any failure.
        ("1 / 0", ["fake-gone>=2"], "pip install 'fake-gone>=2'"),
    ],
)
def test_a_remedy_may_be_a_requirement(install, source, requires, remedy):
    install("fake-bad", "bad", source, requires=requires)
    assert load_error("bad").remedy == remedy


def test_a_missing_module_of_the_plugin_itself_is_mended_as_its_metadata_says(install):
    install("fake-gone", "gone", target="fake_gone.part:Net")
    (info,) = [info for info in find_plugins() if info.name == "gone"]
    assert info.remedy == "pip install --force-reinstall fake-gone, or uninstall it"
    assert load_error("gone").remedy == info.remedy


def test_two_plugins_of_one_name_in_a_package_are_refused(install, site):
    install("fake-twice", "one")
    text = "[tf_frame.models]\nsame = fake_twice:Net\nsame = fake_twice:Other\n"
    (site / "fake_twice-1.0.dist-info" / "entry_points.txt").write_text(text)
    for name in ("same", "fake-twice:same"):
        expected = "its package has this name more than once: fake_twice:Net, fake_twice:Other"
        assert cause(name) == expected
        assert load_error(name).remedy == "tell the authors of fake-twice, or uninstall it"


@pytest.mark.parametrize("name", ["a:b", "a b", "a,b", "-a"])
def test_a_name_that_cannot_be_written_in_options_is_refused(site, name):
    write_distribution(site, "fake-bad", {"tf_frame.models: bad": "fake_bad:Net"})
    path = site / "fake_bad-1.0.dist-info" / "entry_points.txt"
    path.write_text(f"[tf_frame.models]\n{name} = fake_bad:Net\n")
    (info,) = [info for info in find_plugins() if info.distribution == "fake-bad"]
    assert (info.name, info.state) == (name, BROKEN)
    with pytest.raises(BrokenPluginError, match="expected letters, digits"):
        load_plugin_info(info)


@pytest.mark.parametrize("target", ["", "not a target", "fake_bad:", ":Net"])
def test_a_malformed_target_is_explained(site, target):
    write_distribution(site, "fake-bad", {"tf_frame.models: bad": target})
    assert "the model 'bad' of fake-bad 1.0 cannot be used" in str(load_error("bad"))


def test_ctrl_c_in_an_import_names_the_plugin(install, capsys):
    install("fake-slow", "slow", "raise KeyboardInterrupt")
    with pytest.raises(KeyboardInterrupt):
        load_plugin(MODEL, "slow")
    assert capsys.readouterr().err == (
        "tf-frame: interrupted in the import of the model 'slow' of fake-slow 1.0\n"
    )


def test_the_failure_of_a_plugin_keeps_its_traceback(install):
    install("fake-bad", "bad", "assert False, 'why'")
    assert isinstance(load_error("bad").__cause__, AssertionError)


def test_an_incompatible_plugin_is_refused_without_import(install):
    install("fake-new", "new", "raise SystemExit", requires=["tf-frame>=9"])
    assert cause("new").startswith("it needs tf-frame>=9, this is tf-frame 0.")
    assert load_error("new").remedy == "pip install --upgrade tf-frame fake-new"
    assert "fake_new" not in sys.modules


def test_a_plugin_installed_after_a_failure_loads(install):
    assert "no model plugin is called 'late'" in str(load_error("late"))
    # Metadata may deny a requirement that the plugin does not miss.
    install("fake-late", "late", requires=["no-such-package"])
    assert load_plugin(MODEL, "late").cls.__module__ == "fake_late"


@pytest.mark.parametrize(
    ("version", "remedy"), [(2, "pip install --upgrade tf-frame"), (0, "--upgrade fake-a")]
)
def test_a_class_for_another_version_of_the_contracts_is_refused(install, version, remedy):
    install("fake-a", "neta", f"{MODEL_SOURCE}    api_version = {version}\n")
    error = load_error("neta")
    assert error.cause.startswith(f"it is written for version {version} of the plugin contracts")
    assert error.remedy.endswith(remedy)


def test_a_class_for_an_old_version_that_is_supported_is_loaded_with_a_line(
    install, monkeypatch, capsys
):
    install("fake-a", "neta", f"{MODEL_SOURCE}    api_version = {API_VERSION}\n")
    assert load_plugin(MODEL, "neta")
    assert capsys.readouterr().err == ""
    monkeypatch.setattr("tf_frame.plugin.load.API_VERSION", API_VERSION + 1)
    assert load_plugin(MODEL, "neta")
    expected = (
        f"tf-frame: the model 'neta' of fake-a 1.0 is written for version {API_VERSION} of the "
        f"plugin contracts, this is {API_VERSION + 1}; a later tf-frame refuses it\n"
    )
    assert capsys.readouterr().err == expected


@pytest.mark.parametrize(
    "source", ["1 / 0", "x = = 1", "Other = 1", "import fake_mine.part", "Net = 3"]
)
def test_the_code_of_a_folder_that_is_installed_is_to_be_corrected_there(install, site, source):
    install("fake-mine", "mine", source)
    folder = site / "my folder"
    folder.mkdir()
    url = {"url": folder.as_uri(), "dir_info": {"editable": True}}
    (site / "fake_mine-1.0.dist-info" / "direct_url.json").write_text(json.dumps(url))
    again = f"pip install -e '{folder}' if its setup.py or pyproject.toml changes"
    assert load_error("mine").remedy == f"correct it in {folder}, {again}"


@pytest.mark.parametrize(
    ("source", "remedy"),
    [
        (
            "class Nets: pass",
            "did you mean Nets? the entry point is mine = fake_mine:Net; pip install",
        ),
        ("x = = 1", "pip install --upgrade fake-mine"),
        ("1 / 0", "pip install 'no-such-package>=1'"),
    ],
)
def test_the_remedy_belongs_to_the_cause_and_not_to_a_requirement(install, source, remedy):
    install("fake-mine", "mine", source, requires=["no-such-package>=1"])
    assert load_error("mine").remedy.startswith(remedy)


def test_the_code_of_a_folder_that_was_copied_is_to_be_installed_again(install, site):
    install("fake-mine", "mine", "1 / 0")
    (site / "fake_mine-1.0.dist-info" / "direct_url.json").write_text(
        json.dumps({"url": site.as_uri(), "dir_info": {}})
    )
    expected = f"correct it in {site}, pip install {site} again, or uninstall it"
    assert load_error("mine").remedy == expected
    (site / "fake_mine.py").write_text("import no_such_module")
    assert load_error("mine").remedy.endswith(f", and list it among the requirements in {site}")


@pytest.mark.parametrize(
    ("name", "is_known"),
    [
        ("placeholder", True),
        ("train.GradientDescentOptimizer", True),
        ("losses.softmax_cross_entropy", True),
        ("nn.max_pool2", False),
        ("contrib", False),
    ],
)
def test_a_name_of_tensorflow_1_has_a_hint(install, name, is_known):
    install("fake-old", "old", f"import tensorflow as tf\ntf.{name}")
    assert "has no attribute" in cause("old")
    hint = f"tf.{name} is a name of TensorFlow 1: write import tensorflow.compat.v1 as tf"
    assert load_error("old").remedy.startswith(hint) == is_known


OPTIMIZERS = """
import dataclasses
from tf_frame import Optimizer, option


class Mine(Optimizer):
    @dataclasses.dataclass(frozen=True)
    class Params:
        beta1: float = option(0.9, "as of adam")
        beta_9: float = option(0.9, "its own")

    def __call__(self, learning_rate): ...


class Broken:
    pass
"""


def test_the_plugins_of_a_kind_that_have_an_option_are_named(site):
    (site / "fake_own.py").write_text(OPTIMIZERS)
    names = {f"tf_frame.optimizers: {n}": f"fake_own:{n.title()}" for n in ("mine", "broken")}
    write_distribution(site, "fake-own", names)
    installed = find_plugins()

    def owners(kind, option, first=("tf-frame",)):
        return plugins_with_option(kind, option, installed, first=first)

    assert owners(OPTIMIZER, "beta1") == ["adam", "adamw", "lamb"]
    assert owners(OPTIMIZER, "beta1", ["fake-own"]) == ["mine"]
    assert owners(OPTIMIZER, "beta_9") == ["mine"]
    assert owners(OPTIMIZER, "norm") == []
    assert "clip_by_norm" in owners(GRADIENT_TRANSFORM, "norm")

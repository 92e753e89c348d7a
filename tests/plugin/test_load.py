import json
import sys

import pytest

from tf_frame.errors import PluginError
from tf_frame.plugin import API_VERSION
from tf_frame.plugin.find import BROKEN, find_plugins
from tf_frame.plugin.imports import BrokenPluginError
from tf_frame.plugin.kinds import INPUT, MODEL
from tf_frame.plugin.load import load_plugin, load_plugin_info
from tf_frame.testing.distributions import write_distribution

MODEL_SOURCE = """
from tf_frame import Model
class Net(Model):
    def build(self, features, labels, mode): ...
"""
pytestmark = pytest.mark.usefixtures("filtered_tracebacks")


def failure(name, kind=MODEL, **more):
    with pytest.raises(PluginError) as error:
        load_plugin(kind, name, **more)
    return str(error.value)


def test_a_plugin_is_loaded_with_its_class_and_origin(install):
    install("fake-a", "neta", version="2.5")
    loaded = load_plugin(MODEL, "neta")
    assert loaded.cls is sys.modules["fake_a"].Net
    assert (loaded.info.distribution, loaded.info.version) == ("fake-a", "2.5")


def test_loading_one_plugin_imports_no_other(install):
    install("fake-a", "neta")
    install("fake-b", "netb", "raise RuntimeError('imported')")
    load_plugin(MODEL, "neta")
    assert "fake_a" in sys.modules
    assert "fake_b" not in sys.modules


def test_the_toy_plugins_of_a_fake_package_load(site):
    entry_points = {
        "tf_frame.models: toy-model": "tf_frame.testing.toy:ToyModel",
        "tf_frame.inputs: toy-input": "tf_frame.testing.toy:ToyInput",
    }
    write_distribution(site, "fake-toy", entry_points)
    assert load_plugin(MODEL, "toy-model").cls.__name__ == "ToyModel"
    assert load_plugin(INPUT, "toy-input").cls.__name__ == "ToyInput"


@pytest.mark.parametrize(
    ("source", "cause"),
    [
        ("raise ImportError('libcuda.so')", "ImportError: libcuda.so"),
        ("assert False, 'old numpy'", "AssertionError: old numpy"),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("raise SystemExit", "SystemExit"),
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("def broken(:", "SyntaxError: "),
        ("Other = 1", "AttributeError: module 'fake_bad' has no attribute 'Net'"),
    ],
)
def test_a_plugin_that_fails_to_import_is_explained(install, source, cause):
    install("fake-bad", "bad", source, version="1.2")
    message = failure("bad")
    first, where, remedy = message.splitlines()
    assert first.startswith(f"the model 'bad' of fake-bad 1.2 cannot be used: {cause}")
    assert where == "  entry point tf_frame.models: bad = fake_bad:Net of fake-bad 1.2"
    assert remedy == "  remedy: pip install --upgrade fake-bad, or uninstall it"


MISSING = "import no_such_module.of_theirs"


def test_a_missing_module_is_not_mended_by_an_upgrade_of_the_plugin(install):
    install("fake-bad", "bad", MISSING)
    remedy = failure("bad").splitlines()[-1]
    assert "upgrade" not in remedy
    assert "the package that has the module 'no_such_module'" in remedy
    assert "fake-bad to list it among the requirements" in remedy


def test_a_missing_module_of_a_requirement_is_that_requirement(install):
    install("fake-bad", "bad", MISSING, requires=["tf-frame", "no-such_module >= 2"])
    assert failure("bad").endswith("remedy: pip install no-such_module, which fake-bad requires")


def test_a_missing_module_of_the_plugin_itself_is_mended_as_its_metadata_says(install):
    install("fake-gone", "gone", target="fake_gone.part:Net")
    (info,) = [info for info in find_plugins() if info.name == "gone"]
    assert info.remedy == "pip install --force-reinstall fake-gone, or uninstall it"
    assert failure("gone").endswith(f"remedy: {info.remedy}")


def test_a_requirement_that_is_not_met_may_explain_any_failure(install):
    install("fake-bad", "bad", "1 / 0", requires=["fake-gone>=2"])
    assert failure("bad").endswith("remedy: pip install 'fake-gone>=2'")


def test_two_plugins_of_one_name_in_a_package_are_refused(install, site):
    install("fake-twice", "one")
    text = "[tf_frame.models]\nsame = fake_twice:Net\nsame = fake_twice:Other\n"
    (site / "fake_twice-1.0.dist-info" / "entry_points.txt").write_text(text)
    for name in ("same", "fake-twice:same"):
        first, _, remedy = failure(name).splitlines()
        assert first.endswith(
            "cannot be used: its package has this name more than once: fake_twice:Net, "
            "fake_twice:Other"
        )
        assert remedy == "  remedy: tell the authors of fake-twice, or uninstall it"


@pytest.mark.parametrize("name", ["a:b", "a b", "a,b", "-a"])
def test_a_name_that_cannot_be_written_in_options_is_refused(site, name):
    write_distribution(site, "fake-bad", {"tf_frame.models: bad": "fake_bad:Net"})
    path = site / "fake_bad-1.0.dist-info" / "entry_points.txt"
    path.write_text(f"[tf_frame.models]\n{name} = fake_bad:Net\n")
    (info,) = [info for info in find_plugins() if info.distribution == "fake-bad"]
    assert (info.name, info.state) == (name, BROKEN)
    with pytest.raises(BrokenPluginError, match="expected letters, digits"):
        load_plugin_info(info)


def test_ctrl_c_in_an_import_names_the_plugin(install, capsys):
    install("fake-slow", "slow", "raise KeyboardInterrupt")
    with pytest.raises(KeyboardInterrupt):
        load_plugin(MODEL, "slow")
    assert capsys.readouterr().err == (
        "tf-frame: interrupted in the import of the model 'slow' of fake-slow 1.0\n"
    )


def test_a_default_that_dataclasses_refuse_is_reported_with_its_line(install):
    source = "import dataclasses\n\n@dataclasses.dataclass\nclass Params:\n    sizes: list = []\n"
    install("fake-bad", "bad", source)
    assert cause_of("bad").endswith("(fake_bad.py, line 3)")


def test_the_failure_of_a_plugin_keeps_its_traceback(install):
    install("fake-bad", "bad", "assert False, 'why'")
    with pytest.raises(PluginError) as error:
        load_plugin(MODEL, "bad")
    assert isinstance(error.value.__cause__, AssertionError)


@pytest.mark.parametrize("target", ["", "not a target", "fake_bad:", ":Net"])
def test_a_malformed_target_is_explained(site, target):
    write_distribution(site, "fake-bad", {"tf_frame.models: bad": target})
    assert "the model 'bad' of fake-bad 1.0 cannot be used" in failure("bad")


def test_an_incompatible_plugin_is_refused_without_import(install):
    install("fake-new", "new", "raise SystemExit", requires=["tf-frame>=9"])
    message = failure("new")
    assert "cannot be used: it needs tf-frame>=9, this is tf-frame 0." in message
    assert "remedy: pip install --upgrade tf-frame fake-new" in message
    assert "fake_new" not in sys.modules


def test_a_plugin_installed_after_a_failure_loads(install):
    assert "no model plugin is called 'late'" in failure("late")
    install("fake-late", "late")
    assert load_plugin(MODEL, "late").cls.__module__ == "fake_late"


def cause_of(name):
    with pytest.raises(BrokenPluginError) as error:
        load_plugin(MODEL, name)
    assert f" cannot be used: {error.value.cause}\n" in str(error.value)
    return error.value.cause


@pytest.mark.parametrize(
    ("source", "cause"),
    [
        ("x = 1\n\nlen(x)", "object of type 'int' has no len() (fake_bad.py, line 3)"),
        ("def f():\n    1 / 0\nf()", "ZeroDivisionError: division by zero (fake_bad.py, line 2)"),
        ("import nowhere", "No module named 'nowhere' (fake_bad.py, line 1)"),
        ("\nraise SystemExit", "SystemExit (fake_bad.py, line 2)"),
        ("raise ValueError('two\\nlines')", "ValueError: two lines (fake_bad.py, line 1)"),
    ],
)
def test_the_cause_ends_with_the_place_of_the_error(install, source, cause):
    install("fake-bad", "bad", source)
    assert cause_of("bad").endswith(cause)


def test_the_place_of_an_error_may_be_another_module(site, install):
    (site / "fake_helper.py").write_text("\n\n1 / 0\n")
    install("fake-bad", "bad", "import fake_helper")
    assert cause_of("bad").endswith("(fake_helper.py, line 3)")


def test_a_syntax_error_names_its_place_once(install):
    install("fake-bad", "bad", "\ndef broken(:")
    assert cause_of("bad").count("fake_bad.py, line 2") == 1


def test_a_missing_module_or_attribute_has_no_place(install):
    install("fake-bad", "bad", "Other = 1")
    install("fake-gone", "gone", target="no_such_module:Net")
    assert cause_of("bad").endswith("has no attribute 'Net'")
    assert cause_of("gone") == "ModuleNotFoundError: No module named 'no_such_module'"


def test_a_broken_contract_is_a_cause(install):
    install("fake-bad", "bad", "Net = 3")
    assert cause_of("bad") == "expected a class, found 3 of type int"


def test_a_broken_contract_of_several_lines_is_a_cause_of_one(install):
    source = "class Odd:\n    def __repr__(self): return 'two\\nlines'\nNet = Odd()"
    install("fake-bad", "bad", source)
    assert cause_of("bad") == "expected a class, found two lines of type Odd"


@pytest.mark.parametrize(
    ("version", "remedy"), [(2, "pip install --upgrade tf-frame"), (0, "--upgrade fake-a")]
)
def test_a_class_for_another_version_of_the_contracts_is_refused(install, version, remedy):
    install("fake-a", "neta", f"{MODEL_SOURCE}    api_version = {version}\n")
    message = failure("neta")
    assert f"it is written for version {version} of the plugin contracts" in message
    assert message.endswith(remedy)


def test_a_class_for_this_version_of_the_contracts_is_loaded(install):
    install("fake-a", "neta", f"{MODEL_SOURCE}    api_version = {API_VERSION}\n")
    assert load_plugin(MODEL, "neta")


def test_a_class_for_an_old_version_that_is_supported_is_loaded_with_a_line(
    install, monkeypatch, capsys
):
    install("fake-a", "neta", f"{MODEL_SOURCE}    api_version = {API_VERSION}\n")
    monkeypatch.setattr("tf_frame.plugin.load.API_VERSION", API_VERSION + 1)
    assert load_plugin(MODEL, "neta")
    expected = (
        f"tf-frame: the model 'neta' of fake-a 1.0 is written for version {API_VERSION} of the "
        f"plugin contracts, this is {API_VERSION + 1}; a later tf-frame refuses it\n"
    )
    assert capsys.readouterr().err == expected


def test_a_requirement_that_metadata_denies_stops_no_plugin_that_loads(install):
    install("fake-a", "neta", requires=["no-such-package"])
    assert load_plugin(MODEL, "neta")


@pytest.mark.parametrize("source", ["1 / 0", "Other = 1", "import fake_mine.part", "Net = 3"])
def test_the_code_of_a_folder_that_is_installed_is_to_be_corrected_there(install, site, source):
    install("fake-mine", "mine", source)
    folder = site / "my folder"
    folder.mkdir()
    url = {"url": folder.as_uri(), "dir_info": {"editable": True}}
    (site / "fake_mine-1.0.dist-info" / "direct_url.json").write_text(json.dumps(url))
    expected = f"remedy: correct it in {folder}, install that again, or uninstall it"
    assert failure("mine").endswith(expected)

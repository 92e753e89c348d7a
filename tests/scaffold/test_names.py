import importlib.metadata
import re

import pytest

from tf_frame.errors import ConfigError
from tf_frame.plugin.find import PluginInfo
from tf_frame.plugin.kinds import HOOK
from tf_frame.scaffold.names import check_name, class_name, package_name
from tf_frame.testing.distributions import write_distribution


@pytest.mark.parametrize(
    ("name", "package", "cls"),
    [
        ("my-model", "my_model", "MyModel"),
        ("my_model2", "my_model2", "MyModel2"),
        ("unet-3d", "unet_3d", "Unet3d"),
        ("my-plugin", "my_plugin", "MyPlugin"),
    ],
)
def test_the_names_of_a_valid_name(name, package, cls):
    check_name(name, [])
    assert (package_name(name), class_name(name)) == (package, cls)


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("My Model", "such as my-model"),
        ("MyModel", "such as my-model"),
        ("3d-unet", "such as d-unet"),
        ("my--model", "such as my-model"),
        ("-", "such as my-model"),
        ("", "such as my-model"),
        ("../up", "such as up"),
        ("a" * 31, f"such as {'a' * 30}"),
    ],
)
def test_an_invalid_name_is_refused_with_a_valid_one(name, remedy):
    with pytest.raises(ConfigError, match=r"is not valid: it must begin with") as error:
        check_name(name, [])
    assert str(error.value).endswith(remedy)


@pytest.mark.parametrize("name", ["class", "json", "tf_frame", "tensorflow"])
def test_a_name_that_python_has_is_refused(name):
    with pytest.raises(ConfigError, match=f"a word or a module '{name}' .*, such as my-{name}"):
        check_name(name, [])


@pytest.mark.parametrize("name", ["tests", "test", "build", "mode", "model-output"])
def test_a_name_that_breaks_the_new_package_is_refused(name):
    with pytest.raises(ConfigError, match=f"does not suit the files .*, such as my-{name}$"):
        check_name(name, [])


@pytest.mark.parametrize("name", ["absl-py", "protobuf", "pyyaml"])
def test_the_name_of_an_installed_distribution_is_refused(name):
    found = re.escape(f"{name} {importlib.metadata.version(name)}")
    with pytest.raises(ConfigError, match=f"(?i)taken: {found} is installed.*, such as my-{name}$"):
        check_name(name, [])


def test_names_of_distributions_are_compared_as_pip_does(tmp_path, monkeypatch):
    write_distribution(tmp_path, "Slow.Lamp", {}, version="1.2")
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("slow-lamp", "slow_lamp"):
        with pytest.raises(ConfigError, match=r"Slow\.Lamp 1\.2 is installed"):
            check_name(name, [])


def test_metadata_without_a_name_takes_none(tmp_path, monkeypatch):
    (tmp_path / "half-1.0.dist-info").mkdir()
    monkeypatch.syspath_prepend(tmp_path)
    check_name("my-model", [])


def test_the_name_of_an_installed_plugin_is_refused():
    installed = [PluginInfo(HOOK, "slow_lamp", "lamps:Slow", "lamps", "1.2")]
    with pytest.raises(ConfigError, match="lamps 1.2 has a hook 'slow_lamp'; choose another"):
        check_name("slow-lamp", installed)

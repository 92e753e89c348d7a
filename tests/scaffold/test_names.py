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


INVALID = {
    "My Model": "my-model",
    "MyModel": "my-model",
    "3d-unet": "d-unet",
    "my--model": "my-model",
    "-": "my-model",
    "": "my-model",
    "../up": "up",
    "a" * 31: "a" * 30,
}
REASONS = {
    "a word or a module '{}' already": ["class", "json", "tf_frame", "tensorflow"],
    "does not suit the files .*": ["tests", "test", "build", "mode", "model-output"],
    r"(?i:{}) [\w.]+ is installed, .*": ["absl-py", "protobuf", "pyyaml"],
}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        *((name, f"is not valid: it must begin .*; such as {n}$") for name, n in INVALID.items()),
        *(
            (name, f"{reason.format(name)}; choose another name, such as my-{name}$")
            for reason, names in REASONS.items()
            for name in names
        ),
    ],
)
def test_a_name_that_cannot_be_used_is_refused_with_another(name, message):
    with pytest.raises(ConfigError, match=message):
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

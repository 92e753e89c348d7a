"""The plugins that a name can refer to, as `load_plugin` takes them."""

import pytest

from tf_frame.errors import PluginError
from tf_frame.plugin.kinds import HOOK, INPUT, MODEL
from tf_frame.plugin.load import load_plugin


def failure(name, kind=MODEL, **more):
    with pytest.raises(PluginError) as error:
        load_plugin(kind, name, **more)
    return str(error.value)


@pytest.fixture
def clash(install):
    install("fake-a", "same")
    install("fake-b", "same")


def test_a_clash_of_names_says_both_packages_and_how_to_choose(clash):
    message = failure("same")
    assert "'same' is also taken by fake_b:Net of fake-b 1.0" in message
    assert "remedy: use fake-a:same or fake-b:same, or uninstall all but one of them" in message
    assert "did you mean 'fake-a:same' or 'fake-b:same'?" in failure("sameo")


@pytest.mark.parametrize(
    ("name", "prefer", "module"),
    [
        ("fake-a:same", None, "fake_a"),
        ("fake-b:same", None, "fake_b"),
        *[(f"{spelling}:same", None, "fake_a") for spelling in ("Fake_A", "fake.a", "FAKE--A")],
        ("same", "fake-b", "fake_b"),
        ("same", "Fake_B", "fake_b"),
        ("fake-a:same", "fake-b", "fake_a"),
    ],
)
def test_a_package_settles_a_clash(clash, name, prefer, module):
    loaded = load_plugin(MODEL, name, prefer=prefer)
    assert (loaded.cls.__module__, loaded.info.problem) == (module, "")


def test_a_preferred_package_without_the_name_changes_nothing(install):
    install("fake-a", "same")
    assert load_plugin(MODEL, "same", prefer="fake-b").cls.__module__ == "fake_a"
    install("fake-c", "same")
    assert "also taken by" in failure("same", prefer="fake-b")


def test_an_incompatible_plugin_is_part_of_a_clash_and_stays_unusable(install):
    install("fake-a", "same", requires=["tf-frame>=9"])
    install("fake-b", "same")
    assert "it needs tf-frame>=9" in failure("fake-a:same")
    assert "remedy: use fake-b:same" in failure("same")


def test_an_unknown_name_is_answered_with_near_and_installed_ones(install):
    install("fake-a", "resnet_fifty")
    install("fake-b", "other_net")
    message = failure("resnet_fifti")
    expected = "no model plugin is called 'resnet_fifti'; did you mean 'resnet_fifty'? installed: "
    assert message.startswith(expected)
    installed = message.removeprefix(expected).split(", ")
    assert {"resnet_fifty", "other_net"} <= set(installed)
    assert installed == sorted(installed)
    message = failure("qqqqqq")
    assert message.startswith("no model plugin is called 'qqqqqq'; installed: ")
    assert "other_net" in message
    assert "no input plugin is called 'other_net'" in failure("other_net", INPUT)


def test_without_any_plugin_of_a_kind_the_group_is_named():
    message = failure("x", HOOK, installed=[])
    assert "installed: none (pip install a package with a tf_frame.hooks" in message

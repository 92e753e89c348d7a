"""The plugins that a name can refer to, as `load_plugin` takes them."""

import pytest

from tf_frame.errors import PluginError
from tf_frame.plugin.kinds import HOOK, INPUT, MODEL
from tf_frame.plugin.load import load_plugin


def failure(name, kind=MODEL, **more):
    with pytest.raises(PluginError) as error:
        load_plugin(kind, name, **more)
    return str(error.value)


def test_a_suggestion_of_a_name_in_conflict_has_the_packages(install):
    install("fake-a", "resnet_fifty")
    install("fake-b", "resnet_fifty")
    expected = "did you mean 'fake-a:resnet_fifty' or 'fake-b:resnet_fifty'?"
    assert expected in failure("resnet_fifti")


def test_a_clash_of_names_says_both_packages_and_how_to_choose(install):
    install("fake-a", "same")
    install("fake-b", "same")
    message = failure("same")
    assert "'same' is also taken by fake_b:Net of fake-b 1.0" in message
    assert "remedy: use fake-a:same or fake-b:same, or uninstall all but one of them" in message


@pytest.mark.parametrize("letter", ["a", "b"])
def test_the_name_of_the_package_resolves_a_clash(install, letter):
    install("fake-a", "same")
    install("fake-b", "same")
    loaded = load_plugin(MODEL, f"fake-{letter}:same")
    assert loaded.cls.__module__ == f"fake_{letter}"


def test_the_name_of_the_package_does_not_make_an_incompatible_plugin_usable(install):
    install("fake-a", "same")
    install("fake-b", "same", requires=["tf-frame>=9"])
    assert "it needs tf-frame>=9" in failure("fake-b:same")


def test_a_clash_with_an_incompatible_plugin_is_still_a_clash(install):
    install("fake-a", "same", requires=["tf-frame>=9"])
    install("fake-b", "same")
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


def test_a_name_near_to_none_is_answered_with_the_installed_ones(install):
    install("fake-a", "neta")
    message = failure("qqqqqq")
    assert message.startswith("no model plugin is called 'qqqqqq'; installed: ")
    assert "neta" in message


def test_without_any_plugin_of_a_kind_the_group_is_named():
    message = failure("x", HOOK, installed=[])
    assert "installed: none (pip install a package with a tf_frame.hooks" in message


def test_a_plugin_of_another_kind_is_unknown(install):
    install("fake-a", "neta")
    assert "no input plugin is called 'neta'" in failure("neta", INPUT)


@pytest.mark.parametrize("spelling", ["fake-line", "Fake_Line", "fake.line", "FAKE--LINE"])
def test_the_package_in_a_name_may_be_spelled_as_pip_allows(install, spelling):
    install("fake-line", "same")
    install("fake-other", "same")
    assert load_plugin(MODEL, f"{spelling}:same").cls.__module__ == "fake_line"


@pytest.mark.parametrize("prefer", ["fake-b", "Fake_B"])
def test_the_preferred_package_settles_a_clash(install, prefer):
    install("fake-a", "same")
    install("fake-b", "same")
    loaded = load_plugin(MODEL, "same", prefer=prefer)
    assert (loaded.cls.__module__, loaded.info.problem) == ("fake_b", "")


def test_a_package_in_the_name_wins_over_the_preferred_one(install):
    install("fake-a", "same")
    install("fake-b", "same")
    assert load_plugin(MODEL, "fake-a:same", prefer="fake-b").cls.__module__ == "fake_a"


def test_a_preferred_package_without_the_name_changes_nothing(install):
    install("fake-a", "same")
    assert load_plugin(MODEL, "same", prefer="fake-b").cls.__module__ == "fake_a"
    install("fake-c", "same")
    with pytest.raises(PluginError, match="also taken by"):
        load_plugin(MODEL, "same", prefer="fake-b")

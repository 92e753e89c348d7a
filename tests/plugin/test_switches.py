"""Plugins that environment variables and the user's file disable, and their combinations."""

import pytest

from tf_frame.errors import ConfigError, PluginError
from tf_frame.plugin.find import CONFLICT, DISABLED, OK, find_plugins
from tf_frame.plugin.kinds import MODEL, OPTIMIZER
from tf_frame.plugin.load import load_plugin
from tf_frame.plugin.switches import read_switches


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """The user's folder of configurations, and no variables."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    for name in ("PLUGINS", "DISABLE_PLUGINS", "STRICT_PLUGINS"):
        monkeypatch.delenv(f"TF_FRAME_{name}", raising=False)
    (tmp_path / "tf-frame").mkdir()
    return tmp_path / "tf-frame"


@pytest.fixture
def sets(folder, monkeypatch):
    """Sets variables (in capitals) and keys of the file."""

    def sets(**values):
        lines = [f"{key}: {value}" for key, value in values.items() if key.islower()]
        (folder / "plugins.yaml").write_text("\n".join(lines))
        for key, value in values.items():
            if key.isupper():
                monkeypatch.setenv(f"TF_FRAME_{key}", value)

    return sets


@pytest.fixture
def packages(install):
    install("fake-a", "neta")
    install("fake-b", "netb")


def usable():
    plugins = find_plugins()
    return "".join(p.name[-1] for p in plugins if p.name in ("neta", "netb") and p.state == OK)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({}, "ab"),
        ({"PLUGINS": ""}, ""),
        ({"PLUGINS": "fake_A"}, "a"),
        ({"PLUGINS": "netb, neta"}, "ab"),
        ({"PLUGINS": "fake-a:neta"}, "a"),
        ({"PLUGINS": "fake-a:netb"}, ""),
        ({"DISABLE_PLUGINS": ""}, "ab"),
        ({"DISABLE_PLUGINS": "fake-a"}, "b"),
        ({"PLUGINS": "fake-a,fake-b", "DISABLE_PLUGINS": "neta"}, "b"),
        ({"plugins": "[fake-a]"}, "a"),
        ({"plugins": "[]"}, ""),
        ({"disable_plugins": "neta netb"}, ""),
        ({"plugins": "[fake-a]", "PLUGINS": "fake-b"}, "b"),
        ({"plugins": "[fake-a]", "PLUGINS": ""}, ""),
        ({"disable_plugins": "fake-a", "DISABLE_PLUGINS": ""}, "ab"),
        ({"disable_plugins": "fake-a", "PLUGINS": "fake-a"}, ""),
    ],
)
def test_disabled_plugins(packages, sets, values, expected):
    sets(**values)
    assert usable() == expected


def test_tf_frames_own_plugins_cannot_be_disabled(sets):
    sets(PLUGINS="", DISABLE_PLUGINS="adam,tf-frame")
    assert load_plugin(OPTIMIZER, "adam").info.state == OK
    assert read_switches().without_effect([("tf-frame", "adam")]) == [
        f"TF_FRAME_DISABLE_PLUGINS names {name}, which is a part of tf-frame itself and always "
        "enabled"
        for name in ("adam", "tf-frame")
    ]


@pytest.mark.parametrize(
    ("values", "cause", "remedy"),
    [
        (
            {"DISABLE_PLUGINS": "fake-a"},
            "TF_FRAME_DISABLE_PLUGINS disables fake-a",
            "take fake-a out of TF_FRAME_DISABLE_PLUGINS",
        ),
        (
            {"PLUGINS": ""},
            "TF_FRAME_PLUGINS allows only: none",
            "add fake-a to TF_FRAME_PLUGINS, or unset it",
        ),
        (
            {"disable_plugins": "neta"},
            "disable_plugins in {} disables neta",
            "take neta out of disable_plugins in {}",
        ),
    ],
)
def test_a_disabled_plugin_says_the_cause(packages, sets, folder, values, cause, remedy):
    sets(**values)
    for name in ("neta", "fake-a:neta"):
        with pytest.raises(PluginError) as error:
            load_plugin(MODEL, name)
        path = folder / "plugins.yaml"
        assert f"cannot be used: {cause.format(path)}\n" in str(error.value)
        assert str(error.value).endswith(f"remedy: {remedy.format(path)}")


def test_disabling_one_of_two_packages_ends_their_conflict(install, sets):
    install("fake-a", "same")
    install("fake-b", "same")
    assert {p.state for p in find_plugins() if p.name == "same"} == {CONFLICT}
    sets(DISABLE_PLUGINS="fake-b")
    assert [p.state for p in find_plugins() if p.name == "same"] == [OK, DISABLED]
    assert load_plugin(MODEL, "same").info.distribution == "fake-a"


@pytest.mark.parametrize("values", [{"STRICT_PLUGINS": "1"}, {"strict_plugins": "true"}])
def test_strict_plugins_make_a_problem_of_any_plugin_an_error(packages, install, sets, values):
    install("fake-old", "old", requires=["tf-frame<0.0.1"])
    assert load_plugin(MODEL, "neta")
    sets(**values)
    with pytest.raises(PluginError, match="fake-old 1.0: it needs tf-frame<0.0.1"):
        load_plugin(MODEL, "neta")
    sets(**values, DISABLE_PLUGINS="fake-old")
    assert load_plugin(MODEL, "neta")


def test_a_variable_switches_the_strictness_of_the_file_off(install, sets):
    install("fake-old", "old", requires=["tf-frame<0.0.1"])
    sets(strict_plugins="yes", STRICT_PLUGINS="0")
    assert load_plugin(OPTIMIZER, "adam")


def test_unreadable_entry_points_are_an_error_of_strict_plugins(site, install, sets):
    install("fake-a", "neta")
    (site / "fake_a-1.0.dist-info" / "entry_points.txt").write_text("[tf_frame.models]\nno\n")
    sets(STRICT_PLUGINS="1")
    with pytest.raises(PluginError, match="fake-a: its entry_points.txt cannot be read"):
        load_plugin(OPTIMIZER, "adam")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("plugin: [a]", "plugins.yaml: plugin is not known; it takes plugins"),
        ("a: b: c", "plugins.yaml is not YAML: "),
        ("plugins: [a, 3]", r"plugins in .*: expected names .*, found \['a', 3\]"),
        ("plugins: [[a]]", "plugins in .*: expected names"),
        ("plugins: [a]\nplugins: [b]", "line 2: plugins is given twice, first in line 1"),
        ("plugins: !!python/name:os.system", "could not determine a constructor"),
        ("[a]", "expected 'name: value' lines"),
        ("plugins: 3", "plugins in .*: expected names of packages or plugins, found 3"),
        ("plugins:", "plugins in .*: expected names"),
        ("strict_plugins: maybe", "strict_plugins in .*: expected 1 or 0, found 'maybe'"),
    ],
)
def test_a_mistake_in_the_file_is_an_error(folder, text, message):
    (folder / "plugins.yaml").write_text(text)
    with pytest.raises(ConfigError, match=message):
        find_plugins()

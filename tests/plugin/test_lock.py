"""The record of plugins, and what differs from it later."""

import tf_frame
from tf_frame.plugin.find import PluginInfo, find_plugins
from tf_frame.plugin.kinds import MODEL, NETWORK, OPTIMIZER
from tf_frame.plugin.load import load_plugin
from tf_frame.plugin.lock import (
    content_hash,
    differences,
    find_named_plugins,
    lock_record,
    unrecorded,
)


def record(*names):
    plugins = [info for info in find_plugins() if info.name in names]
    versions = {info.distribution: info.version for info in plugins}
    return versions, lock_record(plugins)


def test_nothing_differs_from_a_record_of_now(install):
    install("fake-a", "neta")
    versions, lock = record("neta", "adam")
    assert lock.keys() == {"fake-a", "tf-frame"}
    assert lock["tf-frame"] == {"plugins": ["optimizer adam"]}
    assert lock["fake-a"]["plugins"] == ["model neta"]
    assert list(differences(versions, lock)) == []


def test_another_version_is_told_with_both(install, site):
    install("fake-a", "neta")
    versions, lock = record("neta")
    (site / "fake_a-1.0.dist-info" / "METADATA").write_text("Name: fake-a\nVersion: 1.1\n")
    assert list(differences(versions, lock)) == ["fake-a 1.0, this is 1.1"]


def test_another_content_is_told_with_both_hashes(install, site):
    install("fake-a", "neta")
    versions, lock = record("neta")
    before = lock["fake-a"]["sha256"]
    (site / "fake_a.py").write_text("Net = 1")
    now = content_hash("fake-a")
    expected = f"fake-a 1.0 of other content (sha256 {before[:12]}, this is {now[:12]})"
    assert list(differences(versions, lock)) == [expected]


def test_another_version_of_tf_frame_is_told(monkeypatch):
    versions, lock = record("adam")
    monkeypatch.setattr(tf_frame, "__version__", "9.0")
    (text,) = differences(versions, lock)
    assert text == f"tf-frame {versions['tf-frame']}, this is 9.0"


def test_a_plugin_that_now_is_another_packages_is_told(install, site):
    install("fake-a", "neta")
    versions, lock = record("neta")
    (site / "fake_a-1.0.dist-info").rename(site / "~")
    install("fake-b", "neta")
    expected = "the model neta of fake-a, this is that of fake-b"
    assert list(differences(versions, lock)) == [expected]


def test_a_class_of_no_package_is_recorded_without_a_hash():
    info = PluginInfo(MODEL, "net", "somewhere:Net", "no-such-package", "0")
    lock = lock_record([info])
    assert lock == {"no-such-package": {"plugins": ["model net"]}}
    assert list(differences({"no-such-package": "0"}, lock)) == []


def test_a_package_that_is_gone_is_no_difference_without_its_plugins():
    assert list(differences({"gone": "1"}, {})) == []


def test_a_plugin_without_a_record_is_named(install):
    install("fake-a", "neta")
    _, lock = record("neta")
    plugins = [load_plugin(MODEL, "neta").info, load_plugin(OPTIMIZER, "adam").info]
    assert unrecorded(plugins, lock) == [f"the optimizer 'adam' of tf-frame {tf_frame.__version__}"]


def test_a_loaded_network_that_an_option_names_is_used():
    load_plugin(NETWORK, "lenet")
    names = [info.name for info in find_named_plugins(["lenet", 3, None, ("a", "b")])]
    assert names == ["lenet"]
    assert find_named_plugins(["lenett", "momentum"]) == []

"""The record of plugins, and later differences."""

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
    plugins = [load_plugin(MODEL, "neta").info, load_plugin(OPTIMIZER, "adam").info]
    del lock["tf-frame"]
    assert unrecorded(plugins, [lock]) == [
        f"the optimizer 'adam' of tf-frame {tf_frame.__version__}"
    ]
    assert list(differences({"gone": "1"}, {})) == []


def test_each_difference_is_told_with_both_sides(install, site, monkeypatch):
    install("fake-a", "neta")
    versions, lock = record("neta", "adam")
    before = lock["fake-a"]["sha256"]
    (site / "fake_a.py").write_text("Net = 1")
    now = content_hash("fake-a")
    expected = f"fake-a 1.0 of other content (sha256 {before[:12]}, this is {now[:12]})"
    assert list(differences(versions, lock)) == [expected]
    (site / "fake_a-1.0.dist-info" / "METADATA").write_text("Name: fake-a\nVersion: 1.1\n")
    assert list(differences(versions, lock)) == ["fake-a 1.0, this is 1.1"]
    (site / "fake_a-1.0.dist-info").rename(site / "~")
    install("fake-b", "neta")
    monkeypatch.setattr(tf_frame, "__version__", "9.0")
    assert sorted(differences(versions, lock)) == [
        f"tf-frame {versions['tf-frame']}, this is 9.0",
        "the model neta of fake-a, this is the model neta of fake-b",
    ]


def test_a_class_of_no_package_is_recorded_without_a_hash():
    info = PluginInfo(MODEL, "net", "somewhere:Net", "no-such-package", "0")
    lock = lock_record([info])
    assert lock == {"no-such-package": {"plugins": ["model net"]}}
    assert list(differences({"no-such-package": "0"}, lock)) == []


def test_a_loaded_network_that_an_option_names_is_used():
    load_plugin(NETWORK, "lenet")
    # Another test may have loaded the preprocessing of the same name, too.
    assert {info.name for info in find_named_plugins(["lenet", 3, None, ("a", "b")])} == {"lenet"}
    assert find_named_plugins(["lenett", "momentum"]) == []

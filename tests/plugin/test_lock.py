"""The record of plugins: hash of a package's content, and what differs from it later."""

import importlib
import os

import pytest

import tf_frame
from tf_frame.plugin.find import PluginInfo, find_plugins
from tf_frame.plugin.kinds import MODEL, NETWORK, OPTIMIZER
from tf_frame.plugin.load import load_plugin
from tf_frame.plugin.lock import (
    content_hash,
    differences,
    loaded_by_name,
    lock_of,
    unrecorded,
)
from tf_frame.testing.distributions import write_distribution

PACK = ("fake_pack/__init__.py", "fake_pack/net.py", "fake_pack/words.txt")


@pytest.fixture
def pack(site):
    """A package with a model in one of its files; returns the folder of its metadata."""
    (site / "fake_pack").mkdir()
    for path in PACK:
        (site / path).touch()
    write_distribution(site, "fake-pack", {"tf_frame.models: net": "fake_pack.net:Net"})
    importlib.invalidate_caches()
    return site / "fake_pack-1.0.dist-info"


@pytest.fixture(params=["recorded", "editable"])
def installed(request, pack):
    """The package as pip installs it, and as an editable install without its files in RECORD."""
    names = PACK if request.param == "recorded" else ("__editable__.fake_pack.pth",)
    lines = [*names, "../bin/tool", "fake_pack-1.0.dist-info/RECORD", "fake_pack/x.pyc"]
    (pack / "RECORD").write_text("".join(f"{name},,\n" for name in lines))
    return pack


@pytest.mark.parametrize("path", PACK)
def test_each_file_of_a_package_counts(site, installed, path):
    before = content_hash("fake-pack")
    assert content_hash("fake_pack") == before
    (site / path).write_text("changed")
    assert content_hash("fake-pack") != before


@pytest.mark.parametrize("path", ["fake_pack/__pycache__/net.pyc", "fake_other.py"])
def test_other_files_do_not_count(site, installed, path):
    before = content_hash("fake-pack")
    (site / path).parent.mkdir(exist_ok=True)
    (site / path).write_text("new")
    assert content_hash("fake-pack") == before


def test_the_hash_is_that_of_the_content_however_it_is_installed(pack):
    editable = content_hash("fake-pack")
    (pack / "RECORD").write_text("".join(f"{name},,\n" for name in PACK))
    assert content_hash("fake-pack") == editable


def test_entry_points_count(pack):
    before = content_hash("fake-pack")
    (pack / "entry_points.txt").write_text("[tf_frame.models]\nnet = fake_pack.net:Other\n")
    assert content_hash("fake-pack") != before


def test_a_missing_file_counts(site, pack):
    (pack / "RECORD").write_text("fake_pack/net.py,,\n")
    before = content_hash("fake-pack")
    (site / "fake_pack/net.py").unlink()
    assert content_hash("fake-pack") != before


def test_a_large_file_counts_by_its_recorded_hash(site, pack):
    with open(site / "fake_pack/words.txt", "wb") as file:
        os.truncate(file.fileno(), 2**21)
    hashes = []
    for digest in ("sha256=a", "sha256=b"):
        (pack / "RECORD").write_text(f"fake_pack/words.txt,{digest},{2**21}\n")
        hashes.append(content_hash("fake-pack"))
    assert hashes[0] != hashes[1]


def test_a_package_in_a_namespace_is_its_own_folder(site):
    (site / "fake_space/mine").mkdir(parents=True)
    (site / "fake_space/other").mkdir()
    (site / "fake_space/mine/__init__.py").touch()
    write_distribution(site, "fake-mine", {"tf_frame.models: mine": "fake_space.mine:Net"})
    importlib.invalidate_caches()
    before = content_hash("fake-mine")
    (site / "fake_space/other/file.py").write_text("new")
    assert content_hash("fake-mine") == before
    (site / "fake_space/mine/file.py").write_text("new")
    assert content_hash("fake-mine") != before


def record(*names):
    plugins = [info for info in find_plugins() if info.name in names]
    versions = {info.distribution: info.version for info in plugins}
    return versions, lock_of(plugins)


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
    lock = lock_of([info])
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
    names = [info.name for info in loaded_by_name(["lenet", 3, None, ("a", "b")])]
    assert names == ["lenet"]
    assert loaded_by_name(["lenett", "momentum"]) == []

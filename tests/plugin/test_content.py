"""The hash of a package's content: of what was installed, and of what an import takes instead."""

import importlib
import os
import shutil
import zipfile

import pytest

from tf_frame.plugin.content import content_hash
from tf_frame.testing.distributions import write_distribution

PACK = ("fake_pack/__init__.py", "fake_pack/net.py", "fake_pack/words.txt")


def write(path, text=""):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    importlib.invalidate_caches()


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


ADDED = ("fake_pack/net/__init__.py", "fake_pack/more.py", "fake_pack/deep/er/words.txt")


@pytest.mark.parametrize("path", [*PACK, *ADDED])
def test_each_file_of_a_package_counts(site, installed, path):
    before = content_hash("fake-pack")
    assert content_hash("fake_pack") == before
    write(site / path, "changed")
    assert content_hash("fake-pack") != before


@pytest.mark.parametrize("path", ["fake_pack/__pycache__/net.pyc", "fake_other.py"])
def test_other_files_do_not_count(site, installed, path):
    before = content_hash("fake-pack")
    write(site / path, "new")
    assert content_hash("fake-pack") == before


def test_the_hash_is_that_of_the_content_however_it_is_installed(pack):
    editable = content_hash("fake-pack")
    (pack / "RECORD").write_text("".join(f"{name},,\n" for name in PACK))
    assert content_hash("fake-pack") == editable


def test_entry_points_and_missing_files_count(site, pack):
    hashes = [content_hash("fake-pack")]
    (pack / "entry_points.txt").write_text("[tf_frame.models]\nnet = fake_pack.net:Other\n")
    hashes.append(content_hash("fake-pack"))
    (pack / "RECORD").write_text("fake_pack/net.py,,\n")
    hashes.append(content_hash("fake-pack"))
    (site / "fake_pack/net.py").unlink()
    hashes.append(content_hash("fake-pack"))
    assert (hashes[0] != hashes[1], hashes[2] != hashes[3]) == (True, True)


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


@pytest.fixture
def recorded(pack):
    """The package as pip installs it."""
    (pack / "RECORD").write_text("".join(f"{name},,\n" for name in PACK))
    return pack


@pytest.fixture
def earlier(tmp_path, monkeypatch):
    """An empty folder that stands on the path before that of the package."""
    folder = tmp_path / "earlier"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    return folder


def test_a_package_that_nobody_touched_keeps_its_hash(recorded):
    expected = "c43320e8391b34b8eb45fb2f908a90b33842a6f5734bee2a16cf355dfc3af7ff"
    assert content_hash("fake-pack") == expected


def test_an_equal_copy_earlier_on_the_path_is_no_change(site, recorded, earlier):
    before = content_hash("fake-pack")
    shutil.copytree(site / "fake_pack", earlier / "fake_pack")
    importlib.invalidate_caches()
    assert content_hash("fake-pack") == before
    (site / "fake_pack/net.py").write_text("never imported")
    assert content_hash("fake-pack") == before


@pytest.mark.parametrize("path", PACK)
def test_a_copy_earlier_on_the_path_counts_with_each_file(site, recorded, earlier, path):
    hashes = {content_hash("fake-pack")}
    shutil.copytree(site / "fake_pack", earlier / "fake_pack")
    write(earlier / path, "changed")
    hashes.add(content_hash("fake-pack"))
    if path.endswith(".txt"):  # A missing file counts as well.
        (earlier / path).unlink()
        hashes.add(content_hash("fake-pack"))
    assert len(hashes) == (3 if path.endswith(".txt") else 2)


def test_a_package_that_hides_a_single_module_counts(install, site):
    install("fake-a", "neta")
    write(site / "fake_a-1.0.dist-info/RECORD", "fake_a.py,,\n")
    before = content_hash("fake-a")
    write(site / "fake_a/__init__.py")
    assert content_hash("fake-a") != before


def test_an_archive_earlier_on_the_path_counts(site, recorded, tmp_path, monkeypatch):
    before = content_hash("fake-pack")
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as archive:
        for path in PACK:
            archive.write(site / path, path)
    monkeypatch.syspath_prepend(str(tmp_path / "other.zip"))
    assert content_hash("fake-pack") != before


def test_a_folder_behind_a_link_counts_and_a_circle_ends(site, recorded, tmp_path):
    before = content_hash("fake-pack")
    write(tmp_path / "away/__init__.py")
    (tmp_path / "away/circle").symlink_to(tmp_path / "away")
    (site / "fake_pack/net").symlink_to(tmp_path / "away")
    linked = content_hash("fake-pack")
    write(tmp_path / "away/__init__.py", "changed")
    assert len({before, linked, content_hash("fake-pack")}) == 3


def test_a_folder_of_another_name_in_the_current_folder_does_not_count(site, recorded, earlier):
    write(recorded / "RECORD", (recorded / "RECORD").read_text() + "tests/__init__.py,,\n")
    write(site / "tests/__init__.py")
    before = content_hash("fake-pack")
    write(earlier / "tests/__init__.py", "of another project")
    assert content_hash("fake-pack") == before


def test_a_large_file_elsewhere_counts_by_its_content(site, recorded, earlier):
    shutil.copytree(site / "fake_pack", earlier / "fake_pack")
    write(recorded / "RECORD", f"fake_pack/words.txt,sha256=a,{2**21}\n")
    hashes = set()
    for text in ("a", "b"):
        write(earlier / "fake_pack/words.txt", text * 2**21)
        hashes.add(content_hash("fake-pack"))
    assert len(hashes) == 2


@pytest.fixture(params=["recorded", "editable"])
def in_namespace(request, site):
    """A package with a model, and a module beside it, in a namespace."""
    files = ("fake_space/mine/__init__.py", "fake_space/beside.py")
    for path in files:
        write(site / path)
    write_distribution(site, "fake-mine", {"tf_frame.models: mine": "fake_space.mine:Net"})
    if request.param == "recorded":
        write(site / "fake_mine-1.0.dist-info/RECORD", "".join(f"{name},,\n" for name in files))


def test_a_part_of_a_namespace_earlier_on_the_path_counts(in_namespace, earlier):
    before = content_hash("fake-mine")
    write(earlier / "fake_space/other.py", "of another package")
    assert content_hash("fake-mine") == before
    write(earlier / "fake_space/mine/__init__.py", "changed")
    assert content_hash("fake-mine") != before


@pytest.mark.parametrize("in_namespace", ["recorded"], indirect=True)
def test_a_module_hides_a_recorded_one_of_a_namespace(in_namespace, earlier):
    before = content_hash("fake-mine")
    write(earlier / "fake_space/beside.py", "changed")
    assert content_hash("fake-mine") != before

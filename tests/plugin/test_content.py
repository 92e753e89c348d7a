"""The hash of a package's content: of the installed files, or of files that hide them."""

import contextlib
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


@contextlib.contextmanager
def hash_changes(name="fake-pack", *, changes=True):
    """Checks whether the statements of a block change the hash of a package."""
    before = content_hash(name)
    yield
    assert (content_hash(name) != before) == changes


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
    assert content_hash("fake_pack") == content_hash("fake-pack")
    with hash_changes():
        write(site / path, "changed")


@pytest.mark.parametrize("path", ["fake_pack/__pycache__/net.pyc", "fake_other.py"])
def test_other_files_do_not_count(site, installed, path):
    with hash_changes(changes=False):
        write(site / path, "new")


def test_the_hash_does_not_depend_on_the_kind_of_install(pack):
    with hash_changes(changes=False):
        (pack / "RECORD").write_text("".join(f"{name},,\n" for name in PACK))


def test_entry_points_and_missing_files_count(site, pack):
    with hash_changes():
        (pack / "entry_points.txt").write_text("[tf_frame.models]\nnet = fake_pack.net:Other\n")
    (pack / "RECORD").write_text("fake_pack/net.py,,\n")
    with hash_changes():
        (site / "fake_pack/net.py").unlink()


def test_a_large_file_counts_by_its_recorded_hash(site, pack):
    with open(site / "fake_pack/words.txt", "wb") as file:
        os.truncate(file.fileno(), 2**21)
    hashes = []
    for digest in ("sha256=a", "sha256=b"):
        (pack / "RECORD").write_text(f"fake_pack/words.txt,{digest},{2**21}\n")
        hashes.append(content_hash("fake-pack"))
    assert hashes[0] != hashes[1]


@pytest.fixture
def recorded(pack):
    """The package as pip installs it."""
    (pack / "RECORD").write_text("".join(f"{name},,\n" for name in PACK))
    return pack


@pytest.fixture
def earlier(tmp_path, monkeypatch):
    """An empty folder before the folder of the package on the path."""
    folder = tmp_path / "earlier"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    return folder


def test_a_package_that_nobody_touched_keeps_its_hash(recorded):
    expected = "c43320e8391b34b8eb45fb2f908a90b33842a6f5734bee2a16cf355dfc3af7ff"
    assert content_hash("fake-pack") == expected


def test_an_equal_copy_earlier_on_the_path_is_no_change(site, recorded, earlier):
    with hash_changes(changes=False):
        shutil.copytree(site / "fake_pack", earlier / "fake_pack")
        importlib.invalidate_caches()
    with hash_changes(changes=False):
        (site / "fake_pack/net.py").write_text("never imported")


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
    with hash_changes("fake-a"):
        write(site / "fake_a/__init__.py")


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
    with hash_changes(changes=False):
        write(earlier / "tests/__init__.py", "of another project")


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
    """A package with a model, and a single module, in a namespace."""
    files = ("fake_space/mine/__init__.py", "fake_space/single.py")
    for path in files:
        write(site / path)
    write_distribution(site, "fake-mine", {"tf_frame.models: mine": "fake_space.mine:Net"})
    if request.param == "recorded":
        write(site / "fake_mine-1.0.dist-info/RECORD", "".join(f"{name},,\n" for name in files))


def test_a_part_of_a_namespace_counts_if_it_is_of_the_package(in_namespace, site, earlier):
    with hash_changes("fake-mine", changes=False):
        write(site / "fake_space/other/file.py", "of another package")
        write(earlier / "fake_space/other.py", "of another package")
    with hash_changes("fake-mine"):
        write(site / "fake_space/mine/file.py", "new")
    with hash_changes("fake-mine"):
        write(earlier / "fake_space/mine/__init__.py", "changed")


@pytest.mark.parametrize("in_namespace", ["recorded"], indirect=True)
def test_a_module_hides_a_recorded_one_of_a_namespace(in_namespace, earlier):
    with hash_changes("fake-mine"):
        write(earlier / "fake_space/single.py", "changed")

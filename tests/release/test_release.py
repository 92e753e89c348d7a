"""tools/release: the archives of a small distribution, and what is refused."""

import email
import os
import subprocess
import sys
import tarfile
import zipfile

import pytest

from source_tree import ROOT

NAME = "tf_frame_sweep-0.1.0"
pytestmark = pytest.mark.skipif(
    not (ROOT / ".git").exists(), reason="it builds the files that git tracks"
)


@pytest.fixture(scope="module")
def dist(tmp_path_factory):
    """The sdist and the wheel of a small plugin."""
    pytest.importorskip("build")
    pytest.importorskip("twine")
    folder = tmp_path_factory.mktemp("dist")
    words = ("--only", "tf-frame-sweep", "--output", folder)
    subprocess.run(
        [sys.executable, ROOT / "tools" / "release" / "release.py", *words],
        check=True,
        env={**os.environ, "SOURCE_DATE_EPOCH": "1600000000"},
    )
    return folder


def test_what_git_does_not_track_and_tests_are_not_packed(tmp_path):
    from release import copy_sources

    plugin = tmp_path / "plugin"
    for name in ("setup.py", "tests/test_a.py", "build/lib/stale.py", "src/package/added.py"):
        (plugin / name).parent.mkdir(parents=True, exist_ok=True)
        (plugin / name).touch()
    for words in (["init", "-q"], ["add", "setup.py", "tests"]):
        subprocess.run(["git", *words], cwd=plugin, check=True)
    copy_sources(plugin, tmp_path / "copy")
    assert [path.name for path in (tmp_path / "copy").rglob("*")] == ["setup.py"]


def test_the_wheel_has_the_modules_and_nothing_else(dist):
    modules = {path.name for path in (ROOT / "plugins/sweep/src/tf_frame_sweep").glob("*.py")}
    with zipfile.ZipFile(dist / f"{NAME}-py3-none-any.whl") as wheel:
        names = wheel.namelist()
    package = {name for name in names if name.startswith("tf_frame_sweep/")}
    assert package == {f"tf_frame_sweep/{name}" for name in (*modules, "py.typed")}
    assert {name.partition("/")[0] for name in set(names) - package} == {f"{NAME}.dist-info"}
    assert names[-1] == f"{NAME}.dist-info/RECORD"


def test_archives_have_one_time_one_mode_and_no_owner(dist):
    with zipfile.ZipFile(dist / f"{NAME}-py3-none-any.whl") as wheel:
        entries = wheel.infolist()
    assert {entry.date_time for entry in entries} == {(2020, 9, 13, 12, 26, 40)}
    assert {entry.external_attr >> 16 for entry in entries} == {0o100644}
    with tarfile.open(dist / f"{NAME}.tar.gz") as sdist:
        members = sdist.getmembers()
    assert {(m.mtime, m.uid, m.gid, m.uname, m.gname) for m in members} == {
        (1_600_000_000, 0, 0, "", "")
    }
    assert [m.name for m in members] == sorted(m.name for m in members)
    assert not [m.name for m in members if "test" in m.name]
    # No name of a file, and the same time: RFC 1952, 2.3.
    header = (dist / f"{NAME}.tar.gz").read_bytes()[:8]
    assert header[3] == 0 and int.from_bytes(header[4:8], "little") == 1_600_000_000


def test_the_metadata_are_complete(dist):
    with zipfile.ZipFile(dist / f"{NAME}-py3-none-any.whl") as wheel:
        metadata = email.message_from_bytes(wheel.read(f"{NAME}.dist-info/METADATA"))
    assert metadata["Author"] == "the tf-frame developers"
    assert metadata["License-Expression"] == "Apache-2.0"
    assert metadata["Requires-Python"] == ">=3.10"
    assert metadata["Description-Content-Type"] == "text/markdown"
    assert metadata["License-File"] == "LICENSE"
    assert metadata.get_payload().startswith("# tf-frame-sweep")
    assert "Typing :: Typed" in metadata.get_all("Classifier")


def test_bytes_do_not_depend_on_order_owner_or_time(tmp_path):
    from archives import normalise

    archives = []
    for number, names in enumerate((["p/b.py", "p/a.py"], ["p/a.py", "p/b.py"])):
        wheel = tmp_path / f"{number}.whl"
        with zipfile.ZipFile(wheel, "w") as file:
            for name in names:
                entry = zipfile.ZipInfo(name, (2000 + number, 1, 1, 0, 0, 0))
                entry.external_attr = (0o100600 + number) << 16
                file.writestr(entry, name)
        sdist = tmp_path / f"{number}.tar.gz"
        with tarfile.open(sdist, "w:gz") as file:
            for name in names:
                entry = tarfile.TarInfo(name)
                entry.uid, entry.uname, entry.mode, entry.mtime = number, "me", 0o600, number
                file.addfile(entry)
        for archive in (wheel, sdist):
            normalise(archive, 1_600_000_000)
        archives.append((wheel.read_bytes(), sdist.read_bytes()))
    assert archives[0] == archives[1]


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("tf_frame_deeplab/tests/helper.py", "is a test"),
        ("tf_frame_deeplab/test_model.py", "is a test"),
        ("tf_frame_deeplab/data/nuclei/more.png", "is not named in DATA"),
        ("tf_frame_deeplab.egg-info/PKG-INFO", "is outside of tf_frame_deeplab/"),
        ("build/lib/tf_frame_deeplab/model.py", "is outside of tf_frame_deeplab/"),
        ("tf_frame_deeplab/__pycache__/model.pyc", "is not named in DATA"),
        ("tf_frame_deeplab-0.1.0.dist-info/direct_url.json", "is no metadata of a wheel"),
    ],
)
def test_a_wheel_with_another_file_is_refused(name, problem, tmp_path):
    from contents import problems

    data = ("image.png", "instances.png", "LICENSE.txt")
    names = [
        *("tf_frame_deeplab/model.py", "tf_frame_deeplab/py.typed"),
        *(f"tf_frame_deeplab/data/nuclei/{file}" for file in data),
        "tf_frame_deeplab-0.1.0.dist-info/licenses/LICENSE",
    ]
    wheel = tmp_path / "tf_frame_deeplab-0.1.0-py3-none-any.whl"
    for further, expected in (((), []), ((name,), [f"{wheel.name}: {name} {problem}"])):
        with zipfile.ZipFile(wheel, "w") as file:
            for each in (*names, *further):
                file.writestr(each, "")
        found = [line.replace(" of tools/release/contents.py", "") for line in problems(wheel)]
        assert found == expected


def test_a_wheel_without_its_data_or_its_licence_is_refused(tmp_path):
    from contents import problems

    wheel = tmp_path / "tf_frame_deeplab-0.1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as file:
        file.writestr("tf_frame_deeplab/py.typed", "")
        file.writestr("tf_frame_deeplab/data/nuclei/image.png", "")
        file.writestr("tf_frame_deeplab/data/nuclei/LICENSE.txt", "")
    assert problems(wheel) == [
        f"{wheel.name}: tf_frame_deeplab/data/nuclei/instances.png is missing",
        f"{wheel.name}: it has no licence",
    ]


@pytest.mark.slow
def test_all_distributions_are_built_twice_with_the_same_bytes(tmp_path):
    command = [sys.executable, ROOT / "tools/release/release.py", "--twice", "--output", tmp_path]
    subprocess.run(command, check=True)
    assert len(list(tmp_path.iterdir())) == 2 * 9

import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tf_frame.errors import ConfigError, TfFrameError
from tf_frame.scaffold import write
from tf_frame.scaffold.contents import CONTENTS
from tf_frame.scaffold.write import requirement, write_plugin

ROOT = Path(__file__).parents[2]
EVERYWHERE = {
    *(".github/workflows/test.yml", ".gitignore", "LICENSE", "README.md", "pyproject.toml"),
    *("tox.ini", "src/my_plan/__init__.py"),
}
OF_KIND = {
    "model": {"src/my_plan/model.py", "tests/test_model.py"},
    "input": {"src/my_plan/digits.py", "tests/test_digits.py"},
    "gradient_transform": {"src/my_plan/normalized.py", "tests/test_normalized.py"},
    "hook": {"src/my_plan/hook.py", "src/my_plan/weight_norm.py", "tests/test_hook.py"},
    "command": {"src/my_plan/command.py", "tests/test_command.py"},
}


@pytest.mark.parametrize("kind", CONTENTS)
def test_the_files_of_a_kind(kind, tmp_path):
    folder = write_plugin("my-plan", kind, str(tmp_path))
    assert folder == tmp_path / "my-plan"
    files = {str(path.relative_to(folder)): path for path in folder.rglob("*") if path.is_file()}
    parts = [OF_KIND[part.folder] for part in CONTENTS[kind]]
    assert files.keys() == EVERYWHERE.union(*parts)
    for path in files.values():
        assert not re.search(r"my-plugin|my_plugin|MyPlugin|@[A-Z_]+@", path.read_text())


def test_the_plugins_of_a_bundle_have_classes_of_their_own(tmp_path):
    folder = write_plugin("my-plan", "bundle", str(tmp_path))
    project = (folder / "pyproject.toml").read_text()
    for target in (
        "model:MyPlan",
        "digits:MyPlanInput",
        "normalized:MyPlanTransform",
        "hook:MyPlanHook",
    ):
        assert f'my_plan = "my_plan.{target}"' in project
    assert "class MyPlanHook(HookPlugin)" in (folder / "src/my_plan/hook.py").read_text()
    assert (
        "A model, an input, a gradient transform and a hook" in (folder / "README.md").read_text()
    )


@pytest.mark.parametrize(
    ("version", "expected"),
    [("0.1.0", "tf-frame>=0.1.0,<0.2"), ("1.9.2.dev1", "tf-frame>=1.9.2.dev1,<1.10")],
)
def test_the_requirement_ends_before_the_next_minor_version(version, expected):
    assert requirement(version) == expected


def test_an_empty_folder_is_filled_and_another_is_left_alone(tmp_path):
    (tmp_path / "my-plan").mkdir()
    write_plugin("my-plan", "hook", str(tmp_path))
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(ConfigError, match="my-plan exists and is not empty; remove it, or choose"):
        write_plugin("my-plan", "model", str(tmp_path))
    assert sorted(tmp_path.rglob("*")) == before
    (tmp_path / "a-file").touch()
    with pytest.raises(ConfigError, match="exists and is not empty"):
        write_plugin("a-file", "model", str(tmp_path))


def test_without_the_parent_folder_nothing_is_made(tmp_path):
    with pytest.raises(ConfigError, match="there is no folder '.*none'; make it"):
        write_plugin("my-plan", "hook", str(tmp_path / "none"))
    assert not list(tmp_path.iterdir())


def test_an_error_while_writing_leaves_nothing_behind(tmp_path, monkeypatch):
    def broken(name, choice):
        yield "README.md", "half"
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(write, "rendered", broken)
    with pytest.raises(TfFrameError, match="cannot be written: No space left on device; free"):
        write_plugin("my-plan", "hook", str(tmp_path))
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_a_wheel_of_tf_frame_has_the_templates(tmp_path):
    (tmp_path / "egg").mkdir()
    words = ["egg_info", "--egg-base", str(tmp_path / "egg")]
    words += ["build", "--build-base", str(tmp_path / "build")]
    words += ["bdist_wheel", "--bdist-dir", str(tmp_path / "parts"), "--dist-dir", str(tmp_path)]
    subprocess.run([sys.executable, "setup.py", "-q", *words], cwd=ROOT, check=True, timeout=120)
    (wheel,) = tmp_path.glob("*.whl")
    inside = set(zipfile.ZipFile(wheel).namelist())
    framework = ROOT / "framework"
    templates = framework.glob("tf_frame/scaffold/templates/**/*.txt")
    names = {path.relative_to(framework).as_posix() for path in templates}
    assert len(names) >= 20 and names <= inside

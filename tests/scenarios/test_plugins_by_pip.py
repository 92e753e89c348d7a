"""A running process sees the packages that pip installs, installs again and removes."""

import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

from tf_frame.plugin.find import CONFLICT, find_plugins
from tf_frame.plugin.kinds import MODEL
from tf_frame.plugin.load import load_plugin
from tf_frame.plugin.lock import content_hash

SOURCE = """
from tf_frame import Model
class Net(Model):
    def build(self, features, labels, mode): ...
"""
PIP = Path(sysconfig.get_path("purelib"), "pip")


def make_wheel(folder, name, plugin, *, version="1.0"):
    """Writes a wheel of a package with one model."""
    module, info = name.replace("-", "_"), f"{name.replace('-', '_')}-{version}.dist-info"
    files = {
        f"{module}.py": SOURCE,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": f"[tf_frame.models]\n{plugin} = {module}:Net\n",
    }
    files[f"{info}/RECORD"] = "".join(f"{path},,\n" for path in [*files, f"{info}/RECORD"])
    folder.mkdir(exist_ok=True)
    path = folder / f"{module}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        for file, text in files.items():
            wheel.writestr(file, text)
    return str(path)


@pytest.fixture
def pip(tmp_path, monkeypatch):
    """Runs pip in a new environment; this process sees its packages."""
    if not PIP.exists():
        pytest.skip("there is no pip")
    venv.create(tmp_path / "environment", symlinks=True)
    (site,) = (tmp_path / "environment").glob("lib/python*/site-packages")
    monkeypatch.syspath_prepend(str(site))

    def pip(command, *words):
        python = tmp_path / "environment" / "bin" / "python"
        options = ["--quiet", "--disable-pip-version-check", "--no-input"]
        if command == "install":
            options += ["--no-index", "--no-deps", "--no-compile", "--force-reinstall"]
        done = subprocess.run(
            [python, str(PIP), command, *options, *words], capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr

    yield pip
    for name in ("pip_first", "pip_second"):
        sys.modules.pop(name, None)


def found():
    return {
        (info.name, info.distribution): info.state
        for info in find_plugins()
        if info.distribution.startswith("pip-")
    }


def test_no_stale_plugin_is_ever_served(pip, tmp_path):
    first = make_wheel(tmp_path / "a", "pip-first", "before")
    second = make_wheel(tmp_path / "a", "pip-second", "before")
    pip("install", first, second)
    assert found() == {("before", "pip-first"): CONFLICT, ("before", "pip-second"): CONFLICT}
    assert load_plugin(MODEL, "pip-second:before").info.distribution == "pip-second"
    content = content_hash("pip-first")

    # The same version again, with another entry point.
    pip("install", make_wheel(tmp_path / "b", "pip-first", "after"))
    assert found() == {("after", "pip-first"): "ok", ("before", "pip-second"): "ok"}
    assert load_plugin(MODEL, "after").info.distribution == "pip-first"
    assert content_hash("pip-first") != content

    pip("uninstall", "--yes", "pip-first")
    assert found() == {("before", "pip-second"): "ok"}

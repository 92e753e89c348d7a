"""Wheels from a folder, in an empty environment of each Python of this machine."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import tf_frame
from source_tree import ROOT

# A wheel of TensorFlow has half a gigabyte.
pytestmark = [pytest.mark.slow, pytest.mark.process, pytest.mark.timeout(1800)]
VERSIONS = ("3.10", "3.11", "3.12", "3.13")
NAMES = ("tf-frame", "tf-frame-vision", "tf-frame-classification")


@pytest.fixture(scope="module")
def dist(tmp_path_factory):
    """A folder with the wheels of the distributions that the runs need."""
    folder = tmp_path_factory.mktemp("dist")
    words = [word for name in NAMES for word in ("--only", name)]
    command = [sys.executable, ROOT / "tools/release/release.py", "--output", folder, *words]
    subprocess.run(command, check=True)
    return folder


@pytest.fixture(params=VERSIONS)
def python(request):
    """The Python of a version."""
    name = f"python{request.param}"
    # On the path are shims of pyenv, which start only the versions that are chosen there.
    of_pyenv = sorted(Path.home().glob(f".pyenv/versions/{request.param}.*/bin/{name}"))
    for command in (shutil.which(name), *of_pyenv):
        if command and subprocess.run([command, "-c", ""], capture_output=True).returncode == 0:
            return str(command)
    pytest.skip(f"this machine has no Python {request.param}")


def test_the_wheels_are_installed_and_train(python, dist, tmp_path):
    from environment import make_environment

    environment = tmp_path / "venv"
    make_environment(environment, dist, NAMES, python=python)
    # Neither this checkout nor the environment of the tests.
    clean = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "COLUMNS")}

    def output(*words):
        command = [environment / "bin" / "tf-frame", *words]
        return subprocess.run(
            command, check=True, capture_output=True, text=True, env=clean, cwd=tmp_path
        ).stdout

    assert tf_frame.__version__ in output("--version")
    assert "classification" in output("plugins", "list")
    output("run", "--plugin", "classification", "--max_steps", "2", "--model_dir", "run")
    assert (tmp_path / "run" / "result.json").exists()
    shutil.rmtree(environment)

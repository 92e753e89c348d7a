"""An environment for plugins that tests install by pip, with the packages of the running one.

    environment = PluginEnvironment(tmp_path / "environment")
    environment.run("pip", "install", "-e", "./my-model", cwd=tmp_path)
    environment.run("tf-frame", "run", "--plugin", "my_model", cwd=tmp_path)

Commands that import TensorFlow are forked from the server of `forked`, since each import would
cost four seconds; they see the packages of the environment.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import signal
import site
import subprocess
import sys
import sysconfig
import tempfile
import venv
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import forked

# pip finds nothing on an index, and takes setuptools from here. An option of pip that begins with
# `no` is negated by its variable, too: 0 means without isolation.
_OFFLINE = {
    "PIP_NO_INDEX": "1",
    "PIP_NO_BUILD_ISOLATION": "0",
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
}
_MODULES = {"pip": "pip", "tf-frame": "tf_frame", "pytest": "pytest"}
_OPTIONS: dict[str, Any] = {"capture_output": True, "text": True, "timeout": 280}
# Arguments: site-packages, module, arguments of the module. A folder in PYTHONPATH would not do:
# the path of an editable package is in a .pth file.
_RUN_MODULE = """
import runpy, site, sys
site.addsitedir(sys.argv[1])
del sys.argv[:2]
runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
"""


def style_problems(folder: Path) -> str:
    """Returns the findings of `tox -e lint` in a new plugin's folder; empty without ruff."""
    if not importlib.util.find_spec("ruff"):
        return ""
    outputs = []
    for words in (["check"], ["format", "--check"]):
        command = [sys.executable, "-m", "ruff", *words, "--no-cache", "."]
        process = subprocess.run(command, cwd=folder, **_OPTIONS)
        outputs += [process.stdout, process.stderr] if process.returncode else []
    return "".join(outputs)


class PluginEnvironment:
    """A virtual environment.

    Args:
      folder: its folder, which does not exist yet.

    Attributes:
      site: its folder of packages.
    """

    def __init__(self, folder: Path) -> None:
        venv.create(folder, with_pip=False, symlinks=True)
        names = {"base": str(folder), "platbase": str(folder)}
        self.site = Path(sysconfig.get_path("purelib", vars=names))
        self._python = str(folder / "bin" / "python")
        for program, module in _MODULES.items():
            script = folder / "bin" / program
            script.write_text(f'#!/bin/sh\nexec "{self._python}" -m {module} "$@"\n')
            script.chmod(0o755)
        path = f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
        self._variables = {**os.environ, **_OFFLINE, "PATH": path}
        lines = [f"import site; site.addsitedir({path!r})\n" for path in site.getsitepackages()]
        (self.site / "running.pth").write_text("".join(lines))

    def run(self, program: str, *words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
        """Runs `pip`, `tf-frame` or `pytest` to its end, whatever its exit code."""
        if program == "pip":
            return subprocess.run(
                [self._python, "-m", "pip", *words], env=self._variables, cwd=cwd, **_OPTIONS
            )
        command = [sys.executable, "-c", _RUN_MODULE, str(self.site), _MODULES[program], *words]
        return forked.run(command, cwd=cwd, **_OPTIONS)

    def run_script(
        self, text: str, *, cwd: Path, variables: Mapping[str, str] | None = None, secs: float = 280
    ) -> subprocess.CompletedProcess[str]:
        """Runs a script in bash up to its first error; here nothing is forked.

        Args:
          text: the script.
          cwd: its folder.
          variables: further variables of the environment.
          secs: longest time; then all processes of the script are killed, with code 124.

        Returns:
          The process; `stdout` has standard output and standard error.
        """
        env = {**self._variables, **(variables or {})}
        options: dict[str, Any] = {"env": env, "cwd": cwd, "text": True, "start_new_session": True}
        # No pipe, which processes that the script left behind would hold open.
        with tempfile.TemporaryFile("w+") as file:
            process = subprocess.Popen(["bash", "-ec", text], stdout=file, stderr=file, **options)
            try:
                code = process.wait(timeout=secs)
            except subprocess.TimeoutExpired:
                code = 124
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            file.seek(0)
            return subprocess.CompletedProcess(text, code, file.read(), "")

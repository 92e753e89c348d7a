"""Runs scripts of TensorFlow 1 as processes, in the modes that old programs begin in."""

import os
import sys
from pathlib import Path

import forked

# The first calls of old programs; the first mode is TensorFlow 1's.
_MODES = {
    "reference": "tf.disable_v2_behavior()",
    "resource": "tf.disable_v2_behavior(); tf.enable_resource_variables()",
}
_RUN = "import runpy, sys, tensorflow.compat.v1 as tf; {mode}; sys.argv = sys.argv[1:]; "
_RUN += "runpy.run_path(sys.argv[0], run_name='__main__')"


def command(script: Path, mode: str, **flags: object) -> tuple[list[str], dict[str, str]]:
    """Returns the words that run a script on the CPU, and the environment of its process.

    Args:
      script: its path; the script can import the modules in its folder.
      mode: `reference` or `resource` variables.
      **flags: flags of the script; a tuple gives a flag once for each value.
    """
    words = [
        f"--{flag}={value}"
        for flag, values in flags.items()
        for value in (values if isinstance(values, tuple) else (values,))
    ]
    environment = {**os.environ, "PYTHONPATH": str(script.parent), "CUDA_VISIBLE_DEVICES": ""}
    code = _RUN.format(mode=_MODES[mode])
    return [sys.executable, "-c", code, str(script), *words], environment


def run(script: Path, mode: str, **flags: object) -> str:
    """Runs a script to its end; returns its log. The arguments are as in `command`."""
    words, environment = command(script, mode, **flags)
    return forked.succeed(words, env=environment).stderr

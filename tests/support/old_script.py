"""Scripts of TensorFlow 1 as processes, in the modes in which old programs begin."""

import os
import sys
from pathlib import Path

import forked

# What old programs call before anything else; the first is TensorFlow 1's way.
_MODES = {
    "reference": "tf.disable_v2_behavior()",
    "resource": "tf.disable_v2_behavior(); tf.enable_resource_variables()",
}
_RUN = "import runpy, sys, tensorflow.compat.v1 as tf; {mode}; sys.argv = sys.argv[1:]; "
_RUN += "runpy.run_path(sys.argv[0], run_name='__main__')"


def run(script: Path, mode: str, **flags: object) -> str:
    """Runs a script on the CPU to its end; returns what it logged.

    Args:
      script: its path; modules beside it can be imported.
      mode: `reference` or `resource` variables.
      **flags: those of the script; a tuple gives a flag once for each value.
    """
    words = [
        f"--{flag}={value}"
        for flag, values in flags.items()
        for value in (values if isinstance(values, tuple) else (values,))
    ]
    done = forked.run(
        [sys.executable, "-c", _RUN.format(mode=_MODES[mode]), str(script), *words],
        env={**os.environ, "PYTHONPATH": str(script.parent), "CUDA_VISIBLE_DEVICES": ""},
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert done.returncode == 0, done.stderr[-6000:]
    return str(done.stderr)

"""Commands of tf-frame, for benchmarks."""

from __future__ import annotations

import subprocess
import sys


def frame(*words: str) -> None:
    """Runs a command in a process of its own; its output is shown only if it fails.

    Raises:
      SystemExit: it failed.
    """
    done = subprocess.run(
        [sys.executable, "-m", "tf_frame", *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    if done.returncode:
        raise SystemExit(done.stdout.decode())

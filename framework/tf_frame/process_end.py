"""`end_process`: ends a program at once, where Python would first take graphs to pieces.

After TensorFlow has built a graph, the end of the interpreter takes about a second: it frees each
of ten thousands of objects, of a memory that the system takes back as a whole.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import io
import os
import sys
import threading
from typing import Any, NoReturn


def end_process(code: int) -> NoReturn:
    """Ends this process with an exit code.

    As at any end, threads that are no daemons are waited for, functions of `atexit` are called,
    and open files are written to the disk. Only `__del__` is not called.
    """
    if "tensorflow" not in sys.modules:
        sys.exit(code)
    # As the interpreter does first. It also tells the idle threads of executors to end.
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for file in _files():
        if not file.closed:
            _write(file)
    os._exit(code)


def _write(file: Any) -> None:
    try:
        file.flush()
    except BrokenPipeError:
        pass  # Nobody reads it, such as a process of a plugin that has ended.
    except OSError as error:
        with contextlib.suppress(OSError):  # There is no other place for the text.
            print(f"tf-frame: {file.name} cannot be written: {error.strerror}", file=sys.stderr)


def _files() -> list[Any]:
    """Returns the files that may hold what was not written yet, also those of plugins."""
    gc.unfreeze()
    kinds = (io.TextIOWrapper, io.BufferedWriter, io.BufferedRandom)
    files = [each for each in gc.get_objects() if type(each) in kinds]
    # Texts first: they write to the others.
    return sorted(files, key=lambda file: kinds.index(type(file)))
